"""The script that counts the files and functions that a call walks through."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from sgclearn.graph import Graph

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trace_files", ROOT / "tools" / "trace_files.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_trace_counts_functions_of_the_package_alone(script: ModuleType) -> None:
    names = {code.co_name for code in script.traced(lambda: Graph.from_edges([(0, 1), (1, 2)]).degrees())}
    assert {"from_edges", "degrees"} <= names
    assert script.traced(lambda: sorted([3, 2])) == set()


def test_trace_leaves_out_bodies_of_classes(script: ModuleType) -> None:
    assert all(not code.co_name[0].isupper() for code in script.traced(script.estimator()))
