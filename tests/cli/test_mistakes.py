"""Every mistake in the input is exit code 2 and one sentence on stderr."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from cli_runs import Files, Sgc, assert_mistake

from sgclearn.cli import app


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("edges", "r00,r01", "r00,zed", ["edges.csv", "'zed'"]),
        ("features", "r01,", "r00,", ["features.csv", "'r00'"]),
        ("features", "Graz", "", ["column 'city'", "--impute"]),
        ("labels", "r01,red", "zed,red", ["'zed'"]),
        ("labels", "r01,red", "r02,red", ["r02"]),
    ],
)
def test_wrong_cell_is_named(sgc: Sgc, files: Files, file: str, old: str, new: str, words: list[str]) -> None:
    change(getattr(files, file), old, new)
    assert_mistake(sgc("fit", *files.options), *words)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_feature_that_is_not_finite(sgc: Sgc, files: Files, value: str) -> None:
    lines = files.features.read_text().splitlines()
    lines[1] = ",".join(["r00", value, *lines[1].split(",")[2:]])
    files.features.write_text("\n".join(lines) + "\n")
    assert_mistake(sgc("fit", *files.options), "'height'")


def test_missing_number_is_filled_if_asked(sgc: Sgc, files: Files) -> None:
    lines = files.features.read_text().splitlines()
    lines[1] = ",".join(["r00", "", *lines[1].split(",")[2:]])
    files.features.write_text("\n".join(lines) + "\n")
    assert_mistake(sgc("fit", *files.options), "'height'", "--impute")
    assert sgc("fit", *files.options, "--impute", "mean", "--weight-decay", "0.01").code == 0


def test_negative_weight(sgc: Sgc, files: Files) -> None:
    text = files.edges.read_text().replace("source,target", "source,target,weight").replace("\nr", ",1\nr")
    files.edges.write_text("source,target,weight\nr00,r01,-2\nr01,r02,1\n" if text else "")
    assert_mistake(sgc("fit", *files.options), "-2")
    assert sgc("fit", *files.options, "--unweighted", "--weight-decay", "0.01").code == 0


def test_matrix_that_is_not_square(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.ones((2, 3))))
    assert_mistake(sgc("fit", "--edges", "a.npz", "--labels", files.labels), "square")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\nr00,red\nr01,red\n", ["two classes", "'red'"]),
        ("id,label\nr00,\nr01,\n", ["at least one label"]),
        ("", ["labels.csv"]),
        ("id\nr00\n", ["labels.csv"]),
    ],
)
def test_labels_that_do_not_suffice(sgc: Sgc, files: Files, text: str, words: list[str]) -> None:
    files.labels.write_text(text)
    assert_mistake(sgc("fit", *files.options), *words)


@pytest.mark.parametrize("file", ["edges", "features", "labels"])
@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02PK\x03\x04\xff\xfe\x00binary" * 20, None])
def test_unreadable_file(sgc: Sgc, files: Files, file: str, content: bytes | None) -> None:
    path = getattr(files, file)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert_mistake(sgc("fit", *files.options), path.name)


def test_wrong_delimiter(sgc: Sgc, files: Files) -> None:
    assert_mistake(sgc("fit", *files.options, "--delimiter", ";"), "delimiter")


def test_empty_graph(sgc: Sgc, files: Files) -> None:
    files.edges.write_text("source,target\n")
    without = sgc("fit", "--edges", files.edges, "--labels", files.labels)
    assert_mistake(without)


def test_isolated_nodes_are_nodes(sgc: Sgc, files: Files) -> None:
    files.edges.write_text("source,target\nr00,r01\n")
    result = sgc("fit", *files.options, "--json", "--weight-decay", "0.01")
    assert (result.code, result.document["data"]["nodes"], result.document["data"]["edges"]) == (0, 30, 1)


def test_huge_node_number(sgc: Sgc, tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", edges=np.array([[0, 10**9], [1, 2]]))
    (tmp_path / "l.csv").write_text("id,label\n0,a\n1,b\n")
    assert_mistake(sgc("fit", "--edges", "e.npz", "--labels", "l.csv"), "1000000000")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weight-decay", "-1"), ["--weight-decay must be a number >= 0: got -1.0"]),
        (("--n-hops", "-1"), ["--n-hops must be a whole number >= 0: got -1"]),
        (("--gamma", "-1"), ["gamma", "-1"]),
        (("--normalization", "cheby", "--gamma", "1"), ["gamma"]),
        (("--held-out", "1.5"), ["--held-out must be a share", "1.5"]),
        (("--memory-limit", "much"), ["--memory-limit", "'much'"]),
        (("--memory-limit", "1KB"), ["; raise --memory-limit"]),
        (("--id-column", "nr"), ["--id-column must be one of the columns", "'nr'"]),
        (("--label-column", "nr"), ["--label-column", "'nr'"]),
        (("--weights-column", "nr"), ["'nr'"]),
        (("--max-categories", "1"), ["'city'"]),
        (("--data-dir", "x"), ["--data-dir goes with --dataset"]),
        (("--dataset", "cora"), ["--edges goes with your own files: got it with --dataset cora"]),
    ],
)
def test_wrong_option(sgc: Sgc, files: Files, options: tuple[str, ...], words: list[str]) -> None:
    assert_mistake(sgc("fit", *files.options, *options), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "--edges", "e.csv"), ["--labels is needed beside --edges"]),
        (("fit", "--features", "f.csv", "--labels", "l.csv"), ["--edges is needed"]),
        (("fit", "--dataset", "coral"), ["'coral'", "cora"]),
        (("fit", "--dataset", "debian", "--data-dir", "x"), ["inside the package"]),
        (("fit", "--held-out", "0.1"), ["--held-out goes with your own files", "without --edges"]),
        (("fit", "--directed"), ["--directed goes with your own files"]),
        (("fit", "--unweighted"), ["--unweighted goes with your own files"]),
        (("fit", "--n-hops", "two"), ["sgc fit:", "'--n-hops'", "see sgc fit --help"]),
        (("fit", "--solver", "newton"), ["'newton'", "lbfgs"]),
        (("fit", "--epochs", "3"), ["No such option", "--epochs"]),
        (("fitt",), ["No such command 'fitt'"]),
        (("datasets", "info"), ["Missing argument"]),
        (("datasets", "info", "coral"), ["NAME must be one of debian, cora"]),
        (("plan", "--n-hops", "-2"), ["--n-hops must be"]),
    ],
)
def test_wrong_arguments(sgc: Sgc, arguments: tuple[str, ...], words: list[str]) -> None:
    assert_mistake(sgc(*arguments), *words)


def test_place_that_cannot_be_written(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert_mistake(sgc("fit", *files.options, "--weight-decay", "0.1", "--out", "file/run"), "file")


def fail(error: BaseException) -> Any:
    def instead(*arguments: Any, **more: Any) -> None:
        raise error

    return instead


def test_interruption_is_130(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgclearn.datasets.list_datasets", fail(KeyboardInterrupt()))
    result = sgc("datasets", "list")
    assert (result.code, result.out) == (130, "")
    assert result.err == "sgc: stopped by an interruption.\n"


def test_error_of_its_own_is_one_line(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgclearn.datasets.list_datasets", fail(ZeroDivisionError("by\nzero.")))
    shown = sgc("datasets", "list")
    assert (shown.code, "Traceback" in shown.err) == (1, True)
    monkeypatch.delenv("SGC_TRACEBACK")
    result = sgc("datasets", "list")
    assert result.code == 1
    assert result.err == (
        "sgc: stopped by an error of its own (ZeroDivisionError: by zero); set SGC_TRACEBACK=1 to see where, "
        "and report it.\n"
    )


def test_reader_that_has_gone_is_no_traceback(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgclearn.datasets.list_datasets", fail(BrokenPipeError()))
    monkeypatch.setattr("os.dup2", lambda *given: None)
    assert (sgc("datasets", "list").code, sgc("datasets", "list").err) == (1, "")


def test_warning_is_shown_once(sgc: Sgc, files: Files) -> None:
    with files.edges.open("a") as stream:
        stream.write("r00,r00\n")
    result = sgc("fit", *files.options, "--weight-decay", "0.01")
    assert result.code == 0
    assert result.err.startswith("warning: ")
    assert result.err.count("\n") == 1


def test_main_ends_the_process_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sgc", "--version"])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 0


def test_interrupted_process_ends_with_130(tmp_path: Path) -> None:
    """The whole program, interrupted by a signal while it works."""
    code = "import os, signal, threading, sgclearn.cli as cli\n"
    code += "threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()\ncli.main(['tune'])"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in done.stderr
