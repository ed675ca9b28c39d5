"""`sgc explain`: why a node has its label, and what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import JsonFlag, RunFolder
from sgclearn.cli.output import Screen
from sgclearn.tasks.options import RESULT

if TYPE_CHECKING:
    from sgclearn.explain import Explanation, LabelInfluence
    from sgclearn.tasks.explained import OpenRun

COMMAND = "explain"
CHANGE = "What if"
_HALF = 12  # characters of a bar to each side of zero
_LABELS = 5


def command(
    run: RunFolder,
    nodes: Annotated[list[str], typer.Argument(help="Ids of the nodes to explain.", show_default=False)],
    against: Annotated[
        str | None,
        typer.Option(help="Class to compare with; the runner-up if not given.", show_default=False),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Class to explain; the predicted one if not given.", show_default=False)
    ] = None,
    without_edge: Annotated[
        list[str] | None,
        typer.Option(help="Take this edge away, as A,B.", rich_help_panel=CHANGE, show_default=False),
    ] = None,
    without_node: Annotated[
        list[str] | None,
        typer.Option(help="Take this node and its edges away.", rich_help_panel=CHANGE, show_default=False),
    ] = None,
    without_feature: Annotated[
        list[str] | None,
        typer.Option(help="Take this feature of the node away.", rich_help_panel=CHANGE, show_default=False),
    ] = None,
    labels: Annotated[
        bool, typer.Option(help="Show which training labels carry the prediction.", rich_help_panel=CHANGE)
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Rows of each table.", rich_help_panel=RESULT)] = 8,
    as_json: JsonFlag = False,
) -> None:
    r"""Explain predictions exactly: by feature, neighbour and hop, in terms that add up.

    \b
    Examples:
      sgc explain run n17
      sgc explain run n17 --against biology --without-edge n17,n4
    """
    from sgclearn.runs.run import Run
    from sgclearn.tasks.explained import OpenRun

    screen, opened, documents = Screen(as_json), OpenRun.of(Run.open(run)), []
    explainer = opened.explainer()
    for name in nodes:
        node = opened.position(name)
        rival = None if against is None else opened.class_of(against, "against")
        chosen = None if label is None else opened.class_of(label, "label")
        found = explainer.explain(node, rival, label=chosen)
        changed = _changed(opened, found, without_edge or [], without_node or [], without_feature or [])
        carried = opened.influence(node) if labels else []
        show_explanation(screen, found, top)
        if changed is not None:
            _show_change(screen, found, changed)
        elif found.against is not None and chosen is None:
            _show_flips(screen, found)
        _show_labels(screen, opened, carried[:_LABELS])
        document = found.to_dict(top)
        if changed is not None:
            document["without"] = changed.to_dict(top)
        if labels:
            document["labels"] = [_influence(opened, row) for row in carried]
        documents.append(document)
    screen.document({"explanations": documents})


def _changed(
    opened: OpenRun, found: Explanation, edges: list[str], nodes: list[str], features: list[str]
) -> Explanation | None:
    if not (edges or nodes or features):
        return None
    return found.without(
        edges=[opened.edge(text) for text in edges],
        nodes=[opened.position(text) for text in nodes],
        features=[opened.feature(text) for text in features],
    )


def show_explanation(screen: Screen, found: Explanation, top: int) -> None:
    """One sentence, then the strongest terms of each grouping as bars."""
    from sgclearn.explain.words import TITLES, sentence

    screen.line()
    screen.field("Why", sentence(found))
    rival = "" if found.against is None else f" over {found.against}"
    screen.field("Margin", f"{found.label}{rival}: {found.margin:+.3g}, of which bias {found.bias:+.3g}")
    for by, title in TITLES.items():
        terms, rest = found.terms(by, top)
        if by == "features" and found.sample.sources.features.is_identity:
            continue  # the same as the nodes
        if len(terms) < 2 and by not in ("features", "through"):
            continue
        rows = [(str(term.name), term.value) for term in terms]
        rows += [("all others", rest)] if rest else []
        largest = max((abs(value) for _, value in rows), default=0.0)
        shown = [(name, _bar(value, largest), f"{value:+.3g}") for name, value in rows]
        screen.table((title, "against | for", "share"), shown, left=2)


def _bar(value: float, largest: float) -> str:
    """A bar to the right of the middle for a term that speaks for the label, to the left for one against it."""
    length = round(_HALF * abs(value) / largest) if largest else 0
    left, right = ("", "█" * length) if value >= 0 else ("▒" * length, "")
    return f"{left:>{_HALF}}|{right:<{_HALF}}"


def _show_change(screen: Screen, before: Explanation, after: Explanation) -> None:
    from sgclearn.explain.linear import CLASSES

    same = after.predicted == before.predicted
    verdict = f"it would still be {after.predicted}" if same else f"it would be {after.predicted}"
    margin = f"the margin would go from {before.margin:+.3g} to {after.margin:+.3g}"
    screen.line()
    is_class = before.sample.model.kind == CLASSES
    screen.field("Without", f"{verdict}; {margin}." if is_class else f"{margin}.")


def _show_flips(screen: Screen, found: Explanation) -> None:
    """The smallest changes that would give another label."""
    from sgclearn.explain.words import listed

    told = []
    for by, what in (("features", "feature values"), ("sources", "features of the nodes")):
        if by == "features" and found.sample.sources.features.is_identity:
            continue
        flip = found.flip(by, max_size=20)
        if flip.parts is None:
            told.append(f"no set of up to 20 {what} changes the label")
            continue
        own = found.names.node(found.node) if found.node is not None else None
        names = [
            str(part[-1]) if by == "sources" or part[0] == own else f"{part[1]} of {part[0]}"
            for part in flip.names
        ]
        shown = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
        told.append(f"without the {what} {listed(shown)} it would be {flip.label}")
    if told:
        screen.line()
        screen.field("Change", "; ".join(told) + ".")


def _show_labels(screen: Screen, opened: OpenRun, rows: list[LabelInfluence]) -> None:
    if rows:
        shown = [(str(opened.graph.ids[row.node]), str(row.label), f"{row.change:+.3g}") for row in rows]
        screen.table(("training labels that carry it", "label", "margin"), shown, left=2)


def _influence(opened: OpenRun, row: LabelInfluence) -> dict[str, Any]:
    name = opened.graph.ids[row.node]
    return {"node": getattr(name, "item", lambda: name)(), "label": row.label, "change": row.change}
