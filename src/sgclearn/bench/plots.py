"""A picture of each case."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from sgclearn.errors import require
from sgclearn.files import replacing

OURS_COLOUR, OTHER_COLOUR, LOOP_COLOUR = "#c44e52", "#8c9aab", "#444444"


def plot_case(document: dict[str, Any], path: Path) -> None:
    """Draw one case as an SVG file: bars of time, or lines where it is about growth."""
    require("matplotlib", "plot")
    import matplotlib
    from matplotlib.figure import Figure

    parts = [part for part in document["parts"] if any(c["best"] is not None for c in part["contenders"])]
    draw = _draw_growth if document["case"] == "e" else _draw_bars
    # The same numbers must give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "sgclearn", "font.size": 9}):
        figure = draw(Figure, parts)
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None}, bbox_inches="tight")


def _colour(name: str) -> str:
    if name.startswith("sgclearn"):
        return OURS_COLOUR
    return LOOP_COLOUR if name.startswith("plain gather") else OTHER_COLOUR


def _ran(part: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(
        (c for c in part["contenders"] if c["fault"] is None and c["best"]), key=lambda c: c["best"]
    )


def _draw_bars(Figure: Any, parts: list[dict[str, Any]]) -> Any:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    heights = [0.6 + 0.24 * len(_ran(part)) for part in parts] or [1.0]
    figure = Figure(figsize=(7, sum(heights) + 0.4), layout="constrained")
    axes = figure.subplots(max(len(parts), 1), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, ax in zip(parts, axes, strict=False):
        ran = _ran(part)[::-1]
        seconds = [c["best"] for c in ran]
        bars = ax.barh([c["name"] for c in ran], seconds, color=[_colour(c["name"]) for c in ran])
        ax.bar_label(bars, [_times(c["times_ours"]) for c in ran], fontsize=8)
        ax.set_xscale("log")
        ax.set_xlim(min(seconds) / 2, max(seconds) * 3)
        decades = math.log10(6 * max(seconds) / min(seconds))  # few of them have room for marks in between
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 3 else (1,)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_title(part["name"], loc="left", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("seconds, best run; beside each bar how many times sgclearn's")
    return figure


def _times(ratio: float | None) -> str:
    if not ratio:
        return ""
    return f" {ratio:.3g}x" if ratio < 1000 else f" {ratio:,.0f}x"


def _draw_growth(Figure: Any, parts: list[dict[str, Any]]) -> Any:
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    time_axis, memory_axis = figure.subplots(1, 2)
    names = list(dict.fromkeys(c["name"] for part in parts for c in _ran(part)))
    for name in names:
        points = [(part["sizes"]["n_stored"], c) for part in parts for c in _ran(part) if c["name"] == name]
        stored = [size for size, _ in points]
        style = {"marker": "o", "color": _colour(name), "label": name}
        style |= {"linestyle": "--"} if name.startswith("plain") else {}
        style |= {"marker": "s", "linestyle": ":"} if name.startswith("MKL") else {}  # as grey as scipy
        time_axis.plot(stored, [c["best"] for _, c in points], **style)
        memory = [(size, c["bytes_beyond"] / 1e6) for size, c in points if c["bytes_beyond"]]
        if memory and not name.startswith("plain"):
            memory_axis.plot(*zip(*memory, strict=True), **style)
    for ax, label in ((time_axis, "seconds"), (memory_axis, "MB beyond features, graph and result")):
        ax.set(xscale="log", yscale="log", xlabel="stored entries", ylabel=label)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
    return figure
