"""
Your own CSV files
==================

Edges in one file, features in another, labels for a few nodes in a third; ids are texts. Ten lines give the label of
every other node.
"""

# %%
# Three small files, as a spreadsheet would save them: towns, what is sold there, and who trades with whom.
# Two towns are known to be harbours, two to be farm towns.
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "towns.csv").write_text(
    "id,fish,wheat,coast\n"
    "Abel,9,1,yes\nBora,7,2,yes\nCapo,0,2,yes\nDune,6,0,yes\n"
    "Elm,1,8,no\nFord,0,9,no\nGlen,2,1,no\nHill,0,7,no\n"
)
(folder / "trade.csv").write_text(
    "source,target\nAbel,Bora\nBora,Capo\nCapo,Dune\nAbel,Dune\nElm,Ford\nFord,Glen\nGlen,Hill\nElm,Hill\nDune,Elm\n"
)
(folder / "labels.csv").write_text("id,label\nAbel,harbour\nDune,harbour\nFord,farm\nHill,farm\n")

# %%
# Features come first, because they name every node, also one without an edge. The column of texts becomes one
# column a word.
from sgclearn import SGCClassifier, read_edges, read_features, read_labels

features = read_features(folder / "towns.csv")
graph = read_edges(folder / "trade.csv", nodes=features.ids)
y = read_labels(folder / "labels.csv").align(graph)
print(features.names)
print(graph)

# %%
# Unlabelled nodes are `None` in `y`. They help all the same: their features travel along the edges.
model = SGCClassifier().fit(features.matrix, y, graph=graph)
for town, label, given in zip(graph.ids, model.transduction_, y, strict=True):
    print(f"{town:5} {label:8} {'given' if given else 'predicted'}")

# %%
# The plan tells how the labelled rows were computed and what the other ways would have cost.
print(model.plan_)
