"""Pictures of a report as inline SVG; colours come from the page, and every picture stands beside its table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sgclearn.evaluate.probabilities import Coverage, ReliabilityBin

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 320, 240, 40, 34, 10, 12
Points = Sequence[tuple[float, float]]


class Axes:
    """A frame with both axes from `low` to `high`, and marks in its coordinates."""

    def __init__(
        self,
        title: str,
        x_label: str,
        y_label: str,
        x: tuple[float, float] = (0.0, 1.0),
        y: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.title, self.x, self.y = title, x, y
        self.marks: list[str] = []
        for k in range(6):
            at_x, at_y = (low + (high - low) * k / 5 for low, high in (x, y))
            px, py = self.at(at_x, at_y)
            bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
            self.marks += [
                f'<path class="grid" d="M{_LEFT} {py:.1f}H{right}M{px:.1f} {_TOP}V{bottom}"/>',
                f'<text x="{px:.1f}" y="{bottom + 13}" text-anchor="middle">{at_x:.3g}</text>',
                f'<text x="{_LEFT - 5}" y="{py + 3:.1f}" text-anchor="end">{at_y:.3g}</text>',
            ]
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        self.marks += [
            f'<text x="{middle}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(x_label)}</text>',
            f'<text transform="translate(10 {(_HEIGHT - _BOTTOM + _TOP) / 2}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>',
        ]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Place of a point in the picture."""
        share_x = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        share_y = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _BOTTOM - _TOP
        return _LEFT + share_x * width, _TOP + (1 - share_y) * height

    def line(self, points: Points, kind: str, dots: bool = False) -> Axes:
        """Join points by a line of a class of the style sheet."""
        places = [self.at(*point) for point in points]
        if places:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            self.marks.append(f'<path class="line {kind}" d="M{path}"/>')
        if dots:
            self.marks += [f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        return self

    def svg(self) -> str:
        """The picture."""
        return (
            f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f"{''.join(self.marks)}</svg>"
        )


def reliability_picture(before: Sequence[ReliabilityBin], after: Sequence[ReliabilityBin]) -> str:
    """Accuracy over confidence: on the diagonal, probabilities mean what they say."""
    axes = Axes("Accuracy over confidence, before and after calibration", "confidence", "accuracy")
    axes.line([(0, 0), (1, 1)], "ideal")
    if before:
        axes.line([(b.confidence, b.accuracy) for b in before], "before", dots=True)
    return axes.line([(b.confidence, b.accuracy) for b in after], "after", dots=True).svg()


def coverage_picture(rows: Sequence[Coverage]) -> str:
    """Accuracy of what is answered, over the share that is answered."""
    low = min((row.accuracy for row in rows), default=0.0)
    axes = Axes(
        "Accuracy over coverage", "share answered", "accuracy", y=(max(0.0, int(low * 10) / 10 - 0.1), 1.0)
    )
    return axes.line([(row.coverage, row.accuracy) for row in rows], "after", dots=True).svg()


def density_picture(frequencies: Sequence[float], features: Sequence[float], kept: Sequence[float]) -> str:
    """Energy of the features by frequency, and what the filter leaves of it."""
    high = max([*features, *kept, 1e-12])
    x = (min(frequencies), max(frequencies))
    axes = Axes("Energy by frequency", "frequency", "share of energy", x=x, y=(0.0, high))
    axes.line(list(zip(frequencies, features, strict=True)), "before")
    return axes.line(list(zip(frequencies, kept, strict=True)), "after").svg()
