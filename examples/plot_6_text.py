"""
Sorting documents
=================

A pile of texts becomes one graph of documents and words, and SGC sorts the documents: those that have no label yet, and
those that come later. Each answer comes with its reasons.
"""

# %%
# Eighteen notes to a repair shop. Six are sorted already; `""` marks the rest.
from sgclearn import TextSGCClassifier
from sgclearn.tasks.text import TextGraphBuilder

notes = {
    "The chain of my bike slips on the small gear": "bike",
    "Flat tyre on the rear wheel of the bike": "bike",
    "The phone screen is cracked and the battery drains": "phone",
    "My phone does not charge, the battery stays empty": "phone",
    "The kettle leaks water and will not boil": "kitchen",
    "Toaster burns the bread and then the fuse blows": "kitchen",
    "Brakes squeak and the gear is stuck": "",
    "The spokes of the wheel are bent": "",
    "New tyre and brakes please": "",
    "Chain fell off, pedal is loose": "",
    "Screen stays black after it fell": "",
    "It will not charge, maybe the cable": "",
    "Battery swollen, screen lifts off": "",
    "No signal and the camera is black": "",
    "The oven does not get hot, the bread is raw": "",
    "Fuse of the oven blows when water boils": "",
    "Coffee machine leaks water": "",
    "The coffee is cold, the kettle too": "",
}
docs, labels = list(notes), list(notes.values())

# %%
# The graph is built from all of them: an unlabelled note tells which words go together. "Spokes" stands in no labelled
# note, but it stands near "wheel", and that is how its note is sorted.
builder = TextGraphBuilder(stop_words="english", window=6)
model = TextSGCClassifier(builder, weight_decay=1e-3).fit(docs, labels)
print(model.text_graph_)
for note, given, found in zip(docs, labels, model.transduction_, strict=True):
    print(f"{found:8} {'given' if given else 'found':6} {note}")

# %%
# Which words speak for a class?
for label, words in model.top_words(n=5).items():
    print(f"{label:8}", ", ".join(word for word, _ in words))

# %%
# A new note joins through the words that the graph knows. Nothing is fitted again, and no other new note matters.
text = "Pedal and spokes broken, maybe also the cable"
label, shares = model.predict([text])[0], model.predict_proba([text])[0]
print(f"{label}: {shares.max():.2f}")

# %%
# Why? The model is linear, so the logit is a sum: over the words of the note, or over every word and document that they
# lead to.
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for by, axis in zip(("text", "features"), axes, strict=True):
    reasons = model.explain(text, by=by)
    axis.barh(reasons.words[:8], reasons.word_contributions[:8])
    axis.invert_yaxis()
    axis.set_title(f"{reasons.label}, by {by}")
    axis.set_xlabel("part of the logit")
    total = reasons.baseline + reasons.word_contributions.sum() + reasons.document_contributions.sum()
    print(f"by {by}: {total:.6f} = {reasons.logit:.6f}")
plt.show()
