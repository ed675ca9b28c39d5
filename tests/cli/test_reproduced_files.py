"""What `sgc reproduce` writes beside its runs, and what it leaves alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_runs import Sgc, assert_mistake

from sgclearn.cli.reproduced_files import WRITTEN, check_no_loss, file_stem
from sgclearn.errors import InputError
from sgclearn.experiments import Selection
from sgclearn.paper import load_recipe

PAGES = Path(__file__).parents[2] / "docs"
WITHOUT_LINES = ("tab2", "tab3", "tab4", "tab-random")  # pages whose runs were not kept


def is_kept(page: Path) -> bool:
    """Whether a page is one of results whose runs are kept beside it."""
    text = page.read_text(encoding="utf-8")
    if WRITTEN not in text or page.stem in WITHOUT_LINES:
        return False
    return load_recipe(text.split(f"{WRITTEN} ")[1].split()[0]).form == "runs"


def test_figure_of_a_part_has_a_name_of_its_own() -> None:
    recipe = load_recipe("tab2")

    def stem(**part: object) -> str:
        return file_stem(recipe, Selection.of(recipe, **part))  # type: ignore[arg-type]

    assert stem() == stem(datasets=list(recipe.datasets), models=list(recipe.models)) == "tab2"
    assert stem(quick=True) == "tab2-quick"
    assert stem(models=["gcn", "sgc"]) == stem(models=["sgc", "gcn"]) == "tab2-sgc-gcn"
    assert stem(datasets=["pubmed"], models=["sgc"], quick=True) == "tab2-pubmed-sgc-quick"
    most = list(recipe.models)[1:]
    assert stem(models=most) == f"tab2-{len(most)}-models"  # a file name must not grow without end
    swept = load_recipe("fig-prop")
    assert file_stem(swept, Selection.of(swept, models=["adj"])) == "fig-prop-adj"


@pytest.mark.parametrize("text", ["My own chapter\n", "", "It was not Written by ``sgc reproduce tab1``.\n"])
def test_page_never_replaces_a_file_of_others(sgc: Sgc, tmp_path: Path, text: str) -> None:
    page = tmp_path / "mine.rst"
    page.write_text(text)
    assert_mistake(
        sgc("reproduce", "tab1", "--page", "mine.rst"),
        "--page must be a new file or an earlier page of sgc reproduce: got mine.rst",
        "choose another name.",
    )
    assert page.read_text() == text
    assert not (tmp_path / "sgc-runs").exists()  # said before anything is done


def test_page_replaces_an_earlier_page(sgc: Sgc, tmp_path: Path) -> None:
    assert sgc("reproduce", "tab1", "--page", "mine.rst").code == 0
    page = tmp_path / "mine.rst"
    page.write_text(page.read_text(encoding="utf-8") + "a word of mine\n", encoding="utf-8")
    assert sgc("reproduce", "tab1", "--page", "mine.rst").code == 0
    assert "a word of mine" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        (("tab1", "--datasets", "cora"), "has the datasets citeseer, pubmed, reddit that these results lack"),
        (("thm1",), "an earlier page of thm1: got mine.rst, that of tab1"),
    ],
)
def test_page_is_not_replaced_by_less(
    sgc: Sgc, tmp_path: Path, data_dir: Path, command: tuple[str, ...], lost: str
) -> None:
    assert sgc("reproduce", "tab1", "--page", "mine.rst").code == 0
    before = (tmp_path / "mine.rst").read_text(encoding="utf-8")
    refused = sgc("reproduce", *command, "--data-dir", data_dir, "--page", "mine.rst")
    assert (refused.code, refused.out) == (2, "")
    assert lost in refused.err
    assert (tmp_path / "mine.rst").read_text(encoding="utf-8") == before


def test_page_of_a_part_may_grow(tmp_path: Path) -> None:
    recipe, page = load_recipe("tab2"), tmp_path / "mine.rst"
    page.write_text(
        "Written by ``sgc reproduce tab2 --models sgc,gcn --datasets cora --runs 3 --page mine.rst``.\n"
    )
    check_no_loss(page, recipe, Selection.of(recipe))
    check_no_loss(page, recipe, Selection.of(recipe, models=["sgc", "gcn", "gat"], datasets=["cora"]))
    for part in ({"models": ["sgc"]}, {"datasets": ["pubmed"]}):
        with pytest.raises(InputError, match="must not lose what is on it"):
            check_no_loss(page, recipe, Selection.of(recipe, **part))


@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.glob("*.rst") if is_kept(path)))
def test_page_of_the_documentation_is_what_its_lines_give(sgc: Sgc, tmp_path: Path, name: str) -> None:
    """A page whose runs are kept can be written again at any time, to the letter."""
    pytest.importorskip("matplotlib")
    shutil.copytree(PAGES / "runs", tmp_path / "runs")
    page = (PAGES / f"{name}.rst").read_text(encoding="utf-8")
    words = page.split("Written by ``sgc ")[1].split("``")[0].split()
    if "--runs" in words:
        del words[words.index("--runs") : words.index("--runs") + 2]
    result = sgc(*words, "--runs", 0, "--out", "runs")
    assert result.code == 0
    assert (tmp_path / f"{name}.rst").read_text(encoding="utf-8") == page


def test_document_of_what_trains_nothing_is_kept(sgc: Sgc, tmp_path: Path) -> None:
    shown = sgc("reproduce", "tab1", "--out", "here/new", "--json").document
    kept = json.loads((tmp_path / "here/new/tab1.json").read_text(encoding="utf-8"))
    assert shown == kept | {"results": "here/new/tab1.json", "figure": None}
    assert {"rows", "threads", "versions", "machine"} <= set(kept)
    assert sgc("reproduce", "tab1", "--datasets", "cora", "--out", "here/new").code == 0
    names = sorted(path.name for path in (tmp_path / "here/new").iterdir())
    assert names == ["tab1-cora.json", "tab1.json"]  # nothing temporary, and the whole is as it was
    assert json.loads((tmp_path / "here/new/tab1.json").read_text(encoding="utf-8")) == kept
