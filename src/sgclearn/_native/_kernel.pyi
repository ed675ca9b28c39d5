from typing import Any

LINE_BYTES: int
MOST_ROWS_OF_BAND: int
MOST_NODES_FURTHER: int

def instruction_set() -> str: ...
def gather_probe_i32(indptr: Any, indices: Any, values: Any, n_threads: int, /) -> float: ...
def gather_probe_i64(indptr: Any, indices: Any, values: Any, n_threads: int, /) -> float: ...
def __getattr__(name: str) -> Any: ...  # propagate_dense_f32_i32 and the like: one for every pair of types
