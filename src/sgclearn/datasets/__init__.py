"""Real graphs with labels and splits: one inside the package, the rest from a local folder."""

from __future__ import annotations

from sgclearn.datasets.dataset import GraphDataset
from sgclearn.datasets.loading import list_datasets, load_dataset
from sgclearn.datasets.registry import DatasetInfo

__all__ = ["DatasetInfo", "GraphDataset", "list_datasets", "load_dataset"]
