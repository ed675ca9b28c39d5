"""`sgc plan`: what a fit would cost, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sgclearn.cli.options import MODEL, DataOptions, JsonFlag, OperatorOptions, with_options
from sgclearn.cli.output import Screen

if TYPE_CHECKING:
    from sgclearn.propagation.planner import Plan

COMMAND = "plan"


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
    from sgclearn.operators import Operator
    from sgclearn.propagation.planner import make_plan
    from sgclearn.propagation.propagate import check_n_hops
    from sgclearn.propagation.source import NodeFeatures

    screen = Screen(as_json)
    with screen.progress() as stages:
        problem = read_problem(data, stages)
        stages.stage("counting neighbourhoods")
        plan = make_plan(
            Operator(problem.graph, operator.normalization.value, operator.gamma),
            NodeFeatures(problem.X, problem.graph.n_nodes),
            problem.nodes("train"),
            check_n_hops(n_hops),
            len(problem.classes),
            memory_limit=memory_limit,
        )
    screen.field("Data", str(problem))
    screen.field("Labels", problem.split_sizes)
    show_plan(screen, plan)
    screen.document({"data": problem.summary, "plan": plan.to_dict()})


def show_plan(screen: Screen, plan: Plan) -> None:
    """Say what was chosen, and what each way costs."""
    from sgclearn.cli.output import counted
    from sgclearn.propagation.memory import format_bytes

    screen.field(
        "Plan",
        f"{plan.chosen}: {counted(plan.n_rows, 'labelled node')} of {plan.n_nodes:,} see "
        f"{counted(plan.neighbourhood[-1], 'node')} within {counted(plan.n_hops, 'hop')}",
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
