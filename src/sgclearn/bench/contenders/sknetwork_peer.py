"""scikit-network: its GNNClassifier with one convolution, given features that have taken the other hops.

It has no SGC of its own: a single convolution without activation on `S^(K-1) X` is the same model, trained with
its own Adam. It multiplies with scipy, so its propagation alone is scipy's.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .problem import Answer, Problem, Run, normalized, row_normalized


def fit(problem: Problem) -> Run:
    """From arrays to the predicted class of every node."""
    from sknetwork.gnn import Convolution, GNNClassifier  # type: ignore[import-not-found]

    settings, train, test = problem.settings, problem.part("train"), problem.part("test")
    n_classes = int(problem.y.max()) + 1
    given = np.full(len(problem.y), -1)
    given[train] = problem.y[train]

    def run() -> Answer:
        S, Z = normalized(problem.adjacency()), row_normalized(problem.X)
        for _ in range(problem.n_hops - 1):
            Z = S @ Z
        # S is normalised and has its loops already.
        layer = Convolution(
            "Conv", n_classes, normalization="none", self_embeddings=False, loss="CrossEntropy"
        )
        model = GNNClassifier(layers=[layer], learning_rate=0.2, early_stopping=False)
        operator, features = sp.csr_matrix(S), sp.csr_matrix(Z)  # it knows no sparse arrays
        labels = np.asarray(
            model.fit_predict(operator, features, given, n_epochs=settings["epochs"], random_state=2019)
        )
        # Its own training has no weight decay and ends elsewhere: its classes are not compared.
        return Answer({}, {"accuracy": float((labels == problem.y)[test].mean())})

    return run
