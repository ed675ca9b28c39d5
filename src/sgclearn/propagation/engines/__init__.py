"""How products with S are computed: one contract, one module an engine."""

from sgclearn.propagation.engines.choose import get_engine
from sgclearn.propagation.engines.contract import Engine, Walk
from sgclearn.validation.parameters import ENGINES

__all__ = ["ENGINES", "Engine", "Walk", "get_engine"]
