"""The C++ kernels: hops over packed blocks of columns, sparse products, and small dense problems."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def load_kernel() -> Any:
    """The compiled module, or None where it was not built: whoever asks has another way then."""
    try:
        from sgclearn._native import _kernel
    except ImportError:
        return None
    return _kernel
