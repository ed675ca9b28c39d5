"""`sgc plan`: what a fit would cost, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sgclearn.cli.options import JsonFlag, with_options
from sgclearn.cli.output import Screen
from sgclearn.cli.task_commands import show_samples
from sgclearn.tasks.nodes.options import NodeData, NodeModel

if TYPE_CHECKING:
    from sgclearn.propagation.planner import Plan

COMMAND = "plan"


@with_options
def command(
    *,
    data: NodeData,
    model: NodeModel,
    as_json: JsonFlag = False,
) -> None:
    r"""Show how a fit would be computed, and what every way would cost, without fitting.

    All ways give the same answer; the fastest that fits into memory is marked.

    \b
    Examples:
      sgc plan
      sgc plan --edges e.csv --features f.csv --labels l.csv --n-hops 3
    """
    from sgclearn.tasks.nodes.task import Nodes

    task, screen = Nodes(), Screen(as_json)
    with screen.progress() as stages:
        samples = task.read(data, stages.stage)
        stages.stage("counting neighbourhoods")
        plan, excess = task.plan(samples, task.candidates(samples, model)[-1])
    show_samples(screen, samples, task.remarks(samples, model))
    show_plan(screen, plan)
    screen.document({"data": samples.summary, "plan": {**plan.to_dict(), "chosen": plan.chosen or None}})
    if excess is not None:
        raise excess


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
