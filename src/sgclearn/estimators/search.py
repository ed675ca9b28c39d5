"""Choosing hops and weight decay on held-out labels: a warm-started path, or the paper's own random search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting, require
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import class_codes
from sgclearn.estimators.loss import Link
from sgclearn.estimators.scaling import fit_scalings
from sgclearn.filters import Member, PolynomialFilter, Wanted, hops_of
from sgclearn.operators import Operator
from sgclearn.propagation.design import Design

Array = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # training and validation samples
VALUE_SCORES = ("r2", "mse", "mae")
HeldOut = tuple[Array, Array]  # logits and targets of held-out labels
OnStep = Callable[[int, int], None]
# A selection compares models on a few hundred labels: a looser optimum ranks them the same, several times sooner.
SEARCH_TOL = 1e-6


@dataclass(frozen=True)
class Trial:
    """One setting and how it did on the held-out labels: `score` is the mean over folds, higher is better."""

    normalization: str
    gamma: float | None
    n_hops: int
    filter: PolynomialFilter | tuple[Member, ...] | None
    weight_decay: float
    score: float
    score_std: float
    log_loss: float

    def rank(self) -> tuple[float, float, int, float]:
        """Higher score first; ties go to the lower log-loss, then to fewer hops and more weight decay.

        The log-loss counts in hundredths: where every setting is right, less decay lowers it without end and
        means nothing but overconfidence.
        """
        return (-self.score, round(self.log_loss, 2), self.n_hops, -self.weight_decay)


class FoldProblems:
    """The training and validation problems of one design (one operator and number of hops)."""

    def __init__(
        self,
        design: Design,
        link: type[Link],
        Y: Array,
        train_weights: Sequence[Array],
        folds: Sequence[Fold],
        settings: SolverSettings,
        smallest_decay: float,
        solves: int,
        scoring: str,
    ) -> None:
        self.design, self.scoring, self.link = design, scoring, link
        looser = replace(settings, tol=max(settings.tol, SEARCH_TOL))
        self.problems: list[tuple[PreparedFit, Design, Array]] = []
        # A sample of weight zero is no sample: it must not enter the statistics of a scaling either.
        trained = [train[weights > 0] for (train, _), weights in zip(folds, train_weights, strict=True)]
        if not all(map(len, trained)):
            raise InputError("every fold must train on a label with a positive weight", "zeros only in one")
        scalings = fit_scalings(design, settings.scale, trained)
        parts = zip(folds, trained, train_weights, scalings, strict=True)
        for (_, validation), train, weights, scaling in parts:
            prepared = PreparedFit(
                design.subset(train),
                Y[train],
                weights[weights > 0],
                link,
                looser,
                smallest_decay,
                solves,
                scaling,
            )
            self.problems.append((prepared, prepared.view(design.subset(validation)), Y[validation]))
        self.starts: list[Array | None] = [None] * len(folds)

    def score(self, weight_decay: float) -> tuple[float, float, float, HeldOut]:
        """Mean score, its standard deviation over folds, mean log-loss, and the held-out logits and targets.

        Starts from the last solution.
        """
        scores, losses, held_out = [], [], []
        for index, (prepared, view, Y) in enumerate(self.problems):
            result = prepared.solve(weight_decay, self.starts[index])
            if prepared.settings.solver == "lbfgs":
                self.starts[index] = result.W
            logits = prepared.logits(view, result.W)
            losses.append(float(self.link.losses(logits, Y).mean()))
            scores.append(_score(self.scoring, logits, Y, losses[-1]))
            held_out.append(logits)
        targets = np.concatenate([Y for _, _, Y in self.problems])
        means = float(np.mean(scores)), float(np.std(scores)), float(np.mean(losses))
        return *means, (np.concatenate(held_out), targets)


class LeftOut:
    """The problem of one design, every sample of which is predicted by the fit to all others: no fold is solved."""

    def __init__(self, design: Design, prepared: PreparedFit, scoring: str) -> None:
        self.design, self.prepared, self.scoring = design, prepared, scoring

    def score(self, weight_decay: float) -> tuple[float, float, float, HeldOut]:
        """See `FoldProblems`; there is one score of all samples together."""
        prepared = self.prepared
        predicted = prepared.leave_one_out(weight_decay)
        if predicted is None:
            raise ValueError("samples cannot be left out one by one")
        weights = prepared.sample_weight
        loss = float(weights @ prepared.link.losses(predicted, prepared.Y))
        score = _score(self.scoring, predicted, prepared.Y, loss, weights)
        return score, 0.0, loss, (predicted, prepared.Y)


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is tried at several weight decays: an operator, filters, and the problems of all folds."""

    normalization: str
    gamma: float | None
    operator: Operator | None
    wanted: Wanted
    folds: FoldProblems | LeftOut

    def trial(self, weight_decay: float) -> tuple[Trial, HeldOut]:
        """How it does on the held-out labels, and their logits and targets."""
        filter_ = None if isinstance(self.wanted, int) else self.wanted
        *scores, held_out = self.folds.score(weight_decay)
        setting = (self.normalization, self.gamma, hops_of(self.wanted), filter_, weight_decay)
        return Trial(*setting, *scores), held_out


