"""`sgc spectrum`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Files, Sgc, assert_mistake

pytest.importorskip("matplotlib")


def test_spectrum_of_own_files_needs_no_labels(sgc: Sgc, files: Files) -> None:
    result = sgc("spectrum", "--edges", files.edges, "--features", files.features)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Data       edges.csv: 30 nodes, 31 edges, 4 features")
    for words in ("without self-loops", "with self-loops, gamma 1", "energy in the low half", "SGC, 2 hops"):
        assert words in result.out
    assert "Advice     This graph is nearly bipartite" in result.out
    assert "Note" not in result.out  # few nodes: exact


def test_spectrum_without_features_and_with_other_options(sgc: Sgc, files: Files) -> None:
    result = sgc("spectrum", "--edges", files.edges, "--gamma", "0.5", "--n-hops", "1")
    assert result.code == 0
    assert "no features" in result.out
    assert "gamma 0.5" in result.out
    assert "SGC, 1 hop " in result.out
    assert "energy of the random features that a filter keeps" in result.out


def test_spectrum_says_when_there_is_nothing_to_advise(sgc: Sgc, tmp_path: Path) -> None:
    edges = tmp_path / "complete.csv"
    edges.write_text("source,target\n" + "".join(f"p{i},p{j}\n" for i in range(6) for j in range(i)))
    result = sgc("spectrum", "--edges", edges)
    assert "none: nothing in this spectrum speaks against the defaults" in result.out


def test_spectrum_as_json(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    options = ("--edges", files.edges, "--features", files.features, "--json", "--plot", "s.svg")
    document = sgc("spectrum", *options).document
    assert document["data"] == "edges.csv"
    assert document["plot"] == "s.svg"
    assert 1.9 < document["lambda_n"] < 2.0
    assert document["lambda_n_augmented"] < document["lambda_n"]
    assert document["filters"][0]["name"] == "SGC, 2 hops"
    assert document["advice"][0]["topic"] == "bipartite"
    assert (tmp_path / "s.svg").read_text().startswith("<?xml")


def test_spectrum_of_the_embedded_graph(sgc: Sgc) -> None:
    result = sgc("spectrum")
    assert result.code == 0
    assert "debian: 29,582 nodes" in result.out
    assert "Note       shares of energy are estimates" in result.out
    assert "nodes have no edge" in result.out


def test_spectrum_draws_a_figure_and_replaces_it_only_when_told(
    sgc: Sgc, files: Files, tmp_path: Path
) -> None:
    options = ("spectrum", "--edges", files.edges, "--plot", "s.png")
    result = sgc(*options)
    assert "Figure     s.png" in result.out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert_mistake(sgc(*options), "--plot must be a new file: got s.png, which exists")
    assert sgc(*options, "--force").code == 0
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--features", "features.csv"), "--edges is needed beside --features"),
        (("--edges", "edges.csv", "--data-dir", "."), "--data-dir goes with --dataset"),
        (("--edges", "edges.csv", "--dataset", "cora"), "--edges goes with your own files"),
        (("--edges", "edges.csv", "--impute", "mean"), "--impute goes with --features"),
        (("--edges", "edges.csv", "--directed"), "add --undirected to take every edge in both directions"),
        (("--edges", "edges.csv", "--gamma", "-1"), "gamma must be a number >= 0: got -1"),
        (("--edges", "edges.csv", "--n-hops", "-1"), "-1"),
        (("--edges", "edges.csv", "--plot", "s.jpg"), "--plot must end in .png, .svg, .pdf: got s.jpg"),
        (("--edges", "edges.csv", "--plot", "no/s.png"), "got no folder no"),
        (("--dataset", "nowhere"), "nowhere"),
    ],
)
def test_spectrum_refuses_bad_input_in_one_sentence(
    sgc: Sgc, files: Files, options: tuple[str, ...], words: str
) -> None:
    assert files.edges.exists()
    assert_mistake(sgc("spectrum", *options), words)
