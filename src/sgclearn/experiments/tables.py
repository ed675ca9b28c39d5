"""The tables of a comparison as rows of text, for the screen and for the page."""

from __future__ import annotations

from sgclearn.experiments.comparison import Comparison, Row

SCORE_HEADER = ("dataset", "model", "measured", "published", "difference", "n", "tolerance")
TIME_HEADER = (
    *("dataset", "model", "seconds", "CPU", "published s"),
    *("ratio", "CPU ratio", "published ratio", "n"),
)
Cells = tuple[str, ...]


def score_rows(comparison: Comparison) -> list[Cells]:
    """Mean and standard deviation, measured and published, with the difference and the number of runs."""
    decimals = published_decimals(comparison)
    return [
        (
            *_names(comparison, row),
            spread(row.mean, row.std, 2),
            elsewhere(comparison, row, "value")
            if row.published is None
            else spread(row.published, row.published_std, decimals),
            "-" if row.difference is None else f"{row.difference:+.2f}",
            str(row.n),
            verdict(comparison, row),
        )
        for row in comparison.rows
        if not comparison.experiment.models[row.model].time_only
    ]


def published_decimals(comparison: Comparison) -> int:
    """Decimals of the published figures: one, or two where some have two."""
    found = [row.published for row in comparison.rows if row.published is not None]
    return 1 if all(round(value, 1) == value for value in found) else 2


def time_rows(comparison: Comparison) -> list[Cells]:
    """Mean training time, and how many times that of the reference model it is; measured, published, number of runs."""
    return [
        (
            *_names(comparison, row),
            duration(row.seconds),
            duration(row.cpu_seconds),
            elsewhere(comparison, row, "seconds")
            if row.published_seconds is None
            else f"{row.published_seconds:g}",
            "-" if row.ratio is None else times(row.ratio),
            "-" if row.cpu_ratio is None else times(row.cpu_ratio),
            "-" if row.published_ratio is None else times(row.published_ratio),
            str(row.n),
        )
        for row in comparison.rows
    ]


def elsewhere(comparison: Comparison, row: Row, part: str) -> str:
    """Published figure of another graph, with its name; a dash where there is none."""
    figure = comparison.experiment.models[row.model].published.get(row.dataset)
    value = None if figure is None or not figure.on else getattr(figure, part)
    if figure is None or value is None:
        return "-"
    return f"{value:.1f} on {figure.on}" if part == "value" else f"{value:g} on {figure.on}"


def _names(comparison: Comparison, row: Row) -> Cells:
    experiment = comparison.experiment
    return experiment.title_of(row.dataset), experiment.models[row.model].title


def verdict(comparison: Comparison, row: Row) -> str:
    """Tolerance of the experiment and whether it is kept; a dash where nothing is judged."""
    entry = comparison.experiment.models[row.model]
    if row.passed is None or entry.tolerance is None:
        return "-"
    kind, size = entry.tolerance
    mark = "-" if kind == "below" else "+-"
    unit = " std" if kind == "std" else ""
    return f"{mark}{size:g}{unit} {'kept' if row.passed else 'missed'}"


def spread(mean: float, std: float | None, decimals: int) -> str:
    """Mean and standard deviation.

    Examples
    --------
    >>> spread(81.02, 0.042, 2)
    '81.02 +- 0.04'
    """
    return f"{mean:.{decimals}f}" + ("" if std is None else f" +- {std:.{decimals}f}")


def times(ratio: float) -> str:
    """Ratio of two times, with as many digits as mean something.

    Examples
    --------
    >>> times(68.21), times(0.423)
    ('68x', '0.42x')
    """
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def duration(seconds: float) -> str:
    """Seconds with three digits.

    Examples
    --------
    >>> duration(0.04567), duration(1205.1)
    ('0.0457', '1205')
    """
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}"
