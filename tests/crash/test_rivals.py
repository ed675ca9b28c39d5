"""Processes and threads that write the same at once: one wins or is refused, and nothing is mixed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn import Graph, SGCClassifier, load_model, save_model

Report = dict[str, Any]
PAIRS = 300


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("new-folder", 50),
        ("forced", 50),
        ("unnamed", 20),
        ("reading", 5),
        ("appending", 10),
        ("fetching", 20),
    ],
)
def test_rivals_never_spoil_what_the_other_wrote(
    contest: Callable[..., Report], name: str, count: int
) -> None:
    found = contest(name, count)
    assert found["wrong"] == []
    assert sum(found["outcomes"].values()) == count


def in_pairs(saves: list[Callable[[], None]], look: Callable[[], None]) -> list[BaseException]:
    """Save with two threads at once, again and again; gives what was raised."""
    raised: list[BaseException] = []
    start = threading.Barrier(2)

    def save(call: Callable[[], None]) -> None:
        try:
            start.wait()
            call()
        except BaseException as error:
            raised.append(error)

    for _ in range(PAIRS):
        threads = [threading.Thread(target=save, args=(call,)) for call in saves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        look()
    return raised


def test_threads_that_save_one_model_leave_one_of_them(tmp_path: Path) -> None:
    X, y, path = np.eye(4), np.array([0, 1, 0, 1]), tmp_path / "model.safetensors"
    models = [SGCClassifier(hops).fit(X, y) for hops in (1, 2)]

    def look() -> None:
        assert load_model(path).n_hops in (1, 2)

    assert in_pairs([lambda: save_model(models[0], path), lambda: save_model(models[1], path)], look) == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


def test_threads_that_save_one_graph_leave_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    graphs = [Graph.from_edges(np.array([[0, 1]]), n_nodes=n) for n in (3, 4)]

    def look() -> None:
        assert Graph.load_npz(path).n_nodes in (3, 4)

    assert in_pairs([lambda: graphs[0].save_npz(path), lambda: graphs[1].save_npz(path)], look) == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.npz"]
