"""Random small fits compared with `reference.py`: every option, odd graphs, features of any size.

A fit is drawn from a seed and a number, so that one that went wrong is drawn again by both. What is compared:

- Z of `propagate` and the logits of every node, entry by entry, relative to the sums of absolute values that an entry
  is made of: 1e-10 in float64, 1e-5 in float32;
- where `converged_` is true, the gradient of the reference objective at the fitted weights over its norm at zero:
  1e-8 in float64, 1e-4 in float32 (`tol` is 1e-10, and both figures are rounded on the way);
- with weight decay, the predicted classes against those at the reference's own optimum, away from ties;
- every attribute is finite, whatever the solver. What is drawn is within the range of numbers, so that any error is
  a fault, but that on columns which hops bring below what float32 has digits for.

Run as a script for more of them: `python tests/estimators/random_fits.py --count 100000`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from sgclearn import Compute, Graph, SGCClassifier, propagate, reference
from sgclearn.errors import InputError
from sgclearn.estimators.multilabel import SGCMultilabelClassifier
from sgclearn.filters import CustomFilter, HeatFilter, PageRankFilter, S2GCFilter

from zoo import dense_adjacency, to_dense

Array = NDArray[np.float64]
ENTRY = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
GRADIENT = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
_TIE = 1e-3  # of the logits' own size: nodes whose two best classes are nearer have no class to compare
_ROUNDING = 1e-9  # a bias of classes in balance is nothing else
_NEWTON_STEPS = 100


@dataclass
class Case:
    """One fit: what is given to the estimator."""

    number: int
    graph: Graph | None
    X: Any
    y: NDArray[Any]
    sample_weight: Array | None
    options: dict[str, Any]
    is_multilabel: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the features."""
        return np.dtype(np.float64) if self.X is None else self.X.dtype

    def dense(self) -> Array:
        """X as the reference wants it."""
        return np.eye(self.graph.n_nodes) if self.X is None else to_dense(self.X).astype(np.float64)


@dataclass
class Summary:
    """What came of many fits."""

    outcomes: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def note(self, name: str, value: float) -> float:
        """Keep the largest."""
        self.worst[name] = max(self.worst.get(name, 0.0), value)
        return value


# ---- drawing ----------------------------------------------------------------------------------------


def draw(seed: int, number: int) -> Case:
    """The fit of that number."""
    rng = np.random.default_rng([seed, number])
    n = int(rng.integers(3, 16))
    graph = _graph(rng, n)
    X = _features(rng, n) if graph is None or rng.random() < 0.9 else None
    n_classes = int(rng.integers(2, min(6, n) + 1))
    is_multilabel = bool(rng.random() < 0.15)
    n_known = int(rng.integers(n_classes, n + 1))
    known = rng.permutation(n)[:n_known]
    if is_multilabel:
        y = np.full((n, n_classes), -1)
        y[known] = rng.integers(0, 2, (n_known, n_classes))
    else:
        y = np.full(n, -1)
        y[known] = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_known - n_classes)])
    options = _options(rng, graph, n_classes, is_multilabel)
    return Case(number, graph, X, y, _weights(rng, y), options, is_multilabel)


