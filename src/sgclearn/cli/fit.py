"""`sgc fit`: from edges, features and a few labels to a model and a label for every node."""

from __future__ import annotations

from sgclearn.cli.options import ForceFlag, JsonFlag, RunToWrite, with_options
from sgclearn.tasks.nodes.options import NodeData, NodeModel

COMMAND = "fit"


@with_options
def command(
    *,
    data: NodeData,
    model: NodeModel,
    out: RunToWrite = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Fit a model and label every node of the graph.

    Without files it runs on the graph inside the package. Where the labels have no split, some are held back
    and the accuracy on them is reported; the model that is written is the one that was measured, and never
    saw them. Test labels are used for that report and for nothing else.

    \b
    Examples:
      sgc fit
      sgc fit --edges e.csv --features f.csv --labels l.csv --out run
      sgc fit --edges e.csv --labels l.csv --n-hops 3 --held-out 0.1
    """
    from sgclearn.cli.task_commands import fit_and_show
    from sgclearn.tasks.nodes.task import Nodes

    fit_and_show(Nodes(), data, model, out, force, as_json)
