"""`sgc text predict`: the class of new documents."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

from sgclearn.cli.options import ForceFlag, JsonFlag, with_options
from sgclearn.cli.output import Screen, check_new_file, counted
from sgclearn.cli.text_options import RunFolder, TextReading, open_text_run, read_texts, text_option
from sgclearn.tasks.options import FILES, RESULT

COMMAND = "predict"


@with_options
def command(
    *,
    run: RunFolder,
    data: Annotated[Path, text_option("New documents, in any of the forms that fit reads.", FILES)],
    reading: TextReading,
    out: Annotated[
        Path | None,
        text_option("CSV file for id, label and the probability of each class; stdout if not given.", RESULT),
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Predict the class of new documents.

    They join the graph of the run through the words that it knows, and each is predicted as if it were alone. The
    file is read as that of the fit was, unless options say otherwise; the run folder is not changed.

    \b
    Examples:
      sgc text predict run --data new.csv --out predictions.csv
      sgc text predict run --data new.csv --text-column body
    """
    from sgclearn.runs.place import MODEL
    from sgclearn.runs.predictions import ClassPredictions
    from sgclearn.tasks.text import load_text_model

    screen = Screen(as_json)
    check_new_file(out, force)
    opened = open_text_run(run)
    settings = opened.settings
    missing = [field.name for field in fields(reading) if getattr(reading, field.name) is None]
    if not _is_same_kind(data, str(settings.get("data", ""))):
        missing = []  # columns and delimiters of another kind of file mean nothing here
    reading = replace(reading, **{name: settings.get(name) for name in missing})
    with screen.progress() as stages:
        stages.stage(f"reading {run}")
        with opened:
            model = load_text_model(opened.path(MODEL))
        stages.stage(f"reading {data.name}")
        documents = read_texts(data, reading)
        stages.stage("predicting")
        probabilities = model.predict_proba(documents.texts)
    predictions = ClassPredictions.of(documents.ids, probabilities, model.classes_)
    if out is not None:
        predictions.write(out)
        screen.line(f"{counted(len(documents), 'prediction')} written to {out}")
    else:
        screen.predictions(predictions)
    screen.document({"predictions": predictions.records()} if out is None else {"written": out})


def _is_same_kind(path: Path, name_at_fit: str) -> bool:
    """Whether a file is of the kind that the fit read, by its name."""
    return not path.is_dir() and path.suffixes == Path(name_at_fit).suffixes
