"""What is known about each dataset: statistics, licence, origin, files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DatasetInfo:
    """A dataset that `load_dataset` knows by name.

    Parameters
    ----------
    name, title, description : str
    nodes, edges, features, classes : int
        Statistics of what is loaded; an undirected edge counts once, and so does a loop.
    license, source : str
    layout : "embedded", "planetoid" or "npz"
        Inside the package, the original Planetoid files, or one npz file.
    files : tuple of str
        Paths below the data folder, or below this package if embedded.
    per_class : (int, int) or None
        Training and validation nodes of each class that a random split has by default; None if there is a
        public split, whose training nodes are then redrawn, 20 of each class.
    class_names : tuple of str
        Given here only where the files do not name their classes and the names are known.
    available : bool
        Whether `load_dataset` would find all files now; set by `list_datasets`.
    """

    name: str
    title: str
    description: str
    nodes: int
    edges: int
    features: int
    classes: int
    license: str
    source: str
    layout: Literal["embedded", "planetoid", "npz"]
    files: tuple[str, ...]
    per_class: tuple[int, int] | None = (20, 30)
    class_names: tuple[str, ...] = ()
    available: bool = False


# The file `x` is left out: it repeats the first rows of `allx`.
PLANETOID_PARTS = ("allx", "tx", "y", "ally", "ty", "graph", "test.index")
_PLANETOID_LICENSE = "files MIT (c) 2016 Zhilin Yang; no licence stated for the data itself (LINQS)"
_PLANETOID_SOURCE = "files of Yang et al., Revisiting Semi-Supervised Learning with Graph Embeddings, 2016"
_SHCHUR_LICENSE = "MIT (c) 2018 Oleksandr Shchur"
_SHCHUR_SOURCE = "Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018"


def _planetoid(
    name: str,
    title: str,
    description: str,
    counts: tuple[int, int, int, int],
    source: str,
    class_names: tuple[str, ...] = (),
) -> DatasetInfo:
    return DatasetInfo(
        name,
        title,
        description,
        *counts,
        license=_PLANETOID_LICENSE,
        source=f"{source}; {_PLANETOID_SOURCE}",
        layout="planetoid",
        files=tuple(f"planetoid-raw/ind.{name}.{part}" for part in PLANETOID_PARTS),
        per_class=None,
        class_names=class_names,
    )


_ALL = (
    DatasetInfo(
        "debian",
        "Debian packages, twelve sections",
        "Node: package; edge: dependency; features: 0/1 words of the description; label: section. "
        "4,573 packages depend on no other of these sections and are isolated.",
        *(29582, 72841, 4751, 12),
        license="package metadata of Debian main; each description under the free licence of its package",
        source="Debian 12.15 (bookworm), main, amd64: package index of 11 July 2026",
        layout="embedded",
        files=("embedded/debian.npz.xz",),
    ),
    _planetoid(
        "cora",
        "Cora citations",
        "Node: paper on machine learning; edge: citation; features: 0/1 words; label: topic.",
        (2708, 5278, 1433, 7),
        "Sen et al., Collective Classification in Network Data, 2008",
        (
            "Theory",
            "Reinforcement_Learning",
            "Genetic_Algorithms",
            "Neural_Networks",
            "Probabilistic_Methods",
            "Case_Based",
            "Rule_Learning",
        ),
    ),
    _planetoid(
        "citeseer",
        "Citeseer citations",
        "Node: paper on computing; edge: citation; features: 0/1 words; label: topic. "
        "15 papers have neither words nor label and are in no split; 124 have a self-loop, "
        "for 48 of them the only edge.",
        (3327, 4676, 3703, 6),
        "Sen et al., Collective Classification in Network Data, 2008",
    ),
    _planetoid(
        "pubmed",
        "Pubmed citations",
        "Node: paper on diabetes; edge: citation; features: TF-IDF of words; label: type of diabetes. "
        "3 papers have a self-loop.",
        (19717, 44327, 500, 3),
        "Namata et al., Query-driven Active Surveying for Collective Classification, 2012",
    ),
    DatasetInfo(
        "coauthor_cs",
        "Coauthors in computer science",
        "Node: author; edge: a paper together; features: counts of keywords; label: field.",
        *(18333, 81894, 6805, 15),
        license=_SHCHUR_LICENSE,
        source=_SHCHUR_SOURCE,
        layout="npz",
        files=("shchur/coauthor_cs.npz",),
    ),
    DatasetInfo(
        "amazon_photo",
        "Photo articles bought together",
        "Node: article; edge: often bought together; features: 0/1 words of reviews; label: category. "
        "One article has a self-loop.",
        *(7650, 119082, 745, 8),
        license=_SHCHUR_LICENSE,
        source=_SHCHUR_SOURCE,
        layout="npz",
        files=("shchur/amazon_photo.npz",),
    ),
    DatasetInfo(
        "wordnet",
        "WordNet 3.0 synsets",
        "Node: synset; edge: any pointer; features: counts of words of the gloss; label: lexicographer file. "
        "The smallest class has 42 nodes.",
        *(117659, 183789, 18508, 45),
        license="WordNet 3.0 licence, Copyright 2006 by Princeton University",
        source="WordNet 3.0, Princeton University",
        layout="npz",
        files=("wordnet/wordnet30.npz", "wordnet/vocab.txt.xz"),
        per_class=(20, 10),
    ),
    DatasetInfo(
        "cord19_entities",
        "Entities and paragraphs of CORD-19",
        "Node: one of 17,989 biomedical entities, or one of 209,579 paragraphs, without features or label; "
        "edge: the entity occurs in the paragraph; features: counts of words of the definition; "
        "label: type of entity.",
        *(227568, 1447843, 7602, 9),
        license="CC BY 4.0 (c) 2020-2021 Blue Brain Project/EPFL; definitions of the NCI Thesaurus CC BY 4.0",
        source="examples of BlueGraph, Blue Brain Project",
        layout="npz",
        files=("cord19_entities/cord19_entities.npz", "cord19_entities/vocab.txt.xz"),
    ),
    DatasetInfo(
        "debian_packages",
        "Debian packages, all sections",
        "Node: package; edge: dependency; features: counts of words of the description; label: section. "
        "The smallest class has 15 nodes.",
        *(63436, 295300, 12522, 58),
        license="package metadata of Debian main; each description under the free licence of its package",
        source="Debian 12.15 (bookworm), main, amd64: package index",
        layout="npz",
        files=("debian_packages/debian_bookworm.npz", "debian_packages/vocab.txt.xz"),
        per_class=(5, 5),
    ),
)

REGISTRY = {info.name: info for info in _ALL}
