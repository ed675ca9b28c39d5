"""Tables that measurements write for the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev

from sgclearn.files import replacing

DOCS = Path(__file__).parent.parent / "docs"


def told(values: list[float]) -> str:
    """Mean and standard deviation; the number itself where there is only one."""
    return f"{fmean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def listed(title: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines of a table; every row is printed as soon as it is known."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in chain([header], rows):
        print("  ".join(row), flush=True)
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(row)]
    return [*lines, ""]


def write(name: str, lines: list[str]) -> None:
    """Put the lines where the documentation includes them."""
    with replacing(DOCS / name) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")
    print(f"Written to docs/{name}.")
