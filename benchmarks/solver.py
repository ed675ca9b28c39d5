"""Time to the optimum with many labels: the solver of this package, scikit-learn's and torch's, at equal loss.

The samples are rows of `S^2 X` of a drawn graph with the shape of Reddit, in float32. Every contender minimises
`mean cross-entropy + weight_decay / 2 |Theta|^2` with a free bias and is run with growing budgets until its loss,
worked out afterwards in float64, is within a share of the optimum's. Contenders take turns, and the best of the turns
counts. Beside the seconds stands the gradient norm that was reached, as a share of that at zero weights.

Run it with `python benchmarks/solver.py`; torch takes part where it can be imported. The full size is
`--samples 150000`. scikit-learn's newton-cholesky stores a matrix of (columns x classes)^2 numbers and takes part where
that fits, as with `--columns 60`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sgclearn import propagate
from sgclearn.classify.fitting import PreparedFit, SolverSettings
from sgclearn.classify.labels import one_hot
from sgclearn.classify.loss import Objective, Softmax
from sgclearn.datasets import make_block_graph
from sgclearn.propagation.design import ExplicitDesign

Array = NDArray[Any]
Weights = tuple[Array, Array]  # Theta (d, C) and b (C,)
Contender = Callable[[float], Weights]  # from a budget, in its own measure
SHARES = (1e-2, 1e-4, 1e-6)  # (loss - optimum) / (loss at zero - optimum)
NEWTON_CHOLESKY_BYTES = 4e9


class Problem:
    """Samples, labels, weight decay, and the loss that every contender is judged by."""

    def __init__(self, n_samples: int, n_columns: int, weight_decay: float) -> None:
        n_nodes = int(n_samples * 1.53)  # Reddit's share of training nodes
        data = make_block_graph(n_nodes, n_features=n_columns)
        rows = data.train[:n_samples]
        self.Z: Array = propagate(data.X, data.graph, 2, nodes=rows)
        self.y, self.n_classes = data.y[rows], len(data.class_names)
        self.weight_decay = weight_decay
        Y = one_hot(self.y, self.n_classes)
        design = ExplicitDesign(self.Z)
        self.objective = Objective(design, Y, np.ones(len(Y)), Softmax, weight_decay, True, False)

    def judge(self, Theta: Array, b: Array) -> tuple[float, float]:
        """Loss and gradient norm, in float64."""
        W = np.vstack([Theta, b]).astype(np.float64)
        value, gradient, _ = self.objective.value_and_gradient(W)
        return value, float(np.linalg.norm(gradient))

    def ours(self, tol: float) -> Weights:
        """Our own solver, to a gradient of `tol` times the first one."""
        settings = SolverSettings(tol=tol, penalize_intercept=False)
        Y = one_hot(self.y, self.n_classes)
        prepared = PreparedFit(
            ExplicitDesign(self.Z), Y, np.ones(len(Y)), Softmax, settings, self.weight_decay
        )
        fit = prepared.finish(prepared.solve(self.weight_decay))
        return fit.Theta, fit.b

    def sklearn(self, solver: str) -> Contender:
        """scikit-learn's LogisticRegression, with so many iterations."""
        from sklearn.linear_model import LogisticRegression

        def run(max_iter: float) -> Weights:
            C = 1.0 / (len(self.y) * self.weight_decay)
            model = LogisticRegression(C=C, solver=solver, max_iter=int(max_iter), tol=1e-12)
            model.fit(self.Z, self.y)
            return model.coef_.T, model.intercept_

        return run

    def torch_lbfgs(self, max_iter: float) -> Weights:
        """LBFGS of torch with strong Wolfe line search, which is its better form."""
        import torch

        Z, y = torch.from_numpy(self.Z), torch.from_numpy(self.y.astype(np.int64))
        model = torch.nn.Linear(Z.shape[1], self.n_classes)
        torch.nn.init.zeros_(model.weight)
        torch.nn.init.zeros_(model.bias)
        optimizer = torch.optim.LBFGS(
            model.parameters(), max_iter=int(max_iter), history_size=20, tolerance_grad=0.0,
            tolerance_change=0.0, line_search_fn="strong_wolfe",
        )  # fmt: skip

        def closure() -> Any:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(Z), y)
            loss = loss + 0.5 * self.weight_decay * (model.weight**2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        return model.weight.detach().numpy().T, model.bias.detach().numpy()

    @property
    def hessian_bytes(self) -> float:
        """Of the matrix that newton-cholesky stores."""
        return 8.0 * (self.n_classes * (self.Z.shape[1] + 1)) ** 2

    def contenders(self) -> dict[str, tuple[Contender, Sequence[float]]]:
        """Every contender that can take part, with its budgets, smallest first."""
        iterations = (10, 20, 40, 80, 160, 320, 640)
        table: dict[str, tuple[Contender, Sequence[float]]] = {
            "sgclearn": (self.ours, (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)),
            "scikit-learn lbfgs": (self.sklearn("lbfgs"), iterations),
        }
        if self.hessian_bytes <= NEWTON_CHOLESKY_BYTES:
            table["scikit-learn newton-cholesky"] = (self.sklearn("newton-cholesky"), (2, 4, 6, 8, 10))
        try:
            import torch  # noqa: F401

            table["torch LBFGS"] = (self.torch_lbfgs, iterations)
        except ImportError:
            pass
        return table


def measure(problem: Problem, turns: int, longest: float) -> dict[str, dict[float, tuple[float, float]]]:
    """Best seconds of every contender to every share of the way that it reached, and the gradient norm there."""
    optimum, _ = problem.judge(*problem.ours(1e-7))
    zeros = np.zeros((problem.Z.shape[1], problem.n_classes))
    zero, zero_norm = problem.judge(zeros, zeros[0])
    best: dict[str, dict[float, tuple[float, float]]] = {name: {} for name in problem.contenders()}
    for _ in range(turns):
        for name, (run, budgets) in problem.contenders().items():
            for budget in budgets:
                begin = time.perf_counter()
                Theta, b = run(budget)
                seconds = time.perf_counter() - begin
                loss, norm = problem.judge(Theta, b)
                share = (loss - optimum) / (zero - optimum)
                for wanted in SHARES:
                    if share <= wanted:
                        reached = (seconds, norm / zero_norm)
                        best[name][wanted] = min(reached, best[name].get(wanted, reached))
                if share <= min(SHARES) or seconds > longest:
                    break
    return best


def main() -> None:
    """Draw the problem, measure, print a table, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=15_000)
    parser.add_argument("--columns", type=int, default=602)
    parser.add_argument("--weight-decay", type=float, default=1e-5)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument(
        "--longest", type=float, default=30.0, help="seconds after which no larger budget is tried"
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    problem = Problem(given.samples, given.columns, given.weight_decay)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a budget that is too small is the point
        best = measure(problem, given.turns, given.longest)
    shape = f"{problem.Z.shape[0]:,} x {problem.Z.shape[1]}, {problem.n_classes} classes, {problem.Z.dtype}"
    title = f"seconds to a share of the way to the optimum (relative gradient there)\n{shape}"
    table = Table("contender", *(f"{share:g}" for share in SHARES), title=title)
    for name, row in best.items():
        cells = (f"{row[s][0]:.2f} ({row[s][1]:.0e})" if s in row else "not reached" for s in SHARES)
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    if problem.hessian_bytes > NEWTON_CHOLESKY_BYTES:
        console.print(
            f"scikit-learn newton-cholesky is left out: it would store {problem.hessian_bytes / 1e9:.1f} GB."
        )
    if given.json is not None:
        given.json.write_text(json.dumps({"shape": shape, "reached": best}, indent=2))


if __name__ == "__main__":
    main()
