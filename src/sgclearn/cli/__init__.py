"""The command `sgc`."""

from __future__ import annotations

from sgclearn.cli.app import main

__all__ = ["main"]
