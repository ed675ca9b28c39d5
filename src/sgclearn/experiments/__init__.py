"""Experiments on any task: models by name, run with seeds and splits, resumed from their results, and compared."""

from sgclearn.experiments.accuracy_over_time import plot_accuracy_over_time
from sgclearn.experiments.comparison import Comparison, Row, compare
from sgclearn.experiments.experiment import Experiment, ModelEntry
from sgclearn.experiments.own_comparison import ModelComparison
from sgclearn.experiments.own_models import compare_models, known_models
from sgclearn.experiments.plan import Selection
from sgclearn.experiments.results import ResultFile
from sgclearn.experiments.runner import run_experiment

__all__ = [
    "Comparison",
    "Experiment",
    "ModelComparison",
    "ModelEntry",
    "ResultFile",
    "Row",
    "Selection",
    "compare",
    "compare_models",
    "known_models",
    "plot_accuracy_over_time",
    "run_experiment",
]
