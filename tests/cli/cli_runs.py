"""What a run of `sgc` gave, and the files it is given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sgclearn.experiments.runner


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Sgc = Callable[..., Result]


@dataclass(frozen=True)
class Files:
    """Two rings of people, joined by an edge: red ones and blue ones."""

    folder: Path

    @property
    def edges(self) -> Path:
        return self.folder / "edges.csv"

    @property
    def features(self) -> Path:
        return self.folder / "features.csv"

    @property
    def labels(self) -> Path:
        return self.folder / "labels.csv"

    @property
    def options(self) -> tuple[object, ...]:
        return "--edges", self.edges, "--features", self.features, "--labels", self.labels


def assert_mistake(result: Result, *words: str) -> None:
    """Exit code 2 and one sentence, on stderr alone."""
    assert result.code == 2, result.err
    assert result.out == "" or result.out.startswith("Data ")  # what was read is shown before it is used
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


def interrupt_third_model(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Press Ctrl-C when the third model of a table is made; the list grows with every model."""
    real = sgclearn.experiments.runner.build_model
    built: list[object] = []

    def build(*arguments: object) -> object:
        built.append(arguments)
        if len(built) == 3:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sgclearn.experiments.runner, "build_model", build)
    return built
