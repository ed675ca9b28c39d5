"""The paper's tables as recipes: what was published, how to measure it again, and the comparison of the two."""

from sgclearn.paper.comparison import Comparison, Row, compare
from sgclearn.paper.graph_reports import make_report
from sgclearn.paper.own_comparison import ModelComparison
from sgclearn.paper.own_models import compare_models, known_models
from sgclearn.paper.plan import Selection
from sgclearn.paper.recipe import Recipe
from sgclearn.paper.recipe_files import list_recipes, load_recipe
from sgclearn.paper.report import Report
from sgclearn.paper.results import ResultFile
from sgclearn.paper.run_report import report_of
from sgclearn.paper.runner import run_recipe
from sgclearn.paper.time_figure import plot_accuracy_over_time

__all__ = [
    "Comparison",
    "ModelComparison",
    "Recipe",
    "Report",
    "ResultFile",
    "Row",
    "Selection",
    "compare",
    "compare_models",
    "known_models",
    "list_recipes",
    "load_recipe",
    "make_report",
    "plot_accuracy_over_time",
    "report_of",
    "run_recipe",
]
