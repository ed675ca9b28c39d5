"""A -> S: the paper's five propagation matrices, and the one owner of self-loops."""

from sgclearn.operators.operator import Operator, keeping_loops
from sgclearn.validation.parameters import NORMALIZATIONS

__all__ = ["NORMALIZATIONS", "Operator", "keeping_loops"]
