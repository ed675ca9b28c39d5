"""Applications of the paper: what is not a graph yet becomes one, and one driver serves them all."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.tasks.protocol import Task


class TaskEntry(NamedTuple):
    """Where a task is, and what the help says about it before it is loaded."""

    module: str
    name: str
    summary: str


TASKS = {
    "nodes": TaskEntry(
        "sgclearn.tasks.nodes.task", "Nodes", "Label the nodes of a graph from a few known labels."
    ),
    "graphs": TaskEntry("sgclearn.tasks.graphs.task", "Graphs", "Classify whole graphs, such as molecules."),
    "relations": TaskEntry(
        "sgclearn.tasks.relations.task",
        "Relations",
        "Tell what two entities of a sentence have to do with each other.",
    ),
    "geo": TaskEntry(
        "sgclearn.tasks.geo.task", "Geo", "Find out where users are, from their graph and their text."
    ),
    "zeroshot": TaskEntry(
        "sgclearn.tasks.zeroshot.task",
        "ZeroShot",
        "Classify images of classes without examples, by a graph of classes.",
    ),
}
"""Every task by name; `sgc <name>` has its commands."""


def get_task(name: str) -> Task:
    """The task of this name, loaded."""
    if name not in TASKS:
        raise InputError(f"a task must be one of {', '.join(TASKS)}", repr(name), "choose one of them")
    entry = TASKS[name]
    task: Task = getattr(importlib.import_module(entry.module), entry.name)()
    return task
