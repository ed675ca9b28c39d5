"""One HTML file about a run, readable without a network."""

from __future__ import annotations
