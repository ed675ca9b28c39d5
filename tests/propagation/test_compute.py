"""One setting for how a result is computed: checked when made, the same in every estimator, of no effect on results."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

from sgclearn import (
    Compute,
    SGCClassifier,
    SGCClassifierCV,
    SGCMultilabelClassifier,
    SGCTransformer,
    propagate,
)
from sgclearn.errors import InputError, InputTypeError

from zoo import random_features, random_graph

GRAPH, X = random_graph(30, 80, seed=3), random_features(30, 4, seed=4)
Y = np.arange(30) % 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"plan": "fast"}, "plan must be 'auto' or one of full, frontier, left-first, implicit: got 'fast'"),
        ({"engine": "gpu"}, "engine must be one of auto, native, scipy, torch: got 'gpu'"),
        ({"n_threads": 0}, "n_threads must be a whole number >= 1"),
        ({"memory_limit": "much"}, "memory_limit .* must look like '4GB'"),
        ({"memory_limit": 0}, "memory_limit must be a positive number of bytes"),
    ],
)
def test_compute_refuses_settings_that_do_not_exist(settings, message):
    with pytest.raises(InputError, match=message):
        Compute(**settings)


def test_compute_is_a_value():
    assert Compute("full", n_threads=2) == copy.deepcopy(Compute("full", n_threads=2)) != Compute("full")
    model = clone(SGCClassifier(compute=Compute("full")))
    assert model.get_params()["compute"] == Compute("full")


@pytest.mark.parametrize("kind", [SGCClassifier, SGCClassifierCV, SGCMultilabelClassifier])
def test_compute_reaches_the_plan_of_every_estimator(kind):
    y = np.eye(3)[Y] if kind is SGCMultilabelClassifier else Y
    model = kind(compute=Compute("left-first", "scipy", memory_limit="1GB")).fit(X, y, graph=GRAPH)
    assert (model.plan_.chosen, model.plan_.forced, model.plan_.memory_limit) == ("left-first", True, 10**9)


def test_compute_of_another_type_is_refused_by_all():
    kinds = {
        SGCClassifier: Y,
        SGCClassifierCV: Y,
        SGCMultilabelClassifier: np.eye(3)[Y],
        SGCTransformer: None,
    }
    fits = [lambda kind=kind, y=y: kind(compute="scipy").fit(X, y, graph=GRAPH) for kind, y in kinds.items()]
    for call in (*fits, lambda: propagate(X, GRAPH, compute="scipy")):
        with pytest.raises(InputTypeError, match="compute must be a Compute: got str"):
            call()
