"""S, X -> Z: the planner, `propagate`, and the transformer for pipelines."""

from typing import TYPE_CHECKING, Any

from sgclearn.propagation.compute import Compute
from sgclearn.propagation.planner import Plan, make_plan
from sgclearn.propagation.propagate import propagate
from sgclearn.validation.memory import format_bytes, memory_limit_bytes

if TYPE_CHECKING:
    from sgclearn.propagation.transformer import SGCTransformer

__all__ = [
    "Compute",
    "Plan",
    "SGCTransformer",
    "format_bytes",
    "make_plan",
    "memory_limit_bytes",
    "propagate",
]


def __getattr__(name: str) -> Any:
    # The transformer needs scikit-learn, which propagate does not.
    if name == "SGCTransformer":
        from sgclearn.propagation.transformer import SGCTransformer

        return SGCTransformer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
