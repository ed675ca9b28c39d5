"""The paper's tables as recipes: what was published, how to measure it again, and the comparison of the two."""

from sgclearn.paper.comparison import Comparison, Row, compare
from sgclearn.paper.plan import Selection
from sgclearn.paper.recipe import Recipe, list_recipes, load_recipe
from sgclearn.paper.results import ResultFile
from sgclearn.paper.runner import run_recipe

__all__ = [
    "Comparison",
    "Recipe",
    "ResultFile",
    "Row",
    "Selection",
    "compare",
    "list_recipes",
    "load_recipe",
    "run_recipe",
]
