"""How many threads to use: the argument, SGCLEARN_NUM_THREADS, OMP_NUM_THREADS, or the cores there are."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sgclearn.errors import InputError

ENVIRONMENT_VARIABLES = ("SGCLEARN_NUM_THREADS", "OMP_NUM_THREADS")


def thread_count(n_threads: Any = None) -> int:
    """A number of threads >= 1.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    if n_threads is not None:
        whole = isinstance(n_threads, (int, np.integer)) and not isinstance(n_threads, bool)
        if not whole or n_threads < 1:
            raise InputError(
                f"n_threads must be a whole number >= 1, or None for all cores: got {n_threads!r}."
            )
        return int(n_threads)
    for variable in ENVIRONMENT_VARIABLES:
        text = os.environ.get(variable, "").split(",")[0].strip()  # OpenMP allows a list, a level each
        if text:
            if not text.isdigit() or int(text) < 1:
                raise InputError(f"{variable} must be a whole number >= 1: got {os.environ[variable]!r}.")
            return int(text)
    return available_cores()


def available_cores() -> int:
    """Cores that this process may use, which a container or a batch system may have limited."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1  # pragma: no cover - macOS, Windows
