"""Recipes as small TOML files: read, and their parts checked against each other.

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
    model = "sgc"                   # the class, see experiments/models.py

    [[models.sgc.settings]]         # as many groups as there are sources
    source = "the paper, section 6.1"
    values = { n_hops = 2 }
    by_dataset.weight_decay = { cora = 1.3027e-5 }

    [models.sgc.published]
    source = "Table 2"
    tolerance = { within = 0.3 }    # { below = 0.5 }: so many points lower at most; { std = 1.0 }: so many
    cora = { value = 81.0, std = 0.0 }          # standard deviations off, the published or else the measured one

A model with `settings_of = "gcn"` has the published settings of that baseline before its own.
A model with `like = "tab2"` has the title, class, settings and search of its namesake there, and may add to them;
`sweep = { setting = "n_hops", as = "K", values = [2, 3] }` makes a model of every value. A recipe with
`runs_of = "tab2"` shows runs of that recipe in another way: it names models of it and declares none.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import Any

from sgclearn.baselines.settings import SettingGroup, published_settings
from sgclearn.errors import InputError
from sgclearn.experiments.experiment import METRICS, TOLERANCES, ModelEntry, Published, Quick, Search
from sgclearn.paper.recipe import FIGURES, FORMS, Recipe
from sgclearn.validation.parameters import Choice

NEEDED = ("id", "title", "where", "datasets")
PLAIN = ("runs", "seed", "metric", "time_against", "form", "figure", "findings")
MADE = ("models", "quick", "notes", "axis")
OF_A_VIEW = ("runs_of", "id", "title", "where", "figure", "models", "notes")


def list_recipes() -> tuple[Recipe, ...]:
    """All recipes, by id.

    Examples
    --------
    >>> "tab2" in [recipe.id for recipe in list_recipes()]
    True
    """
    return tuple(load_recipe(name) for name in _known())


def _known() -> list[str]:
    names = (entry.name for entry in files("sgclearn.paper").joinpath("recipes").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_recipe(name: str) -> Recipe:
    """Recipe of a table by its id; see `list_recipes`."""
    Choice(values=tuple(_known())).check("a table or figure", name)
    file = files("sgclearn.paper").joinpath("recipes", f"{name}.toml")
    return parse_recipe(file.read_text(encoding="utf-8"))


def parse_recipe(text: str) -> Recipe:
    """Recipe from the text of a TOML file, with its parts checked against each other."""
    try:
        table = tomllib.loads(text)
        known = OF_A_VIEW if "runs_of" in table else (*NEEDED, *PLAIN, *MADE)
        if unknown := [name for name in table if name not in known]:
            raise InputError(
                f"a recipe must have none but {', '.join(known)}", repr(unknown[0]), "mend its name"
            )
        recipe = _other_view(table) if "runs_of" in table else _recipe(table)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "a recipe must have the parts that paper/recipe_files.py lists", repr(error)
        ) from error
    _check(recipe)
    return recipe


def _recipe(table: dict[str, Any]) -> Recipe:
    is_trained = table.get("form", "runs") == "runs"
    quick: dict[str, Any] = dict(table.get("quick", {}))
    quick |= {name: tuple(quick[name]) for name in ("datasets", "models") if name in quick}
    needed = (*NEEDED, *(("runs", "seed", "models") if is_trained else ()))
    if missing := [name for name in needed if name not in table]:
        raise KeyError(missing[0])
    models = [_models(name, entry) for name, entry in table.get("models", {}).items()]
    axis = table.get("axis")
    return Recipe(
        **{name: table[name] for name in (*NEEDED, *PLAIN) if name in table},
        models={model.name: model for swept in models for model in swept},
        quick=Quick(**quick),
        notes=tuple(table.get("notes", ())),
        axis=None if axis is None else (axis["name"], axis["title"]),
    )


def _other_view(table: dict[str, Any]) -> Recipe:
    """A recipe that shows runs of another one."""
    base = load_recipe(table["runs_of"])
    return replace(
        base,
        **{name: table[name] for name in ("id", "title", "where", "figure")},
        models={name: base.models[name] for name in table["models"]},
        quick=replace(
            base.quick, models=tuple(name for name in base.quick.models if name in table["models"])
        ),
        notes=tuple(table.get("notes", ())),
        results=base.results,
    )


def _models(name: str, entry: dict[str, Any]) -> list[ModelEntry]:
    """The model of an entry, or one for each value of its sweep."""
    entry = dict(entry)
    sweep = entry.pop("sweep", None)
    model = _model(name, entry)
    if sweep is None:
        return [model]
    return [
        replace(
            model,
            name=f"{name}-{value}",
            title=f"{model.title}, {sweep['as']} = {value}",
            swept={sweep["setting"]: value},
            group=(name, model.title),
        )
        for value in sweep["values"]
    ]


def _model(name: str, entry: dict[str, Any]) -> ModelEntry:
    like = entry.pop("like", None)
    base = None if like is None else load_recipe(like).models[name]
    published = dict(entry.pop("published", {}))
    source = published.pop("source", "")
    tolerance = published.pop("tolerance", None)
    search = entry.pop("search", None)
    inherited = {} if base is None else {"title": base.title, "model": base.model, "search": base.search}
    given: dict[str, Any] = inherited | entry
    if search is not None:
        space = {setting: (low, high) for setting, (low, high) in search["space"].items()}
        given["search"] = Search(search["source"], space, search["trials"])
    published_ones = published_settings(given.pop("settings_of")) if "settings_of" in given else ()
    given["settings"] = (
        *(() if base is None else base.settings),
        *published_ones,
        *(SettingGroup(**group) for group in entry.get("settings", ())),
    )
    return ModelEntry(
        name=name,
        published={dataset: Published(**figure) for dataset, figure in published.items()},
        published_source=source,
        tolerance=None if tolerance is None else next(iter(tolerance.items())),
        **given | {"notes": tuple(entry.get("notes", ()))},
    )


def _check(recipe: Recipe) -> None:
    for part, known in (("metric", tuple(METRICS)), ("form", FORMS), ("figure", FIGURES)):
        Choice(values=known).check(f"{part} of a recipe", getattr(recipe, part))
    if recipe.figure == "curves" and recipe.axis is None:
        raise InputError("a figure of curves needs an axis with name and title", "none")
    if recipe.time_against is not None and recipe.time_against not in recipe.models:
        raise InputError(
            "time_against must name a model of the recipe", repr(recipe.time_against), argument="time_against"
        )
    for model in recipe.models.values():
        if model.tolerance is not None and model.tolerance[0] not in TOLERANCES:
            raise InputError(
                "tolerance must be within, below or std",
                f"{model.tolerance[0]!r} for {model.name}",
                argument="tolerance",
            )
        named = set(model.published) | set(model.runs)
        named |= {dataset for group in model.settings for per in group.by_dataset.values() for dataset in per}
        if unknown := sorted(named - set(recipe.datasets)):
            raise InputError(f"{model.name} must speak of datasets of the recipe", repr(unknown[0]))
    for part, known_names in (("datasets", recipe.datasets), ("models", recipe.models)):
        if unknown := sorted(set(getattr(recipe.quick, part)) - set(known_names)):
            raise InputError(f"quick must name {part} of the recipe", repr(unknown[0]), argument="quick")
