"""Recipes: what their files must say, and that every one can be run."""

from __future__ import annotations

import pytest

from sgclearn.errors import InputError
from sgclearn.experiments import Selection
from sgclearn.experiments.loading import LOADERS
from sgclearn.experiments.models import build_model
from sgclearn.experiments.plan import plan_tasks
from sgclearn.paper import list_recipes, load_recipe
from sgclearn.paper.findings import FINDINGS
from sgclearn.paper.graph_reports import MAKERS
from sgclearn.paper.recipe_files import parse_recipe

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
    if recipe.form == "runs":
        assert {data["kind"] for data in recipe.datasets.values()} <= set(LOADERS)
    else:
        assert recipe.form in MAKERS
        assert not recipe.models
    assert recipe.findings is None or recipe.findings in FINDINGS
    for model in recipe.models.values():
        assert model.published_source or not model.published
        for group in model.settings:
            assert len(group.source) > 10
            assert group.values or group.by_dataset
    for quick in (False, True):
        for task in plan_tasks(recipe, Selection.of(recipe, quick=quick)):
            searched = {} if task.model.search is None else dict.fromkeys(task.model.search.space, 0.001)
            build_model(task.model.model, task.settings | searched, task.seed)


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.id)
def test_recipe_quick_is_a_few_runs(recipe):
    if recipe.form == "runs":
        assert 0 < len(plan_tasks(recipe, Selection.of(recipe, quick=True))) <= 12


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
        ("within = 0.3", "about = 0.3", "within, below or std: got 'about'"),
        ('source = "there"', 'sauce = "there"', "sauce"),
        ("seed = 700", 'seed = 700\nmetric = "luck"', "metric of a recipe must be one of test_accuracy"),
        ("seed = 700", 'seed = 700\ntime_against = "x"', "time_against must name a model"),
        ("seed = 700", 'seed = 700\nform = "song"', "form of a recipe must be one of runs, statistics"),
        ("seed = 700", 'seed = 700\nfigure = "curves"', "needs an axis with name and title"),
        ("seed = 700", 'seed = 700\nfigure = "pie"', "figure of a recipe must be one of points, curves"),
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
    with pytest.raises(InputError, match=r"one of .*tab1, tab2, .*: got 'tab99'"):
        load_recipe("tab99")


def test_recipe_model_like_that_of_another_recipe_has_its_settings_and_its_own_figures():
    there, here = (load_recipe(name).models["sgc"] for name in ("tab2", "tab-random"))
    assert here.settings == there.settings
    assert (here.title, here.model) == (there.title, there.model)
    assert (here.tolerance, there.tolerance) == (("std", 1.0), ("within", 0.3))
    assert (here.published["cora"].value, here.runs, here.notes) == (80.62, {}, ())
    assert load_recipe("tab-amount").models["gcn"].settings_for("1") == load_recipe("tab2").models[
        "gcn"
    ].settings_for("cora")


def test_recipe_sweep_makes_a_model_of_every_value():
    sweep = 'model = "sgc"\nsweep = { setting = "n_hops", as = "K", values = [3, 4] }'
    recipe = parse_recipe(SMALL.replace('model = "sgc"', sweep))
    assert {name: model.title for name, model in recipe.models.items()} == {
        "m-3": "M, K = 3",
        "m-4": "M, K = 4",
    }
    assert [model.settings_for("b")["n_hops"] for model in recipe.models.values()] == [3, 4]
    assert recipe.is_swept
    assert recipe.groups == {"m": "M"}
    assert Selection.of(recipe, models=["m"]).models == ("m-3", "m-4")
    assert Selection.of(recipe, models=["m-4"]).models == ("m-4",)
    assert len({task.key for task in plan_tasks(recipe, Selection.of(recipe))}) == 4
    with pytest.raises(InputError, match="models of toy must be some of m: got 'n'"):
        Selection.of(recipe, models=["n"])


def test_recipe_that_shows_runs_of_another_has_the_same_runs():
    there, here = load_recipe("tab2"), load_recipe("fig3")
    assert (here.id, here.results, here.figure) == ("fig3", "tab2", "times")
    keys = {
        (task.dataset, task.model.name, task.run): task.key for task in plan_tasks(there, Selection.of(there))
    }
    for task in plan_tasks(here, Selection.of(here)):
        assert task.key == keys[task.dataset, task.model.name, task.run]


def test_recipes_of_the_supplement_have_the_published_figures():
    amount = load_recipe("tab-amount").models
    assert [figure.value for figure in amount["sgc"].published.values()] == [
        *(33.16, 63.74, 72.04, 80.30, 85.56, 90.08)
    ]
    assert [figure.value for figure in amount["gcn"].published.values()] == [
        *(32.94, 60.68, 71.46, 80.16, 85.38, 90.44)
    ]
    assert [figure.judged for figure in amount["sgc"].published.values()] == [True] * 3 + [False] * 3
    random = {
        name: [(figure.value, figure.std) for figure in model.published.values()]
        for name, model in load_recipe("tab-random").models.items()
    }
    assert random["sgc"] == random["sgc-exact"] == [(80.62, 1.21), (71.40, 3.92), (77.02, 1.62)]
    assert random["gcn"] == [(80.53, 1.40), (70.67, 2.90), (77.09, 2.95)]
    assert random["gin"] == [(76.94, 1.24), (66.56, 2.27), (74.46, 2.19)]
    assert random["lnet"] == [(74.23, 4.50), (67.26, 0.81), (77.20, 2.03)]
    assert random["adalnet"] == [(72.68, 1.45), (71.04, 0.95), (77.53, 1.76)]
    assert random["gat"] == [(82.29, 1.16), (72.6, 0.58), (78.79, 1.41)]


def test_model_refuses_a_setting_it_does_not_know():
    with pytest.raises(InputError, match=r"sgc takes the settings .*n_hops.*: got 'hops'"):
        build_model("sgc", {"hops": 2}, 5)
    with pytest.raises(InputError, match="got 'random_state'"):
        build_model("textgcn", {"random_state": 2}, 5)
    with pytest.raises(InputError, match=r"model of an experiment must be one of sgc, .*: got 'gcnn'"):
        build_model("gcnn", {}, 5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("time_againts = 'm'\n" + SMALL, "time_againts"),
        (
            "id = 'a'\ntitle = 'A'\nwhere = 'B'\nruns_of = 'tab2'\nfigure = 'times'\nmodels = ['sgc']\nruns = 3\n",
            "runs",
        ),
    ],
)
def test_recipe_refuses_parts_it_would_ignore(text, name):
    with pytest.raises(InputError, match=f"got '{name}'; mend its name"):
        parse_recipe(text)
