"""From labelled documents to weights: parts to choose the weight decay on, and two ways to solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import one_hot
from sgclearn.estimators.loss import Link, Objective, Sigmoid, Softmax
from sgclearn.estimators.scaling import ScaledDesign, Scaling
from sgclearn.estimators.search import SEARCH_TOL, Trial
from sgclearn.estimators.solvers.lbfgs_steps import minimize_lbfgs_steps, xavier_normal_start
from sgclearn.estimators.solvers.result import OnIteration, SolverResult
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.tasks.text.design import DocumentDesign, OnProgress, extremes, minmax
from sgclearn.validation.memory import format_bytes, memory_limit_bytes

Array = NDArray[np.float64]
RECIPES = ("exact", "paper")
# Vectors of the size of the weights that a solver holds at most: L-BFGS of the exact optimum keeps 20 pairs, the
# recipe of the paper one pair an iteration.
_VECTORS = {"exact": 60, "paper": 140}
_BLOCK_BYTES = 64 * 2**20  # of columns that are looked at together
_FEW_ROWS, _FEW_BYTES = 2000, 2**28  # of dense rows, up to which they pay


@dataclass(frozen=True)
class TextFit:
    """Weights of unscaled columns, `logits = Z Theta + b`, and what the columns were scaled by."""

    Theta: Array  # (n, C), one column for two classes
    b: Array  # (C,)
    scaling: Scaling
    result: SolverResult


@dataclass(frozen=True)
class HowToSolve:
    """Recipe, tolerance, most iterations and seed; checked when it is made."""

    recipe: str
    tol: float
    max_iter: int | None
    seed: int | None

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise InputError(f"recipe must be one of {', '.join(map(repr, RECIPES))}: got {self.recipe!r}.")
        if self.recipe == "paper" and self.max_iter is not None:
            raise InputError(
                f"recipe='paper' has its own iterations, 3 steps of 20: got max_iter={self.max_iter!r}; leave it out."
            )
        self.settings(0.0)

    @property
    def precision(self) -> np.dtype[Any]:
        """That of walks over the graph: the recipe of the paper is one of float32, the optimum needs float64."""
        return np.dtype(np.float32 if self.recipe == "paper" else np.float64)

    def settings(self, least_tol: float) -> SolverSettings:
        """For the exact optimum, found no more precisely than `least_tol`."""
        tol = max(self.tol, least_tol) if isinstance(self.tol, float) else self.tol
        return SolverSettings(fit_intercept=False, tol=tol, max_iter=self.max_iter, seed=self.seed)


class LabelledDocuments:
    """The rows of labelled documents, in parts that can be left out, with the extremes of each part.

    Parameters
    ----------
    design : DocumentDesign
        Z (m, n).
    codes : ndarray of int (m,)
    n_classes : int
        Two classes are one yes/no question (sigmoid), more are a softmax.
    weights : ndarray (m,)
    parts : ndarray of int (m,)
        The part of every document, from 0.
    how : HowToSolve
    """

    def __init__(
        self,
        design: DocumentDesign,
        codes: NDArray[np.intp],
        n_classes: int,
        weights: Array,
        parts: NDArray[np.intp],
        how: HowToSolve,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.weights, self.parts, self.how, self.precision = weights, parts, how, design.hops.dtype
        self.link: type[Link] = Sigmoid if n_classes == 2 else Softmax
        self.Y = codes[:, None].astype(np.float64) if n_classes == 2 else one_hot(codes, n_classes)
        self.low, self.high, Z = extremes(design, parts, is_explicit(design), on_progress)
        self.design: Design = design if Z is None else ExplicitDesign(Z)

    def problem(
        self, without: int | None = None, decays: Sequence[float] = (), search: bool = False
    ) -> Problem:
        """The problem of all documents but those of one part, scaled by their own extremes."""
        others = [part for part in range(len(self.low)) if part != without]
        scaling = minmax(self.low[others].min(axis=0), self.high[others].max(axis=0), self.precision)
        used = np.flatnonzero(self.parts != without) if without is not None else np.arange(len(self.parts))
        design = self.design if without is None else self.design.subset(used)
        return Problem(design, scaling, self.Y[used], self.weights[used], self.link, self.how, decays, search)

    def validate(
        self, part: int, decays: Sequence[float], on_step: OnProgress, patience: int | None = None
    ) -> list[tuple[float, float]]:
        """Accuracy and log-loss on one part of the model of the others, for every weight decay, largest first.

        With `patience` the path ends after so many values in a row that were worse in both: what follows is the
        slowest part of it, and learns the other documents by heart.
        """
        problem = self.problem(part, decays, search=True)
        held_out = np.flatnonzero(self.parts == part)
        view = problem.prepared.view(ScaledDesign(self.design.subset(held_out), problem.scaling))
        Y, scores, start = self.Y[held_out], [], None
        for done, decay in enumerate(decays, start=1):
            result = problem.solve(decay, start)
            start = result.W if self.how.recipe == "exact" else None
            logits = problem.prepared.logits(view, result.W)
            loss = float(self.link.losses(logits, Y).mean())
            right = (logits > 0) == (Y > 0) if Y.shape[1] == 1 else logits.argmax(axis=1) == Y.argmax(axis=1)
            scores.append((float(right.mean()), loss))
            if patience is not None and _is_over(scores, patience):
                on_step(len(decays), len(decays))
                break
            on_step(done, len(decays))
        return scores


def _is_over(scores: list[tuple[float, float]], patience: int) -> bool:
    """Whether the last values are all less accurate, or as accurate, and less sure than one before."""
    before, last = scores[:-patience], scores[-patience:]
    if not before:
        return False
    most, least = max(accuracy for accuracy, _ in before), min(loss for _, loss in before)
    return all(accuracy <= most and loss > least for accuracy, loss in last)


class Problem:
    """Scaled documents and their targets, ready to be solved at one weight decay or along a path of them."""

    def __init__(
        self,
        design: Design,
        scaling: Scaling,
        Y: Array,
        weights: Array,
        link: type[Link],
        how: HowToSolve,
        decays: Sequence[float],
        search: bool,
    ) -> None:
        self.scaling, self.how = scaling, how
        # Walks over the graph have threads of their own; there BLAS only adds up vectors as long as the weights.
        rows = design.shape[0] if isinstance(design, ExplicitDesign) else 1
        self.dense_work = float(rows) * design.shape[1] * Y.shape[1]
        # The start of the paper's recipe lies outside the span of the rows: it needs the columns themselves.
        smallest = min(decays) if how.recipe == "exact" else 0.0
        settings = how.settings(SEARCH_TOL if search else 0.0)
        scaled = ScaledDesign(design, scaling)
        self.prepared = PreparedFit(scaled, Y, weights, link, settings, smallest, len(decays))

    def solve(
        self, decay: float, start: Array | None = None, on_iteration: OnIteration | None = None
    ) -> SolverResult:
        """Weights in the coordinates of the prepared problem."""
        prepared = self.prepared
        with blas_threads_for(self.dense_work):
            if self.how.recipe == "exact":
                return prepared.solve(decay, start, on_iteration)
            objective = Objective(
                prepared.samples, prepared.Y, prepared.sample_weight, prepared.link, decay, intercept=False
            )
            start = self._start(objective.shape)
            return minimize_lbfgs_steps(objective, start, dtype=self.how.precision, on_iteration=on_iteration)

    def _start(self, shape: tuple[int, int]) -> Array:
        """Xavier's start over the columns that are not constant; the others have no weight."""
        used = np.flatnonzero(self.scaling.factor)
        W = np.zeros(shape)
        W[used] = xavier_normal_start(len(used), shape[1], np.random.default_rng(self.how.seed))
        return W

    def finish(self, result: SolverResult) -> TextFit:
        """Back to the columns as they were."""
        fit = self.prepared.finish(result)
        Theta, b = self.scaling.unscale(fit.Theta, fit.b)
        return TextFit(Theta, b, self.scaling, result)


