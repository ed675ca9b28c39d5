"""The report of a run folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sgclearn.errors import InputError
from sgclearn.explain.influence import MOST_REFITS
from sgclearn.files import replacing
from sgclearn.report.contents import ReportData, make_report
from sgclearn.runs.run import Run
from sgclearn.tasks.explained import OpenRun


def write_report(run: Run, path: Path) -> int:
    """Write the report of a run of the task nodes; gives its size in bytes."""
    content = make_report(report_data(run)).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return len(content)


def report_data(run: Run) -> ReportData:
    """What the report of a run is made from."""
    opened = OpenRun.of(run)
    if not hasattr(opened.model, "predict_proba"):
        raise InputError(
            "a report is about a run of classes",
            f"{run.folder}, a run of numbers",
            "see its metrics.json",
            argument="run",
        )
    graph, labels = opened.graph, run.labels()
    y, split = labels.align(graph).astype(object), np.full(graph.n_nodes, None, dtype=object)
    if labels.splits is not None:
        split[graph.positions(labels.ids)] = labels.splits
    suspicious = []
    if (split == "train").sum() <= MOST_REFITS and opened.model.solver == "lbfgs":
        found = opened.left_out().suspicious(opened.training_labels(), opened.model.temperature_)
        suspicious = [(graph.ids[node], y[node], better, p) for node, better, p in found]
    metrics = run.metrics()
    return ReportData(
        name=str(metrics.get("data", {}).get("name", run.folder.name)),
        unit="node",
        model=opened.model,
        X=opened.X,
        graph=graph,
        ids=graph.ids,
        y=y,
        split=split,
        metrics=metrics,
        settings=run.settings,
        feature_names=opened.feature_names,
        suspicious=suspicious,
    )
