"""Frequencies of an operator: all of them for small graphs, the extreme ones by Lanczos for large graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.operators import Operator
from sgclearn.spectral.laplacian import check_operator, symmetric_matrix
from sgclearn.validation.parameters import Choice, Number, Whole

Array = NDArray[np.float64]

DEFAULT_MAX_BYTES = 2 * 10**9
# Below this many nodes a dense decomposition is faster than Lanczos, and knows every copy of an eigenvalue.
_DENSE_NODES = 200
_START_SEED = 1950  # Lanczos' own year: a fixed start makes the answer the same in every run


@dataclass(frozen=True, eq=False)
class Spectrum:
    """All eigenvalues and eigenvectors of `I - S`: `M = U diag(1 - f) U^T`, `S = diag(1/t) M diag(t)`.

    Attributes
    ----------
    frequencies : ndarray (n,)
        Eigenvalues `f` of `I - S`, ascending: 0 is what neighbours share, the largest what they differ in.
    modes : ndarray (n, n)
        Orthonormal columns `U`, one a frequency.
    scale : ndarray (n,)
        `t`: ones for `sym` and `cheby`, `sqrt(d~)` for `rw`.
    operator : Operator
    """

    frequencies: Array
    modes: Array
    scale: Array
    operator: Operator

    @property
    def middle(self) -> float:
        """Middle of the range of frequencies, where the low half ends."""
        return float(self.frequencies[0] + self.frequencies[-1]) / 2

    @property
    def is_low(self) -> NDArray[np.bool_]:
        """Which frequencies are in the low half, those at the very middle included."""
        return np.asarray(self.frequencies <= self.middle + 1e-9)


@dataclass(frozen=True, eq=False)
class ExtremeEigenvalues:
    """The k smallest and the k largest eigenvalues of `I - S`, both ascending."""

    smallest: Array
    largest: Array


def exact_spectrum(operator: Operator, *, max_bytes: float = DEFAULT_MAX_BYTES) -> Spectrum:
    """Every eigenvalue and eigenvector of `I - S`, by a dense decomposition.

    Parameters
    ----------
    operator : Operator
        Of an undirected graph; `rw` goes through the symmetric matrix with the same eigenvalues.
    max_bytes : float, default 2e9
        A graph whose decomposition would need more (`24 n^2` bytes) is refused before anything is computed.

    Notes
    -----
    Cost: `O(n^3)` time, `24 n^2` bytes. Exact: yes.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import exact_spectrum
    >>> pair = Operator(Graph.from_edges([(0, 1)]), gamma=0)
    >>> exact_spectrum(pair).frequencies.round(12)
    array([0., 2.])
    """
    from scipy.linalg import eigh

    check_operator(operator)
    check_size(operator.n_nodes, max_bytes)
    matrix, scale = symmetric_matrix(operator)
    negative = (-matrix).toarray(order="F")  # in LAPACK's order it is overwritten by U, not copied
    values, modes = eigh(negative, overwrite_a=True, check_finite=False, driver="evd")
    return Spectrum(1.0 + values, modes, scale, operator)


def check_size(n_nodes: int, max_bytes: float) -> None:
    """Refuse a dense decomposition that needs more than `max_bytes`."""
    needed = 24.0 * n_nodes**2
    if needed > Number().check("max_bytes", max_bytes):
        raise MemoryLimitError(
            f"an exact spectrum must fit into max_bytes={_gigabytes(max_bytes)}",
            f"{n_nodes:,} nodes, which need {_gigabytes(needed)}",
            "use extreme_eigenvalues and spectral_density, or raise max_bytes",
        )


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.2g} GB" if count < 1e10 else f"{count / 1e9:,.0f} GB"


def extreme_eigenvalues(
    operator: Operator,
    k: int = 1,
    *,
    which: str = "both",
    tolerance: float = 1e-10,
    max_restarts: int = 3000,
) -> ExtremeEigenvalues:
    """The k smallest and k largest eigenvalues of `I - S`, by Lanczos with a fixed start.

    Parameters
    ----------
    operator : Operator
        Of an undirected graph.
    k : int, default 1
        How many at each end, 1 <= k <= n; copies of an eigenvalue count.
    which : {"both", "smallest", "largest"}, default "both"
        The end that is not wanted stays empty, and costs nothing.
    tolerance : float, default 1e-10
        Residual of an eigenvector; the error of its eigenvalue is of the order of its square.
    max_restarts : int, default 3000

    Notes
    -----
    Cost: some hundred products with `S`, more where eigenvalues crowd at an end. Lanczos may overlook copies
    of an eigenvalue; with k > 1 the rest of the spectrum is searched again for them.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import extreme_eigenvalues
    >>> ring = Operator(Graph.from_edges([(i, (i + 1) % 400) for i in range(400)]), gamma=0)
    >>> extreme_eigenvalues(ring, which="largest").largest.round(12)
    array([2.])
    """
    check_operator(operator)
    n_nodes = operator.n_nodes
    k = Whole(low=1, high=n_nodes).check("k", k)
    which = Choice(values=("both", "smallest", "largest")).check("which", which)
    matrix, _ = symmetric_matrix(operator)
    low = high = np.empty(0)
    if which != "largest":
        low = 1.0 - top_of(matrix, int(k), tolerance, max_restarts)[0]
    if which != "smallest":
        high = 1.0 + top_of(-matrix, int(k), tolerance, max_restarts)[0][::-1]
    return ExtremeEigenvalues(low, high)


def top_of(
    matrix: Any, k: int = 1, tolerance: float = 1e-10, max_restarts: int = 3000
) -> tuple[Array, Array]:
    """The k largest eigenvalues (k,), descending, and eigenvectors (n, k) of a symmetric sparse matrix.

    Its eigenvalues must lie in [-2, 2].
    """
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator

    n_nodes = matrix.shape[0]
    if n_nodes <= _DENSE_NODES or 3 * k > n_nodes:
        check_size(n_nodes, DEFAULT_MAX_BYTES)
        # All of them: asked for a part, LAPACK can lose copies of an eigenvalue, which every component brings.
        values, vectors = eigh(matrix.toarray(), driver="evd")
        return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]
    generator = np.random.default_rng(_START_SEED)
    values, vectors = _lanczos(matrix, k, tolerance, max_restarts, generator)
    # A copy that was overlooked is the largest eigenvalue once what was found is shifted below everything.
    while k > 1:

        def without_found(x: Array, V: Array = vectors) -> Array:
            return np.asarray(matrix @ x - 5.0 * (V @ (V.T @ x)))

        rest = LinearOperator(matrix.shape, matvec=without_found, dtype=np.float64)
        value, vector = _lanczos(rest, 1, tolerance, max_restarts, generator)
        if value[0] <= values[-1] + 1e-9:
            break
        order = np.argsort(-np.append(values[:-1], value), kind="stable")
        values = np.append(values[:-1], value)[order]
        vectors = np.hstack([vectors[:, :-1], vector])[:, order]
    return values, vectors


def _lanczos(
    matrix: Any, k: int, tolerance: float, max_restarts: int, generator: np.random.Generator
) -> tuple[Array, Array]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n_nodes = matrix.shape[0]
    start = generator.standard_normal(n_nodes)
    width = min(n_nodes, max(2 * k + 1, 40))
    try:
        values, vectors = eigsh(
            matrix, k, which="LA", v0=start, tol=tolerance, ncv=width, maxiter=max_restarts
        )
    except ArpackNoConvergence as error:
        raise InputError(
            f"Lanczos must find {k} eigenvalues to {tolerance:g} within max_restarts={max_restarts}",
            f"{len(error.eigenvalues)} of them",
            "ask for fewer, raise max_restarts, or raise tolerance",
        ) from error
    order = np.argsort(-values)
    return values[order], vectors[:, order]
