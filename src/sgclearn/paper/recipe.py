"""A table or figure of the paper as data; `recipe_files` reads them."""

from __future__ import annotations

from dataclasses import dataclass

from sgclearn.experiments.experiment import Experiment

FORMS = ("runs", "statistics", "spectra", "theorem")
FIGURES = ("points", "curves", "times")


@dataclass(frozen=True, kw_only=True)
class Recipe(Experiment):
    """One table or figure of the paper: an experiment, and how it is shown.

    Parameters
    ----------
    where : str
        Where it is in the paper.
    form : str
        "runs" where models are trained; the others of `FORMS` are computed from the data alone, see `graph_reports`.
    figure : str
        "points": scores and seconds by dataset. "curves": scores over `axis`. "times": scores over seconds.
    findings : str, optional
        Statements about the scores that are checked: a name of `findings.FINDINGS`.

    Examples
    --------
    >>> from sgclearn.paper import load_recipe
    >>> recipe = load_recipe("tab2")
    >>> recipe.models["sgc"].published["cora"].value
    81.0
    >>> recipe.models["sgc"].settings_for("citeseer")["max_iter"]
    150
    """

    where: str
    form: str = "runs"
    figure: str = "points"
    findings: str | None = None
