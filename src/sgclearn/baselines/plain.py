"""Models without a network: logistic regression on the features, and labels spread along the edges."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import Rows, normalized_features
from sgclearn.baselines.interface import Baseline, Classes, OnStep, check_features, check_nodes
from sgclearn.errors import InputError
from sgclearn.estimators import SGCClassifier, SGCClassifierCV
from sgclearn.tasks.protocol import Samples


def regression(
    Z: Any, samples: Samples, weight_decay: float | None, on_step: OnStep | None = None
) -> SGCClassifier:
    """Multinomial logistic regression of the samples on numbers Z (m, c); without a decay, the best by validation."""
    if weight_decay is None:
        search = SGCClassifierCV(0)
        labels = samples.labels("train", "val")
        search.fit(Z, labels, validation=samples.where("val"), on_step=on_step)
        best: dict[str, Any] = search.best_params_
        weight_decay = float(best["weight_decay"])
    return SGCClassifier(0, weight_decay=weight_decay).fit(Z, samples.labels("train"))


@dataclass(eq=False, repr=False)
class LogisticRegression(Baseline):
    """Multinomial logistic regression on the features of a node, which sees no graph.

    Parameters
    ----------
    weight_decay : float, optional
        The best of a path on the validation nodes if not given.
    row_norm : {None, "l1", "l2"}, default "l1"
    random_state : int, default 2019
        Not used: the optimum is unique.

    Examples
    --------
    >>> from sgclearn.baselines import LogisticRegression
    >>> LogisticRegression(weight_decay=1e-4).weight_decay
    0.0001
    """

    weight_decay: float | None = None
    _: KW_ONLY
    row_norm: str | None = "l1"
    random_state: int = 2019

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Fit to the training labels; see `Baseline.fit`."""
        Classes.of(self, samples, needs_val=self.weight_decay is None)
        with self.timed():
            self.model_ = regression(self._read(samples), samples, self.weight_decay, on_step)
        self.n_parameters_ = int(self.model_.coef_.size + self.model_.intercept_.size)
        self.details_ = {"weight_decay": float(self.model_.weight_decay)}
        return self

    def _read(self, samples: Samples) -> Any:
        """Features of the samples (m, d)."""
        return Rows(samples).of(normalized_features(samples, self.row_norm))

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample."""
        check_features(self, samples)
        return np.asarray(self.model_.predict(self._read(samples)))


@dataclass(eq=False, repr=False)
class LabelPropagation(Baseline):
    """Classes spread along the edges: every node without a label takes the mean of its neighbours.

    `F = D^-1 A F` on the nodes without a label and `F = Y` on those with one: the harmonic function, by iteration.
    A node that no label reaches gets the shares of the classes among the training nodes. Features are not read.

    Parameters
    ----------
    max_iter : int, default 1000
    tol : float, default 1e-4
        Stop when no entry changes by more.
    class_mass : bool, default True
        Scale each class so that its mass over the nodes without a label is its share among the training nodes, the
        class mass normalisation of the same paper. With few labels the function is almost the same everywhere, and
        without the scaling the class whose labels have the most neighbours takes all nodes.
    random_state : int, default 2019
        Not used: nothing is random.

    Notes
    -----
    Paper: Zhu, Ghahramani and Lafferty, Semi-Supervised Learning Using Gaussian Fields and Harmonic Functions, 2003.

    Examples
    --------
    >>> from sgclearn.baselines import LabelPropagation
    >>> LabelPropagation(max_iter=50).max_iter
    50
    """

    _: KW_ONLY
    max_iter: int = 1000
    tol: float = 1e-4
    class_mass: bool = True
    random_state: int = 2019

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.tol < 0:
            raise InputError(
                "max_iter must be >= 1 and tol >= 0", f"{self.max_iter} and {self.tol}", argument="max_iter"
            )

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Spread the training labels; see `Baseline.fit`."""
        classes = Classes.of(self, samples, needs_val=False)
        with self.timed():
            train = Rows(samples, classes.train).nodes(self)
            Y = np.zeros((len(train), len(classes)))
            Y[np.arange(len(train)), classes.codes[classes.train]] = 1.0
            graph = samples.graph
            degrees = graph.degrees()
            inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
            P = sp.csr_array(sp.diags_array(inverse) @ graph.to_scipy())
            F = np.zeros((graph.n_nodes, Y.shape[1]))
            F[train] = Y
            for step in range(self.max_iter):
                spread = P @ F
                spread[train] = Y
                change = np.abs(spread - F).max()
                F = spread
                if on_step is not None:
                    on_step(step + 1, self.max_iter)
                if change <= self.tol:
                    break
            if self.class_mass:
                mass = F.sum(axis=0) - Y.sum(axis=0)
                F *= np.divide(Y.mean(axis=0), mass, out=np.ones_like(mass), where=mass > 0)
                F[train] = Y
            F[F.sum(axis=1) == 0.0] = Y.mean(axis=0)
        self.scores_ = F
        self.n_parameters_ = 0
        self.details_ = {"iterations": step + 1}
        return self

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample of the graph of the fit."""
        check_nodes(self, samples)
        scores = Rows(samples).of(self.scores_)
        return np.asarray(self.classes_[scores.argmax(axis=1)])
