"""A page of the documentation from the results of a recipe; every figure on it comes from a result line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sgclearn.paper.comparison import Comparison
from sgclearn.paper.recipe import METRICS, ModelRecipe
from sgclearn.paper.tables import SCORE_HEADER, TIME_HEADER, score_rows, time_rows, verdict


def results_page(comparison: Comparison, *, command: str, picture: str | None = None) -> str:
    """Text of the page (reStructuredText).

    Parameters
    ----------
    comparison : Comparison
    command : str
        What the reader types to make it again.
    picture : str, optional
        File name of the figure, beside the page.
    """
    recipe = comparison.recipe
    lines = [
        *_title(f"{recipe.where}: {recipe.title}", "="),
        "",
        f"Written by ``{command}``.",
        *(
            []
            if not comparison.quick
            else ["Quick runs: they show that everything works, and are not judged."]
        ),
        _judgement(comparison),
        "",
        *([f".. image:: {picture}", f"   :alt: {recipe.title}", ""] if picture else []),
        *_table(METRICS[recipe.metric].capitalize(), SCORE_HEADER, score_rows(comparison)),
        *_title("Training time", "-"),
        *_time_words(comparison),
        *_table("Seconds of training", TIME_HEADER, time_rows(comparison)),
        *_details(comparison),
        *_title("Settings", "-"),
        *(line for name in _models(comparison) for line in _settings(recipe.models[name])),
    ]
    notes = [*recipe.notes, *(note for name in _models(comparison) for note in recipe.models[name].notes)]
    if notes:
        lines += [*_title("What differs, and why", "-"), *(f"- {note}" for note in notes), ""]
    lines += [*_title("Measured with", "-"), *(f"- {entry}" for entry in _measured_with(comparison)), ""]
    return "\n".join(lines)


def _title(text: str, mark: str) -> list[str]:
    return [text, mark * len(text)]


def _models(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.model for row in comparison.rows))


def _judgement(comparison: Comparison) -> str:
    judged = [row for row in comparison.rows if row.passed is not None]
    failed = [row for row in judged if not row.passed]
    if not judged:
        return ""
    said = f"Of {len(judged)} figures with a tolerance {len(judged) - len(failed)} are within it"
    if not failed:
        return said + "."
    recipe = comparison.recipe
    named = "; ".join(
        f"{recipe.models[row.model].title} on {recipe.title_of(row.dataset)}, {row.difference:+.2f} "
        f"({verdict(comparison, row)})"
        for row in failed
    )
    return f"{said}, and not: {named}."


def _time_words(comparison: Comparison) -> list[str]:
    recipe = comparison.recipe
    words = [
        "Mean over the runs, every model on the same number of threads; CPU seconds are processor time, which other",
        "programs on the machine disturb less.",
    ]
    if recipe.time_against is not None:
        title = recipe.models[recipe.time_against].title
        words.append(
            f"A ratio is the time of a model over that of “{title}”, by wall time and by CPU seconds."
        )
    return [*words, ""]


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in (header, *rows):
        for position, cell in enumerate(row):
            text = "–" if cell == "-" else cell.replace("+-", "±")  # noqa: RUF001 - a lone hyphen begins a list
            lines.append(f"   {'* -' if position == 0 else '  -'} {text}".rstrip())
    return [*lines, ""]


def _details(comparison: Comparison) -> list[str]:
    """What models say about their runs: means of numbers, by dataset and model."""
    rows = []
    for row in comparison.rows:
        runs = [
            line for line in comparison.lines if (line["dataset"], line["model"]) == (row.dataset, row.model)
        ]
        found = [f"{row.n_parameters:,} parameters"]
        for name in runs[0]["details"]:
            values = [run["details"].get(name) for run in runs]
            found.append(f"{name.replace('_', ' ')} {_summary(values)}")
        searched = _searched(comparison, runs)
        names = comparison.recipe.title_of(row.dataset), comparison.recipe.models[row.model].title
        rows.append((*names, "; ".join(found + searched)))
    return _table("Details, means over the runs", ("dataset", "model", "what"), rows)


def _searched(comparison: Comparison, runs: list[dict[str, Any]]) -> list[str]:
    search = comparison.recipe.models[runs[0]["model"]].search
    if search is None:
        return []
    return [f"{name.replace('_', ' ')} found {runs[0]['settings'][name]:.4g}" for name in search.space]


def _summary(values: list[Any]) -> str:
    if all(isinstance(value, bool) for value in values):
        return f"in {sum(values)} of {len(values)} runs"
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < len(values):
        return ", ".join(sorted({str(value) for value in values}))
    return f"{sum(numbers) / len(numbers):.4g}"


def _settings(model: ModelRecipe) -> list[str]:
    lines = [f"**{model.title}**", ""]
    for group in model.settings:
        told = [f"``{name} = {value!r}``" for name, value in group.values.items()]
        for name, values in group.by_dataset.items():
            told.append(f"``{name}`` " + ", ".join(f"{value!r} ({key})" for key, value in values.items()))
        lines.append(f"- {', '.join(told)}. Source: {group.source}.")
    if model.search is not None:
        space = ", ".join(
            f"``{name}`` in [{low:g}, {high:g}]" for name, (low, high) in model.search.space.items()
        )
        lines.append(f"- searched, {model.search.trials} trials: {space}. Source: {model.search.source}.")
    if model.published:
        lines.append(f"- published figures: {model.published_source}.")
    return [*lines, ""]


def _measured_with(comparison: Comparison) -> list[str]:
    """Every combination of machine, threads and versions among the runs, and the seeds."""
    found = set()
    for line in comparison.lines:
        machine, versions = line["machine"], line["versions"]
        packages = ", ".join(f"{name} {version}" for name, version in versions.items())
        threads = f"{line['threads']} thread" + ("s" if line["threads"] != 1 else "")
        found.add(f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {threads}; {packages}")
    seeds = sorted({line["seed"] for line in comparison.lines})
    return [*sorted(found), f"seeds {seeds[0]} to {seeds[-1]}, one a run"]
