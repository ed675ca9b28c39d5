"""SGC as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sgclearn.errors import InputError
from sgclearn.estimators.base import BaseSGC
from sgclearn.estimators.labels import (
    as_labels,
    check_length,
    check_sample_weight,
    class_codes,
    class_margins,
    class_probabilities,
    class_weight_factors,
    encode_classes,
    labelled_mask,
    one_hot,
)
from sgclearn.estimators.loss import Link, Softmax
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.propagate import DEFAULT_N_HOPS, Filters

# Chosen by measurement over real graphs: benchmarks/defaults.py, and the table in docs/classify.
DEFAULT_WEIGHT_DECAY = 1e-4


class SoftmaxPrediction(ClassifierMixin, BaseSGC):  # type: ignore[misc]
    """Prediction of one class a node; `SGCClassifier` and `SGCClassifierCV` differ only in how they fit."""

    unlabeled: Any
    class_weight: Any

    def _labels(self, y: Any, n_samples: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the labelled samples and the code of each; sets `classes_`."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None", argument="y"
            )
        y = as_labels(y)
        if y.ndim == 2 and y.shape[1] > 1:
            raise InputError(
                "y must have one label a node",
                f"shape {y.shape}",
                "for several labels a node use SGCMultilabelClassifier",
                argument="y",
            )
        if y.ndim != 1:
            y = column_or_1d(y, warn=True)
        check_length(y, n_samples)
        known = labelled_mask(y, self.unlabeled)
        if known.any() and y.dtype.kind not in "biuU":  # whole numbers and texts are always classes
            check_classification_targets(np.asarray(y[known].tolist()))
        self.classes_, codes = encode_classes(y, known)
        return np.flatnonzero(known), codes

    def _targets(self, codes: NDArray[np.intp]) -> tuple[type[Link], NDArray[np.float64]]:
        """The loss, and the targets (m, C) that it takes."""
        return Softmax, one_hot(codes, len(self.classes_))

    def _weighted(self, weights: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Weights of the samples that are learned from; no other label may count towards a balance."""
        factors = class_weight_factors(self.class_weight, self.classes_, codes, weights)
        if self.class_weight is None or not (weights.any() and factors.any()):
            return weights * factors
        # Only their ratios count, and the product of two numbers up to one cannot overflow.
        return np.asarray((weights / weights.max()) * (factors / factors.max()))

    def _decided(self, logits: NDArray[np.float64]) -> NDArray[Any]:
        return np.asarray(self.classes_[class_codes(logits)])

    @property
    def transduction_proba_(self) -> NDArray[np.float64]:
        """Probability of every class (m, C) for every sample of the fit."""
        return class_probabilities(self.transduction_logits_ / self.temperature_)

    def decision_function(
        self, X: Any, graph: Graph | None = None, nodes: Any = None, *, readout: Any = None
    ) -> NDArray[np.float64]:
        """Logits (m, C), or for two classes the logit of the second over the first (m,).

        Parameters are those of `predict`.
        """
        return class_margins(self._logits(X, graph, nodes, readout))

    def predict_proba(
        self, X: Any, graph: Graph | None = None, nodes: Any = None, *, readout: Any = None
    ) -> NDArray[np.float64]:
        """Probability of every class (m, C), columns in the order of `classes_`.

        Parameters are those of `predict`.
        """
        return class_probabilities(self._logits(X, graph, nodes, readout) / self.temperature_)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        graph: Graph | None = None,
        *,
        readout: Any = None,
    ) -> float:
        """Share of the labelled samples of `y` that are predicted right; unlabelled ones do not count."""
        y = column_or_1d(as_labels(y))
        known = labelled_mask(y, self.unlabeled)
        weights = check_sample_weight(sample_weight, len(y), np.flatnonzero(known))
        predicted = self.predict(X, graph, readout=readout)
        check_length(y, len(predicted))
        if not known.any():
            raise InputError(
                "y must have a label to score",
                f"{len(y):,} nodes, none of them labelled",
                "label some",
                argument="y",
            )
        right = predicted[known] == y[known]
        return float(np.average(right, weights=weights))


