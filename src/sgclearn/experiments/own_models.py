"""SGC and other models on one's own data, all with the same splits: an experiment made in memory, and its runs."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sgclearn.baselines.settings import SettingGroup, published_settings
from sgclearn.errors import InputError, MissingExtraError, require
from sgclearn.experiments.comparison import compare
from sgclearn.experiments.experiment import Experiment, ModelEntry
from sgclearn.experiments.models import MODELS, model_class
from sgclearn.experiments.own_comparison import ModelComparison
from sgclearn.experiments.own_data import Data, Draw, OwnData
from sgclearn.experiments.plan import Selection, check_amounts, keys_of
from sgclearn.experiments.results import ResultFile
from sgclearn.experiments.runner import OnProgress, run_experiment

SGC, PLAIN, SPREADING = "sgc", "logistic-regression", "label-propagation"
ALL = "all"
TITLES = {SGC: "SGC", PLAIN: "Logistic regression", SPREADING: "Label propagation"}
NOT_COMPARED = "sgc-steps"  # SGC, trained as in one table of the paper
FEATURES_ALONE = (PLAIN, "mlp")
WITHOUT_WEIGHTS = ("gat", "agnn", "adalnet", "deepwalk", "sage", "unsupervised-sage", "gaan")  # of the edges
DEFAULT_HOPS = (1, 2, 3)
DEFAULT_RUNS, DEFAULT_SEED = 5, 2019
# Published for twelve thousand training nodes and none to stop by; a few hundred make only a batch or two an epoch.
EPOCHS = {
    "sage": {"max_epochs": 200, "patience": 20},
    "unsupervised-sage": {"max_epochs": 20},
    "gaan": {"max_epochs": 200, "patience": 20},
}


def _title(model: str) -> str:
    return TITLES.get(model) or model_class(model).__name__


class OtherDataError(InputError):
    """Results of another comparison are where those of this one should go."""


def known_models() -> tuple[str, ...]:
    """Names that `compare_models` takes, SGC first.

    Examples
    --------
    >>> known_models()[:4]
    ('sgc', 'logistic-regression', 'label-propagation', 'gcn')
    """
    others = (name for name, entry in MODELS.items() if entry.task == "nodes" and name not in TITLES)
    return (*TITLES, *(name for name in others if name != NOT_COMPARED))


def missing_extra(model: str) -> MissingExtraError | None:
    """Give the error that says what to install before a model can run; None where nothing is missing."""
    try:
        for module, extra in model_class(model).requires:
            require(module, extra)
    except MissingExtraError as error:
        return error
    return None


def check_models(models: Sequence[str]) -> None:
    """Raise unless all names are known, or "all" stands alone; nothing is imported for that."""
    if list(models) == [ALL]:
        return
    if ALL in models:
        raise InputError(f"{ALL} must stand alone", ", ".join(models), "leave the other names out")
    if unknown := [name for name in models if name not in known_models()]:
        raise InputError(
            f"models must be {ALL}, or some of {', '.join(known_models())}",
            repr(unknown[0]),
            "choose among them",
            argument="models",
        )


def chosen_models(models: Sequence[str] | str | None) -> tuple[list[str], list[str]]:
    """Names of the models to run, and sentences on those that would be and need something that is not installed.

    Without a choice: SGC, logistic regression, label propagation, and GCN where torch is installed. "all" are those
    that can run here. A model that is named and cannot run is an error.
    """
    named = [models] if isinstance(models, str) else models
    check_models(named or ())
    if named is None or list(named) == [ALL]:
        wanted = [*TITLES, "gcn"] if named is None else list(known_models())
        missing = {name: str(why) for name in wanted if (why := missing_extra(name))}
        able = [name for name in wanted if name not in missing]
        alike = {why: [_title(name) for name in missing if missing[name] == why] for why in missing.values()}
        return able, [f"{', '.join(titles)} left out: {why}" for why, titles in alike.items()]
    return [name for name in known_models() if name in (SGC, *named)], []


def compare_models(
    data: Data | Draw,
    models: Sequence[str] | str | None = None,
    *,
    runs: int = DEFAULT_RUNS,
    seed: int = DEFAULT_SEED,
    n_hops: int | Sequence[int] = DEFAULT_HOPS,
    prepare: str = "auto",
    threads: int = 1,
    results: str | os.PathLike[str] | None = None,
    on_progress: OnProgress | None = None,
    with_earlier: bool = False,
    anew: bool = False,
) -> ModelComparison:
    """Compare SGC with other models on a graph: same splits, same features, same threads.

    Parameters
    ----------
    data : GraphDataset, Samples or callable
        Data with training, validation and test samples, whose split all runs share; or a function from the seed of a
        run to its data, so that every run has a split of its own.
    models : sequence of str, "all", or None
        Names of `known_models`; SGC is always among them. None is SGC, logistic regression, label propagation and,
        where torch is installed, GCN.
    runs : int, default 5
        Of every model; 0 gives what is in `results` already.
    seed : int, default 2019
        Run r of every model has the seed `seed + r`.
    n_hops : int or sequence of int, default 1 to 3
        SGC takes the best of them, together with its weight decay, on the validation nodes.
    prepare : str, default "auto"
        What is done to the features first, for all models: "none", "l1", "l2", "standard"; see `OwnData`.
    threads : int, default 1
        Of every model; times are comparable for equal threads only.
    results : path, optional
        File of JSON lines that keeps every run; runs that are in it are not made again.
    on_progress : callable, optional
        Called with a `Progress` before, during and after every run.
    with_earlier : bool, default False
        Whether other models and further runs that are in `results` are shown too, if their settings are the same.
    anew : bool, default False
        Whether what is in `results` is dropped first; it is not before everything else has been checked.

    Returns
    -------
    ModelComparison

    Notes
    -----
    Logistic regression, too, has its weight decay chosen on the validation nodes. The other baselines keep the
    settings of their papers on every graph, and use the validation nodes to stop their training. Seconds are those
    of the training with the settings found; those of the search are beside them.

    A model that fails on this data is left out with its reason in `failures`, and the others go on.

    Examples
    --------
    >>> from sgclearn import load_dataset
    >>> from sgclearn.experiments import compare_models
    >>> found = compare_models(load_dataset("debian"), ["label-propagation"], runs=1, n_hops=2)
    >>> [row.model for row in found.rows]
    ['sgc', 'label-propagation']
    """
    check_amounts(runs, threads)
    if anew and not runs:
        raise InputError("runs must be >= 1 to begin anew", "0, which shows what is there", argument="runs")
    chosen, notes = chosen_models(models)
    own = OwnData(data, seed, prepare)
    experiment = own_recipe(own, chosen, seed=seed, n_hops=n_hops, notes=notes)
    alone = [] if own.has_features else [name for name in chosen if name in FEATURES_ALONE]
    failures = dict.fromkeys(alone, "it reads the features of a node alone, and there are none.")
    able = [name for name in chosen if name not in failures]
    if runs and (missing := [why for name in able if (why := missing_extra(name))]):
        raise missing[0]  # before a file is made
    selection = Selection.of(experiment, models=able, runs=runs, threads=threads)
    with tempfile.TemporaryDirectory() as folder:
        if anew and results is not None:
            Path(results).unlink(missing_ok=True)
        file = ResultFile(Path(folder, "runs.jsonl") if results is None else results)
        _check_same_data(file, experiment, own.first.name, is_begun=runs > 0)
        lines = run_experiment(
            experiment, file, selection, on_progress, loaded={own.first.name: own}, keep_going=True
        )
    if with_earlier:
        there = {line["model"] for kind in ("run", "failure") for line in file.lines(kind)}
        shown = [name for name in known_models() if name in there or name in chosen]
        experiment = own_recipe(own, shown, seed=seed, n_hops=n_hops, notes=notes)
        able = [name for name in shown if name not in failures]
        selection = Selection.of(experiment, models=able, runs=0, threads=threads)
        lines = run_experiment(experiment, file, selection)
    elif runs:
        lines = [line for line in lines if line["run"] < runs]
    failures |= _failed(experiment, selection, file, lines)
    return ModelComparison(**vars(compare(experiment, lines)), failures=failures, prepare=own.prepare)


def own_recipe(
    own: OwnData,
    models: Sequence[str],
    *,
    seed: int,
    n_hops: int | Sequence[int],
    notes: Sequence[str] = (),
) -> Experiment:
    """Experiment for models on one dataset; nothing in it was published."""
    name = own.first.name
    entries = {model: _entry(model, own, n_hops) for model in models}
    unweighted = [entries[model].title for model in models if model in WITHOUT_WEIGHTS]
    if unweighted and own.first.graph.is_weighted:
        notes = [*notes, f"{', '.join(unweighted)}: edges are read without their weights."]
    return Experiment(
        id="compare",
        title=f"Models on {name}",
        runs=DEFAULT_RUNS,
        seed=seed,
        metric="test_accuracy",
        datasets={name: {"kind": "own", "sha256": own.fingerprint(), "seed": seed}},
        models=entries,
        time_against=SGC,
        notes=tuple(notes),
    )


def _entry(model: str, own: OwnData, n_hops: int | Sequence[int]) -> ModelEntry:
    if model in (SGC, PLAIN):
        hops: Any = 0 if model == PLAIN else [n_hops] if isinstance(n_hops, int) else list(n_hops)
        source = "this package: the best of 25 weight decays" + (" and of these hops" if model == SGC else "")
        values = {"n_hops": hops, "weight_decay": "validated"}
        return ModelEntry(
            model, TITLES[model], SGC, (SettingGroup(f"{source} on the validation nodes", values),)
        )
    # A citation graph of the paper by its name has the settings of that graph, any other those of all graphs.
    groups = [
        group
        for group in published_settings(model)
        if group.values or any(own.first.name in by_name for by_name in group.by_dataset.values())
    ]
    if model in EPOCHS:
        groups.append(SettingGroup("this comparison: more epochs than on the large graph", EPOCHS[model]))
    kind = model_class(model)
    known = inspect.signature(kind).parameters
    ours: dict[str, Any] = {"row_norm": None} if "row_norm" in known else {}
    if "with_features" in known and not own.has_features:
        ours["with_features"] = False
    if ours:
        groups.append(SettingGroup("this comparison: features prepared once, for all models alike", ours))
    return ModelEntry(model, _title(model), model, tuple(groups))


def _check_same_data(results: ResultFile, experiment: Experiment, name: str, is_begun: bool) -> None:
    """Begin a file of results with what it is about, and refuse one that is about something else."""
    mark = {"kind": "data", "name": name, "sha256": experiment.datasets[name]["sha256"]}
    for line in results.lines("data"):
        if line["sha256"] == mark["sha256"]:
            return
        told = f"others, of {line['name']}" if line["name"] == name else f"those of {line['name']}"
        raise OtherDataError(
            f"{results.path} must have runs on the data and splits of {name}", told, "choose another place"
        )
    if is_begun:
        results.append(mark)


def _failed(
    experiment: Experiment, selection: Selection, results: ResultFile, lines: list[dict[str, Any]]
) -> dict[str, str]:
    """Why models have fewer runs than the others, as far as their last failure says."""
    keys = keys_of(experiment, selection)
    done = {(line["key"], line["run"]) for line in lines}
    return {
        line["model"]: str(line["error"])
        for line in results.lines("failure")
        if line["key"] in keys and (line["key"], line["run"]) not in done
    }
