"""What `sgc reproduce` writes beside its runs, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Sgc, assert_mistake

from sgclearn.cli.reproduced_files import file_stem
from sgclearn.paper import Selection, load_recipe


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


def test_document_of_what_trains_nothing_is_kept(sgc: Sgc, tmp_path: Path) -> None:
    shown = sgc("reproduce", "tab1", "--out", "here/new", "--json").document
    kept = json.loads((tmp_path / "here/new/tab1.json").read_text(encoding="utf-8"))
    assert shown == kept | {"results": "here/new/tab1.json", "figure": None}
    assert {"rows", "threads", "versions", "machine"} <= set(kept)
    assert sgc("reproduce", "tab1", "--datasets", "cora", "--out", "here/new").code == 0
    names = sorted(path.name for path in (tmp_path / "here/new").iterdir())
    assert names == ["tab1-cora.json", "tab1.json"]  # nothing temporary, and the whole is as it was
    assert json.loads((tmp_path / "here/new/tab1.json").read_text(encoding="utf-8")) == kept
