"""Recipes: what their files must say, and that every one can be run."""

from __future__ import annotations

import pytest

from sgclearn.errors import InputError
from sgclearn.paper import Selection, list_recipes, load_recipe
from sgclearn.paper.models import build_model
from sgclearn.paper.plan import plan_tasks
from sgclearn.paper.problems import LOADERS
from sgclearn.paper.recipe import parse_recipe

SMALL = """
id = "toy"
title = "A toy"
where = "Table 0"
runs = 3
seed = 700
[datasets]
a = { kind = "node", name = "debian" }
b = { kind = "node", name = "debian" }
[models.m]
title = "M"
model = "sgc"
[[models.m.settings]]
source = "here"
values = { n_hops = 2, max_iter = 100 }
[[models.m.settings]]
source = "there"
by_dataset.max_iter = { b = 150 }
[models.m.published]
source = "Table 0"
tolerance = { within = 0.3 }
a = { value = 81.0 }
"""


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.id)
def test_recipe_names_its_sources_and_builds_every_model(recipe):
    assert load_recipe(recipe.id) == recipe
    assert {data["kind"] for data in recipe.datasets.values()} <= set(LOADERS)
    for model in recipe.models.values():
        assert model.published_source or not model.published
        for group in model.settings:
            assert len(group.source) > 10
            assert group.values or group.by_dataset
    for quick in (False, True):
        for task in plan_tasks(recipe, Selection.of(recipe, quick=quick)):
            searched = {} if task.model.search is None else dict.fromkeys(task.model.search.space, 0.001)
            build_model(task.model.model, task.settings | searched, task.seed)


def test_recipe_tab4_has_the_published_figures_of_the_paper():
    models = load_recipe("tab4").models
    order = ("20ng", "r8", "r52", "ohsumed", "mr")
    assert [models["sgc"].published[name].value for name in order] == [88.5, 97.2, 94.0, 68.5, 75.9]
    assert [models["textgcn"].published[name].value for name in order] == [87.9, 97.0, 93.8, 68.2, 76.3]
    ratios = [models["textgcn"].published[n].seconds / models["sgc"].published[n].seconds for n in order]
    assert [round(ratio) for ratio in ratios] == [63, 68, 81, 84, 4]


def test_recipe_settings_of_a_later_group_and_a_dataset_go_before():
    model = parse_recipe(SMALL).models["m"]
    assert model.settings_for("a") == {"n_hops": 2, "max_iter": 100}
    assert model.settings_for("b") == {"n_hops": 2, "max_iter": 150}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("runs = 3\n", "", "'runs'"),
        ("runs = 3\n", "runs = \n", "got"),
        ("b = 150", "c = 150", "m must speak of datasets of the recipe: got 'c'"),
        ("a = { value", "z = { value", "got 'z'"),
        ("within = 0.3", "about = 0.3", "within or below: got 'about'"),
        ('source = "there"', 'sauce = "there"', "sauce"),
        ("seed = 700", 'seed = 700\nmetric = "luck"', "metric of a recipe must be one of test_accuracy"),
        ("seed = 700", 'seed = 700\ntime_against = "x"', "time_against must name a model"),
        (
            "seed = 700",
            'seed = 700\nquick = { models = ["x"] }',
            "quick must name models of the recipe: got 'x'",
        ),
    ],
)
def test_recipe_with_a_fault_is_refused(old, new, words):
    assert old in SMALL
    with pytest.raises(InputError) as caught:
        parse_recipe(SMALL.replace(old, new))
    assert words in str(caught.value)


def test_recipe_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"one of tab2, tab4.*: got 'tab99'"):
        load_recipe("tab99")


def test_model_refuses_a_setting_it_does_not_know():
    with pytest.raises(InputError, match=r"sgc takes the settings .*n_hops.*: got 'hops'"):
        build_model("sgc", {"hops": 2}, 5)
    with pytest.raises(InputError, match="got 'random_state'"):
        build_model("textgcn", {"random_state": 2}, 5)
    with pytest.raises(InputError, match=r"model of a recipe must be one of sgc, .*: got 'gcnn'"):
        build_model("gcnn", {}, 5)
