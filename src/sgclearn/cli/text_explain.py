"""`sgc text explain`: the words and documents that decided the class of one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from sgclearn.cli.options import JsonFlag, with_options
from sgclearn.cli.output import Screen, counted
from sgclearn.cli.text_options import By, RunFolder, open_text_run, text_option
from sgclearn.errors import DataFileError, InputError
from sgclearn.tasks.options import FILES, RESULT

if TYPE_CHECKING:
    from sgclearn.tasks.text import Explanation

COMMAND = "explain"


@with_options
def command(
    *,
    run: RunFolder,
    document: Annotated[str | None, text_option("Id of a document of the fit.", FILES)] = None,
    text: Annotated[str | None, text_option("A new text.", FILES)] = None,
    label: Annotated[
        str | None, text_option("Class to explain; the predicted one if not given.", RESULT)
    ] = None,
    by: Annotated[
        By,
        text_option(
            "features: every word and document that is reached (default); text: the words of the document "
            "itself, each with all that it leads to.",
            RESULT,
        ),
    ] = By.features,
    top: Annotated[int, text_option("How many words and documents to show; 10.", RESULT)] = 10,
    as_json: JsonFlag = False,
) -> None:
    r"""Show what decided the class of a document: contributions that sum to its logit.

    \b
    Examples:
      sgc text explain run --document 17
      sgc text explain run --text "crude prices rose" --by text
    """
    from sgclearn.runs.place import MODEL, PREDICTIONS
    from sgclearn.runs.predictions import read_predictions
    from sgclearn.tasks.text import load_text_model

    screen = Screen(as_json)
    if (document is None) == (text is None):
        got = "neither" if text is None else "both"
        raise InputError("explain needs either --document or --text", got, "give one of them")
    if top < 1:
        raise InputError("--top must be a whole number >= 1", f"{top}")
    opened = open_text_run(run)
    with screen.progress() as stages:
        stages.stage(f"reading {run}")
        with opened:
            model = load_text_model(opened.path(MODEL), opened.graph())
            known = read_predictions(opened.path(PREDICTIONS))
        stages.stage("explaining")
        ids = known.ids.tolist()
        if len(ids) != model.n_documents_:
            raise DataFileError(
                f"{run} must have a prediction for each of the {counted(model.n_documents_, 'document')} of its "
                "model",
                f"{len(ids):,}",
                "run sgc text fit again",
            )
        which: int | str = _position(ids, document, run) if document is not None else str(text)
        explanation = model.explain(which, _class(model.classes_.tolist(), label), by=by.value)
    _show(screen, explanation, ids, known.values.tolist(), top)
    screen.document(_to_dict(explanation, ids))


def _position(ids: list[Any], wanted: str, run: Any) -> int:
    names = [str(value) for value in ids]
    if wanted not in names:
        raise InputError(
            f"--document must be the id of a document of {run}",
            repr(wanted),
            f"the first of its {counted(len(ids), 'document')} is {names[0]!r}; a new text goes with --text",
        )
    return names.index(wanted)


def _class(classes: list[Any], wanted: str | None) -> Any:
    """The class that was named, of the type that the model has."""
    if wanted is None:
        return None
    return next((label for label in classes if str(label) == wanted), wanted)


def _show(screen: Screen, found: Explanation, ids: list[Any], labels: list[Any], top: int) -> None:
    screen.field("Class", str(found.label))
    words, documents = found.word_contributions.sum(), found.document_contributions.sum()
    screen.field(
        "Logit",
        f"{found.logit:.4f} = {found.baseline:.4f} baseline {words:+.4f} words {documents:+.4f} documents",
    )
    rows = [
        (str(word), f"{value:+.4f}")
        for word, value in zip(found.words[:top], found.word_contributions.tolist(), strict=False)
    ]
    screen.table(("word", "contribution"), [*rows, *_rest(found.word_contributions, top)])
    if len(found.documents):
        near = [
            (str(ids[position]), str(labels[position]), f"{value:+.4f}")
            for position, value in zip(
                found.documents[:top].tolist(), found.document_contributions.tolist(), strict=False
            )
        ]
        rest = [(row[0], "", row[1]) for row in _rest(found.document_contributions, top)]
        screen.table(("document", "predicted class", "contribution"), [*near, *rest], left=2)


def _rest(contributions: Any, top: int) -> list[tuple[str, str]]:
    others = contributions[top:]
    return [(f"({len(others):,} others)", f"{others.sum():+.4f}")] if len(others) else []


def _to_dict(found: Explanation, ids: list[Any]) -> dict[str, Any]:
    return {
        "label": found.label,
        "logit": found.logit,
        "baseline": found.baseline,
        "words": [
            {"word": word, "contribution": value}
            for word, value in zip(found.words.tolist(), found.word_contributions.tolist(), strict=True)
        ],
        "documents": [
            {"id": ids[position], "contribution": value}
            for position, value in zip(
                found.documents.tolist(), found.document_contributions.tolist(), strict=True
            )
        ],
    }
