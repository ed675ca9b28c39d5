"""An arc diagram of one explained sentence: words in a row, dependency arcs above, the path and the shares marked."""

from __future__ import annotations

from html import escape

import numpy as np

from sgclearn.tasks.relations.explain import RelationExplanation

_CHARACTER, _GAP, _STEP = (
    8.2,
    14.0,
    22.0,
)  # width of a letter, space between words, height of an arc over one word
_MARGIN, _MOST_RISE = 20.0, 180.0
_FOR, _AGAINST = (33, 102, 172), (178, 24, 43)  # colours of shares for and against the label
_CLUES = 6


def draw_arcs(explanation: RelationExplanation) -> str:
    """The diagram as an SVG document.

    Each word has a box whose colour is its share of the margin, blue for the label and red against it; the entities
    are underlined, arcs of the dependency path are drawn bold, and the strongest clues stand below.
    """
    words, forest = list(explanation.sentence.tokens), explanation.sentence.forest
    widths = np.array([len(word) * _CHARACTER for word in words])
    lefts = _MARGIN + np.concatenate([[0.0], np.cumsum(widths + _GAP)[:-1]])
    centres = lefts + widths / 2
    rise = max(
        (_rise(child, int(parent)) for child, parent in enumerate(forest.parents) if parent >= 0), default=0
    )
    base = 64.0 + rise
    shares = explanation.by_token
    largest = float(np.abs(shares).max(initial=0.0)) or 1.0
    parts = [_title(explanation)]
    for child, parent in enumerate(forest.parents.tolist()):
        if parent >= 0:
            bold = bool(forest.path[child] and forest.path[parent])
            label = (
                explanation.sentence.tags["deprel"][child] if "deprel" in explanation.sentence.tags else ""
            )
            parts.append(_arc(centres[child], centres[parent], _rise(child, parent), base, label, bold))
    for at, word in enumerate(words):
        parts.append(_word(word, lefts[at], widths[at], base, float(shares[at]), largest))
    for role, (start, stop) in zip(
        ("subject", "object"), (forest.subjects[0], forest.objects[0]), strict=True
    ):
        parts.append(_entity(role, lefts[start], lefts[stop - 1] + widths[stop - 1], base))
    y = base + 74.0
    for term in explanation.clues[:_CLUES]:
        parts.append(
            _text(_MARGIN, y, f"{term.value:+.2f}  {term.text}", size=12, colour=_colour(term.value))
        )
        y += 17.0
    width = (
        max(float(lefts[-1] + widths[-1]), 8.0 * max(len(part) for part in _heading(explanation))) + _MARGIN
    )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y + 6:.0f}" '
        f'viewBox="0 0 {width:.0f} {y + 6:.0f}" font-family="sans-serif" role="img">\n'
        f"<title>{escape(' '.join(words))}: {escape(explanation.label)}</title>\n"
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _heading(explanation: RelationExplanation) -> tuple[str, str]:
    return (
        f"{explanation.label}  ({explanation.probability:.1%})",
        f"margin {explanation.margin:+.2f} over {explanation.against}; {explanation.elsewhere:+.2f} from no word",
    )


def _title(explanation: RelationExplanation) -> str:
    label, margin = _heading(explanation)
    return _text(_MARGIN, 22, label, size=15, weight="bold") + "\n" + _text(_MARGIN, 40, margin, size=12)


def _rise(child: int, parent: int) -> float:
    return float(min(_STEP * abs(child - parent) ** 0.75 + 6.0, _MOST_RISE))


def _arc(child: float, parent: float, rise: float, base: float, label: str, bold: bool) -> str:
    top = base - 20.0
    colour, width = ("#222222", 2.2) if bold else ("#bbbbbb", 1.0)
    high = top - rise
    path = f"M {parent:.1f} {top:.1f} C {parent:.1f} {high:.1f} {child:.1f} {high:.1f} {child:.1f} {top:.1f}"
    curve = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
    tip = (
        f'<path d="M {child - 3:.1f} {top - 5:.1f} L {child:.1f} {top:.1f} L {child + 3:.1f} {top - 5:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{width}"/>'
    )
    name = _text((child + parent) / 2, top - 0.75 * rise - 3, label, size=9, colour=colour, anchor="middle")
    return f"{curve}\n{tip}\n{name}"


def _word(word: str, left: float, width: float, base: float, share: float, largest: float) -> str:
    strength = abs(share) / largest
    box = (
        f'<rect x="{left - 4:.1f}" y="{base - 16:.1f}" width="{width + 8:.1f}" height="22" rx="3" '
        f'fill="{_colour(share)}" fill-opacity="{0.55 * strength:.2f}"/>'
    )
    middle = left + width / 2
    number = _text(middle, base + 22, f"{share:+.2f}", size=9, colour="#555555", anchor="middle")
    return f"{box}\n{_text(middle, base, word, size=14, anchor='middle')}\n{number}"


def _entity(role: str, left: float, right: float, base: float) -> str:
    line = f'<path d="M {left:.1f} {base + 32:.1f} H {right:.1f}" stroke="#222222" stroke-width="2"/>'
    return line + "\n" + _text((left + right) / 2, base + 46, role, size=11, anchor="middle", weight="bold")


def _colour(value: float) -> str:
    red, green, blue = _FOR if value >= 0 else _AGAINST
    return f"rgb({red},{green},{blue})"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    colour: str = "#222222",
    anchor: str = "start",
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
