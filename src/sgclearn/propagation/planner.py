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

from sgclearn.errors import MemoryLimitError, Setting
from sgclearn.filters import Wanted, hops_of, members_of
from sgclearn.propagation.costs import LBFGS_VECTORS, CostModel, Estimate
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.engines.contract import Prices
from sgclearn.propagation.neighbourhood import hop_sets
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.readout import Readout
from sgclearn.validation.arrays import positions_of
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
    samples: Readout | NDArray[np.intp],
    wanted: Wanted | list[Wanted],
    n_classes: int,
    *,
    evaluations: int = 100,
    copies: int = 1,
    share: float = 1.0,
    quadratic: bool = False,
    predict_all: bool = False,
    plan: str = "auto",
    memory_limit: int | float | str | None = None,
    prices: Prices | None = None,
    vectors: float = LBFGS_VECTORS,
    is_scaled: bool = False,
    itemsize: int = 8,
) -> Plan:
    """Estimate every plan and choose the fastest that fits. Cost: O(K edges), of the nodes that the rows see.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    samples : Readout or ndarray of int (m,)
        The nodes that the samples are, or what they are made of.
    wanted : Wanted, or a list of them
        The filters; of a list every one is tried, and all are formed in one pass.
    n_classes : int
    evaluations : int
        How often the solver is expected to multiply by the rows and by their transpose.
    copies : int
        How many problems over the rows are held at the same time.
    share : float
        How many of the samples each of them has.
    quadratic : bool
        Whether the loss is quadratic, so that formed samples are factorised once.
    predict_all : bool
        Whether every node is predicted afterwards, whose memory then counts too.
    plan : str
        "auto", or the name of the plan to use.
    memory_limit : int, str or None
        See `memory_limit_bytes`.
    prices : Prices, optional
        What products cost; those of the best engine there is if not given.
    vectors : float
        How many float64 vectors of the size of the weights the solver holds.
    is_scaled : bool
        Whether the columns are scaled after propagation.
    itemsize : int
        Bytes of a number in products with samples that are not formed.
    """
    check_parameter("plan", plan)
    check_type(features, NodeFeatures, "features", "make them with NodeFeatures(X)")
    if not isinstance(samples, Readout):
        samples = Readout.of(positions_of(samples, features.n_nodes))
    limit = memory_limit_bytes(memory_limit)
    model, estimates = _estimate_rows(operator, features, samples, wanted, prices)
    for estimate in estimates.values():
        model.solve(estimate, n_classes, evaluations, copies, share, vectors, quadratic)
    estimates["implicit"] = model.implicit(n_classes, evaluations, vectors, is_scaled, itemsize)
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
        n_rows=samples.n_samples,
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
    samples: Readout | NDArray[np.intp],
    wanted: Wanted,
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
    model, estimates = _estimate_rows(operator, features, Readout.of(samples), wanted, prices)
    if plan != "auto":
        estimates = {plan: estimates[plan]}
    needed = {name: _with_output(estimate, model, output) for name, estimate in estimates.items()}
    fitting = [name for name in estimates if needed[name] <= limit]
    if not fitting:
        raise MemoryLimitError(
            f"propagating must fit the {format_bytes(limit)} that may be used",
            f"a need of about {format_bytes(min(needed.values()))}",
            (
                *(
                    "raise ",
                    Setting("memory_limit"),
                    ", name fewer nodes, or propagate a few columns of X at a time, ",
                ),
                "since columns are independent",
            ),
        )
    return min(fitting, key=lambda name: estimates[name].nanoseconds)


def _estimate_rows(
    operator: Operator | None,
    features: NodeFeatures,
    samples: Readout,
    wanted: Wanted | list[Wanted],
    prices: Prices | None,
) -> tuple[CostModel, dict[str, Estimate]]:
    """Costs of the plans that form the samples."""
    banks = wanted if isinstance(wanted, list) else [wanted]
    n_hops, n_blocks = max(map(hops_of, banks)), max(len(members_of(bank)) for bank in banks)
    sets = [samples.nodes] if operator is None else hop_sets(operator.graph, samples.nodes, n_hops)
    one_filter = len(banks) == n_blocks == 1
    model = CostModel(operator, features, sets, samples, prices or get_engine().prices, one_filter, n_blocks)
    return model, model.explicit()


def _with_output(estimate: Estimate, model: CostModel, output: str) -> float:
    """Peak memory, with the result turned into what was asked for."""
    Z = estimate.result
    if output == "auto" or Z.is_sparse == (output == "sparse"):
        return estimate.peak
    if output == "sparse":
        return max(estimate.peak, Z.memory + Z.entries * _TO_SPARSE_BYTES)
    return max(estimate.peak, Z.memory + float(Z.count) * model.d * model.n_blocks * Z.itemsize)


def _choose(costs: tuple[PlanCost, ...], plan: str, limit: int) -> str:
    candidates = [cost for cost in costs if plan in ("auto", cost.name)]
    fitting = [cost for cost in candidates if cost.fits]
    if not fitting:
        least = min(candidates, key=lambda cost: cost.memory)
        leave = () if plan == "auto" else (", or leave the choice to ", Setting("plan", "auto"))
        raise MemoryLimitError(
            f"the plan must fit the {format_bytes(limit)} that may be used",
            f"a need of about {format_bytes(least.memory)} (plan {least.name!r})",
            ("raise ", Setting("memory_limit"), ", use fewer hops or fewer columns", *leave),
        )
    return min(fitting, key=lambda cost: cost.seconds).name
