"""SGC itself behind the interface of the baselines, with the settings that recipes name."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines import Baseline
from sgclearn.baselines.interface import OnStep
from sgclearn.datasets import GraphDataset
from sgclearn.errors import InputError
from sgclearn.estimators import SGCClassifier, SGCClassifierCV
from sgclearn.experiments.problems import TextDataset

if TYPE_CHECKING:
    from sgclearn.tasks.text.classifier import TextSGCClassifier

VALIDATED = "validated"


class SGCModel(Baseline):
    """`SGCClassifier` on a dataset.

    Parameters
    ----------
    n_hops : int or sequence of int
        Of several the best on the validation nodes is taken, found together with the weight decay.
    normalization, gamma, row_norm, scale, solver, max_iter, tol, learning_rate, fit_intercept, random_state
        As in `SGCClassifier`.
    weight_decay : float or "validated"
        "validated" takes the best of the warm-started path of `SGCClassifierCV` on the validation nodes. The time of
        that search is a detail (`search_seconds`), as is what it found; `seconds_` is that of the fit.
    """

    def __init__(
        self,
        n_hops: int | Sequence[int] = 2,
        *,
        weight_decay: float | str = VALIDATED,
        normalization: str = "sym",
        gamma: float | None = None,
        row_norm: str | None = None,
        scale: str | None = None,
        solver: str = "lbfgs",
        max_iter: int | None = None,
        tol: float = 1e-10,
        learning_rate: float | None = None,
        fit_intercept: bool = True,
        random_state: int = 2019,
    ) -> None:
        self.weight_decay = _checked_decay(weight_decay)
        self.options: dict[str, Any] = {
            "normalization": normalization,
            "gamma": gamma,
            "row_norm": row_norm,
            "scale": scale,
            "solver": solver,
            "max_iter": max_iter,
            "tol": tol,
            "learning_rate": learning_rate,
            "fit_intercept": fit_intercept,
            "random_state": random_state,
        }
        self.n_hops = n_hops

    def fit(self, data: GraphDataset, on_step: OnStep | None = None) -> Self:
        """Fit to the training labels; see `Baseline.fit`."""
        X = features_of(data)
        self.details_ = {}
        with warnings.catch_warnings():
            # Loops in the data stay and I is added on top of them, as in the paper's own runs.
            warnings.filterwarnings("ignore", message=".*self-loops in the data")
            chosen = self._chosen(data, X, on_step)
            with self.timed():
                self.model_ = SGCClassifier(**chosen, **self.options)
                self.model_.fit(X, data.train_labels(), graph=data.graph)
        self.fitted_to_ = data.graph, data.X
        self.details_ |= {"iterations": int(self.model_.n_iter_), "plan": self.model_.plan_.chosen}
        self.n_parameters_ = int(self.model_.coef_.size)
        if self.options["fit_intercept"]:
            self.n_parameters_ += int(self.model_.intercept_.size)
        return self

    def _chosen(self, data: GraphDataset, X: Any, on_step: OnStep | None) -> dict[str, Any]:
        """Hops and weight decay: as they are given, or the best on the validation nodes."""
        decay = None if isinstance(self.weight_decay, str) else self.weight_decay
        if decay is not None and isinstance(self.n_hops, int):
            return {"n_hops": self.n_hops, "weight_decay": decay}
        began = time.perf_counter()
        search = SGCClassifierCV(
            self.n_hops, weight_decay=None if decay is None else (decay,), **self.options
        )
        labels = data.train_labels(with_val=True)
        search.fit(X, labels, graph=data.graph, validation=data.val, on_step=on_step)
        best: dict[str, Any] = search.best_params_
        found = {"n_hops": int(best["n_hops"]), "weight_decay": float(best["weight_decay"])}
        self.details_ |= {**found, "search_seconds": time.perf_counter() - began}
        return found

    def predict(self, data: GraphDataset) -> NDArray[np.intp]:
        """Class of every node; those of the nodes it was fitted with are known already."""
        graph, X = self.fitted_to_
        if data.graph is graph and data.X is X:
            return np.asarray(self.model_.transduction_, dtype=np.intp)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*self-loops in the data")
            return np.asarray(self.model_.predict(features_of(data), graph=data.graph), dtype=np.intp)


class TextSGCModel(Baseline):
    """`TextSGCClassifier` on the graph of documents and words that a dataset carries.

    Parameters
    ----------
    n_hops, recipe, random_state
        As in `TextSGCClassifier`.
    weight_decay : float or "validated"
        "validated" takes the best of the classifier's own path on the validation documents; as in `SGCModel` the
        search is timed apart.

    Notes
    -----
    `seconds_` is the fit on the finished graph: normalisation, propagation, scaling, training, and the prediction of
    all documents.
    """

    def __init__(
        self,
        n_hops: int = 2,
        *,
        recipe: str = "exact",
        weight_decay: float | str = VALIDATED,
        random_state: int = 2019,
    ) -> None:
        self.n_hops = n_hops
        self.recipe = recipe
        self.weight_decay = _checked_decay(weight_decay)
        self.random_state = random_state

    def fit(self, data: GraphDataset, on_step: OnStep | None = None) -> Self:
        """Fit to the training documents; see `Baseline.fit`."""
        if not isinstance(data, TextDataset) or data.text_graph is None:
            raise InputError(
                f"text-sgc takes a graph of documents and words: got {data.name!r}; name a corpus of kind text."
            )
        self.details_ = {}
        weight_decay = self._decay(data, on_step)
        model = self._model(weight_decay)
        with self.timed():
            model.fit(data.text_graph, data.train_labels()[: data.text_graph.n_documents])
        self.model_ = model
        self.details_ |= {"iterations": int(model.n_iter_)}
        self.n_parameters_ = int(model.coef_.size)
        return self

    def _model(self, weight_decay: float | None) -> TextSGCClassifier:
        from sgclearn.tasks.text.classifier import TextSGCClassifier

        return TextSGCClassifier(
            n_hops=self.n_hops,
            recipe=self.recipe,
            weight_decay=weight_decay,
            random_state=self.random_state,
        )

    def _decay(self, data: TextDataset, on_step: OnStep | None) -> float:
        if not isinstance(self.weight_decay, str):
            return self.weight_decay
        step = on_step or (lambda done, of: None)
        began = time.perf_counter()
        n_documents = 0 if data.text_graph is None else data.text_graph.n_documents
        labels = data.train_labels(with_val=True)[:n_documents]
        search = self._model(None).fit(
            data.text_graph, labels, validation=data.val, on_stage=lambda text: step
        )
        found = float(search.weight_decay_)
        self.details_ |= {"weight_decay": found, "search_seconds": time.perf_counter() - began}
        return found

    def predict(self, data: GraphDataset) -> NDArray[np.intp]:
        """Class of every document; words, which have none, get -1."""
        codes = np.full(data.graph.n_nodes, -1, dtype=np.intp)
        codes[: self.model_.n_documents_] = self.model_.transduction_
        return codes


def _checked_decay(weight_decay: float | str) -> float | str:
    if isinstance(weight_decay, str) and weight_decay != VALIDATED:
        raise InputError(
            f"weight_decay must be a number or {VALIDATED!r}: got {weight_decay!r}; name one of these."
        )
    return weight_decay


def features_of(data: GraphDataset) -> Any:
    """Features of a dataset; None for one-hot ones, which are then never multiplied with."""
    n_nodes = data.graph.n_nodes
    X: Any = data.X
    is_square = sp.issparse(X) and X.shape == (n_nodes, n_nodes) and X.nnz == n_nodes
    return None if is_square and (X.diagonal() == 1.0).all() else X
