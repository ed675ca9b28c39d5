"""Warnings of fits that stopped elsewhere than at the optimum."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from sgclearn.errors import Alternatives, Setting, SgclearnWarning


class FitWarning(SgclearnWarning, ConvergenceWarning):  # type: ignore[misc]
    """A fit that stopped elsewhere than at the optimum."""


def not_converged(n_iter: int, gradient_ratio: float, tol: float, more: str = "") -> FitWarning:
    """Give the warning of a solver that ran out of iterations, or of digits; `more` is another way out."""
    ways = Alternatives(*map(Setting, ("max_iter", "tol", "weight_decay")))
    return FitWarning(
        f"the solver stopped after {n_iter} iterations with a gradient of {gradient_ratio:.1e} of the start's, above ",
        *(Setting("tol", tol), ": raise ", ways, f"{more}."),
    )
