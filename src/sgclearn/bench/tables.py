"""Results as reStructuredText: what the documentation includes is written here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sgclearn.bench.machine import sentence

Document = dict[str, Any]
EARLIER = "measured with an earlier version of the code"


def duration(seconds: float | None) -> str:
    """Seconds with three digits.

    Examples
    --------
    >>> duration(0.00123), duration(12.345), duration(None)
    ('1.23 ms', '12.3 s', '')
    """
    if seconds is None:
        return ""
    value, unit = (1e3 * seconds, "ms") if seconds < 1 else (seconds, "s")
    return f"{digits(value)} {unit}"


def digits(value: float | None) -> str:
    """Three digits that count, without an exponent where it can be helped.

    Examples
    --------
    >>> digits(0.0123), digits(4.5678), digits(1234.5), digits(1e-9), digits(0.0)
    ('0.0123', '4.57', '1,234', '1e-09', '0')
    """
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.2g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def bar_rows(documents: Iterable[Document]) -> list[tuple[str, str, str, str, str]]:
    """Case, what is shown, value, what is wanted, and whether it is met."""
    return [
        (
            document["case"],
            bar["text"],
            "not measured" if bar["value"] is None else digits(bar["value"]),
            f"{bar['wanted']} {digits(bar['needed'])}",
            "yes" if bar["met"] else ", ".join(bar["absent"]) if bar["reached"] else "no",
        )
        for document in documents
        for bar in document["bars"]
    ]


# Figures of contenders that have a column of their own where somebody has them, with title and form.
COLUMNS = {
    "accuracy": ("accuracy", ".4f"),
    "val_accuracy": ("validation accuracy", ".4f"),
    "test_accuracy": ("test accuracy", ".4f"),
    "best_score": ("best validation accuracy", ".4f"),
    "loss": ("loss", ".5f"),
    "training_loss": ("training loss", ".4f"),
    "relative_gradient": ("relative gradient", ".1e"),
}


def part_rows(part: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one problem: quickest first, those that did not run at the end with the reason."""
    ran = sorted((c for c in part["contenders"] if c["fault"] is None), key=lambda c: c["best"])
    shown = [name for name in COLUMNS if any(name in c["figures"] for c in ran)]
    header = ["contender", "time", "times sgclearn's", "memory beyond", *(COLUMNS[name][0] for name in shown)]
    rows = []
    most = max((len(c["seconds"]) for c in ran), default=0)
    for c in ran:
        is_once = len(c["seconds"]) == 1 < most  # too slow for the rounds
        once = ", first run" if c["is_first_run"] else ", one run" if is_once else ""
        time = f"{duration(c['best'])}{once}"
        memory = "" if c["bytes_beyond"] is None else f"{digits(c['bytes_beyond'] / 1e6)} MB"
        figures = [format(c["figures"][n], COLUMNS[n][1]) if n in c["figures"] else "" for n in shown]
        rows.append([c["name"], time, digits(c["times_ours"]), memory, *figures])
    for c in part["contenders"]:
        if c["fault"] is not None:
            word = "missing" if c["is_missing"] else "failed"
            rows.append([c["name"], word, c["fault"], *[""] * (len(header) - 3)])
    return header, rows


def sizes_text(sizes: dict[str, Any]) -> str:
    """Say the sizes of a problem.

    Examples
    --------
    >>> sizes_text({"n_nodes": 34, "n_edges": 78, "n_stored_features": 5})
    '34 nodes, 78 edges, 5 stored features'
    """
    words = {"n_train": "training nodes", "n_val": "validation nodes", "n_test": "test nodes"}
    words |= {"n_stored": "stored entries", "n_decays": "weight decays"}
    return ", ".join(
        f"{value:,} {words.get(name, name.removeprefix('n_').replace('_', ' '))}"
        for name, value in sizes.items()
    )


def page(documents: dict[str, Document], figure_of: dict[str, str] | None = None, code: str = "") -> str:
    """Every case as tables.

    Parameters
    ----------
    documents : dict
        Results by letter.
    figure_of : dict, optional
        The picture of a case, relative to the page.
    code : str, optional
        Fingerprint of the code as it is: results of another one are marked.
    """
    if not documents:
        return "No case has been run yet.\n"
    ordered = [documents[letter] for letter in sorted(documents)]
    lines = [*_machine_lines(ordered), "", *_when_lines(ordered, code), "What must be shown", "-" * 18]
    lines += _list_table(("case", "what", "value", "wanted", "met"), bar_rows(ordered), (8, 52, 14, 16, 10))
    for document in ordered:
        title = f"({document['case']}) {document['title']}"
        lines += ["", title, "-" * len(title), document["about"], ""]
        lines += [] if _is_current(document, code) else [f"**{EARLIER.capitalize()}.**", ""]
        if figure_of is not None and document["case"] in figure_of:
            lines += [f".. image:: {figure_of[document['case']]}", f"   :alt: {document['title']}", ""]
        lines += _case_lines(document)
    return "\n".join(lines) + "\n"


def _machine_lines(documents: Sequence[Document]) -> list[str]:
    machines: dict[str, list[str]] = {}
    for document in documents:
        machines.setdefault(sentence(document["machine"]), []).append(document["case"])
    lines = [f"Machine: {words}." for words in machines]
    if len(machines) > 1:
        lines = [f"- Machine of {', '.join(cases)}: {words}." for words, cases in machines.items()]
    versions: dict[str, str] = {}
    for document in documents:
        for part in document["parts"]:
            for contender in part["contenders"]:
                versions |= contender["versions"]
    lines += [
        "",
        "Versions: " + ", ".join(f"{name} {number}" for name, number in sorted(versions.items())) + ".",
    ]
    if any(document["mark"]["quick"] for document in documents):
        lines += [
            "",
            "**A quick run on small problems: it shows that everything works; no figure means anything.**",
        ]
    return lines


def _is_current(document: Document, code: str) -> bool:
    return code in ("", document["code"])


def _when_lines(documents: Sequence[Document], code: str) -> list[str]:
    """When and how each case was measured, and how busy the machine was."""
    rows = []
    for document in documents:
        loads = [digits(document[name]) for name in ("load_before", "load_after")]
        mark, remark = document["mark"], "" if _is_current(document, code) else EARLIER
        rows.append(
            [document["case"], document["day"], str(mark["repeat"]), str(mark["threads"]), *loads, remark]
        )
    header = ("case", "day (UTC)", "rounds", "threads", "load before", "load after", "remark")
    return _list_table(header, rows)


def _case_lines(document: Document) -> list[str]:
    lines: list[str] = []
    for part in document["parts"]:
        header, rows = part_rows(part)
        lines += [f"**{part['name']}**: {sizes_text(part['sizes'])}.", ""]
        lines += _list_table(header, rows)
        lines += _figure_lines(part["figures"])
        lines += [line for note in part["notes"] for line in (note, "")]
    lines += _figure_lines(document["figures"])
    for name, reason in document["skipped"].items():
        lines += [f"Skipped: {name}, {reason}.", ""]
    return lines


def _figure_lines(figures: dict[str, Any]) -> list[str]:
    told = {
        name: f"{value:.5f}" if name.startswith("loss") else digits(value) for name, value in figures.items()
    }
    return [*(f"- {name}: {value}" for name, value in told.items()), ""] if told else []


def _list_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int] | None = None
) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1"]
    if widths is not None:
        lines.append(f"   :widths: {' '.join(map(str, widths))}")
    lines.append("")
    for row in (header, *rows):
        lines += [f"   {'* -' if column == 0 else '  -'} {cell}".rstrip() for column, cell in enumerate(row)]
    return [*lines, ""]
