"""Options that the commands of `sgc text` share, and what they read with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.errors import InputError
from sgclearn.tasks.options import READING, chosen

if TYPE_CHECKING:
    from sgclearn.runs.run import Run
    from sgclearn.tasks.text import Documents, TextGraphBuilder

GRAPH = "Graph of documents and words"


def text_option(text: str, panel: str, *names: str, **more: Any) -> Any:
    """An option of a panel of the help."""
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False, **more)


class Analyzer(StrEnum):
    """How a text is cut into words."""

    words, textgcn, sgc, whitespace = "words", "textgcn", "sgc", "whitespace"


class StopWords(StrEnum):
    """Words to leave out."""

    none, english, textgcn = "none", "english", "textgcn"


class Recipe(StrEnum):
    """How the weights are found."""

    exact, paper = "exact", "paper"


class By(StrEnum):
    """What the reasons are grouped by."""

    features, text = "features", "text"


@dataclass(frozen=True)
class TextReading:
    """How a file of documents is read."""

    text_column: Annotated[
        str | None,
        text_option("Column of the texts; one called text, body, ... is found by itself.", READING),
    ] = None
    id_column: Annotated[
        str | None, text_option("Column of the ids; the number of the document if there is none.", READING)
    ] = None
    encoding: Annotated[
        str | None,
        text_option(
            "Of text files, utf-8 if not given; mixed: lines that are no utf-8 are latin-1.", READING
        ),
    ] = None
    delimiter: Annotated[
        str | None, text_option("Delimiter of text files, tab for a tab; found if not given.", READING)
    ] = None
    header: Annotated[
        bool | None,
        text_option(
            "Whether the first line of text files names the columns; found if not given.",
            READING,
            "--header/--no-header",
        ),
    ] = None


@dataclass(frozen=True)
class TextGraphOptions:
    """How documents become a graph."""

    analyzer: Annotated[
        Analyzer,
        text_option(
            "How a text is cut: words of any language in lower case (default); textgcn: English, marks and endings "
            "are words too; sgc: English, marks are taken out and an address is one word; whitespace: as it is.",
            GRAPH,
        ),
    ] = Analyzer.words
    stop_words: Annotated[
        StopWords, text_option("Words to leave out: a list by name; none if not given.", GRAPH)
    ] = StopWords.none
    min_count: Annotated[
        int, text_option("Least times that a word must occur in all documents together; 1.", GRAPH)
    ] = 1
    min_df: Annotated[
        str,
        text_option("Least documents with a word: a number such as 2, or a share such as 0.01; 1.", GRAPH),
    ] = "1"
    max_df: Annotated[str, text_option("Most documents with a word, alike; 1.0, all of them.", GRAPH)] = "1.0"
    max_words: Annotated[
        int | None, text_option("Keep only so many words, the most frequent; all if not given.", GRAPH)
    ] = None
    window: Annotated[int, text_option("Words in a window that slides over the texts; 20.", GRAPH)] = 20

    def builder(self) -> TextGraphBuilder:
        """The builder that they describe."""
        from sgclearn.tasks.text import TextGraphBuilder

        return TextGraphBuilder(
            analyzer=self.analyzer.value,
            stop_words=chosen(self.stop_words),
            min_count=self.min_count,
            min_df=_limit("--min-df", self.min_df),
            max_df=_limit("--max-df", self.max_df),
            max_words=self.max_words,
            window=self.window,
        )


def _limit(option: str, text: str) -> int | float:
    try:
        return float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        raise InputError(
            f"{option} must be a number of documents such as 2 or a share such as 0.01", repr(text)
        ) from None


def read_texts(path: Path, reading: TextReading, **columns: str | None) -> Documents:
    """Documents of a file, with ids that differ."""
    from sgclearn.tasks.text import read_documents
    from sgclearn.validation.parameters import shown

    given: dict[str, Any] = {**asdict(reading), **columns}
    documents = read_documents(path, **given)
    ids = documents.ids.tolist()
    nested = next((value for value in ids if isinstance(value, list | dict)), None)
    if nested is not None:
        raise InputError(
            f"every document of {path} must have a text or a number as its id",
            shown(nested),
            "mend it, or name another column with --id-column",
        )
    if len(set(ids)) < len(ids):
        seen: set[Any] = set()
        twice = next(value for value in ids if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise InputError(
            f"every document of {path} must have an id of its own",
            f"{twice!r} twice",
            "mend it, or name another column with --id-column",
        )
    return documents


def open_text_run(folder: Path) -> Run:
    """A folder that `sgc text fit` wrote."""
    from sgclearn.runs.run import Run

    run = Run.open(folder)
    run.require("text")
    return run


RunFolder = Annotated[Path, typer.Argument(help="Folder that sgc text fit wrote.", show_default=False)]
