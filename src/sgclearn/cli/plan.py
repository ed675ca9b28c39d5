"""`sgc plan`: what a fit would cost, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sgclearn.cli.options import MODEL, DataOptions, JsonFlag, OperatorOptions, with_options
from sgclearn.cli.output import Screen
from sgclearn.errors import InputError, MemoryLimitError

if TYPE_CHECKING:
    from sgclearn.propagation.planner import Plan
    from sgclearn.tasks.protocol import Samples

COMMAND = "plan"
NO_LIMIT = 2**62  # bytes


@with_options
def command(
    *,
    data: DataOptions,
    n_hops: Annotated[int, typer.Option(help="Hops K of the fit.", rich_help_panel=MODEL)] = 2,
    operator: OperatorOptions,
    memory_limit: Annotated[
        str | None, typer.Option(help="Such as 4GB.", rich_help_panel=MODEL, show_default=False)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    r"""Show how a fit would be computed, and what every way would cost, without fitting.

    All ways give the same answer; the fastest that fits into memory is marked.

    \b
    Examples:
      sgc plan
      sgc plan --edges e.csv --features f.csv --labels l.csv --n-hops 3
    """
    from sgclearn.cli.inputs import read_problem

    screen = Screen(as_json)
    with screen.progress() as stages:
        problem = read_problem(data, stages)
        stages.stage("counting neighbourhoods")
        plan, excess = plan_fit(problem, n_hops, operator, memory_limit=memory_limit)
    screen.field("Data", str(problem))
    screen.field("Labels", problem.split_sizes)
    show_plan(screen, plan)
    screen.document({"data": problem.summary, "plan": {**plan.to_dict(), "chosen": plan.chosen or None}})
    if excess is not None:
        raise excess


def plan_fit(
    problem: Samples,
    n_hops: int,
    operator: OperatorOptions,
    *,
    row_norm: str | None = None,
    evaluations: int = 100,
    memory_limit: str | None = None,
) -> tuple[Plan, MemoryLimitError | None]:
    """Plan of a fit on the training labels; one that fits into no memory comes with the error to raise."""
    from dataclasses import replace

    from sgclearn.operators import Operator
    from sgclearn.propagation.planner import make_plan
    from sgclearn.propagation.propagate import check_n_hops
    from sgclearn.propagation.source import NodeFeatures
    from sgclearn.validation.memory import format_bytes, memory_limit_bytes
    from sgclearn.validation.parameters import MOST_HOPS

    if n_hops > MOST_HOPS:
        raise InputError(f"--n-hops must be at most {MOST_HOPS}: got {n_hops}; 2 is the default.")
    limit = memory_limit_bytes(memory_limit)
    plan = make_plan(
        Operator(problem.graph, operator.normalization.value, operator.gamma),
        NodeFeatures(problem.X, problem.graph.n_nodes, row_norm),
        problem.where("train"),
        check_n_hops(n_hops),
        len(problem.classes),
        evaluations=evaluations,
        predict_all=True,
        memory_limit=NO_LIMIT,
    )
    costs = tuple(replace(cost, fits=cost.memory <= limit) for cost in plan.costs)
    fitting = [cost for cost in costs if cost.fits]
    chosen = min(fitting, key=lambda cost: cost.seconds).name if fitting else ""
    least = min(costs, key=lambda cost: cost.memory)
    excess = MemoryLimitError(
        f"a fit needs about {format_bytes(least.memory)} (way {least.name}) and {format_bytes(limit)} may be used: "
        "raise --memory-limit, or use fewer hops or fewer columns."
    )
    return replace(plan, costs=costs, chosen=chosen, memory_limit=limit), None if fitting else excess


def show_plan(screen: Screen, plan: Plan) -> None:
    """Say what was chosen, and what each way costs."""
    from sgclearn.cli.output import counted
    from sgclearn.validation.memory import format_bytes

    screen.field(
        "Plan",
        f"{plan.chosen or 'none fits into memory'}: {counted(plan.n_rows, 'labelled node')} of {plan.n_nodes:,} see "
        f"{counted(plan.neighbourhood[-1], 'node')} within {counted(plan.n_hops, 'hop')}; "
        f"estimated for one fit, where tuning makes many; up to {format_bytes(plan.memory_limit)} may be used",
    )
    rows = []
    for cost in plan.costs:
        mark = "chosen" if cost.name == plan.chosen else "" if cost.fits else "does not fit"
        work = (
            f"{cost.multiply_adds:,.0f}" if cost.multiply_adds < 1e6 else f"{cost.multiply_adds / 1e6:,.0f} M"
        )
        time = f"{cost.seconds:.3f} s" if cost.seconds >= 1e-3 else "below 1 ms"
        rows.append((cost.name, work, time, format_bytes(cost.memory), mark))
    screen.table(("way", "multiply-adds", "estimated time", "memory", ""), rows)
