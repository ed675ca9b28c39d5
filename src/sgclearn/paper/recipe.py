"""A table of the paper as data: a small TOML file says what to run and what was published.

A file of `recipes/`, in short::

    id = "tab2"
    title = "Citation graphs, public split"
    where = "Table 2"
    runs = 10                       # run r has the seed `seed + r`
    seed = 1100

    [datasets.cora]
    kind = "node"                   # how it is loaded; all other keys are options of that

    [models.sgc]
    title = "SGC"
    model = "sgc"                   # the class, see models.py

    [[models.sgc.settings]]         # as many groups as there are sources
    source = "the paper, section 6.1"
    values = { n_hops = 2 }
    by_dataset.weight_decay = { cora = 1.3027e-5 }

    [models.sgc.published]
    source = "Table 2"
    tolerance = { within = 0.3 }    # or { below = 0.5 }: so many points lower at most
    cora = { value = 81.0, std = 0.0 }
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from sgclearn.errors import InputError

METRICS = {"test_accuracy": "test accuracy (%)", "val_accuracy": "validation accuracy (%)"}
TOLERANCES = ("within", "below")


@dataclass(frozen=True)
class Published:
    """A figure of the paper: mean, standard deviation and seconds, as far as it gives them."""

    value: float | None = None
    std: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class SettingGroup:
    """Settings that come from one source; those of `by_dataset` as name to dataset to value."""

    source: str
    values: dict[str, Any] = field(default_factory=dict)
    by_dataset: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Search:
    """Settings found by trying: log-uniform between bounds, the best validation accuracy wins."""

    source: str
    space: dict[str, tuple[float, float]]
    trials: int


@dataclass(frozen=True)
class ModelRecipe:
    """A row of the table: a model, its settings with their sources, and its published figures."""

    name: str
    title: str
    model: str
    settings: tuple[SettingGroup, ...] = ()
    search: Search | None = None
    published: dict[str, Published] = field(default_factory=dict)
    published_source: str = ""
    tolerance: tuple[str, float] | None = None
    runs: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    time_only: bool = False  # its scores mean nothing and are not shown

    def settings_for(self, dataset: str) -> dict[str, Any]:
        """Arguments of the model on one dataset; a later group overrides an earlier one."""
        found: dict[str, Any] = {}
        for group in self.settings:
            found.update(group.values)
            found.update({name: per[dataset] for name, per in group.by_dataset.items() if dataset in per})
        return found


@dataclass(frozen=True)
class Quick:
    """What `--quick` runs instead: fewer runs, datasets, models and trials, and settings of its own by model."""

    runs: int = 2
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    trials: int | None = None
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """One table or figure of the paper.

    Parameters
    ----------
    id, title, where : str
        Short name, what it shows, and where it is in the paper.
    runs, seed : int
        Run r of a model has the seed `seed + r`.
    metric : str
        Which score of a run is compared: a name of `METRICS`.
    datasets : dict
        Name to the options of its loader; `kind` chooses the loader and `title` is for people.
    models : dict
        Name to `ModelRecipe`, in the order of the table.
    time_against : str or None
        The model whose seconds the others' are divided by.
    quick : Quick
    notes : tuple of str
        What differs from the paper, and why.

    Examples
    --------
    >>> recipe = load_recipe("tab2")
    >>> recipe.models["sgc"].published["cora"].value
    81.0
    >>> recipe.models["sgc"].settings_for("citeseer")["max_iter"]
    150
    """

    id: str
    title: str
    where: str
    runs: int
    seed: int
    metric: str
    datasets: dict[str, dict[str, Any]]
    models: dict[str, ModelRecipe]
    time_against: str | None = None
    quick: Quick = field(default_factory=Quick)
    notes: tuple[str, ...] = ()

    def title_of(self, dataset: str) -> str:
        """Name of a dataset for people."""
        return str(self.datasets[dataset].get("title", dataset))


def list_recipes() -> tuple[Recipe, ...]:
    """All recipes, by id.

    Examples
    --------
    >>> [recipe.id for recipe in list_recipes()]
    ['tab2', 'tab4']
    """
    return tuple(load_recipe(name) for name in _known())


def _known() -> list[str]:
    names = (entry.name for entry in files("sgclearn.paper").joinpath("recipes").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_recipe(name: str) -> Recipe:
    """Recipe of a table by its id; see `list_recipes`."""
    if name not in _known():
        raise InputError(f"a table or figure must be one of {', '.join(_known())}: got {name!r}.")
    file = files("sgclearn.paper").joinpath("recipes", f"{name}.toml")
    return parse_recipe(file.read_text(encoding="utf-8"))


def parse_recipe(text: str) -> Recipe:
    """Recipe from the text of a TOML file, with its parts checked against each other."""
    try:
        table = tomllib.loads(text)
        quick: dict[str, Any] = dict(table.get("quick", {}))
        quick |= {name: tuple(quick[name]) for name in ("datasets", "models") if name in quick}
        recipe = Recipe(
            **{name: table[name] for name in ("id", "title", "where", "runs", "seed", "datasets")},
            metric=table.get("metric", "test_accuracy"),
            models={name: _model(name, entry) for name, entry in table["models"].items()},
            time_against=table.get("time_against"),
            quick=Quick(**quick),
            notes=tuple(table.get("notes", ())),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"a recipe must have the parts that paper/recipe.py lists: got {error!r}."
        ) from error
    _check(recipe)
    return recipe


def _model(name: str, entry: dict[str, Any]) -> ModelRecipe:
    entry = dict(entry)
    published = dict(entry.pop("published", {}))
    source = published.pop("source", "")
    tolerance = published.pop("tolerance", None)
    search = entry.pop("search", None)
    return ModelRecipe(
        name=name,
        settings=tuple(SettingGroup(**group) for group in entry.pop("settings", ())),
        search=None
        if search is None
        else Search(
            search["source"], {k: (v[0], v[1]) for k, v in search["space"].items()}, search["trials"]
        ),
        published={dataset: Published(**figure) for dataset, figure in published.items()},
        published_source=source,
        tolerance=None if tolerance is None else next(iter(tolerance.items())),
        notes=tuple(entry.pop("notes", ())),
        **entry,
    )


def _check(recipe: Recipe) -> None:
    if recipe.metric not in METRICS:
        raise InputError(f"metric of a recipe must be one of {', '.join(METRICS)}: got {recipe.metric!r}.")
    if recipe.time_against is not None and recipe.time_against not in recipe.models:
        raise InputError(f"time_against must name a model of the recipe: got {recipe.time_against!r}.")
    for model in recipe.models.values():
        if model.tolerance is not None and model.tolerance[0] not in TOLERANCES:
            raise InputError(
                f"tolerance must be within or below: got {model.tolerance[0]!r} for {model.name}."
            )
        named = set(model.published) | set(model.runs)
        named |= {dataset for group in model.settings for per in group.by_dataset.values() for dataset in per}
        if unknown := sorted(named - set(recipe.datasets)):
            raise InputError(f"{model.name} must speak of datasets of the recipe: got {unknown[0]!r}.")
    for part, known in (("datasets", recipe.datasets), ("models", recipe.models)):
        if unknown := sorted(set(getattr(recipe.quick, part)) - set(known)):
            raise InputError(f"quick must name {part} of the recipe: got {unknown[0]!r}.")
