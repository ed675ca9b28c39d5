"""Draw docs/images/hops.png, the picture of the README: accuracy by hops on the embedded graph.

Run it with `.venv/bin/python tools/draw_readme_figure.py`; it needs matplotlib (extra `plot`) and about a minute.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from sgclearn import SGCClassifier, SGCClassifierCV, load_dataset

HOPS = tuple(range(7))
DRAWS = range(400, 405)
OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "hops.png"


def accuracy_by_hops(seed: int) -> list[float]:
    """Test accuracy of every number of hops; weight decay is chosen on the validation nodes."""
    data = load_dataset("debian", seed=seed)
    y = data.train_labels(with_val=True)
    search = SGCClassifierCV(HOPS, weight_decay=[1e-4, 1e-3, 1e-2], row_norm="l2")
    search.fit(data.X, y, graph=data.graph, validation=data.val)
    accuracies = []
    for k in HOPS:
        trials = [trial for trial in search.cv_results_ if trial["n_hops"] == k]
        decay = max(trials, key=lambda trial: trial["score"])["weight_decay"]
        model = SGCClassifier(k, row_norm="l2", weight_decay=decay)
        model.fit(data.X, data.train_labels(), graph=data.graph)
        accuracies.append(float(np.mean(model.transduction_[data.test] == data.y[data.test])))
    return accuracies


def main() -> None:
    accuracy = 100 * np.array([accuracy_by_hops(seed) for seed in DRAWS])
    mean, spread = accuracy.mean(axis=0), accuracy.std(axis=0)
    for k in HOPS:
        print(f"{k} hops: {mean[k]:.1f} +- {spread[k]:.1f}")
    plt.rcParams.update({"font.size": 12, "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained", dpi=140)
    axes.axhline(mean[0], color="0.65", linestyle="--", linewidth=1.2, zorder=1)
    axes.annotate(
        "words of the package alone",
        (HOPS[-1], mean[0]),
        (0, 6),
        textcoords="offset points",
        ha="right",
        color="0.4",
    )
    axes.errorbar(HOPS, mean, yerr=spread, marker="o", markersize=7, linewidth=2, capsize=4, color="#1f6f8b")
    axes.annotate(
        "words of the packages around it",
        (HOPS[-1], mean[-1]),
        (0, -24),
        textcoords="offset points",
        ha="right",
        color="#1f6f8b",
    )
    axes.set(
        xlabel="hops over the dependency graph",
        ylabel="packages put in the right section (%)",
        xticks=HOPS,
        yticks=range(65, 90, 5),
        ylim=(mean[0] - 5, mean.max() + 5),
    )
    axes.set_title("29,582 Debian packages, 20 labels a section", loc="left", fontsize=13)
    axes.spines[["top", "right"]].set_visible(False)
    OUTPUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUTPUT)


if __name__ == "__main__":
    main()
