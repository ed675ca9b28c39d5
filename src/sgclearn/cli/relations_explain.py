"""`sgc relations explain`: the words and the path that decided the relation of a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sgclearn.cli.options import ForceFlag, JsonFlag, RunFolder
from sgclearn.cli.output import Screen, check_new_file
from sgclearn.errors import InputError
from sgclearn.tasks.options import RESULT

if TYPE_CHECKING:
    from sgclearn.tasks.relations import RelationExplanation

COMMAND = "explain"


def command(
    run: RunFolder,
    sentence: Annotated[str, typer.Argument(help="Id of a sentence of the run.", show_default=False)],
    label: Annotated[
        str | None,
        typer.Option(help="Relation to explain; the predicted one if not given.", show_default=False),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Relation to compare with; the runner-up if not given.", show_default=False),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(help="File for an arc diagram.", rich_help_panel=RESULT, show_default=False),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Rows of each table.", rich_help_panel=RESULT)] = 8,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Explain a relation exactly: shares of words and clues that add up to the margin.

    \b
    Examples:
      sgc relations explain run 8001 --svg arcs.svg
    """
    from sgclearn.files import replacing
    from sgclearn.runs.place import MODEL, TASK_DOCUMENT
    from sgclearn.runs.run import Run
    from sgclearn.tasks.relations import draw_arcs, explain_relation, load_relation_model, read_sentences

    screen = Screen(as_json)
    check_new_file(svg, force)
    opened = Run.open(run)
    opened.require("relations")
    with screen.progress() as stages:
        stages.stage(f"reading {run}")
        with opened:
            model = load_relation_model(opened.path(MODEL))
            sentences = read_sentences(opened.path(TASK_DOCUMENT))
        ids = [str(each) for each in sentences.ids.tolist()]
        if sentence not in ids:
            raise InputError(
                f"sentence must be the id of one of {run}", repr(sentence), f"the first is {ids[0]}",
                argument="sentence",
            )  # fmt: skip
        stages.stage("explaining")
        found = explain_relation(model, sentences, ids.index(sentence), label=label, against=against)
    _show(screen, found, top)
    document = found.to_dict()
    if svg is not None:
        with replacing(svg) as temporary:
            temporary.write_text(draw_arcs(found), encoding="utf-8")
        screen.line(f"\narc diagram written to {svg}")
        document["svg"] = svg
    screen.document(document)


def _show(screen: Screen, found: RelationExplanation, top: int) -> None:
    words, path = found.sentence.tokens, found.sentence.forest.path
    screen.field("Sentence", " ".join(words))
    screen.field("Path", " ".join(word for word, on_path in zip(words, path, strict=True) if on_path))
    screen.field("Relation", f"{found.label} ({found.probability:.1%})")
    screen.field(
        "Margin", f"{found.margin:+.3g} over {found.against}, of which {found.elsewhere:+.3g} from no word"
    )
    shares = found.by_token
    order = sorted(range(len(words)), key=lambda token: -abs(shares[token]))[:top]
    rows = [(words[token], "yes" if path[token] else "", f"{shares[token]:+.3f}") for token in order]
    screen.table(("word", "on path", "share"), rows, left=2)
    screen.table(("clue", "share"), [(term.text, f"{term.value:+.3f}") for term in found.clues[:top]])
