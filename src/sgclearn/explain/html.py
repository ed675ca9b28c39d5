"""An explanation as a piece of HTML that needs nothing else: for notebooks, reports and pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from sgclearn.explain.explanation import GROUPINGS, Explanation, Term
from sgclearn.explain.words import TITLES, sentence

STYLE = """
.sgc{font:14px/1.45 system-ui,sans-serif;max-width:46rem;color:inherit}
.sgc h4{margin:1em 0 .3em;font-size:1em}
.sgc table{border-collapse:collapse;width:100%}
.sgc th{font-weight:400;text-align:left;padding:.1em .8em .1em 0;overflow-wrap:anywhere;width:34%}
.sgc td{padding:.1em 0}.sgc td.v{text-align:right;font-variant-numeric:tabular-nums;padding-left:.8em;width:5.5em}
.sgc svg{display:block;width:100%;height:.9em}.sgc .p{fill:#2f7d5b}.sgc .n{fill:#b4552d}.sgc .r{opacity:.45}
@media (prefers-color-scheme:dark){.sgc .p{fill:#5fc797}.sgc .n{fill:#e8895c}}
"""
_REST = "all others"


def explanation_html(explanation: Explanation, n: int = 8, groupings: Iterable[str] = GROUPINGS) -> str:
    """The sentence, and a table with bars for each grouping with more than one term."""
    parts = [f"<p>{escape(sentence(explanation))}</p>"]
    for by in groupings:
        terms, rest = explanation.terms(by, n)
        if len(terms) > 1 or (terms and by in ("features", "through")):
            parts += [f"<h4>{escape(TITLES[by])}</h4>", bars(terms, rest)]
    rival = "" if explanation.against is None else f" over {explanation.against}"
    total = f"bias {explanation.bias:+.4g}, margin{rival} {explanation.margin:+.4g}"
    return f'<div class="sgc">{"".join(parts)}<p>{escape(total)}</p></div>'


def with_style(content: str) -> str:
    """HTML with the style sheet of explanations before it."""
    return f"<style>{STYLE}</style>{content}"


def bars(terms: list[Term], rest: float) -> str:
    """A table of names, bars to both sides of zero, and numbers."""
    rows = [(str(term.name), term.value, "") for term in terms]
    if rest:
        rows.append((_REST, rest, " r"))
    largest = max((abs(value) for _, value, _ in rows), default=0.0) or 1.0
    return f"<table>{''.join(_row(name, value, largest, kind) for name, value, kind in rows)}</table>"


def _row(name: str, value: float, largest: float, kind: str) -> str:
    length = 50 * abs(value) / largest
    start = 50 - (length if value < 0 else 0)
    bar = f'<rect class="{"n" if value < 0 else "p"}{kind}" x="{start:.2f}" y="1" width="{length:.2f}" height="8"/>'
    picture = f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{bar}</svg>'
    return f'<tr><th scope="row">{escape(name)}</th><td>{picture}</td><td class="v">{value:+.3g}</td></tr>'
