"""
Inside a scikit-learn pipeline
==============================

`SGCTransformer` turns features into smoothed features; any scikit-learn model may follow. Propagate all nodes first,
split after: the rows of the result are ordinary samples.
"""

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from sgclearn import SGCTransformer, load_dataset, propagate

data = load_dataset("debian")
known = data.train

# %%
# `propagate` computes only the rows that are asked for.
Z = propagate(data.X, data.graph, n_hops=2, row_norm="l2", nodes=known)
for model in (LogisticRegression(C=10, max_iter=500), LinearSVC()):
    scores = cross_val_score(model, Z, data.y[known], cv=5)
    print(f"{type(model).__name__:20} {scores.mean():.3f} +- {scores.std():.3f}")

# %%
# As a step of a pipeline the transformer is given the graph and transforms all of its nodes.
transformer = SGCTransformer(data.graph, n_hops=2, row_norm="l2")
smoothed = transformer.fit_transform(data.X)
print(f"{type(smoothed).__name__} of shape {smoothed.shape}")
