"""torch: sparse products in CSR and COO, and PyG's SGConv on top of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .problem import Answer, Problem, Run, normalized


def use_threads(problem: Problem) -> Any:
    """Torch with the number of threads of the problem, as a module."""
    import torch

    torch.set_num_threads(int(problem.settings["threads"]))
    return torch


def as_csr(matrix: sp.csr_array, torch: Any) -> Any:
    """CSR tensor with the index width of the matrix."""
    parts = (
        torch.from_numpy(np.ascontiguousarray(part)) for part in (matrix.indptr, matrix.indices, matrix.data)
    )
    return torch.sparse_csr_tensor(*parts, size=matrix.shape)


def as_coo(matrix: sp.csr_array, torch: Any) -> Any:
    """COO tensor in row order, marked as coalesced."""
    coo = matrix.tocoo()
    places = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    return torch.sparse_coo_tensor(places, torch.from_numpy(coo.data), coo.shape, is_coalesced=True)


def _result(Z: Any) -> Any:
    if Z.layout is not None and str(Z.layout) == "torch.sparse_csr":
        parts = tuple(part.numpy() for part in (Z.values(), Z.col_indices(), Z.crow_indices()))
        return sp.csr_array(parts, shape=tuple(Z.shape))
    return Z.numpy()


def _propagation(problem: Problem, as_sparse: Any) -> Run:
    torch = use_threads(problem)
    S = as_sparse(normalized(problem.adjacency()), torch)
    dense = isinstance(problem.X, np.ndarray)
    X = torch.from_numpy(problem.X) if dense else as_csr(problem.X, torch)
    kept = [torch.ones_like(X), torch.ones_like(X)] if dense else []

    def run() -> Answer:
        with torch.inference_mode():
            Z = X
            for hop in range(problem.n_hops):
                Z = torch.mm(S, Z, out=kept[hop % 2]) if dense else S @ Z
        return Answer({"Z": _result(Z)})

    return run


def csr(problem: Problem) -> Run:
    """CSR matrix times features."""
    return _propagation(problem, as_csr)


def coo(problem: Problem) -> Run:
    """COO matrix times features: the form of the authors' code."""
    return _propagation(problem, as_coo)


def pyg(problem: Problem) -> Run:
    """The hops of PyG's SGConv on a CSR matrix normalised beforehand; with edge lists it stores a message an edge."""
    torch = use_threads(problem)
    from torch_geometric.nn import SGConv

    S, X = as_csr(normalized(problem.adjacency()), torch), torch.from_numpy(problem.X)
    layer = SGConv(X.shape[1], 1, K=problem.n_hops)

    def run() -> Answer:
        with torch.inference_mode():
            Z = X
            for _ in range(problem.n_hops):
                Z = layer.propagate(S, x=Z, edge_weight=None)
        return Answer({"Z": _result(Z)})

    return run
