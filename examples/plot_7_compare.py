"""
SGC beside other models
=======================

Which model is worth its time on a graph? The same splits, features and threads for all: logistic regression sees
features and no edges, label propagation sees edges and no features, SGC sees both.
"""

# %%
# A drawn graph of three groups: edges are more frequent inside a group, and the features are weak. Every run gets a
# split of its own: ten nodes of each class to learn from, ten to choose and stop by, the others to test on.
from dataclasses import replace

import numpy as np

from sgclearn import Graph, GraphDataset
from sgclearn.datasets.splits import split_per_class

rng = np.random.default_rng(2026)
n, names = 600, ("north", "south", "west")
y = rng.integers(0, 3, n)
likely = np.where(y[:, None] == y[None, :], 0.02, 0.005)
graph = Graph.from_edges(np.argwhere(np.triu(rng.random((n, n)) < likely, 1)), nodes=n)
X = rng.normal(0.0, 2.0, (n, 8))
X[np.arange(n), y] += 2.0
nothing = np.zeros(0, dtype=int)
groups = GraphDataset("three groups", graph, X, y, names, None, nothing, nothing, nothing)


def drawn(seed):
    return replace(groups, **split_per_class(y, 10, 10, None, seed, names)._asdict())


# %%
# SGC chooses hops and weight decay on the validation nodes. With torch installed the names of the graph networks
# can stand in the list too, or `"all"`.
from sgclearn.experiments import compare_models, plot_accuracy_over_time

found = compare_models(drawn, ["logistic-regression", "label-propagation"], runs=5)
print(found)

# %%
# The figure is that of the paper: accuracy over training time, relative to that of SGC.
import matplotlib.pyplot as plt

plot_accuracy_over_time(found, plt.figure(figsize=(6.3, 3.6), layout="constrained"))
plt.show()
