"""Minimise an `Objective`: to its exact optimum, or by the recipes of the paper."""

from sgclearn.estimators.solvers.adam import minimize_adam, torch_linear_start
from sgclearn.estimators.solvers.lbfgs import minimize_lbfgs
from sgclearn.estimators.solvers.lbfgs_steps import minimize_lbfgs_steps, xavier_normal_start
from sgclearn.estimators.solvers.result import SolverResult
from sgclearn.estimators.solvers.sgd import minimize_sgd

__all__ = [
    "SolverResult",
    "minimize_adam",
    "minimize_lbfgs",
    "minimize_lbfgs_steps",
    "minimize_sgd",
    "torch_linear_start",
    "xavier_normal_start",
]
