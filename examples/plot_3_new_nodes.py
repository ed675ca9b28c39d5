"""
New nodes
=========

The fitted weights do not belong to one graph: `predict` takes any graph and the features of its nodes. Here a tenth of
the packages is taken out before the fit and comes back afterwards, as new packages do.
"""

# %%
import numpy as np

from sgclearn import SGCClassifier, load_dataset

data = load_dataset("debian")
rng = np.random.default_rng(11)
is_new = np.zeros(data.graph.n_nodes, dtype=bool)
is_new[rng.choice(data.test, size=data.graph.n_nodes // 10, replace=False)] = True
friends = ["python3-numpy", "python3-scipy"]
is_new[data.graph.positions(friends)] = False  # these two are met again below

# %%
# The model learns from the old nodes and the edges between them.
old_graph = data.graph.subgraph(~is_new)
model = SGCClassifier(row_norm="l2")
model.fit(data.X[~is_new], data.train_labels()[~is_new], graph=old_graph)

# %%
# Then the new nodes arrive with their edges. `nodes=` asks for them alone, and only their neighbourhood is computed.
predicted = model.predict(data.X, graph=data.graph, nodes=is_new)
print(f"accuracy on {is_new.sum():,} nodes never seen before: {np.mean(predicted == data.y[is_new]):.3f}")

# %%
# A single new node is attached with `Graph.extend`: its id, and the old ids that it touches. Its features are the words
# of its description.
from scipy import sparse

words = ["array", "numerical", "python", "library"]
row = sparse.csr_array(np.isin(data.feature_names, words)[None, :].astype(float))
larger = old_graph.extend(["my-package"] * 2, friends, new_ids=["my-package"])
X_larger = sparse.vstack([data.X[~is_new], row], format="csr")
probability = model.predict_proba(X_larger, graph=larger, nodes=[larger.n_nodes - 1])[0]
for best in np.argsort(-probability)[:3]:
    print(f"{data.class_names[best]:10} {probability[best]:.2f}")
