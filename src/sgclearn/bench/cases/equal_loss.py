"""Solvers alone, on the same rows and the same objective, each timed until it reaches the same loss."""

from __future__ import annotations

from typing import Any

from sgclearn.bench.answers import Judge
from sgclearn.bench.cases.case import OURS, Bench, Part
from sgclearn.bench.contenders.objective import Objective
from sgclearn.bench.measurement import Measurement
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender, thread_label

# Everyone is asked for sgclearn's loss and a little more; a loss summed in float32 may be off by the second.
SLACK, ROUNDING, MAX_ITER, MAX_STEPS = 1e-3, 1e-5, 1000, 30
# newton-cholesky stores a matrix of (features x classes)^2 numbers, and a second one while it solves with it.
NEWTON, LARGEST_MATRIX = "scikit-learn, newton-cholesky", 1e9


def measure_training(
    bench: Bench, name: str, Z: Any, y: Any, weight_decay: float, tol: float, thread_counts: list[int]
) -> Part:
    """Time to the loss at which sgclearn's solver stops with that tolerance.

    Parameters
    ----------
    bench : Bench
    name : str
        Of the part.
    Z : float32 array (m, d)
    y : integer array (m,), classes from 0
    weight_decay, tol : float
    thread_counts : list of int
        Everyone takes part once with each; where rows are few, more threads can be slower.
    """
    from sgclearn import SGCClassifier

    model: dict[str, Any] = {"weight_decay": weight_decay, "tol": tol, "penalize_intercept": False}
    fitted = SGCClassifier(0, **model).fit(Z, y)
    objective = Objective(Z, y, weight_decay)
    wanted = (1 + SLACK) * objective.loss(fitted.coef_.T, fitted.intercept_)
    matrix_bytes = Z.itemsize * ((Z.shape[1] + 1.0) * len(fitted.classes_)) ** 2
    fits = matrix_bytes <= LARGEST_MATRIX
    common = {"weight_decay": weight_decay, "loss": wanted, "max_iter": MAX_ITER, "max_steps": MAX_STEPS}
    with bench.folder() as folder:
        sizes = write_problem(folder, None, Z, {"y": y}, n_hops=0, model=model)
        sizes["n_classes"] = len(fitted.classes_)
        part = bench.measure(
            name, sizes, folder, contenders(thread_counts, common, fits), reaches(objective, wanted)
        )
    if not fits:
        part.notes.append(f"Left out: {NEWTON}, it would store two matrices of {matrix_bytes / 1e9:.1f} GB.")
    part.figures["loss to reach"] = wanted
    return part


def contenders(thread_counts: list[int], common: dict[str, Any], with_newton: bool) -> list[Contender]:
    """Everyone who minimises the same objective to its optimum, named with the threads if these differ."""
    found: list[Contender] = []
    for count in thread_counts:
        label = f", {thread_label(count)}" if len(thread_counts) > 1 else ""
        found += [
            Contender(f"{OURS}{label}", "ours:training", is_peer=False, threads=count),
            Contender(f"scikit-learn, lbfgs{label}", "sklearn_peer:training", True, "own", count, common),
            Contender(f"torch L-BFGS{label}", "recipe:lbfgs_training", True, "peers", count, common),
        ]
        if with_newton:
            found.append(
                Contender(f"{NEWTON}{label}", "sklearn_peer:newton_training", True, "own", count, common)
            )
    return found


def reaches(objective: Objective, wanted: float) -> Judge:
    """A judge who notes loss and relative gradient, and finds fault with a loss that is too high."""

    def judge(measurement: Measurement, arrays: dict[str, Any]) -> None:
        loss, gradient = objective.relative(arrays["coef.rows"], arrays["intercept.rows"])
        measurement.figures |= {"loss": loss, "relative_gradient": gradient}
        if not loss <= (1 + ROUNDING) * wanted:
            measurement.fault = f"it stopped at a loss of {loss:.6g} and did not reach {wanted:.6g}"

    return judge
