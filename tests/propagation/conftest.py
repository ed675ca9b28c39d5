"""What the tests of engines and kernels are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sgclearn import Graph, reference

from zoo import dense_adjacency

Polynomial = Callable[[Graph, tuple[str, float | None], Sequence[float]], NDArray[np.float64]]


@pytest.fixture(scope="session")
def polynomial() -> Polynomial:
    """`sum_k c_k S^k` of a graph, dense, by the reference; its operator is normalization and gamma."""

    def dense(
        graph: Graph, choice: tuple[str, float | None], coefficients: Sequence[float]
    ) -> NDArray[np.float64]:
        S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
        return np.sum([c * np.linalg.matrix_power(S, k) for k, c in enumerate(coefficients)], axis=0)

    return dense