def choose_decay(
    documents: LabelledDocuments,
    folds: Sequence[int],
    decays: Sequence[float],
    n_hops: int,
    on_step: OnProgress,
    patience: int | None = None,
) -> list[Trial]:
    """Every weight decay judged on the parts in `folds`, each left out in turn. One part is held at a time.

    Values that `patience` keeps from being tried on some part are left out; see `LabelledDocuments.validate`.
    """
    decays = sorted(decays, reverse=True)
    total = len(folds) * len(decays)
    found: list[list[tuple[float, float]]] = []

    def step(done: int, of: int) -> None:
        on_step(len(found) * len(decays) + done, total)

    for fold in folds:
        found.append(documents.validate(fold, decays, step, patience))
    tried = min(map(len, found))
    scores = np.array([of_fold[:tried] for of_fold in found])  # (folds, decays, 2)
    means, deviations = scores.mean(axis=0), scores.std(axis=0)
    return [
        Trial("sym", 1.0, n_hops, None, decay, float(mean[0]), float(std[0]), float(mean[1]))
        for decay, mean, std in zip(decays, means, deviations, strict=False)
    ]


def is_explicit(design: DocumentDesign) -> bool:
    """Whether the rows are so few that forming them is cheaper than walking over the graph again and again.

    Among few rows the solver works in the space that they span, which is far smaller than that of the columns.
    """
    m, n = design.shape
    return m * n <= design.hops.operator.graph.n_stored or (m <= _FEW_ROWS and 8 * m * n <= _FEW_BYTES)


def check_memory(design: DocumentDesign, n_classes: int, recipe: str, limit: int | float | str | None) -> int:
    """Bytes that the fit and the graph take at the peak, estimated; refused if they are more than the limit."""
    m, n = design.shape
    graph = design.hops.operator.graph
    entry = 8 + graph.indices.itemsize
    stored = int(graph.indptr[design.documents + 1].sum() - graph.indptr[design.documents].sum())
    vectors = (_VECTORS[recipe] * (1 if n_classes == 2 else n_classes) + 8) * n * 8
    # The rows of the documents, forward and back, beside other parts of them; a block of columns and its source.
    rows = 6 * stored * entry + 3 * _BLOCK_BYTES
    needed = graph.n_stored * entry + vectors + rows
    if design.hops.engine.prices.builds_values:
        needed += 3 * graph.n_stored * entry
    elif design.n_hops == 2:
        needed += 2 * graph.n_stored * entry  # S, while the columns are scaled
    if is_explicit(design):
        needed += 4 * 8 * m * n
    allowed = memory_limit_bytes(limit)
    if needed > allowed:
        raise MemoryLimitError(
            f"this fit needs about {format_bytes(needed)}, its graph included, and {format_bytes(allowed)} may be "
            "used: raise memory_limit, or build a smaller graph with min_df or max_words."
        )
    return int(needed)
