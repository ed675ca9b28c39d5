"""A pytest plugin for `make sanitize`: the kernel that SGCLEARN_TEST_KERNEL names takes the place of the built one."""

from __future__ import annotations

import importlib.util
import os
import sys

NAME = "sgclearn._native._kernel"

spec = importlib.util.spec_from_file_location(NAME, os.environ["SGCLEARN_TEST_KERNEL"])
if spec is None or spec.loader is None:
    raise ImportError(f"no kernel at {os.environ['SGCLEARN_TEST_KERNEL']}")
kernel = importlib.util.module_from_spec(spec)
sys.modules[NAME] = kernel
spec.loader.exec_module(kernel)

import sgclearn._native  # noqa: E402

sgclearn._native._kernel = kernel
