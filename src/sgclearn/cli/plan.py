"""`sgc plan`: what a fit would cost, before it is run."""

from __future__ import annotations

from sgclearn.cli.options import JsonFlag, with_options
from sgclearn.cli.output import Screen
from sgclearn.cli.task_commands import show_plan, show_samples
from sgclearn.tasks.nodes.options import NodeData, NodeModel

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
