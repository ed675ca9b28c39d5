"""Everything is imported once, so that a forked child has only its case to do."""

from __future__ import annotations

import pytest

from fuzz.workers import import_everything


@pytest.fixture(scope="session", autouse=True)
def _warm() -> None:
    import_everything()
