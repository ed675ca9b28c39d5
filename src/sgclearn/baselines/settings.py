"""Settings of the baselines as they were published, each with its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class SettingGroup:
    """Settings that come from one source; those of `by_dataset` as name to dataset to value."""

    source: str
    values: dict[str, Any] = field(default_factory=dict)
    by_dataset: dict[str, dict[str, Any]] = field(default_factory=dict)


def published_settings(model: str) -> tuple[SettingGroup, ...]:
    """Settings of a model by its name among the baselines, a later group overriding an earlier one.

    Examples
    --------
    >>> [group.values["hidden"] for group in published_settings("gcn")]
    [16]
    """
    return tuple(SettingGroup(**group) for group in _published().get(model, ()))


@cache
def _published() -> dict[str, list[dict[str, Any]]]:
    text = files("sgclearn.baselines").joinpath("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
