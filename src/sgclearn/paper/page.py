"""A page of the documentation from a report: figures from the runs, notes and sources from the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sgclearn.paper.report import STATEMENT_HEADER, Report, Table, statement_rows


def results_page(report: Report, *, command: str, picture: str | None = None) -> str:
    """Text of the page (reStructuredText).

    Parameters
    ----------
    report : Report
    command : str
        What the reader types to make it again.
    picture : str, optional
        File name of the figure, beside the page.
    """
    recipe = report.recipe
    lines = [
        *_title(f"{recipe.where}: {recipe.title}{f' ({report.part})' if report.part else ''}", "="),
        "",
        f"Written by ``{command}``.",
        *report.lead,
        "",
        *([f".. image:: {picture}", f"   :alt: {recipe.title}", ""] if picture else []),
        *_statements(report),
        *(line for table in report.tables for line in _section(table)),
        *_list("Settings", report.settings),
        *_list("What differs, and why", [f"- {note}" for note in report.notes], [""]),
        *_list("Measured with", [f"- {entry}" for entry in report.measured_with], [""]),
    ]
    return "\n".join(lines)


def _title(text: str, mark: str) -> list[str]:
    return [text, mark * len(text)]


def _list(title: str, lines: Sequence[str], end: Sequence[str] = ()) -> list[str]:
    return [*_title(title, "-"), *lines, *end] if lines else []


def _statements(report: Report) -> list[str]:
    if not report.statements:
        return []
    held = sum(one.holds for one in report.statements)
    rows = statement_rows(report.statements)
    return [
        f"Of {len(rows)} statements {held} hold on this data.",
        "",
        *_table("What the paper says, checked", STATEMENT_HEADER, rows),
    ]


def _section(table: Table) -> list[str]:
    above = [*_title(table.heading, "-"), *table.words, ""] if table.heading else []
    return [*above, *_table(table.title, table.header, table.rows)]


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in (header, *rows):
        for position, cell in enumerate(row):
            text = "–" if cell == "-" else cell.replace("+-", "±")  # noqa: RUF001 - a lone hyphen begins a list
            lines.append(f"   {'* -' if position == 0 else '  -'} {text}".rstrip())
    return [*lines, ""]
