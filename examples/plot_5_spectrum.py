"""
What do hops keep?
==================

A graph has frequencies, as sound has: low ones are what neighbours share, high ones what they differ in. A hop keeps
the low and damps the high. Here on the embedded graph of Debian packages.
"""

# %%
# The summary needs no labels and fits nothing. Self-loops shrink the spectrum (Theorem 1 of the paper), and the words
# of the descriptions lie lower in it than random features would.
import matplotlib.pyplot as plt
import numpy as np

from sgclearn import Graph, load_dataset
from sgclearn.spectral import check_theorem1, plot_filters, plot_spectrum, summarize_spectrum

data = load_dataset("debian")
summary = summarize_spectrum(data.graph, data.X)
print(f"largest eigenvalue {summary.lambda_n:.3f}, with self-loops {summary.lambda_n_augmented:.3f}")
print(
    f"energy in the low half: {summary.low_half:.0%} of the features, {summary.low_half_random:.0%} of random ones"
)
for effect in summary.filters:
    print(
        f"{effect.name:<30} keeps {effect.kept_low:.0%} of the low half, {effect.kept_high:.1%} of the high half"
    )
for advice in summary.advice:
    print("-", advice.text)

# %%
# The eigenvalues of 29,582 nodes are not computed one by one: their density comes from a few hundred products with S,
# and the error bars say how sure it is.
plot_spectrum(data.graph, data.X, figure=plt.figure(figsize=(7.5, 6.4)))
plt.show()

# %%
# The filters of the paper's figure 2, on a graph small enough to see every frequency: two rings joined by a bridge, and
# a noisy feature that tells the rings apart. Without self-loops odd powers turn the sign of high frequencies.
edges = [
    (ring * 40 + i, ring * 40 + (i + step) % 40) for ring in (0, 1) for i in range(40) for step in (1, 2)
]
rings = Graph.from_edges([*edges, (0, 40)])
x = np.repeat([1.0, -1.0], 40) + np.random.default_rng(2019).normal(scale=0.7, size=80)
plot_filters(rings, x, figure=plt.figure(figsize=(10.5, 5.2)))
plt.show()

# %%
# Theorem 1 with everything that its proof speaks of.
print(check_theorem1(rings))