class Search:
    """Trials so far. Of the best one, its candidate and held-out logits are kept too: samples may be large."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []
        self._best: tuple[Trial, Candidate, HeldOut] | None = None

    def add(self, candidate: Candidate, weight_decay: float) -> Trial:
        """Try a candidate at one weight decay."""
        trial, held_out = candidate.trial(weight_decay)
        self.trials.append(trial)
        if self._best is None or trial.rank() < self._best[0].rank():
            self._best = trial, candidate, held_out
        return trial

    @property
    def best(self) -> tuple[Trial, Candidate, HeldOut]:
        """The best trial, what was tried, and logits and targets of the held-out labels."""
        if self._best is None:
            raise ValueError("a search needs a trial")
        return self._best


def search_path(
    candidates: Iterator[Candidate],
    decays: Sequence[float],
    total: int,
    on_step: OnStep,
    patience: int | None = None,
) -> Search:
    """Every weight decay from the largest to the smallest, each solved from the last solution.

    With `patience` a path ends after so many values in a row that were worse: what follows is the slowest part of it,
    and learns the samples by heart.
    """
    search = Search()
    for number, candidate in enumerate(candidates):
        path: list[Trial] = []
        for weight_decay in sorted(decays, reverse=True):
            path.append(search.add(candidate, weight_decay))
            is_over = patience is not None and only_worse(path, patience)
            on_step((number + is_over) * len(decays) + (0 if is_over else len(path)), total)
            if is_over:
                break
    return search


def only_worse(path: Sequence[Trial], patience: int) -> bool:
    """Whether the last trials are all of a lower score, or of an equal one and a higher loss, than one before."""
    before, last = path[:-patience], path[-patience:]
    if not before:
        return False
    most, least = max(trial.score for trial in before), min(trial.log_loss for trial in before)
    return all(trial.score <= most and trial.log_loss > least for trial in last)


def search_tpe(
    candidates: Iterator[Candidate],
    bounds: tuple[float, float],
    n_trials: int,
    seed: int | None,
    on_step: OnStep,
) -> Search:
    """The paper's search: weight decay log-uniform within bounds, tree-structured Parzen estimator.

    Where several operators or numbers of hops are in play they are categories of the same search.
    """
    optuna = require("optuna", "tune")
    table = list(candidates)
    search = Search()

    def objective(suggest: Any) -> float:
        choice = suggest.suggest_categorical("setting", list(range(len(table)))) if len(table) > 1 else 0
        weight_decay = suggest.suggest_float("weight_decay", *bounds, log=True)
        trial = search.add(table[choice], weight_decay)
        on_step(len(search.trials), n_trials)
        return trial.score

    verbosity = optuna.logging.get_verbosity()
    # An interruption is no news for a reader: as a warning it comes with a traceback.
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(objective, n_trials=n_trials)
    finally:
        optuna.logging.set_verbosity(verbosity)
    return search


def make_folds(codes: NDArray[Any], cv: Any, seed: int | None, *, stratified: bool = True) -> list[Fold]:
    """Folds over the known samples; stratified ones are fewer than asked for where no class has that many labels."""
    if hasattr(cv, "split") and not isinstance(cv, str):
        folds = list(cv.split(np.zeros(len(codes)), codes))
    elif isinstance(cv, list | tuple):
        folds = [(_samples(train, len(codes)), _samples(part, len(codes))) for train, part in cv]
    else:
        folds = _stratified(codes, cv, seed) if stratified else shuffled_folds(len(codes), cv, seed)
    if not folds:
        raise InputError("cv must have at least one fold", "an empty list", argument="cv")
    for train, validation in folds:
        if len(train) == 0 or len(validation) == 0:
            raise InputError("every fold must train on some labels and validate on others", "an empty side")
        if np.intersect1d(train, validation).size:
            raise InputError("a fold must not validate on labels it trains on", "an overlap")
    return folds


def _samples(part: Any, n_samples: int) -> NDArray[np.intp]:
    """Numbers of labelled samples, from numbers or a mask."""
    array = np.asarray(part)
    if array.dtype == bool and array.shape == (n_samples,):
        return np.flatnonzero(array)
    in_range = array.size == 0 or 0 <= array.min() <= array.max() < n_samples
    if array.ndim != 1 or not (array.dtype.kind in "iu" or array.size == 0) or not in_range:
        raise InputError(
            f"a fold must name labelled nodes by their place among the {n_samples} labelled ones, 0 first",
            repr(part),
        )
    return array.astype(np.intp)


def _check_number_of_folds(cv: Any) -> None:
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 2:
        raise InputError(
            "cv must be a whole number >= 2, a splitter or a list of (train, validation) folds",
            repr(cv),
            argument="cv",
        )


def shuffled_folds(n_samples: int, cv: Any, seed: int | None) -> list[Fold]:
    """Folds of samples that have no classes, of which each has one at least."""
    _check_number_of_folds(cv)
    if n_samples < 2:
        raise InputError(
            "cross-validation needs at least two known samples",
            "one sample",
            "give y of more, or validation samples",
            argument="y",
        )
    parts = np.array_split(np.random.default_rng(seed).permutation(n_samples), min(int(cv), n_samples))
    return [(np.setdiff1d(np.arange(n_samples), part), np.sort(part)) for part in parts]


def _stratified(codes: NDArray[np.intp], cv: Any, seed: int | None) -> list[Fold]:
    _check_number_of_folds(cv)
    largest = int(np.bincount(codes).max())
    if largest < 2:
        raise InputError(
            "cross-validation needs a class with at least two labels",
            "one label a class",
            ("label more nodes or use SGCClassifier with a ", Setting("weight_decay"), " of your choice"),
        )
    import warnings

    from sklearn.model_selection import StratifiedKFold

    with warnings.catch_warnings():
        # A class with fewer labels than folds is simply not in every validation part.
        warnings.filterwarnings("ignore", message="The least populated class")
        splitter = StratifiedKFold(min(int(cv), largest), shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros(len(codes)), codes))


def _score(scoring: str, logits: Array, Y: Array, log_loss: float, weights: Array | None = None) -> float:
    if scoring == "log_loss":
        return -log_loss
    if scoring in VALUE_SCORES:
        return _value_score(scoring, logits, Y, np.ones(len(Y)) if weights is None else weights)
    truth, guess = class_codes(Y), class_codes(logits)
    if scoring == "accuracy":
        return float((truth == guess).mean())
    n_classes = max(Y.shape[1], 2)
    right = np.bincount(truth[truth == guess], minlength=n_classes)
    either = np.bincount(truth, minlength=n_classes) + np.bincount(guess, minlength=n_classes)
    seen = either > 0
    return float((2 * right[seen] / either[seen]).mean())


def _value_score(scoring: str, predicted: Array, Y: Array, weights: Array) -> float:
    """R2, or an error with its sign turned; the mean over targets. Predictions that are not finite score lowest."""
    if not np.isfinite(predicted).all():
        return -np.inf
    R = np.abs(predicted - Y)
    if scoring == "mae":
        return -float(np.average(R, axis=0, weights=weights).mean())
    errors = np.average(R**2, axis=0, weights=weights)
    if scoring == "mse":
        return -float(errors.mean())
    spread = np.average((Y - np.average(Y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    # As in scikit-learn, a constant target is right or wrong.
    r2 = np.where(
        spread > 0, 1.0 - errors / np.where(spread > 0, spread, 1.0), (errors == 0).astype(np.float64)
    )
    return float(r2.mean())
