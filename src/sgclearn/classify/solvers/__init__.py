"""Minimise an `Objective`: to its exact optimum, or by the recipes of the paper."""

from sgclearn.classify.solvers.adam import minimize_adam, torch_linear_start
from sgclearn.classify.solvers.lbfgs import minimize_lbfgs
from sgclearn.classify.solvers.result import SolverResult
from sgclearn.classify.solvers.sgd import minimize_sgd

__all__ = ["SolverResult", "minimize_adam", "minimize_lbfgs", "minimize_sgd", "torch_linear_start"]
