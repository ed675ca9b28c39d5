"""Word vectors propagated over the dependency trees, read out at the entities and what ties them together.

`Z = [P_r S^k X]` for the readouts r and hops k = 0, ..., K: X (n, d) holds the vector of each token, S the
propagation matrix of all trees at once, and row i of `P_r` the mean over the tokens of sentence i that have the role r.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.features import WordVectors
from sgclearn.operators import Operator
from sgclearn.tasks.relations.sentences import Sentences
from sgclearn.tasks.relations.trees import Forest

Array = NDArray[np.float64]


def _between(forest: Forest) -> NDArray[np.bool_]:
    start = np.minimum(forest.subjects[:, 1], forest.objects[:, 1])
    stop = np.maximum(forest.subjects[:, 0], forest.objects[:, 0])
    return forest.spans(np.stack([start, stop], axis=1))


# Which tokens (n,) have a role.
ROLES: dict[str, Callable[[Forest], NDArray[np.bool_]]] = {
    "subject": lambda forest: forest.spans(forest.subjects),
    "object": lambda forest: forest.spans(forest.objects),
    "path": lambda forest: forest.path & ~forest.spans(forest.subjects) & ~forest.spans(forest.objects),
    "between": _between,
    "sentence": lambda forest: np.ones(forest.n_tokens, dtype=bool),
}


def token_vectors(sentences: Sentences, vectors: WordVectors) -> tuple[Array, int]:
    """X (n, d), zero for an unknown word, and how many tokens are known."""
    at = vectors.positions(sentences.tokens)
    X = np.zeros((sentences.n_tokens, vectors.n_dimensions))
    X[at >= 0] = vectors.matrix[at[at >= 0]]
    return X, int(np.count_nonzero(at >= 0))


def role_readout(forest: Forest, roles: tuple[str, ...]) -> Any:
    """`P` (R m, n): the readouts of the roles, one below the other."""
    return sp.csr_array(sp.vstack([forest.readout(ROLES[role](forest)) for role in roles]))


def _matrix(forest: Forest, n_hops: int, normalization: str, gamma: float | None) -> Any:
    """S of the trees; where nothing moves, it is not built."""
    return sp.csr_array(Operator(forest.graph, normalization, gamma).matrix()) if n_hops else None


def read_out(
    forest: Forest, X: Array, roles: tuple[str, ...], n_hops: int, normalization: str, gamma: float | None
) -> Array:
    """`Z` (m, R (K + 1) d): for every role, hop and dimension of the vectors.

    Paper: Eq. (4). Cost: O(K n d), as a tree has fewer edges than nodes. Exact: yes.
    """
    P = role_readout(forest, roles)
    Z = np.empty((len(roles), forest.n_trees, n_hops + 1, X.shape[1]))
    S = _matrix(forest, n_hops, normalization, gamma)
    H: Any = X
    for hop in range(n_hops + 1):
        H = H if hop == 0 else S @ H
        Z[:, :, hop] = (P @ H).reshape(len(roles), forest.n_trees, -1)
    return Z.transpose(1, 0, 2, 3).reshape(forest.n_trees, -1)


def token_shares(
    forest: Forest, X: Array, roles: tuple[str, ...], n_hops: int, normalization: str, gamma: float | None,
    weights: Array,
) -> Array:  # fmt: skip
    """What the vector of every token adds to `Z weights`, split by role: (R, n).

    Row i of `Z weights` (m,) is the sum of the shares of the tokens of sentence i: token t adds
    `sum_k (P_r S^k)[i, t] (X theta_rk)[t]`.
    """
    S = _matrix(forest, n_hops, normalization, gamma)
    theta = weights.reshape(len(roles), n_hops + 1, X.shape[1])
    shares = np.zeros((len(roles), forest.n_tokens))
    for at, role in enumerate(roles):
        # A token has one sentence, so column t of P_r S^k has one entry: the sum of the column.
        reach = np.asarray(forest.readout(ROLES[role](forest)).sum(axis=0)).ravel()
        for hop in range(n_hops + 1):
            reach = reach if hop == 0 else S.T @ reach
            shares[at] += reach * (X @ theta[at, hop])
    return shares
