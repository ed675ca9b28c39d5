"""One BLAS thread for small problems, where handing them to several costs more than it saves; for large ones as many
blocks at a time as BLAS has threads, which shares out the work between two products too.

The number of BLAS threads belongs to the process. Fits in several Python threads share one limit: the first sets it and
the last takes it away, so that none of them finds it gone on the way or leaves it behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# Multiply-adds of one product with the design below which a second BLAS thread does not pay: the threads'
# hand-over takes as long as the product itself, and far longer while other programs use the cores.
_WORTH_THREADS = 2e8
# Below this BLAS takes one thread by itself, and asking for that takes longer than the product.
_NEVER_THREADED = 4e3


@contextmanager
def blas_threads_for(multiply_adds: float) -> Iterator[None]:
    """Limit BLAS to one thread inside the block if the products there are small.

    It also makes small fits independent of the number of threads, to the bit.
    """
    if multiply_adds >= _WORTH_THREADS or multiply_adds <= _NEVER_THREADED:
        yield
        return
    with _one_blas_thread():
        yield


@contextmanager
def mapping(multiply_adds: float) -> Iterator[Callable[..., Any]]:
    """`map`, or one that works ahead in as many threads as BLAS has, each with a BLAS thread of its own."""
    threads = 1
    if multiply_adds >= _WORTH_THREADS:
        libraries = _controller().select(user_api="blas").info()
        threads = max((library["num_threads"] for library in libraries), default=1)
    if threads == 1:
        yield map
        return
    with _one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        yield pool.map


class _Limit:
    """Who is inside a block of one BLAS thread."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.limiter: Any = None


_limit = _Limit()


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    limit = _limit
    with limit.lock:
        if limit.inside == 0:
            limit.limiter = _controller().limit(limits=1, user_api="blas")
        limit.inside += 1
    try:
        yield
    finally:
        with limit.lock:
            limit.inside -= 1
            if limit.inside == 0:
                limit.limiter.restore_original_limits()


def _forget_after_fork() -> None:
    """The threads that were inside are not there in the child, and may have held the lock."""
    global _limit
    before, _limit = _limit, _Limit()
    if before.inside:
        before.limiter.restore_original_limits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


@cache
def _controller() -> Any:
    # Looking for the loaded BLAS libraries takes milliseconds: once a process is enough.
    from scipy import linalg  # noqa: F401 - its BLAS must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
