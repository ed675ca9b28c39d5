"""A -> S: the paper's five propagation matrices, and the one owner of self-loops."""

from sgclearn.operators.operator import NORMALIZATIONS, Operator

__all__ = ["NORMALIZATIONS", "Operator"]
