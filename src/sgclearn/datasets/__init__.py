"""Graphs with labels and splits: one inside the package, others fetched by name, and drawn ones of any size."""

from __future__ import annotations

from sgclearn.datasets.dataset import GraphDataset
from sgclearn.datasets.fetch import FetchedDataset, fetch_dataset
from sgclearn.datasets.generators import make_block_graph
from sgclearn.datasets.loading import list_datasets, load_dataset
from sgclearn.datasets.registry import DatasetInfo

__all__ = [
    "DatasetInfo",
    "FetchedDataset",
    "GraphDataset",
    "fetch_dataset",
    "list_datasets",
    "load_dataset",
    "make_block_graph",
]
