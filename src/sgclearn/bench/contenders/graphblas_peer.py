"""SuiteSparse:GraphBLAS through python-graphblas: `mxm` over plus_times, full matrices for dense features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .problem import Answer, Later, Problem, Run, normalized


def propagation(problem: Problem) -> Run:
    """The products alone, into matrices that are kept where these are full; handing over to numpy is not timed."""
    import graphblas as gb  # type: ignore[import-not-found]

    gb.ss.config["nthreads"] = int(problem.settings["threads"])
    S, X = gb.io.from_scipy_sparse(normalized(problem.adjacency())), problem.X
    dense = isinstance(X, np.ndarray)
    first = gb.Matrix.from_dense(X) if dense else gb.io.from_scipy_sparse(X)
    kept = [gb.Matrix.from_dense(np.ones_like(X)) for _ in range(2)] if dense else []

    def run() -> Answer:
        Z = first
        for hop in range(problem.n_hops):
            product = S.mxm(Z, "plus_times")
            if dense:
                # Added to a full matrix of zeros, a full one comes out at once: in a third of the time.
                Z = kept[hop % 2]
                Z[:, :] = 0.0
                Z(gb.binary.plus) << product
            else:
                Z = product.new()
        Z.wait()  # it may put work off
        return Answer({"Z": Later(lambda: _exported(Z, dense), _bytes(Z, dense))})

    return run


def _exported(Z: Any, dense: bool) -> Any:
    return Z.to_dense(0.0) if dense else gb_to_scipy(Z)


def gb_to_scipy(Z: Any) -> sp.csr_array:
    """Sparse result as scipy's."""
    import graphblas as gb

    return sp.csr_array(gb.io.to_scipy_sparse(Z, format="csr"))


def _bytes(Z: Any, dense: bool) -> int:
    """Of the result: numbers, and 64-bit indices where it is sparse."""
    return int(4 * Z.nrows * Z.ncols if dense else 12 * Z.nvals + 8 * Z.nrows)
