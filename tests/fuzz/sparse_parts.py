"""Sparse matrices whose parts do not fit together, in every format of scipy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from scipy import sparse

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
_INDEX = (-1, -2, 0, 1, 2, 3, 6, 7, 100, 10**6, 2**31 - 1, -(2**31))


def malformed(rng: random.Random, dense: Any, kind: str | None = None) -> Any:
    """A matrix of the format, made well and then broken in one or two of its parts."""
    kind = kind or rng.choice(FORMATS)
    matrix = rng.choice((sparse.coo_array, sparse.coo_matrix))(dense).asformat(kind).copy()
    for _ in range(rng.choice((1, 1, 2))):
        _BREAK[kind](rng, matrix)
    return matrix


def _break_compressed(rng: random.Random, matrix: Any) -> None:
    match rng.randrange(7):
        case 0:
            matrix.indptr = _changed(rng, matrix.indptr)
        case 1:
            matrix.indices = _changed(rng, matrix.indices)
        case 2:
            matrix.indptr = _resized(rng, matrix.indptr)
        case 3:
            matrix.indices = _resized(rng, matrix.indices)
        case 4:
            matrix.data = _resized(rng, matrix.data)
        case 5:
            matrix._shape = rng.choice(((2, 2), (6, 1), (1, 3), (10, 3), (6, 3), (10**6, 3), (0, 0)))
        case _:
            matrix.indptr = matrix.indptr[::-1].copy()


def _break_coo(rng: random.Random, matrix: Any) -> None:
    row, col = (np.array(part) for part in matrix.coords)
    match rng.randrange(4):
        case 0:
            row = _changed(rng, row)
        case 1:
            col = _changed(rng, col)
        case 2:
            matrix.data = _resized(rng, matrix.data)
        case _:
            row = _resized(rng, row)
    matrix.coords = (row, col)


def _break_dia(rng: random.Random, matrix: Any) -> None:
    if rng.random() < 0.6:
        matrix.offsets = _changed(rng, matrix.offsets)
    else:
        matrix.offsets = _resized(rng, matrix.offsets)


def _break_lil(rng: random.Random, matrix: Any) -> None:
    at = rng.randrange(len(matrix.rows))
    match rng.randrange(3):
        case 0:
            matrix.rows[at] = [rng.choice(_INDEX), *matrix.rows[at][1:]]
        case 1:
            matrix.rows[at] = [*matrix.rows[at], 1, 1]
        case _:
            matrix.data[at] = rng.choice(([], [1.0], ["x"], [None, 1.0]))


def _break_dok(rng: random.Random, matrix: Any) -> None:
    held = getattr(matrix, "_dict", None)
    if held is not None:
        held[rng.choice(_INDEX), rng.choice(_INDEX)] = rng.choice((1.0, np.nan, 2.5))


_BREAK = {
    "csr": _break_compressed,
    "csc": _break_compressed,
    "bsr": _break_compressed,
    "coo": _break_coo,
    "dia": _break_dia,
    "lil": _break_lil,
    "dok": _break_dok,
}


def _changed(rng: random.Random, part: Any) -> Any:
    part = np.array(part)
    if part.size == 0:
        return part
    value = rng.choice(_INDEX)
    if rng.random() < 0.4:
        value = int(part[rng.randrange(len(part))]) + rng.choice((-1, 1, 2))
    part[rng.choice((0, -1, rng.randrange(len(part))))] = value
    return part


def _resized(rng: random.Random, part: Any) -> Any:
    part = np.array(part)
    return rng.choice(
        (
            part[:-1],
            part[:0],
            part[:1],
            np.concatenate([part, part[-1:]]),
            np.concatenate([part, part]),
            part[None],
            part[1:],
        )
    )
