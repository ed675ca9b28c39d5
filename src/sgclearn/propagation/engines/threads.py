"""How many threads to use: the argument, SGCLEARN_NUM_THREADS, OMP_NUM_THREADS, or the cores there are."""

from __future__ import annotations

import os
from typing import Any

from sgclearn.errors import InputError
from sgclearn.validation.parameters import MOST_THREADS, check_parameter, shown

ENVIRONMENT_VARIABLES = ("SGCLEARN_NUM_THREADS", "OMP_NUM_THREADS")


def thread_count(n_threads: Any = None) -> int:
    """A number of threads >= 1.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    given = check_parameter("n_threads", n_threads)
    if given is not None:
        return int(given)
    for variable in ENVIRONMENT_VARIABLES:
        text = os.environ.get(variable, "").split(",")[0].strip()  # OpenMP allows a list, a level each
        if text:
            if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
                raise InputError(
                    f"{variable} must be a whole number >= 1",
                    shown(os.environ[variable]),
                    "correct or unset it",
                )
            return min(int(text), MOST_THREADS)
    return available_cores()


def available_cores() -> int:
    """Cores that this process may use, which a container or a batch system may have limited."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1  # pragma: no cover - macOS, Windows
