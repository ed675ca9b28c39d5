"""MKL: through sparse_dot_mkl, and through its own interface with hint and optimisation (inspector, executor)."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .problem import Answer, Problem, Run, normalized

NOT_TRANSPOSED, ROW_MAJOR, GENERAL = 10, 101, 20
EXPECTED_CALLS = 1000


def _sparse_dot_mkl() -> Any:
    # pip puts the library where the loader does not look.
    found = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    if found:
        os.environ.setdefault("MKL_RT", str(found[-1]))
    import sparse_dot_mkl  # type: ignore[import-not-found]

    return sparse_dot_mkl


def propagation(problem: Problem) -> Run:
    """`dot_product_mkl`, into arrays that are kept between calls where the result is dense."""
    dot = _sparse_dot_mkl().dot_product_mkl
    S, X = normalized(problem.adjacency()), problem.X
    if not isinstance(X, np.ndarray):

        def run_sparse() -> Answer:
            Z = X
            for _ in range(problem.n_hops):
                Z = dot(S, Z)
            return Answer({"Z": Z})

        return run_sparse
    kept = [np.ones_like(X), np.ones_like(X)]

    def run() -> Answer:
        Z = X
        for hop in range(problem.n_hops):
            Z = dot(S, Z, out=kept[hop % 2], out_scalar=0.0)
        return Answer({"Z": Z})

    return run


class _Descr(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int))


def optimized(problem: Problem) -> Run:
    """`mkl_sparse_s_mm` after `mkl_sparse_set_mm_hint` and `mkl_sparse_optimize`, which are not timed."""
    _sparse_dot_mkl()  # loads and configures the library
    mkl = ctypes.CDLL(os.environ.get("MKL_RT", "libmkl_rt.so"))
    S, X = normalized(problem.adjacency()), problem.X
    if not isinstance(X, np.ndarray):
        raise ImportError("dense features only")
    n_nodes, width = X.shape
    handle, general = ctypes.c_void_p(), _Descr(GENERAL, 0, 0)

    def pointer(array: Any) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def check(status: int) -> None:
        if status:
            raise RuntimeError(f"MKL returned status {status}")

    check(
        mkl.mkl_sparse_s_create_csr(
            *(ctypes.byref(handle), 0, n_nodes, n_nodes, pointer(S.indptr), pointer(S.indptr[1:])),
            *(pointer(S.indices), pointer(S.data)),
        )
    )
    check(mkl.mkl_sparse_set_mm_hint(handle, NOT_TRANSPOSED, general, ROW_MAJOR, width, EXPECTED_CALLS))
    check(mkl.mkl_sparse_optimize(handle))
    kept = [np.ones_like(X), np.ones_like(X)]

    def run() -> Answer:
        Z = X
        for hop in range(problem.n_hops):
            target = kept[hop % 2]
            check(
                mkl.mkl_sparse_s_mm(
                    *(
                        NOT_TRANSPOSED,
                        ctypes.c_float(1),
                        handle,
                        general,
                        ROW_MAJOR,
                        pointer(Z),
                        width,
                        width,
                    ),
                    *(ctypes.c_float(0), pointer(target), width),
                )
            )
            Z = target
        return Answer({"Z": Z})

    run.keeps = (S, X)  # type: ignore[attr-defined]  # the handle points into them
    return run
