"""Which order of products to use: what each plan would cost in work and memory, before anything is allocated.

Every plan computes the same rows of `S^K X`:

- ``full``: propagate the features of all nodes, then take the rows.
- ``frontier``: hop k touches only the nodes within K - k hops of a row.
- ``left-first``: `(S^K)[rows]` as a sparse block, then times X; wins when both are thin.
- ``implicit``: never form the rows; multiply by S and X inside the solver. Wins when they would be huge.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import MemoryLimitError
from sgclearn.graph.checks import positions_of
from sgclearn.propagation.costs import CostModel, Estimate
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.engines.contract import Prices
from sgclearn.propagation.neighbourhood import hop_sets
from sgclearn.propagation.source import NodeFeatures
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.parameters import PLANS, Choice, check_parameter, check_type

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_TO_SPARSE_BYTES = 48  # for every entry while a dense result is turned into a sparse one


@dataclass(frozen=True)
class PlanCost:
    """What one plan would cost: multiply-adds, seconds on one ordinary core, bytes at the peak."""

    name: str
    multiply_adds: float
    seconds: float
    memory: int
    fits: bool


@dataclass(frozen=True)
class Plan:
    """The chosen plan and, beside it, what the others would have cost."""

    chosen: str
    costs: tuple[PlanCost, ...]
    n_nodes: int
    n_rows: int
    n_hops: int
    n_columns: int
    n_classes: int
    neighbourhood: tuple[int, ...]  # nodes within 0, 1, ..., K hops of the rows
    memory_limit: int
    forced: bool
    sets: list[NDArray[np.intp]] = field(
        repr=False, compare=False
    )  # the neighbourhood itself, for whoever goes on

    @property
    def cost(self) -> PlanCost:
        """The cost of the chosen plan."""
        return next(cost for cost in self.costs if cost.name == self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: value for name, value in asdict(replace(self, sets=[])).items() if name != "sets"}

    def __str__(self) -> str:
        lines = [
            f"{self.chosen}: {self.n_rows:,} labelled of {self.n_nodes:,} nodes see "
            f"{self.neighbourhood[-1]:,} nodes in {self.n_hops} hops; {self.n_columns:,} features, "
            f"{self.n_classes} classes"
        ]
        for cost in self.costs:
            mark = "*" if cost.name == self.chosen else " "
            fits = "" if cost.fits else f"  over the limit of {format_bytes(self.memory_limit)}"
            lines.append(
                f"{mark} {cost.name:<11}{cost.multiply_adds:>10.2g} multiply-adds "
                f"{cost.seconds:>9.2g} s {format_bytes(cost.memory):>10}{fits}"
            )
        return "\n".join(lines)


def make_plan(
    operator: Operator | None,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    n_hops: int,
    n_classes: int,
    *,
    evaluations: int = 100,
    copies: int = 1,
    predict_all: bool = False,
    plan: str = "auto",
    memory_limit: int | float | str | None = None,
    prices: Prices | None = None,
    one_filter: bool = True,
) -> Plan:
    """Estimate every plan and choose the fastest that fits. Cost: O(K edges), of the nodes that the rows see.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    rows : ndarray of int (m,)
        Nodes whose rows of `S^K X` are wanted.
    n_hops, n_classes : int
    evaluations : int
        How often the solver is expected to multiply by the rows and by their transpose.
    copies : int
        How many problems over the rows are held at the same time.
    predict_all : bool
        Whether every node is predicted afterwards, whose memory then counts too.
    plan : str
        "auto", or the name of the plan to use.
    memory_limit : int, str or None
        See `memory_limit_bytes`.
    prices : Prices, optional
        What products cost; those of the best engine there is if not given.
    one_filter : bool
        Whether the rows are wanted for one filter only.
    """
    check_parameter("plan", plan)
    check_type(features, NodeFeatures, "features", "make them with NodeFeatures(X)")
    rows = (
        rows if type(rows) is np.ndarray and rows.dtype == np.intp else positions_of(rows, features.n_nodes)
    )
    n_hops = check_parameter("n_hops", n_hops)
    limit = memory_limit_bytes(memory_limit)
    model, estimates = _estimate_rows(operator, features, rows, n_hops, prices, one_filter)
    for estimate in estimates.values():
        model.solve(estimate, n_classes, evaluations, copies)
    estimates["implicit"] = model.implicit(n_classes, evaluations)
    for estimate in estimates.values():
        estimate.hold(model.predict_memory(n_classes) if predict_all else 0.0)
    costs = tuple(
        PlanCost(name, e.madds, e.nanoseconds * 1e-9, int(e.peak), e.peak <= limit)
        for name, e in estimates.items()
    )
    return Plan(
        chosen=_choose(costs, plan, limit),
        costs=costs,
        n_nodes=features.n_nodes,
        n_rows=len(rows),
        n_hops=model.hops,
        n_columns=features.n_columns,
        n_classes=n_classes,
        neighbourhood=tuple(len(nodes) for nodes in model.sets),
        memory_limit=limit,
        forced=plan != "auto",
        sets=model.sets,
    )


def plan_rows(
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    n_hops: int,
    *,
    output: str = "auto",
    plan: str = "auto",
    memory_limit: int | float | str | None = None,
    prices: Prices | None = None,
) -> str:
    """Name of the fastest plan that forms the rows within the limit, where nothing is solved after."""
    explicit = PLANS[:-1]
    Choice(values=("auto", *explicit), sentence=f"'auto' or one of {', '.join(explicit)} here").check(
        "plan", plan
    )
    limit = memory_limit_bytes(memory_limit)
    _, estimates = _estimate_rows(operator, features, rows, n_hops, prices)
    if plan != "auto":
        estimates = {plan: estimates[plan]}
    needed = {name: _with_output(estimate, features, output) for name, estimate in estimates.items()}
    fitting = [name for name in estimates if needed[name] <= limit]
    if not fitting:
        raise MemoryLimitError(
            f"propagating needs about {format_bytes(min(needed.values()))} and {format_bytes(limit)} may be "
            "used: raise memory_limit, name fewer nodes, or propagate a few columns of X at a time, since "
            "columns are independent."
        )
    return min(fitting, key=lambda name: estimates[name].nanoseconds)


def _estimate_rows(
    operator: Operator | None,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    n_hops: int,
    prices: Prices | None,
    one_filter: bool = True,
) -> tuple[CostModel, dict[str, Estimate]]:
    """Costs of the plans that form the rows."""
    sets = [rows] if operator is None else hop_sets(operator.graph, rows, n_hops)
    model = CostModel(operator, features, sets, prices or get_engine().prices, one_filter)
    return model, {"full": model.full(), "frontier": model.frontier(), "left-first": model.left_first()}


def _with_output(estimate: Estimate, features: NodeFeatures, output: str) -> float:
    """Peak memory, with the result turned into what was asked for."""
    Z = estimate.result
    if output == "auto" or Z.is_sparse == (output == "sparse"):
        return estimate.peak
    if output == "sparse":
        return max(estimate.peak, Z.memory + Z.entries * _TO_SPARSE_BYTES)
    return max(estimate.peak, Z.memory + float(Z.count) * features.n_columns * Z.itemsize)


def _choose(costs: tuple[PlanCost, ...], plan: str, limit: int) -> str:
    candidates = [cost for cost in costs if plan in ("auto", cost.name)]
    fitting = [cost for cost in candidates if cost.fits]
    if not fitting:
        least = min(candidates, key=lambda cost: cost.memory)
        raise MemoryLimitError(
            f"this needs about {format_bytes(least.memory)} (plan {least.name!r}) and "
            f"{format_bytes(limit)} may be used: raise memory_limit, use fewer hops or fewer columns"
            + ("." if plan == "auto" else ", or leave the choice to plan='auto'.")
        )
    return min(fitting, key=lambda cost: cost.seconds).name
