"""
How far should a node listen?
=============================

Accuracy on the embedded graph of Debian packages for 0 to 8 hops. Zero hops are logistic regression on the words of
a package's own description.
"""

# %%
# Twenty labelled packages a section to learn from and thirty to compare on, three random draws of them.
# `SGCClassifierCV` tries every number of hops in one pass: X, SX, SSX, ... come one after the other.
import matplotlib.pyplot as plt
import numpy as np

from sgclearn import SGCClassifierCV, load_dataset

HOPS = range(9)
accuracy = np.zeros((3, len(HOPS)))
for draw in range(len(accuracy)):
    data = load_dataset("debian", seed=300 + draw)
    y = data.train_labels(with_val=True)
    model = SGCClassifierCV(HOPS, weight_decay=[1e-4, 1e-3, 1e-2], row_norm="l2")
    model.fit(data.X, y, graph=data.graph, validation=data.val)
    for trial in model.cv_results_:
        accuracy[draw, trial["n_hops"]] = max(accuracy[draw, trial["n_hops"]], trial["score"])

mean, spread = accuracy.mean(axis=0), accuracy.std(axis=0)
print(f"0 hops {mean[0]:.3f}, best {mean.max():.3f} at {mean.argmax()} hops")
print("chosen in the last draw:", model.best_params_)
test_accuracy = np.mean(model.transduction_[data.test] == data.y[data.test])
print(f"accuracy there on the test nodes: {test_accuracy:.3f}")

# %%
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.axhline(mean[0], color="0.6", linestyle="--", linewidth=1)
axes.text(HOPS[-1], mean[0] + 0.004, "logistic regression, no graph", ha="right", color="0.4")
axes.fill_between(HOPS, mean - spread, mean + spread, alpha=0.2)
axes.plot(HOPS, mean, marker="o")
axes.set(
    xlabel="hops",
    ylabel="validation accuracy",
    xticks=list(HOPS),
    title="29,582 Debian packages, 20 labels a section",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
