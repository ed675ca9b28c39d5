"""How far the paper's recipe is from the optimum of its own objective: accuracy and loss by the number of epochs.

The recipe trains for 100 epochs (150 on Citeseer) from a random start. sgclearn finds the optimum that further epochs
would lead to. Here the recipe goes on, with nothing else changed, and stands beside the optimum.

Run it with `python benchmarks/recipe_epochs.py`, minutes on one core; the graphs are read from the folder named by
SGCLEARN_DATA. Writes docs/recipe-epochs-table.rst, which the documentation includes, when it makes all runs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from listed import listed, told, write

from sgclearn import SGCClassifier, load_dataset
from sgclearn.paper import load_recipe

RUNS = 10
TIMES = (1, 2, 5, 20)  # the recipe's epochs


def rows_of(name: str, runs: int) -> Iterator[tuple[str, ...]]:
    """Test accuracy and training loss above the optimum's, a row a number of epochs, and the optimum last."""
    recipe = load_recipe("tab2")
    data, settings = load_dataset(name), recipe.models["sgc"].settings_for(name)
    title = recipe.datasets[name]["title"]

    shared = {name: settings[name] for name in ("n_hops", "row_norm", "weight_decay")}

    def fitted(**changes: Any) -> SGCClassifier:
        model = SGCClassifier(**shared, **changes)
        return model.fit(data.X, data.train_labels(), graph=data.graph)

    def right(model: SGCClassifier) -> float:
        return 100 * float(np.mean(model.transduction_[data.test] == data.y[data.test]))

    optimum = fitted()
    for times in TIMES:
        epochs = times * settings["max_iter"]
        models = [
            fitted(solver="adam", learning_rate=settings["learning_rate"], max_iter=epochs, random_state=seed)
            for seed in range(recipe.seed, recipe.seed + runs)
        ]
        above = float(np.mean([model.loss_ for model in models])) - optimum.loss_
        yield title, f"{epochs:,}", told([right(model) for model in models]), f"{above:.1e}"
    yield title, "optimum", told([right(optimum)]), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # loops in the data: as the paper's own code treats them
    rows = (row for name in load_recipe("tab2").datasets for row in rows_of(name, options.runs))
    title = f"The paper's recipe with more epochs, {options.runs} runs, and the optimum of its objective"
    header = ("graph", "epochs", "test accuracy (%)", "loss above the optimum's")
    lines = listed(title, header, rows)
    if options.runs >= RUNS:
        write("recipe-epochs-table.rst", lines)


if __name__ == "__main__":
    main()
