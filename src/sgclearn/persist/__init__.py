"""Fitted models in files: safetensors with a JSON header, versioned, checked, never pickle.

The format is written down in `sgclearn.persist.container` (the file) and `sgclearn.persist.models` (what it
says about a model).
"""

from __future__ import annotations

from sgclearn.persist.models import load_model, read_model_header, save_model

__all__ = ["load_model", "read_model_header", "save_model"]
