"""SGC on documents, behind the interface of the baselines."""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.interface import Baseline, OnStep
from sgclearn.errors import InputError
from sgclearn.experiments.sgc import VALIDATED, check_decay
from sgclearn.tasks.protocol import Samples

if TYPE_CHECKING:
    from sgclearn.tasks.text import TextGraph, TextSGCClassifier


@dataclass(frozen=True, eq=False)
class TextSamples(Samples):
    """Documents, read off the first nodes of a graph of documents and words with one-hot features."""

    text_graph: TextGraph | None = None

    @classmethod
    def of(cls, name: str, text_graph: TextGraph, y: NDArray[Any], split: NDArray[Any]) -> TextSamples:
        """Samples of the documents of a graph."""
        documents = sp.eye_array(len(y), text_graph.graph.n_nodes, format="csr")
        ids = np.arange(len(y))
        return cls(name, text_graph.graph, None, y, split, ids, documents, "document", text_graph=text_graph)


@dataclass(eq=False, repr=False)
class TextSGCModel(Baseline):
    """`TextSGCClassifier` on the graph of documents and words that samples carry.

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

    n_hops: int = 2
    _: KW_ONLY
    recipe: str = "exact"
    weight_decay: float | str = VALIDATED
    random_state: int = 2019

    def __post_init__(self) -> None:
        check_decay(self.weight_decay)

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Fit to the training documents; see `Baseline.fit`."""
        if not isinstance(samples, TextSamples) or samples.text_graph is None:
            raise InputError(
                "text-sgc takes a graph of documents and words",
                repr(samples.name),
                "name a corpus of kind text",
            )
        self.details_ = {}
        model = self._model(self._decay(samples, on_step))
        with self.timed():
            model.fit(samples.text_graph, samples.labels("train"))
        self.model_ = model
        self.details_ |= {"iterations": int(model.n_iter_)}
        self.n_parameters_ = int(model.coef_.size)
        return self

    def _model(self, weight_decay: float | None) -> TextSGCClassifier:
        from sgclearn.tasks.text import TextSGCClassifier

        chosen = {"n_hops": self.n_hops, "recipe": self.recipe, "random_state": self.random_state}
        return TextSGCClassifier(**chosen, weight_decay=weight_decay)  # type: ignore[arg-type]

    def _decay(self, samples: TextSamples, on_step: OnStep | None) -> float:
        if not isinstance(self.weight_decay, str):
            return self.weight_decay
        step = on_step or (lambda done, of: None)
        began = time.perf_counter()
        validation, labels = samples.where("val"), samples.labels("train", "val")
        search = self._model(None)
        search.fit(samples.text_graph, labels, validation=validation, on_stage=lambda text: step)
        found = float(search.weight_decay_)
        self.details_ |= {"weight_decay": found, "search_seconds": time.perf_counter() - began}
        return found

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every document of the graph of the fit."""
        return np.asarray(self.model_.transduction_)
