"""The paper's tables and figures: recipes of its experiments, what was published, and pages of both."""

from sgclearn.paper.graph_reports import make_report
from sgclearn.paper.recipe import Recipe
from sgclearn.paper.recipe_files import list_recipes, load_recipe
from sgclearn.paper.report import Report
from sgclearn.paper.run_report import report_of

__all__ = ["Recipe", "Report", "list_recipes", "load_recipe", "make_report", "report_of"]
