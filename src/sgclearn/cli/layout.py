"""How a table fits into a terminal: the width of each column, or one record after the other where none fits."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_TEXT = 20  # characters that a column of prose needs to be read


def column_widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int, gap: int, prose: bool
) -> list[int] | None:
    """Width of each column so that no cell is cut or broken; None where the table is too wide for that.

    Headers are broken between their words if they must be; of cells only those of a last column of prose.

    Examples
    --------
    >>> column_widths(["way", "estimated time"], [["left-first", "0.003 s"]], width=40, gap=3, prose=False)
    [10, 14]
    >>> column_widths(["way", "estimated time"], [["left-first", "0.003 s"]], width=24, gap=3, prose=False)
    [10, 11]
    >>> column_widths(["way", "estimated time"], [["left-first", "0.003 s"]], width=20, gap=3, prose=False)
    """
    from rich.cells import cell_len

    columns = range(len(header))
    cells = [max((cell_len(row[k]) for row in rows), default=0) for k in columns]
    words = [max((cell_len(word) for word in name.split()), default=0) for name in header]
    least = [max(pair) for pair in zip(cells, words, strict=True)]
    if prose:
        least[-1] = min(least[-1], max(LEAST_TEXT, words[-1]))
    widths = [max(cells[k], cell_len(header[k])) for k in columns]
    excess = sum(widths) + gap * (len(header) - 1) - width
    while excess > 0:
        widest = max(columns, key=lambda k: widths[k] - least[k])
        if widths[widest] == least[widest]:
            return None
        widths[widest] -= 1
        excess -= 1
    return widths


def record_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Name and value of every cell, row after row, with an empty pair between rows.

    Examples
    --------
    >>> record_lines(["way", ""], [["full", "chosen"], ["implicit", ""]])
    [('way', 'full'), ('', 'chosen'), ('', ''), ('way', 'implicit')]
    """
    lines: list[tuple[str, str]] = []
    for row in rows:
        lines += [("", "")] if lines else []
        lines += [(name, cell) for name, cell in zip(header, row, strict=True) if name or cell]
    return lines
