"""What importing the package costs and loads: each case in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import sgclearn

HEAVY = (
    "torch",
    "pandas",
    "polars",
    "pyarrow",
    "networkx",
    "matplotlib",
    "sklearn",
    "optuna",
    "typer",
    "rich",
)


def run(code: str) -> str:
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def environment() -> dict[str, str]:
    """One thread and no measuring of coverage in the child: neither is what is tested here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV_CORE")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1"}


def loaded_by(code: str) -> set[str]:
    """Heavy packages in memory after the code ran."""
    return set(
        run(f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])").split()
    )


@pytest.mark.parametrize(
    "code",
    [
        "import sgclearn",
        "from sgclearn import Graph, Operator, propagate",
        "from sgclearn import Features, Labels, GraphDataset, read_edges",
        "import sgclearn; g = sgclearn.Graph.from_edges([(0, 1)]); sgclearn.propagate([[1.0], [2.0]], g)",
        "import sgclearn.reference",
    ],
)
def test_package_import_loads_nothing_heavy(code):
    assert loaded_by(code) == set()


def test_package_classifier_loads_scikit_learn_and_no_other_heavy_package():
    # scikit-learn itself looks for pandas and others where they are installed: compare with what it loads.
    extra = loaded_by("from sgclearn import SGCClassifier") - loaded_by("import sklearn.base")
    assert extra == set()


def seconds(code: str) -> float:
    start = time.perf_counter()
    run(code)
    return time.perf_counter() - start


@pytest.mark.clock
@pytest.mark.parametrize(
    ("code", "baseline", "bar"),
    [
        ("import sgclearn", "import numpy, scipy.sparse", 1.6),
        ("from sgclearn import Graph, propagate", "import numpy, scipy.sparse", 1.6),
        ("from sgclearn import SGCClassifier", "import sklearn.base", 1.3),
    ],
)
def test_package_import_time_stays_near_that_of_its_dependencies(code, baseline, bar):
    ours = theirs = float("inf")
    for finished in range(1, 8):  # the best of interleaved runs, up to seven where a busy machine disturbs
        theirs, ours = min(theirs, seconds(baseline)), min(ours, seconds(code))
        if finished >= 3 and ours <= bar * theirs:
            return
    pytest.fail(f"{code!r} takes {ours:.2f} s, over {bar} times the {theirs:.2f} s of {baseline!r}")


@pytest.mark.parametrize("name", sgclearn.__all__)
def test_package_public_name_resolves(name):
    value = getattr(sgclearn, name)
    assert callable(value)
    assert value.__name__ == name
    assert value.__doc__


def test_package_public_names_are_sorted_and_listed():
    assert sorted(sgclearn.__all__) == sgclearn.__all__
    assert set(sgclearn.__all__) <= set(dir(sgclearn))
    assert sgclearn.__all__ == sorted(sgclearn._ROOM_OF)


def test_package_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'sgclearn' has no attribute 'GCN'"):
        _ = sgclearn.GCN
    with pytest.raises(AttributeError, match=r"'sgclearn\.propagation' has no attribute 'GCN'"):
        _ = sgclearn.propagation.GCN


def test_package_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert sgclearn.__version__ == version("sgclearn")
