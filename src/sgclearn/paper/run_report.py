"""The report of a recipe whose models were trained: every figure in it comes from a result line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sgclearn.experiments.accuracy_over_time import plot_accuracy_over_time
from sgclearn.experiments.comparison import Comparison, compare
from sgclearn.experiments.curves import curve_table, plot_curves
from sgclearn.experiments.experiment import METRICS, ModelEntry
from sgclearn.experiments.figure import plot_comparison
from sgclearn.experiments.machine import in_words
from sgclearn.experiments.results import Line
from sgclearn.experiments.tables import SCORE_HEADER, TIME_HEADER, score_rows, time_rows, verdict
from sgclearn.paper.findings import find
from sgclearn.paper.recipe import Recipe
from sgclearn.paper.report import Report, Table

FIGURES = {"points": plot_comparison, "curves": plot_curves, "times": plot_accuracy_over_time}


def report_of(recipe: Recipe, lines: Sequence[Line], *, quick: bool = False) -> Report:
    """What is shown of the runs of a recipe: scores, times, details, settings and machine; see `compare`."""
    comparison = compare(recipe, lines, quick=quick)
    if not comparison.rows:
        return Report(recipe, (), document=comparison.to_dict(), quick=comparison.quick)
    said = "Quick runs: they show that everything works, and are not judged." if comparison.quick else ""
    models = [recipe.models[name] for name in dict.fromkeys(row.model for row in comparison.rows)]
    return Report(
        recipe,
        _tables(comparison),
        statements=find(recipe.findings, comparison) if recipe.findings else (),
        draw=partial(FIGURES[recipe.figure], comparison),
        document=comparison.to_dict(),
        lead=tuple(line for line in (said, _judgement(comparison)) if line),
        settings=_settings(models),
        measured_with=_measured_with(comparison),
        notes=(*recipe.notes, *(note for model in models for note in model.notes)),
        quick=comparison.quick,
        part=_part(comparison),
    )


def _part(comparison: Comparison) -> str:
    recipe, shown = comparison.experiment, dict.fromkeys(row.dataset for row in comparison.rows)
    is_whole = all(name in shown or options.get("on_request") for name, options in recipe.datasets.items())
    return "" if is_whole else "; ".join(recipe.title_of(name) for name in shown)


def _tables(comparison: Comparison) -> tuple[Table, ...]:
    recipe = comparison.experiment
    scores = METRICS[recipe.metric][:1].upper() + METRICS[recipe.metric][1:]
    if recipe.is_swept:
        return (Table(f"{scores}, {_n_runs(comparison)}", *curve_table(comparison)),)
    details = ("dataset", "model", "what")
    found = [Table(scores, SCORE_HEADER, tuple(score_rows(comparison)))]
    if recipe.time_against is not None:
        seconds = Table("Seconds of training", TIME_HEADER, tuple(time_rows(comparison)))
        found.append(replace(seconds, heading="Training time", words=_time_words(comparison)))
    found.append(Table("Details, means over the runs", details, _details(comparison), on_screen=False))
    return tuple(found)


def _n_runs(comparison: Comparison) -> str:
    """What the cells of a table of means are means of: it has no column for that."""
    fewest, most = (choose(row.n for row in comparison.rows) for choose in (min, max))
    said = f"n = {fewest}" if fewest == most else f"n = {fewest} to {most}"
    return said if most == 1 else f"means, {said}"


def _judgement(comparison: Comparison) -> str:
    judged = [row for row in comparison.rows if row.passed is not None]
    failed = [row for row in judged if not row.passed]
    if not judged:
        return ""
    said = f"Of {len(judged)} figures with a tolerance {len(judged) - len(failed)} are within it"
    if not failed:
        return said + "."
    recipe = comparison.experiment
    named = "; ".join(
        f"{recipe.models[row.model].title} on {recipe.title_of(row.dataset)}, {row.difference:+.2f} "
        f"({verdict(comparison, row)})"
        for row in failed
    )
    return f"{said}, and not: {named}."


def _time_words(comparison: Comparison) -> tuple[str, ...]:
    recipe = comparison.experiment
    title = recipe.models[str(recipe.time_against)].title
    return (
        "Mean over the runs, every model on the same number of threads; CPU seconds are processor time, which other",
        "programs on the machine disturb less.",
        f"A ratio is the time of a model over that of “{title}”, by wall time and by CPU seconds.",
    )


def _details(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
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
        names = comparison.experiment.title_of(row.dataset), comparison.experiment.models[row.model].title
        rows.append((*names, "; ".join(found + searched)))
    return tuple(rows)


def _searched(comparison: Comparison, runs: list[dict[str, Any]]) -> list[str]:
    search = comparison.experiment.models[runs[0]["model"]].search
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


def _settings(models: list[ModelEntry]) -> tuple[str, ...]:
    """Lines about every model with the source of each setting; a sweep is one model with several values."""
    lines: list[str] = []
    for name, title in dict(model.group for model in models).items():
        points = [model for model in models if model.group[0] == name]
        lines += [f"**{title}**", "", *_settings_of(points[0])]
        for setting in points[0].swept:
            values = ", ".join(str(point.swept[setting]) for point in points)
            lines.append(f"- ``{setting}``, one model for each of {values}.")
        lines.append("")
    return tuple(lines)


def _settings_of(model: ModelEntry) -> list[str]:
    lines = []
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
    return lines


def _measured_with(comparison: Comparison) -> tuple[str, ...]:
    """Every combination of machine, threads and versions among the runs, and the seeds."""
    found = {in_words(line) for line in comparison.lines}
    seeds = sorted({line["seed"] for line in comparison.lines})
    said = f"seed {seeds[0]}, one run" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}, one a run"
    return (*sorted(found), said)