def _graph(rng: np.random.Generator, n: int) -> Graph | None:
    kind = rng.choice(["none", "empty", "sparse", "dense", "parts"], p=[0.08, 0.05, 0.4, 0.3, 0.17])
    if kind == "none":
        return None
    count = {"empty": 0, "sparse": n, "dense": 3 * n, "parts": 2 * n}[kind]
    edges = rng.integers(n, size=(count, 2))
    if kind == "parts":  # two halves and an isolated node
        edges = edges[(edges[:, 0] < n // 2) == (edges[:, 1] < n // 2)]
        edges = edges[(edges != n - 1).all(axis=1)]
    weights = None
    if rng.random() < 0.4:
        spread = rng.choice([0.5, 3.0, 20.0])
        weights = 10.0 ** rng.uniform(-spread, spread, len(edges))
    loops = "keep" if rng.random() < 0.3 else "drop"
    directed = bool(rng.random() < 0.35)
    return Graph.from_edges(
        edges, weights=weights, n_nodes=n, directed=directed, self_loops=loops, duplicates="sum"
    )


def _features(rng: np.random.Generator, n: int) -> Any:
    d = int(rng.integers(1, 13))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.5:
        X *= rng.random((n, d)) < rng.uniform(0.2, 1.0)
    if rng.random() < 0.15:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 37.5])  # a constant column
    if rng.random() < 0.15:
        X[rng.integers(n, size=n // 2)] = X[0]  # equal rows
    if rng.random() < 0.1:
        X += 10.0 ** rng.uniform(0, 4)  # far from zero
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-12, 12)
    if rng.random() < 0.1:
        X *= 10.0 ** rng.uniform(-12, 12, d)  # tiny and large columns together
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    return sparse.csr_array(X) if rng.random() < 0.35 else X


def _options(
    rng: np.random.Generator, graph: Graph | None, n_classes: int, is_multilabel: bool
) -> dict[str, Any]:
    normalization = str(rng.choice(["sym", "rw", "cheby"], p=[0.5, 0.3, 0.2]))
    gammas = [None, 0.0, 1.0, 0.3, 1e-6, 50.0, 1e6]
    solver = str(rng.choice(["lbfgs", "adam", "sgd"], p=[0.9, 0.05, 0.05]))
    decays = [0.0, 10.0 ** rng.uniform(-8, 3), 10.0 ** rng.uniform(-5, -1)]
    options: dict[str, Any] = {
        "n_hops": int(rng.integers(0, 7)),
        "normalization": normalization,
        "gamma": None if normalization == "cheby" else gammas[rng.integers(len(gammas))],
        "row_norm": [None, "l1", "l2"][rng.integers(3)],
        "scale": [None, None, "standard", "minmax", "maxabs"][rng.integers(5)],
        "weight_decay": decays[rng.choice(3, p=[0.1, 0.4, 0.5])],
        "fit_intercept": bool(rng.random() < 0.8),
        "penalize_intercept": bool(rng.random() < 0.6),
        "solver": solver,
        "compute": Compute(
            str(rng.choice(["auto", "full", "frontier", "left-first", "implicit"])),
            str(rng.choice(["native", "scipy"])),
        ),
        "random_state": 7,
    }
    if rng.random() < 0.3:
        filters = [
            S2GCFilter(int(rng.integers(1, 6)), rng.random()),
            PageRankFilter(int(rng.integers(1, 6)), rng.random()),
            HeatFilter(int(rng.integers(4, 7)), 3 * rng.random()),
            CustomFilter(tuple(rng.normal(size=rng.integers(1, 6)))),
        ]
        options["filter"] = filters[rng.integers(4)]
        del options["n_hops"]
    if solver != "lbfgs":
        options["max_iter"] = 20
    if options["compute"].plan == "implicit" and graph is None:
        options["compute"] = replace(options["compute"], plan="auto")
    if not is_multilabel and rng.random() < 0.25:
        by_class = {c: float(w) for c, w in enumerate(10.0 ** rng.uniform(-2, 2, n_classes))}
        options["class_weight"] = "balanced" if rng.random() < 0.5 else by_class
    return options


def _weights(rng: np.random.Generator, y: NDArray[Any]) -> Array | None:
    kind = rng.random()
    if kind < 0.6:
        return None
    weights = rng.uniform(0.1, 3.0, len(y)) if kind < 0.8 else 10.0 ** rng.uniform(-6, 6, len(y))
    if kind > 0.9:
        known = (y if y.ndim == 1 else y[:, 0]) >= 0
        zero = np.flatnonzero(known)[: int(known.sum()) // 3]
        weights[zero] = 0.0
    return weights


# ---- the reference ----------------------------------------------------------------------------------


@dataclass
class Problem:
    """The reference's view of a case: what is minimised, in the coordinates where the penalty lives."""

    everyone: Array  # Z of all nodes (n, d)
    sizes: Array  # the same with absolute values, what rounding is relative to
    known: NDArray[np.intp]  # the samples
    Z: Array  # of the samples (m, d)
    Y: Array
    w: Array
    shift: Array
    factor: Array
    decay: float
    has_bias: bool
    bias_decay: float
    is_multilabel: bool

    def scaled(self, Z: Array) -> Array:
        """Samples in the coordinates of the penalty."""
        return np.where(self.factor > 0, (Z - self.shift) * self.factor, 0.0)

    def probabilities(self, L: Array) -> Array:
        """Of every class, by the link."""
        return 1.0 / (1.0 + np.exp(-np.clip(L, -700, 700))) if self.is_multilabel else reference.softmax(L)

    def gradient(self, Theta: Array, b: Array) -> Array:
        """Of the objective (d + 1, C) at weights in the coordinates of the penalty."""
        Z, w = self.scaled(self.Z), self.w
        if self.is_multilabel:
            R = (self.probabilities(Z @ Theta + b) - self.Y) * w[:, None] / w.sum()
            of_weights, of_bias = Z.T @ R + self.decay * Theta, R.sum(axis=0)
        else:
            of_weights, of_bias = reference.gradient(Z, self.Y, w, Theta, b, self.decay)
            of_bias = of_bias - self.decay * b
        of_bias = of_bias + self.bias_decay * b if self.has_bias else np.zeros_like(of_bias)
        return np.vstack([of_weights, of_bias])


def reference_problem(case: Case, weights: Array) -> Problem:
    """Z by dense powers, the scaling by its definition."""
    X, options = case.dense(), case.options
    if options["row_norm"] is not None:
        order = 1 if options["row_norm"] == "l1" else 2
        norms = np.array([np.linalg.norm(row, order) for row in X])
        X = X / np.where(norms > 0, norms, 1.0)[:, None]
    A = np.eye(len(X)) if case.graph is None else dense_adjacency(case.graph)
    gamma = options["gamma"]
    if case.graph is None:
        S = np.eye(len(X))
    else:
        S = reference.propagation_matrix(A, options["normalization"], 1.0 if gamma is None else gamma)
    wanted = options.get("filter")
    coefficients = wanted.coefficients if wanted is not None else np.append(np.zeros(options["n_hops"]), 1.0)
    everyone = sum(c * reference.propagate(X, S, k) for k, c in enumerate(coefficients))
    sizes = sum(abs(c) * reference.propagate(np.abs(X), S, k) for k, c in enumerate(coefficients))
    known = np.flatnonzero((case.y if case.y.ndim == 1 else case.y[:, 0]) >= 0)
    w = weights[known]
    known, w = known[w > 0], w[w > 0]
    Y = case.y[known].astype(float) if case.is_multilabel else None
    if Y is None:
        classes = np.unique(case.y[case.y >= 0])
        Y = (case.y[known][:, None] == classes).astype(float)
    shift, factor = reference_scaling(everyone[known], sizes[known], options["scale"], case.dtype)
    decay, has_bias = options["weight_decay"], options["fit_intercept"]
    bias_decay = decay if options["penalize_intercept"] else 0.0
    return Problem(
        everyone,
        sizes,
        known,
        everyone[known],
        Y,
        w,
        shift,
        factor,
        decay,
        has_bias,
        bias_decay,
        case.is_multilabel,
    )


def reference_scaling(Z: Array, sizes: Array, scale: str | None, dtype: Any) -> tuple[Array, Array]:
    """Shift and factor of every column; a column that rounding alone keeps from being constant gets factor 0."""
    shift, factor = np.zeros(Z.shape[1]), np.ones(Z.shape[1])
    if scale is None:
        return shift, factor
    for j, column in enumerate(Z.T):
        size = np.abs(column).max()
        unit = column / size if size > 0 else column
        if scale == "standard":
            shift[j], spread = unit.mean() * size, unit.std() * size
        elif scale == "minmax":
            shift[j], spread = column.min(), column.max() - column.min()
        else:
            spread = size
        level = 100 * np.finfo(dtype).eps * sizes[:, j].max()
        factor[j] = 1.0 / spread if spread > level else 0.0 if spread == 0.0 else np.nan
    return shift, factor


def optimum(problem: Problem) -> tuple[Array, Array] | None:
    """The reference's own optimum by Newton steps over columns of norm one; None where it finds none.

    The sizes of columns only show in the decay of each, so that no size is too large or too small.
    """
    Z = problem.scaled(problem.Z)
    size = np.abs(Z).max(axis=0)
    size[size == 0] = 1.0
    norms = size * np.linalg.norm(Z / size, axis=0)
    norms[norms == 0] = 1.0
    Z1 = Z / norms
    decay = problem.decay / norms / norms
    if problem.has_bias:
        Z1, decay = np.hstack([Z1, np.ones((len(Z1), 1))]), np.append(decay, problem.bias_decay)
    W = _newton(Z1, problem.Y, problem.w / problem.w.sum(), decay, problem)
    if W is None:
        return None
    Theta, b = (W[:-1], W[-1]) if problem.has_bias else (W, np.zeros(W.shape[1]))
    return Theta / norms[:, None], b


def _newton(Z: Array, Y: Array, w: Array, decay: Array, problem: Problem) -> Array | None:
    d, C = Z.shape[1], Y.shape[1]
    W, pairs = np.zeros((d, C)), (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), d * d)

    def value(W: Array) -> float:
        L = Z @ W
        if problem.is_multilabel:
            losses = (np.logaddexp(0, L) - Y * L).sum(axis=1)
        else:
            top = L.max(axis=1, keepdims=True)
            losses = np.log(np.exp(L - top).sum(axis=1)) + ((top - L) * Y).sum(axis=1)
        return float(w @ losses + 0.5 * (decay[:, None] * W**2).sum())

    here = value(W)
    for _ in range(_NEWTON_STEPS):
        P = problem.probabilities(Z @ W)
        g = Z.T @ (w[:, None] * (P - Y)) + decay[:, None] * W
        K = (P * (1 - P) if problem.is_multilabel else P)[:, :, None] * np.eye(C)
        if not problem.is_multilabel:
            K -= P[:, :, None] * P[:, None, :]
        blocks = (w[:, None] * K.reshape(len(w), C * C)).T @ pairs
        H = blocks.reshape(C, C, d, d).transpose(0, 2, 1, 3).reshape(C * d, C * d)
        H[np.diag_indices(C * d)] += np.tile(decay, C)
        root = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        unit = H * root[:, None] * root
        unit[np.diag_indices(C * d)] += 1e-14
        try:
            step = -(root * np.linalg.solve(unit, root * g.T.ravel())).reshape(C, d).T
        except np.linalg.LinAlgError:
            return None
        slope = float((g * step).sum())
        if not np.isfinite(slope) or -slope <= 1e-24 * max(1.0, here):
            return W if np.isfinite(slope) else None
        length = 1.0
        while length > 1e-10:
            there = value(W + length * step)
            if there <= here + 0.1 * length * slope or length * -slope < 1e-14 * abs(here):
                break
            length /= 2
        else:
            return None
        W, here = W + length * step, there
    return W if -slope < 1e-16 * max(1.0, here) else None


# ---- comparing --------------------------------------------------------------------------------------


def compare(case: Case, summary: Summary) -> None:
    """Fit the case and note every way in which it is not what the reference says."""
    kind = SGCMultilabelClassifier if case.is_multilabel else SGCClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            clf = kind(**case.options).fit(case.X, case.y, graph=case.graph, sample_weight=case.sample_weight)
            logits = clf._logits(case.X, case.graph, None)
        except InputError as error:
            if case.dtype == np.float32 and "spread can be inverted" in str(error):
                summary.outcomes["refused, a column that float32 has no digits for"] += 1
                return
            raise AssertionError(f"refused: {error}") from None
    for name in ("coef_", "intercept_", "gradient_ratio_", "loss_"):
        if not np.isfinite(getattr(clf, name)).all():
            raise AssertionError(f"{name} is not finite, converged_={clf.converged_}")
    if not np.isfinite(logits).all():
        raise AssertionError(f"logits are not finite, converged_={clf.converged_}")
    problem = reference_problem(case, fitted_weights(case))
    _compare_entries(case, clf, logits, problem, summary)
    if case.options["solver"] != "lbfgs":
        summary.outcomes[f"{case.options['solver']}, finite"] += 1
        return
    summary.outcomes["converged" if clf.converged_ else "not converged, and says so"] += 1
    if not np.isnan(problem.factor).any():  # else whether a column is constant is a matter of rounding
        if clf.converged_:
            _compare_gradient(case, clf, problem, summary)
        _compare_classes(case, clf, logits, problem, summary)


def fitted_weights(case: Case) -> Array:
    """Sample weights times class weights, of all nodes."""
    weights = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight.copy()
    by_class = case.options.get("class_weight")
    if by_class is None:
        return weights
    classes = np.unique(case.y[case.y >= 0])
    if by_class == "balanced":
        totals = {c: weights[case.y == c].sum() for c in classes}
        total = sum(totals.values())
        by_class = {c: total / (len(classes) * totals[c]) if totals[c] > 0 else 1.0 for c in classes}
    return weights * np.array([by_class.get(int(c), 0.0) for c in case.y])


def _compare_entries(case: Case, clf: Any, logits: Array, problem: Problem, summary: Summary) -> None:
    tolerance = ENTRY[case.dtype]
    if case.graph is not None:
        names = ("n_hops", "normalization", "gamma", "filter", "row_norm", "compute")
        options = {name: case.options[name] for name in names if name in case.options}
        if options["compute"].plan == "implicit":
            options["compute"] = replace(options["compute"], plan="auto")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            Z = to_dense(propagate(case.X, case.graph, **options))
        _within("Z", Z, problem.everyone, problem.sizes, tolerance, case, summary)
    Theta, b = clf.coef_.T, clf.intercept_
    expected = problem.everyone @ Theta + b
    sizes = problem.sizes @ np.abs(Theta) + np.abs(b)
    _within("logits", logits, expected, sizes, tolerance, case, summary)


def _within(
    name: str, found: Array, expected: Array, sizes: Array, tolerance: float, case: Case, summary: Summary
) -> None:
    tiny = np.finfo(case.dtype).tiny * 1e12  # powers of S on the way may be that much smaller than the result
    off = np.abs(found - expected) / (sizes + tiny)
    worst = summary.note(f"{name}, {case.dtype}", float(off.max()) if off.size else 0.0)
    if not worst <= np.inf or float(off.max(initial=0.0)) > tolerance:
        raise AssertionError(f"{name} is {float(off.max()):.1e} away, relative")


def _compare_gradient(case: Case, clf: Any, problem: Problem, summary: Summary) -> None:
    used = problem.factor > 0
    inverse = np.divide(1.0, problem.factor, out=np.zeros_like(problem.factor), where=used)
    Theta = inverse[:, None] * clf.coef_.T
    b = clf.intercept_ + problem.shift @ clf.coef_.T
    at_zero = np.linalg.norm(problem.gradient(np.zeros_like(Theta), np.zeros_like(b)))
    found = np.linalg.norm(problem.gradient(Theta, b))
    level = np.finfo(case.dtype).eps * _sensitivity(problem, clf.coef_.T, clf.intercept_)
    ratio = max(found - 50 * level, 0.0) / at_zero if found > 50 * level else 0.0
    summary.note(f"gradient, {case.dtype}", float(ratio))
    if ratio > GRADIENT[case.dtype]:
        raise AssertionError(f"converged_ with a gradient of {ratio:.1e}, reported {clf.gradient_ratio_:.1e}")


def _sensitivity(problem: Problem, Theta: Array, b: Array) -> float:
    """What rounding makes of the gradient, over eps: of the residuals, through their logits, and of the samples.

    Where the pulls of the samples cancel, weights are huge because nothing bounds them, or a column that is nearly
    constant is scaled, little else is left of it.
    """
    sizes, shares = problem.sizes[problem.known], (problem.w / problem.w.sum())[:, None]
    samples = np.vstack([np.abs(problem.scaled(problem.Z)).T, np.ones(len(shares))])
    of_residuals = samples @ (shares * (1.0 + sizes @ np.abs(Theta) + np.abs(b)))
    of_samples = (problem.factor * sizes).T @ shares
    return float(np.linalg.norm(of_residuals) + np.linalg.norm(of_samples))


def _compare_classes(case: Case, clf: Any, logits: Array, problem: Problem, summary: Summary) -> None:
    if not clf.converged_ or _is_degenerate(problem):
        return
    best = optimum(problem)
    if best is None:
        summary.outcomes["(no optimum of the reference)"] += 1
        return
    with np.errstate(all="ignore"):
        expected = problem.scaled(problem.everyone) @ best[0] + best[1]
        sizes = np.abs(problem.scaled(problem.everyone)) @ np.abs(best[0]) + np.abs(best[1])
    rounding = max(_ROUNDING, 10 * float(np.finfo(case.dtype).eps))
    level = np.maximum(_TIE * sizes.max(axis=1), rounding)
    if case.is_multilabel:
        clear = np.abs(expected) > level[:, None]
        wrong = clear & ((logits > 0) != (expected > 0))
    else:
        top = np.sort(expected, axis=1)
        clear = top[:, -1] - top[:, -2] > level
        wrong = clear & (logits.argmax(axis=1) != expected.argmax(axis=1))
    summary.outcomes["(classes compared)"] += int(clear.sum())
    if wrong.any():
        raise AssertionError(f"{int(wrong.sum())} classes differ from those at the reference's optimum")


def _is_degenerate(problem: Problem) -> bool:
    """Whether a gradient within the tolerance leaves the optimum open: weight decay is little beside the samples.

    A logit may be off by `|z| |g| / a`, at most the square of the samples' size times `tol` over the decay.
    """
    size = float(np.abs(problem.scaled(problem.everyone)).max(initial=0.0))
    return problem.decay <= 1e-7 * size**2


def run(count: int, seed: int, first: int = 0, on_case: Any = None) -> Summary:
    """Compare so many fits."""
    summary = Summary()
    for number in range(first, first + count):
        case = draw(seed, number)
        try:
            compare(case, summary)
        except AssertionError as wrong:
            summary.failures.append(f"{number}: {wrong}")
        except Exception as error:  # anything but an InputError is a fault of ours
            summary.failures.append(f"{number}: {type(error).__name__}: {error}")
        if on_case is not None:
            on_case(number - first + 1, summary)
    return summary


def main() -> int:
    """Run many, with a line now and then."""
    parser = argparse.ArgumentParser(description="Random small fits compared with the reference.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=2031)
    parser.add_argument("--first", type=int, default=0, help="number of the first fit")
    parser.add_argument("--show", action="store_true", help="print the options of the fits that fail")
    arguments = parser.parse_args()
    start = time.perf_counter()

    told = 0

    def on_case(done: int, summary: Summary) -> None:
        nonlocal told
        lines = summary.failures[told:]
        told = len(summary.failures)
        if done % 1000 == 0:
            lines.append(f"{done:,} fits in {time.perf_counter() - start:,.0f} s, {told} wrong")
        for line in lines:
            print(line, file=sys.stderr, flush=True)

    summary = run(arguments.count, arguments.seed, arguments.first, on_case)
    print(f"{arguments.count:,} fits from number {arguments.first}, seed {arguments.seed}")
    for outcome, count in summary.outcomes.most_common():
        print(f"{count:10,}  {outcome}")
    for name, value in sorted(summary.worst.items()):
        print(f"{value:10.1e}  largest deviation of {name}")
    print(f"{len(summary.failures):10,}  wrong")
    for failure in summary.failures:
        print("  ", failure)
        if arguments.show:
            case = draw(arguments.seed, int(failure.split(":")[0]))
            print("     ", case.options, case.graph, case.dtype, None if case.X is None else case.X.shape)
    return 1 if summary.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
