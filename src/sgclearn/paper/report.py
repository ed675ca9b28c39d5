"""What is shown of a recipe, on the screen and on a page: tables, statements that are checked, a figure, words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sgclearn.paper.recipe import Recipe
from sgclearn.spectral.theorem import Statement

Cells = tuple[str, ...]
STATEMENT_HEADER = ("where", "statement", "numbers", "holds")


@dataclass(frozen=True)
class Table:
    """Rows of text below a header; the first `left` columns are words and the others numbers.

    `heading` and `words` go above it on a page. One that is not `on_screen` is on the page alone.
    """

    title: str
    header: Cells
    rows: tuple[Cells, ...]
    left: int = 2
    heading: str = ""
    words: tuple[str, ...] = ()
    on_screen: bool = True


@dataclass(frozen=True)
class Report:
    """A recipe with what was found for it.

    Parameters
    ----------
    recipe : Recipe
    tables : tuple of Table
    statements : tuple of Statement
        Inequalities between what was measured; `name` says on which data.
    draw : callable, optional
        Gives a matplotlib figure.
    document : dict
        The same for machines.
    lead, settings, measured_with : tuple of str
        Lines of the page: below its title, of the section on settings, and at its end.
    notes : tuple of str
        What differs from the paper, and why.
    quick : bool
        Whether the runs were quick ones, which are not judged.
    part : str
        Titles of its datasets where it does not have all that the recipe runs unasked.
    """

    recipe: Recipe
    tables: tuple[Table, ...]
    statements: tuple[Statement, ...] = ()
    draw: Callable[[], Any] | None = None
    document: dict[str, Any] | None = None
    lead: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    measured_with: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    quick: bool = False
    part: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain document for machines."""
        held = [
            {"where": one.name, "statement": one.text, "left": one.left, "relation": one.relation}
            | {"right": one.right, "holds": one.holds}
            for one in self.statements
        ]
        head = {"recipe": self.recipe.id, "title": self.recipe.title}
        return head | (self.document or {}) | ({"statements": held} if held else {})


def statement_rows(statements: tuple[Statement, ...]) -> tuple[Cells, ...]:
    """Cells of statements below `STATEMENT_HEADER`.

    Examples
    --------
    >>> statement_rows((Statement("Cora", "self-loops shrink the spectrum", 1.4826, "<", 2.0),))
    (('Cora', 'self-loops shrink the spectrum', '1.483 < 2.000', 'yes'),)
    """
    return tuple(
        (
            one.name,
            one.text,
            f"{_number(one.left)} {one.relation} {_number(one.right)}",
            "yes" if one.holds else "no",
        )
        for one in statements
    )


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # rounding must not leave a -0
