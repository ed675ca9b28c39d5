"""What a call may do: return something sound, or refuse in words that are meant for the user.

A reader of files refuses with a `SgclearnError` and nothing else. A call of the Python interface may also pass on
a ValueError or TypeError that scikit-learn's validation raised, because its estimator checks ask for those. A plain
ValueError, TypeError or OSError that Python itself raised in one of our lines is blunt: the right kind, in words that
nobody chose; it is counted and listed, but is no failure. Any other exception has escaped: a traceback instead of an
error. So has one that was raised inside numpy, scipy or Arrow.
"""

from __future__ import annotations

import itertools
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import typer
from scipy import sparse

import sgclearn
from sgclearn import Features, Graph
from sgclearn.errors import SgclearnError

SECONDS = 10.0
MEGABYTES = 256.0
SMALL_FILE = 2048  # bytes; the limit of memory holds for files of up to this size

OURS = Path(sgclearn.__file__).parent
_SKLEARN = Path(sklearn.__file__).parent
_HERE = Path(__file__).parent
_USAGE: Any = typer.BadParameter.__bases__[0]


class Unsound(Exception):  # noqa: N818 - a verdict, not an error of the library
    """What was returned cannot be right."""


@dataclass(frozen=True)
class Outcome:
    """How one case ended.

    Parameters
    ----------
    status : {"returned", "refused", "blunt", "failed"}
    kind : str
        Of a failure: name of the exception, of the signal, "timeout", "memory" or "unsound".
    place : str
        Innermost frame of the library, `file:line function`; failures with the same kind and place are one.
    message : str
    seconds, megabytes : float
        Time, and peak of the resident memory above that before the case.
    label : str
        What the case was, where only the worker knows it.
    """

    status: str
    kind: str = ""
    place: str = ""
    message: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0
    label: str = ""
    trace: tuple[str, ...] = field(default=(), repr=False)

    @property
    def failed(self) -> bool:
        return self.status == "failed"

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.place

    def __str__(self) -> str:
        if self.status in ("returned", "refused"):
            return self.status
        return f"{self.kind} at {self.place or 'no frame of ours'}: {self.message[:200]}"


def judge(error: BaseException, *, strict: bool) -> Outcome:
    """Outcome of a case that raised; `strict`: only errors of the library may."""
    if isinstance(error, Unsound):
        return Outcome("failed", "unsound", message=str(error), place=str(error).partition(":")[0])
    frames = traceback.extract_tb(error.__traceback__)
    innermost = Path(frames[-1].filename) if frames else _HERE
    mine = [frame for frame in frames if Path(frame.filename).is_relative_to(OURS)]
    if isinstance(error, SgclearnError | typer.Exit | typer.Abort | _USAGE):
        return Outcome("refused", type(error).__name__, message=str(error))
    if not strict and isinstance(error, ValueError | TypeError) and _is_validation(innermost, mine):
        return Outcome("refused", type(error).__name__, message=str(error))
    is_plain = type(error) in (ValueError, TypeError, UnicodeEncodeError) or isinstance(error, OSError)
    # Compiled code has no frame of its own that tells; the kernel refuses arguments in these words.
    is_theirs = (
        "site-packages" in innermost.parts
        or innermost.suffix == ".pyx"
        or "incompatible function arguments" in str(error)
    )
    is_blunt = not strict and is_plain and not is_theirs
    return Outcome(
        "blunt" if is_blunt else "failed",
        type(error).__name__,
        _frame(mine[-1]) if mine else "",
        str(error)[:500],
        trace=tuple(f"{_frame(frame)}: {frame.line}" for frame in frames[-4:]),
    )


def _is_validation(innermost: Path, mine: list[Any]) -> bool:
    """Whether scikit-learn refused, or Python itself because the call does not fit the signature."""
    return innermost.is_relative_to(_SKLEARN) or (innermost.is_relative_to(_HERE) and not mine)


def _frame(frame: traceback.FrameSummary) -> str:
    path = Path(frame.filename)
    name = path.relative_to(OURS).as_posix() if path.is_relative_to(OURS) else "/".join(path.parts[-2:])
    return f"{name}:{frame.lineno} {frame.name}"


def check_sound(result: Any) -> None:
    """Look at a result as somebody who trusts none of the code that made it."""
    if isinstance(result, Graph):
        _check_graph(result)
    elif isinstance(result, Features):
        _check_matrix("features", result.matrix)
    elif sparse.issparse(result) or isinstance(result, np.ndarray):
        _check_matrix("result", result)
    elif isinstance(result, float | np.floating):
        _require(bool(np.isfinite(result)), "result: a number that is not finite")
    elif isinstance(result, tuple | list):
        for part in result[:20]:
            check_sound(part)
    elif hasattr(result, "coef_"):
        _check_model(result)
    repr(result)


def _check_graph(graph: Graph) -> None:
    indptr, indices, n = graph.indptr.tolist(), graph.indices.tolist(), graph.n_nodes
    _require(indptr[0] == 0 and indptr[-1] == len(indices), "graph: row starts that do not span the entries")
    _require(all(a <= b for a, b in itertools.pairwise(indptr)), "graph: row starts that fall")
    _require(all(0 <= node < n for node in indices), "graph: a neighbour that is no node")
    if graph.weights is not None:
        _require(bool((graph.weights > 0).all() and np.isfinite(graph.weights).all()), "graph: odd weights")
        _require(len(graph.weights) == len(indices), "graph: weights for other edges")
    _require(bool(np.isfinite(graph.degrees()).all()), "graph: degrees that are not finite")
    _require(len(graph.ids) == n, "graph: ids for other nodes")
    if not graph.directed and n <= 2000:
        dense = np.zeros((n, n)) if n <= 200 else None
        if dense is not None:
            rows = np.repeat(np.arange(n), np.diff(graph.indptr))
            dense[rows, graph.indices] = 1.0 if graph.weights is None else graph.weights
            _require(bool((dense == dense.T).all()), "graph: undirected and not symmetric")


def _check_matrix(name: str, matrix: Any) -> None:
    if sparse.issparse(matrix):
        if matrix.format in ("csr", "csc"):
            indptr, bound = np.asarray(matrix.indptr), matrix.shape[1 if matrix.format == "csr" else 0]
            _require(bool(indptr[0] == 0 and (np.diff(indptr) >= 0).all()), f"{name}: row starts that fall")
            _require(len(matrix.indices) == len(matrix.data) == indptr[-1], f"{name}: parts of other lengths")
            inside = (matrix.indices >= 0).all() and (matrix.indices < bound).all()
            _require(bool(inside), f"{name}: an index out of range")
        matrix = matrix.data
    values = np.asarray(matrix)
    if values.dtype.kind in "fc":
        _require(bool(np.isfinite(values).all()), f"{name}: numbers that are not finite")


def _check_model(model: Any) -> None:
    _check_matrix("coef_", model.coef_)
    _check_matrix("intercept_", model.intercept_)
    if getattr(model, "converged_", False):
        _require(bool(np.isfinite(model.loss_)), "loss_: converged without being finite")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise Unsound(text)
