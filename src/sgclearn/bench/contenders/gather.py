"""The limit: read one cache line of every neighbour, for every stored entry, and do nothing but add it up."""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np

from .problem import Answer, Problem, Run

HUGE_PAGE = 1 << 21


def probe(problem: Problem) -> Run:
    """A plain gather loop over the pattern of the graph, as often as the columns of X and the hops ask for.

    It reads what propagation has to read and writes nothing: `n_hops` times, for every cache line of a row of X,
    one line of each neighbour. The lines of all nodes are an array of their own, as in the kernel.
    """
    from sgclearn._native import _kernel

    kernel: Any = _kernel
    n_columns, line = int(problem.settings["n_columns"]), int(kernel.LINE_BYTES)
    passes = problem.n_hops * -(-n_columns * np.dtype(np.float32).itemsize // line)
    lines = _aligned_lines(problem.n_nodes, line)
    indptr, indices = problem.indptr, problem.indices
    gather = getattr(kernel, f"gather_probe_i{8 * indices.dtype.itemsize}")
    n_threads = int(problem.settings["threads"])

    def run() -> Answer:
        for _ in range(passes):
            gather(indptr, indices, lines, n_threads)
        return Answer({}, {"passes": float(passes), "gathered_bytes": float(passes * line * len(indices))})

    return run


def _aligned_lines(n_nodes: int, line: int) -> Any:
    """A whole cache line a node, on pages like those of the kernel's blocks: fresh, aligned and huge where they can be.

    Filled with random numbers: pages of zeros would all be one page of memory.
    """
    size = n_nodes * line
    room: Any
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages = mmap.mmap(-1, size + 2 * HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with contextlib.suppress(OSError):  # a wish, no more
            pages.madvise(mmap.MADV_HUGEPAGE)
        room = np.frombuffer(pages, dtype=np.uint8)
    else:
        room = np.empty(size + HUGE_PAGE, dtype=np.uint8)
    start = -room.ctypes.data % HUGE_PAGE
    lines = room[start : start + size].view(np.float32).reshape(n_nodes, -1)
    np.random.default_rng(1909).standard_normal(out=lines, dtype=np.float32)
    return lines
