"""What the fit of a candidate would cost, before it is run."""

from __future__ import annotations

from dataclasses import replace

from sgclearn.errors import MemoryLimitError, Setting
from sgclearn.operators import Operator
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.planner import Plan, make_plan
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.tasks.protocol import Candidate, Samples
from sgclearn.validation.memory import format_bytes, memory_limit_bytes

NO_LIMIT = 2**62  # bytes
EVALUATIONS, DEFAULT_EPOCHS = 100, 100


def plan_candidate(samples: Samples, candidate: Candidate) -> tuple[Plan, MemoryLimitError | None]:
    """Plan of a fit on the training labels; one that fits into no memory comes with the error to raise."""
    model, n_hops = candidate.model, candidate.n_hops
    limit = memory_limit_bytes(None if model.compute is None else model.compute.memory_limit)
    plan = make_plan(
        Operator(samples.graph, model.normalization, model.gamma),
        NodeFeatures(samples.X, samples.graph.n_nodes, model.row_norm),
        samples.where("train"),
        check_n_hops(n_hops),
        len(samples.classes) or len(samples.targets),
        evaluations=EVALUATIONS
        if getattr(model, "solver", "lbfgs") == "lbfgs"
        else model.max_iter or DEFAULT_EPOCHS,
        predict_all=True,
        memory_limit=NO_LIMIT,
    )
    costs = tuple(replace(cost, fits=cost.memory <= limit) for cost in plan.costs)
    fitting = [cost for cost in costs if cost.fits]
    chosen = min(fitting, key=lambda cost: cost.seconds).name if fitting else ""
    least = min(costs, key=lambda cost: cost.memory)
    excess = MemoryLimitError(
        f"the plan must fit the {format_bytes(limit)} that may be used",
        f"a need of about {format_bytes(least.memory)} (plan {least.name!r})",
        ("raise ", Setting("memory_limit"), ", or use fewer hops or fewer columns"),
    )
    return replace(plan, costs=costs, chosen=chosen, memory_limit=limit), None if fitting else excess
