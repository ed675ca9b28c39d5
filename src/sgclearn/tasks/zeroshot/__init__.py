"""Zero-shot classification: classifiers of classes without examples, from a graph of classes."""

from __future__ import annotations

from sgclearn.tasks.zeroshot.classifiers import SeenClassifiers, read_classifiers
from sgclearn.tasks.zeroshot.metrics import HitScores, hit_scores, image_scores, paired_gain, ranks
from sgclearn.tasks.zeroshot.model import ZeroShotSGC
from sgclearn.tasks.zeroshot.taxonomy import Taxonomy, name_vectors, read_taxonomy, read_vectors

__all__ = [
    "HitScores",
    "SeenClassifiers",
    "Taxonomy",
    "ZeroShotSGC",
    "hit_scores",
    "image_scores",
    "name_vectors",
    "paired_gain",
    "ranks",
    "read_classifiers",
    "read_taxonomy",
    "read_vectors",
]
