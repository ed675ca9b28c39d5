"""A pytest plugin for `make sanitize`: the kernel that SGCLEARN_TEST_KERNEL names takes the place of the built one."""

from __future__ import annotations

import importlib.util
import os
import sys

NAME = "sgclearn._native._kernel"


def use(path: str) -> None:
    """Put the kernel at the path in the place of the built one."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no kernel at {path}")
    kernel = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = kernel
    spec.loader.exec_module(kernel)
    import sgclearn._native

    sgclearn._native._kernel = kernel


if "SGCLEARN_TEST_KERNEL" in os.environ:
    use(os.environ["SGCLEARN_TEST_KERNEL"])
