"""From a name to a dataset: find the files, read them, choose the split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from sgclearn.datasets.dataset import GraphDataset, LabelledGraph
from sgclearn.datasets.folders import DATA_VARIABLE as DATA_VARIABLE
from sgclearn.datasets.folders import Folder, check_files, find_files, missing_file, search_folders
from sgclearn.datasets.gnn_benchmark import read_gnn_benchmark
from sgclearn.datasets.linqs import read_linqs
from sgclearn.datasets.npz import read_embedded, read_npz
from sgclearn.datasets.planetoid import read_planetoid
from sgclearn.datasets.reddit import read_reddit
from sgclearn.datasets.registry import PLANETOID_PARTS, REGISTRY, DatasetInfo
from sgclearn.datasets.splits import Split, redraw_training, split_per_class
from sgclearn.errors import DataFileError, InputError, Setting, Words
from sgclearn.validation.matrices import check_values
from sgclearn.validation.parameters import Choice
from sgclearn.validation.reading import reading, regular_file

DEFAULT_SEED = 2019
PER_CLASS = (20, 30)  # training and validation nodes of each class, where the registry has no others


def load_dataset(
    name: str,
    *,
    split: Literal["public", "random", "per_class"] | None = None,
    seed: int | None = None,
    n_per_class: int | None = None,
    n_val: int | None = None,
    n_test: int | None = None,
    data_dir: Folder | None = None,
) -> GraphDataset:
    """Load a graph with raw features, labels and a split.

    `"debian"` is inside the package, the others are read from a folder or from the cache that `fetch_dataset`
    and `sgc datasets get` fill; see `list_datasets`.

    Parameters
    ----------
    name : str
        `"debian"`, `"cora"`, `"citeseer"`, `"pubmed"` or another name of `list_datasets`.
    split : "public", "random", "per_class" or None
        "public" is the split that came with the data (cora, citeseer, pubmed, reddit).
        "random" follows the paper where there is a public split: validation and test nodes stay, the training
        nodes are redrawn, `n_per_class` of each class, from the labelled nodes outside of both. Elsewhere it is
        the same as "per_class".
        "per_class" draws `n_per_class` nodes of each class for training, `n_val` of each for validation, and
        takes the rest for test, or `n_test` of each class.
        None is "public" where there is such a split and "per_class" elsewhere.
    seed : int, optional
        Of a split that is drawn; 2019 if not given.
    n_per_class : int, optional
        Training nodes of each class in a split that is drawn; 20 if not given (debian_packages: 5).
    n_val, n_test : int, optional
        Validation and test nodes of each class, for "per_class". If not given, 30 for validation (wordnet: 10,
        debian_packages: 5) and all the rest for test.
    data_dir : path, optional
        Folder with the files. If not given, the folder named by the environment variable SGCLEARN_DATA, then
        the cache.

    Returns
    -------
    GraphDataset

    Notes
    -----
    The sha256 of every file is compared with the registry's before it is read. Files that are pickles are read
    by a reader that admits arrays of numbers and nothing else.

    Examples
    --------
    >>> data = load_dataset("debian", n_per_class=10, seed=7)
    >>> len(data.train), len(data.val)
    (120, 360)
    >>> data.class_names[data.y[data.graph.positions(["python3-numpy"])[0]]]
    'python'
    """
    info = known_dataset(name)
    options = {"seed": seed, "n_per_class": n_per_class, "n_val": n_val, "n_test": n_test}
    chosen = _split_kind(info, split, options)
    read = _read(info, data_dir)
    parts = _split(info, read, chosen, options)
    return GraphDataset(
        name, *read[:5], *parts, description=info.description, license=info.license, source=info.source
    )


def list_datasets(data_dir: Folder | None = None) -> tuple[DatasetInfo, ...]:
    """Say what `load_dataset` knows, and in `available` and `folder` whether and where the files are.

    Examples
    --------
    >>> debian = list_datasets()[0]
    >>> debian.name, debian.nodes, debian.available
    ('debian', 29582, True)
    """
    folders = search_folders(data_dir)
    found = {name: find_files(info, folders) for name, info in REGISTRY.items() if info.layout != "embedded"}
    return tuple(
        info if (here := found.get(name)) is None else replace(info, folder=here.folder)
        for name, info in REGISTRY.items()
    )


def known_dataset(name: str) -> DatasetInfo:
    """Entry of the registry; an error that lists the names if there is none."""
    return REGISTRY[Choice(values=tuple(REGISTRY)).check("name", name)]


def _split_kind(info: DatasetInfo, split: str | None, options: dict[str, int | None]) -> str:
    """Which split to take; an option that it would not use is an error."""
    has_public = info.per_class is None
    if split not in ("public", "random", "per_class", None):
        raise InputError(
            "split must be 'public', 'random', 'per_class' or None", repr(split), argument="split"
        )
    if split == "public" and not has_public:
        raise InputError(
            f"split must be 'random', 'per_class' or None for {info.name}",
            "'public', and it has no public split",
            argument="split",
        )
    if not has_public or split == "per_class":
        return "per_class"
    chosen = split or "public"
    fixed = ("seed", "n_per_class", "n_val", "n_test") if chosen == "public" else ("n_val", "n_test")
    given = [name for name in fixed if options[name] is not None]
    if given:
        drawn = "random" if chosen == "public" else "per_class"  # what draws more than the chosen one
        raise InputError(
            f"{given[0]} goes with splits that are drawn",
            f"the {chosen} split of {info.name}, of which that part is fixed",
            ("use ", Setting("split", drawn)),
            argument=given[0],
        )
    return chosen


def _split(info: DatasetInfo, read: LabelledGraph, chosen: str, options: dict[str, int | None]) -> Split:
    if read.public is not None and chosen == "public":
        return read.public
    n_train, n_val = info.per_class or PER_CLASS
    seed = DEFAULT_SEED if options["seed"] is None else options["seed"]
    n_train = n_train if options["n_per_class"] is None else options["n_per_class"]
    if read.public is not None and chosen == "random":
        return redraw_training(read.y, read.public, n_train, seed, read.class_names)
    n_val = n_val if options["n_val"] is None else options["n_val"]
    return split_per_class(read.y, n_train, n_val, options["n_test"], seed, read.class_names)


def _read(info: DatasetInfo, data_dir: Folder | None) -> LabelledGraph:
    if info.layout == "embedded":
        if data_dir is not None:
            raise InputError(
                f"{info.name} is inside the package", Setting("data_dir", str(data_dir)), "leave it out"
            )
        return read_embedded(info.files[0])
    folders = search_folders(data_dir)
    found = find_files(info, folders)
    if found is None:
        raise _not_found(info, folders, data_dir)
    check_files(found)
    return read_files(found.form.layout, found.paths, info.class_names)


def read_files(layout: str, paths: Sequence[Path], class_names: tuple[str, ...] = ()) -> LabelledGraph:
    """Read the files of a form, in the order of the registry."""
    for path in paths:
        regular_file(path)
    with reading(
        paths[0],
        f"the first of the files of a dataset in the layout {layout}",
        "get them again",
        by_hand=False,
    ):
        data = _read_layout(layout, paths, class_names)
        check_values(data.X)
        return data


def _read_layout(layout: str, paths: Sequence[Path], class_names: tuple[str, ...]) -> LabelledGraph:
    if layout == "planetoid":
        return read_planetoid(dict(zip(PLANETOID_PARTS, paths, strict=True)), class_names)
    if layout == "linqs":
        return read_linqs(*paths)
    if layout == "gnn-benchmark":
        return read_gnn_benchmark(paths[0], class_names)
    if layout == "reddit":
        return read_reddit(*paths)
    return read_npz(*paths)


def _not_found(info: DatasetInfo, folders: Sequence[Path], data_dir: Folder | None) -> DataFileError:
    files = info.files[0] + (f" and {len(info.files) - 1} more" if len(info.files) > 1 else "")
    to = "" if data_dir is None else f" --data-dir {data_dir}"
    get = f"get them with sgc datasets get {info.name}{to}, " if info.can_be_fetched else ""
    if data_dir is None and len(folders) == 1:  # the cache alone
        remedy: Words = (f"{get}pass ", Setting("data_dir"), f" or set {DATA_VARIABLE}")
        return DataFileError(f"{info.name} needs a folder with its files ({files})", "none", remedy)
    return DataFileError(
        f"{info.name} needs {files} in the data folder",
        f"{folders[0]} without {missing_file(info, folders[0])}",
        (
            f"{get}put the files there, or name another folder with ",
            Setting("data_dir"),
            f" or {DATA_VARIABLE}",
        ),
    )
