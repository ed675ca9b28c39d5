"""Delimited text and Parquet files as Arrow tables, with errors that say what is wrong and where."""

from __future__ import annotations

from sgclearn.tables.columns import id_array
from sgclearn.tables.reading import TableFile, open_table, read_table

__all__ = ["TableFile", "id_array", "open_table", "read_table"]
