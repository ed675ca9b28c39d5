r"""How far the samples reach along every direction, and the preconditioner that follows from it.

With `Z1 = [Z 1]` the Hessian is a sum over samples of `w_i K_i kron z_i z_i^T`, plus weight decay. Replacing the sum
of products by the product of the sums gives `K kron G + a I` with `K = sum_i w_i K_i` (C, C) and
`G = Z1^T diag(w) Z1` (d+1, d+1): exact where all probabilities are equal, as at zero weights, and close to the Hessian
later. In the eigenbases of K and G it is diagonal, so that solving with it costs two thin products. Conjugate
gradients need three to ten times fewer steps with it than with a bound on the diagonal.

An approximation shapes only the path: what a solver reaches is judged by the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.loss import Objective, Softmax
from sgclearn.estimators.scaling import unscaled
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
# A spread is an average: so many samples for every column tell it well enough, and more do it better where there are
# so many samples that a product with all of them costs more.
_SAMPLES_A_COLUMN, _MORE_SAMPLES, _SHARE_OF_SAMPLES = 8, 32, 8
_ALWAYS_SMALL = 64  # eigenvectors of so few columns cost less than a few products with any design
_SAMPLES_OF_CURVATURE = 16_384  # an average too
_PROBES = 24
_FLAT = 1e-12  # eigenvalues of K below this share of the largest are rounding


@dataclass(frozen=True)
class Spread:
    """`G = V diag(squares) V^T`.

    `squares` (d+1,) holds one entry a row of the parameters in the basis `V` (k, k) of their first k rows; the rows
    after, a bias without weight decay, stand for themselves. Without a basis V = I and `squares` is the diagonal of G.
    """

    squares: Array
    basis: Array | None = None

    def rotate(self, R: Array) -> Array:
        """`V^T R`."""
        return R if self.basis is None else self._turn(self.basis.T, R)

    def rotate_back(self, R: Array) -> Array:
        """`V R`."""
        return R if self.basis is None else self._turn(self.basis, R)

    @staticmethod
    def _turn(V: Array, R: Array) -> Array:
        k = len(V)
        return V @ R if k == len(R) else np.concatenate([V @ R[:k], R[k:]])


def measure_spread(objective: Objective) -> Spread:
    """The spread of an objective's samples, with a basis where its eigenvectors cost little beside the products.

    Cost: O(d^3), or O(nnz) without a basis. Many samples are represented by an even choice of them.
    """
    design, weights = objective.design, objective.weights[:, 0]
    n_samples, n_columns = design.shape
    # A bias that is decayed like the rest is one more column; a free one is kept apart, where the design is centred.
    joined = objective.intercept and float(objective.decay[-1, 0]) == float(objective.decay[0, 0])
    size = n_columns + joined
    one_decay = not n_columns or bool((objective.decay[:n_columns] == objective.decay[0]).all())
    if one_decay and _basis_pays(design, size, objective.shape[1]):
        many = min(_MORE_SAMPLES * size, n_samples // _SHARE_OF_SAMPLES)
        stride = max(1, n_samples // max(_SAMPLES_A_COLUMN * size, many))
        rows = design.rows(np.arange(0, n_samples, stride))
        if joined:
            rows = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
        chosen = weights[::stride]
        rows *= np.sqrt(chosen / chosen.sum())[:, None]
        values, basis = np.linalg.eigh(rows.T @ rows)
        squares = np.maximum(values, 0.0)
    else:
        squares, basis = _column_squares(design, weights), None
        squares = np.append(squares, 1.0) if joined else squares
    if objective.intercept and not joined:
        squares = np.append(squares, 1.0)
    return Spread(squares, basis)


def _basis_pays(design: Design, size: int, n_classes: int) -> bool:
    base = unscaled(design)
    if not isinstance(base, ExplicitDesign):
        return False
    entries = base.Z.nnz if base.is_sparse else base.Z.size
    return size <= _ALWAYS_SMALL or float(size) ** 3 <= 8.0 * entries * n_classes


def _column_squares(design: Design, weights: Array) -> Array:
    """`sum_i w_i z_ij^2` (d,); where the entries are never formed, estimated by random signs."""
    exact = design.squares(weights)
    if exact is not None:
        return exact
    # For independent signs r the mean of (sum_i r_i sqrt(w_i) z_ij)^2 is the sum of squares.
    signs = np.random.default_rng(2019).choice([-1.0, 1.0], size=(design.shape[0], _PROBES))
    estimate: Array = np.square(design.rmatmul(np.sqrt(weights)[:, None] * signs)).mean(axis=1)
    return estimate


def preconditioner(objective: Objective, spread: Spread, P: NDArray[np.floating]) -> Callable[[Array], Array]:
    """`R -> (K kron G + a I)^-1 R` at the point whose probabilities are P."""
    stride = max(1, len(P) // _SAMPLES_OF_CURVATURE)
    weights = objective.weights[::stride].astype(P.dtype, copy=False)
    K = objective.link.mean_curvature(P[::stride], weights / weights.sum())
    if objective.link is Softmax:
        # What is added to all logits changes nothing: rounding is all that the gradient has there, and a weight decay
        # of next to nothing would blow it up.
        K += np.trace(K) / K.size
    values, Q = (K, None) if K.ndim == 1 else np.linalg.eigh(K)
    curvature = np.where(values > _FLAT * values.max(), values, 0.0)
    scale = spread.squares[:, None] * curvature + objective.decay
    # A direction without curvature and decay has no gradient either, but for rounding: it is left alone.
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)

    def solve(R: Array) -> Array:
        turned = spread.rotate(R) if Q is None else spread.rotate(R) @ Q
        turned = turned * inverse
        return spread.rotate_back(turned if Q is None else turned @ Q.T)

    return solve


def curvature_bound(objective: Objective, spread: Spread) -> float:
    """Bound on the curvature that the samples alone give the objective, in any direction and at every W."""
    return float(objective.link.curvature_bound * spread.squares.sum())
