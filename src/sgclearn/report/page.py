"""The pieces of a report's page: one HTML document with its style, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from sgclearn.explain.html import STYLE as EXPLANATION_STYLE

STYLE = """
:root{color-scheme:light dark;--ink:#1c2330;--dim:#5b6472;--paper:#fff;--line:#d9dee6;--a:#2f6db5;--b:#b4552d}
@media(prefers-color-scheme:dark){
:root{--ink:#e6e9ee;--dim:#a2acba;--paper:#14181f;--line:#38404d;--a:#7db4f0;--b:#e8895c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1.2rem;font:16px/1.5 system-ui,sans-serif}
body{color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem;margin:.2em 0}h2{font-size:1.2rem;margin:2em 0 .4em;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.2em 0 .2em}p{margin:.4em 0}.dim{color:var(--dim)}
code,pre{font:.85em ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.wide{overflow-x:auto}table.data{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
table.data th,table.data td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right}
table.data th:first-child,table.data td:first-child,table.text td,table.text th{text-align:left}
table.data thead th{color:var(--dim);font-weight:600}td.hit{font-weight:600}
.pair{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start}.pair>*{flex:1 1 18rem;min-width:0}
svg.chart{width:100%;max-width:26rem;font:9px system-ui,sans-serif;fill:var(--dim)}
.grid{stroke:var(--line);stroke-width:.5;fill:none}.line{fill:none;stroke-width:1.6}
.line.ideal{stroke:var(--dim);stroke-dasharray:3 3}.line.before{stroke:var(--b)}.line.after{stroke:var(--a)}
.dot.before{fill:var(--b)}.dot.after{fill:var(--a)}
.key i{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .8em}
.key .before{background:var(--b)}.key .after{background:var(--a)}
details{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .8rem;margin:.5rem 0}summary{cursor:pointer}
@media print{body{max-width:none;font-size:11pt}details{break-inside:avoid}h2{break-after:avoid}}
"""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading; left out where it has nothing to show."""

    title: str
    content: str


def page(title: str, lead: str, sections: Iterable[Section]) -> str:
    """The document."""
    parts = [f"<section><h2>{escape(s.title)}</h2>{s.content}</section>" for s in sections if s.content]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'img-src data:">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>'
        f"<style>{STYLE}{EXPLANATION_STYLE}</style></head>"
        f'<body><header><h1>{escape(title)}</h1><p class="dim">{escape(lead)}</p></header>'
        f"<main>{''.join(parts)}</main></body></html>\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, is_text: bool = False) -> str:
    """A table of numbers with names in the first column, or of texts."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    kind = "data text" if is_text else "data"
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table class="{kind}">{inside}</table></div>'


def shown(value: Any) -> str:
    """A value as text: numbers with three digits behind the point, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if value != 0 and abs(value) < 0.001 else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def details(summary: str, content: str) -> str:
    """Content behind a line that opens it."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def side_by_side(*parts: str) -> str:
    """Pictures and tables next to each other where there is room."""
    return f'<div class="pair">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


KEY = '<p class="key dim"><i class="before"></i>before calibration<i class="after"></i>after</p>'
