"""The models that the paper compares SGC with, behind one small interface; torch is imported when one is fitted."""

from __future__ import annotations

from typing import Any

from sgclearn.baselines.interface import Baseline
from sgclearn.baselines.registry import BASELINES
from sgclearn.baselines.settings import published_settings

__all__ = ["BASELINES", "Baseline", "published_settings"]


def __getattr__(name: str) -> Any:
    """Class of a baseline, imported when it is asked for."""
    for entry in BASELINES.values():
        if entry.attribute == name:
            return entry.load()
    raise AttributeError(f"module 'sgclearn.baselines' has no attribute {name!r}")
