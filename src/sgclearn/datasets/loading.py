"""From a name to a dataset: find the files, read them, choose the split."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from sgclearn.datasets.dataset import GraphDataset, LabelledGraph
from sgclearn.datasets.npz import read_embedded, read_npz
from sgclearn.datasets.planetoid import read_planetoid
from sgclearn.datasets.registry import PLANETOID_PARTS, REGISTRY, DatasetInfo
from sgclearn.datasets.splits import Split, redraw_training, split_per_class
from sgclearn.errors import DataFileError, InputError

DATA_VARIABLE = "SGCLEARN_DATA"
DEFAULT_SEED = 2019
N_PER_CLASS = 20

Folder = str | os.PathLike[str]


def load_dataset(
    name: str,
    *,
    split: Literal["public", "random"] | None = None,
    seed: int | None = None,
    n_per_class: int | None = None,
    n_val: int | None = None,
    n_test: int | None = None,
    data_dir: Folder | None = None,
) -> GraphDataset:
    """Load a graph with raw features, labels and a split.

    `"debian"` is inside the package, the others are read from a folder; see `list_datasets`.

    Parameters
    ----------
    name : str
        `"debian"`, `"cora"`, `"citeseer"`, `"pubmed"` or another name of `list_datasets`.
    split : "public", "random" or None
        None is the public split where there is one (cora, citeseer, pubmed) and a random one elsewhere.
        A random split of a dataset with a public one follows the paper: validation and test nodes stay, the
        training nodes are redrawn, `n_per_class` of each class, from the labelled nodes outside of both.
        A random split of any other dataset draws `n_per_class` nodes of each class for training, `n_val` of
        each for validation, and takes the rest for test, or `n_test` of each class.
    seed : int, optional
        Of a random split; 2019 if not given.
    n_per_class : int, optional
        Training nodes of each class in a random split; 20 if not given (debian_packages: 5).
    n_val, n_test : int, optional
        Validation and test nodes of each class, for datasets without a public split. If not given, 30 for
        validation (wordnet: 10, debian_packages: 5) and all the rest for test.
    data_dir : path, optional
        Folder with the files; the folder named by the environment variable SGCLEARN_DATA if not given.

    Returns
    -------
    GraphDataset

    Examples
    --------
    >>> data = load_dataset("debian", n_per_class=10, seed=7)
    >>> len(data.train), len(data.val)
    (120, 360)
    >>> data.class_names[data.y[data.graph.positions(["python3-numpy"])[0]]]
    'python'
    """
    if name not in REGISTRY:
        raise InputError(f"name must be one of {', '.join(REGISTRY)}: got {name!r}.")
    info = REGISTRY[name]
    options = {"seed": seed, "n_per_class": n_per_class, "n_val": n_val, "n_test": n_test}
    chosen = _split_kind(info, split, options)
    read = _read(info, data_dir)
    parts = _split(info, read, chosen, options)
    return GraphDataset(
        name, *read[:5], *parts, description=info.description, license=info.license, source=info.source
    )


def list_datasets(data_dir: Folder | None = None) -> tuple[DatasetInfo, ...]:
    """Say what `load_dataset` knows, and in `available` whether the files are there.

    Examples
    --------
    >>> debian = list_datasets()[0]
    >>> debian.name, debian.nodes, debian.available
    ('debian', 29582, True)
    """
    return tuple(replace(info, available=_is_available(info, data_dir)) for info in REGISTRY.values())


def _split_kind(info: DatasetInfo, split: str | None, options: dict[str, int | None]) -> str:
    """Which split to take; an option that it would not use is an error."""
    has_public = info.per_class is None
    if split not in ("public", "random", None):
        raise InputError(f"split must be 'public', 'random' or None: got {split!r}.")
    if split == "public" and not has_public:
        raise InputError(
            f"split must be 'random' or None for {info.name}: got 'public', and it has no public split."
        )
    chosen = split or ("public" if has_public else "random")
    fixed = ("seed", "n_per_class", "n_val", "n_test") if chosen == "public" else ("n_val", "n_test")
    given = [name for name in fixed if options[name] is not None]
    if has_public and given:
        remedy = (
            "use split='random'"
            if chosen == "public"
            else "validation and test stay those of the public split"
        )
        raise InputError(f"{given[0]} cannot be set for the {chosen} split of {info.name}: {remedy}.")
    return chosen


def _split(info: DatasetInfo, read: LabelledGraph, chosen: str, options: dict[str, int | None]) -> Split:
    if read.public is not None and chosen == "public":
        return read.public
    n_train, n_val = info.per_class or (N_PER_CLASS, 0)
    seed = DEFAULT_SEED if options["seed"] is None else options["seed"]
    n_train = n_train if options["n_per_class"] is None else options["n_per_class"]
    if read.public is not None:
        return redraw_training(read.y, read.public, n_train, seed, read.class_names)
    n_val = n_val if options["n_val"] is None else options["n_val"]
    return split_per_class(read.y, n_train, n_val, options["n_test"], seed, read.class_names)


def _read(info: DatasetInfo, data_dir: Folder | None) -> LabelledGraph:
    if info.layout == "embedded":
        if data_dir is not None:
            raise InputError(
                f"{info.name} is inside the package: got data_dir={str(data_dir)!r}; leave it out."
            )
        return read_embedded(info.files[0])
    files = _find(info, data_dir)
    if info.layout == "planetoid":
        return read_planetoid(dict(zip(PLANETOID_PARTS, files, strict=True)), info.class_names)
    return read_npz(*files)


def _data_folder(data_dir: Folder | None) -> Path | None:
    folder = os.environ.get(DATA_VARIABLE, "") if data_dir is None else data_dir
    return Path(folder) if str(folder) else None


def _find(info: DatasetInfo, data_dir: Folder | None) -> list[Path]:
    """Files of a dataset, in their sub-folder of the data folder or in that folder itself."""
    folder = _data_folder(data_dir)
    if folder is None:
        raise DataFileError(
            f"{info.name} needs a folder with its files ({_summary(info)}), got none: pass data_dir or set "
            f"{DATA_VARIABLE}."
        )
    found = [_locate(folder, file) for file in info.files]
    missing = [file for file, path in zip(info.files, found, strict=True) if path is None]
    if missing:
        raise DataFileError(
            f"{info.name} needs {_summary(info)} in the data folder, got {folder} without {missing[0]}: "
            f"put the files there, or name another folder with data_dir or {DATA_VARIABLE}."
        )
    return [path for path in found if path is not None]


def _locate(folder: Path, file: str) -> Path | None:
    return next((path for path in (folder / file, folder / Path(file).name) if path.is_file()), None)


def _is_available(info: DatasetInfo, data_dir: Folder | None) -> bool:
    folder = _data_folder(data_dir)
    return info.layout == "embedded" or (
        folder is not None and all(_locate(folder, file) for file in info.files)
    )


def _summary(info: DatasetInfo) -> str:
    more = f" and {len(info.files) - 1} more" if len(info.files) > 1 else ""
    return f"{info.files[0]}{more}"
