"""An experiment as data: what to run on what, and figures that others have published of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sgclearn.baselines.settings import SettingGroup

METRICS = {
    "test_accuracy": "test accuracy (%)",
    "val_accuracy": "validation accuracy (%)",
    "test_micro_f1": "test micro-F1 (%)",
}
TOLERANCES = ("within", "below", "std")


@dataclass(frozen=True)
class Published:
    """A published figure: mean, standard deviation and seconds, as far as they were given.

    One that is not `judged` is shown beside what was measured, and no tolerance is asked of it. One that was measured
    `on` another graph is shown with the name of that, and no difference is taken.
    """

    value: float | None = None
    std: float | None = None
    seconds: float | None = None
    judged: bool = True
    on: str = ""


@dataclass(frozen=True)
class Search:
    """Settings found by trying: log-uniform between bounds, the best validation accuracy wins."""

    source: str
    space: dict[str, tuple[float, float]]
    trials: int


@dataclass(frozen=True)
class ModelEntry:
    """A row of the table: a model, its settings with their sources, and its published figures.

    A model that is swept over a setting is one such row a value, all of one `group` (name and title of the curve).
    """

    name: str
    title: str
    model: str
    settings: tuple[SettingGroup, ...] = ()
    search: Search | None = None
    published: dict[str, Published] = field(default_factory=dict)
    published_source: str = ""
    tolerance: tuple[str, float] | None = None
    runs: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    time_only: bool = False  # its scores mean nothing and are not shown
    swept: dict[str, Any] = field(default_factory=dict)
    group: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if not self.swept:
            object.__setattr__(self, "group", (self.name, self.title))

    def settings_for(self, dataset: str) -> dict[str, Any]:
        """Arguments of the model on one dataset; a later group overrides an earlier one."""
        found: dict[str, Any] = {}
        for group in self.settings:
            found.update(group.values)
            found.update({name: per[dataset] for name, per in group.by_dataset.items() if dataset in per})
        return found | self.swept


@dataclass(frozen=True)
class Quick:
    """What `--quick` runs instead: fewer runs, datasets, models and trials, and settings of its own by model."""

    runs: int = 2
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    trials: int | None = None
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Models on datasets, run and compared under one protocol.

    Parameters
    ----------
    id, title : str
        Short name, and what it shows.
    datasets : dict
        Name to the options of its loader; `kind` chooses the loader and `title` is for people. One that is
        `on_request` is run only where it is named: its files are not to be had by a command.
    models : dict
        Name to `ModelEntry`, in the order of the table.
    runs, seed : int
        Run r of a model has the seed `seed + r`.
    metric : str
        Which score of a run is compared: a name of `METRICS`.
    time_against : str or None
        The model whose seconds the others' are divided by.
    quick : Quick
    notes : tuple of str
        What a reader has to know, such as what differs from a paper, and why.
    axis : tuple of str, optional
        For curves, a setting of the models or an option of the datasets, and its title.
    results : str
        The experiment whose runs these are, where it is not this one.
    """

    id: str
    title: str
    datasets: dict[str, dict[str, Any]]
    models: dict[str, ModelEntry] = field(default_factory=dict)
    runs: int = 0
    seed: int = 0
    metric: str = "test_accuracy"
    time_against: str | None = None
    quick: Quick = field(default_factory=Quick)
    notes: tuple[str, ...] = ()
    axis: tuple[str, str] | None = None
    results: str = ""

    def __post_init__(self) -> None:
        if not self.results:
            object.__setattr__(self, "results", self.id)

    def title_of(self, dataset: str) -> str:
        """Name of a dataset for people."""
        return str(self.datasets[dataset].get("title", dataset))

    @property
    def groups(self) -> dict[str, str]:
        """Name and title of the models, those of a sweep once."""
        return dict(model.group for model in self.models.values())

    @property
    def is_swept(self) -> bool:
        """Whether models are swept: one row a model would then be too many to read."""
        return len(self.groups) < len(self.models)
