"""Words that messages about data share: counted things, and the row that a fault is in."""

from __future__ import annotations

from sgclearn.errors import InputError


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class")
    ('1 row', '2,000 rows', '0 classes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or noun + ('es' if noun.endswith('s') else 's')}"


class RowError(InputError):
    """A fault in one row of the input.

    Whoever made the rows from a file knows a better name for the place than its number, and says it with
    `at`.

    Parameters
    ----------
    before, after : str
        The message up to the place and from there on.
    row : int
        Number of the row, from 0.
    place : str
        The place where nobody knows a better name: " in row 3 (counted from 0)" unless given.

    Examples
    --------
    >>> error = RowError("a split must be train or test: got 'dev'", 3, "; correct it.")
    >>> str(error)
    "a split must be train or test: got 'dev' in row 3 (counted from 0); correct it."
    >>> error.at("line 5")
    "a split must be train or test: got 'dev' in line 5; correct it."
    """

    def __init__(self, before: str, row: int, after: str, place: str | None = None) -> None:
        super().__init__(before)
        self.before, self.row, self.after = before, row, after
        self.place = f" in row {row} (counted from 0)" if place is None else place

    def __str__(self) -> str:
        return f"{self.before}{self.place}{self.after}"

    def __reduce__(self) -> tuple[type[RowError], tuple[str, int, str, str]]:
        return type(self), (self.before, self.row, self.after, self.place)

    def at(self, place: str) -> str:
        """Give the message with the name of the place."""
        return f"{self.before} in {place}{self.after}"