class SGCClassifier(SoftmaxPrediction):
    """Simple Graph Convolution: `softmax(S^K X Theta + b)`.

    Minimises the mean cross-entropy over the labelled nodes plus `weight_decay / 2 (|Theta|^2 + |b|^2)`.

    Parameters
    ----------
    n_hops : int >= 0, default 2
        K. Zero is plain logistic regression.
    normalization : {"sym", "rw", "cheby"}, default "sym"
        Which propagation matrix S; see `Operator`.
    gamma : float >= 0, optional
        Weight of the added self-loops, 1 if not given.
    filter : PolynomialFilter, or a list of them, optional
        Another polynomial of S than the power `S^K`, such as `S2GCFilter(16, 0.05)`; it has its own hops. With a list
        the columns of all filters stand side by side; a whole number k in it is the power `S^k`.
    row_norm : {None, "l1", "l2"}
        Divide every row of X by its norm before propagation; the paper's citation recipe is "l1".
    scale : {None, "standard", "minmax", "maxabs"}
        Scale the columns after propagation, with the statistics of the labelled nodes.
    weight_decay : float >= 0, default 1e-4
        Zero is allowed; labelled nodes that can be separated then have no minimiser, and a warning says so.
    solver : {"lbfgs", "adam", "lbfgs-steps", "sgd"}, default "lbfgs"
        "lbfgs" finds the exact optimum, "adam" follows the paper's recipe for citation graphs, "lbfgs-steps" that for
        text and Reddit, "sgd" takes minibatches whose rows are computed when needed (with `Compute(plan="implicit")`
        they never exist together).
    fit_intercept, penalize_intercept : bool, default True
        Whether there is a bias, and whether weight decay acts on it.
    class_weight : None, "balanced" or dict
    max_iter : int, optional
        Iterations of "lbfgs" (1000 if not given) and "lbfgs-steps" (60), epochs of "adam" and "sgd" (100).
    tol : float, default 1e-10
        "lbfgs" stops when the gradient norm is `tol` times its norm at zero weights.
    learning_rate : float, optional
        Of "adam" (0.2) and "sgd" (1, relative to the scale of the features).
    batch_size : int, default 256
        Of "sgd".
    random_state : int or None, default 2019
        Seed of "adam", "lbfgs-steps" and "sgd"; the default makes two fits equal, None draws a new one.
    unlabeled : default -1
        The label that means "no label". None, NaN and, among texts, the empty text always mean that.
    compute : Compute, optional
        How it is computed: plan, engine, threads, memory limit; the answer is the same.

    Attributes
    ----------
    classes_ : ndarray (C,)
    coef_ : ndarray (C, d)
        Of several filters, the d columns of the first, then of the second, ...
    intercept_ : ndarray (C,)
    transduction_ : ndarray (m,)
        Predicted class of every sample of the fit: of every node, or of every row of the readout.
    transduction_proba_, transduction_logits_ : ndarray (m, C)
        Probabilities, and what they are computed from.
    plan_ : Plan
        What was chosen, its estimated work and memory, and what the others would have cost.
    temperature_ : float
        What `predict_proba` divides the logits by: 1, unless held-out labels said otherwise (`SGCClassifierCV`).
    n_iter_, converged_, gradient_ratio_, loss_
        How the solver ended; `gradient_ratio_` is the gradient norm over its norm at zero weights.

    Notes
    -----
    Paper: Eq. (8). Bridge to scikit-learn's LogisticRegression (with `penalize_intercept=False`):
    `C = 1 / (sum(w) * weight_decay)` for three classes or more, `2 / (sum(w) * weight_decay)` for two.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCClassifier
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cid"), ("dan", "eve"), ("eve", "fay")])
    >>> X = np.eye(6)
    >>> y = ["red", "", "", "blue", "", ""]
    >>> SGCClassifier().fit(X, y, graph=graph).predict(X, graph=graph).tolist()
    ['red', 'red', 'red', 'blue', 'blue', 'blue']
    """

    def __init__(
        self,
        n_hops: int = DEFAULT_N_HOPS,
        *,
        normalization: str = "sym",
        gamma: float | None = None,
        filter: Filters = None,
        row_norm: str | None = None,
        scale: str | None = None,
        weight_decay: float = DEFAULT_WEIGHT_DECAY,
        solver: str = "lbfgs",
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int | None = None,
        tol: float = 1e-10,
        learning_rate: float | None = None,
        batch_size: int = 256,
        random_state: int | None = 2019,
        unlabeled: Any = -1,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.normalization = normalization
        self.gamma = gamma
        self.filter = filter
        self.row_norm = row_norm
        self.scale = scale
        self.weight_decay = weight_decay
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.compute = compute
