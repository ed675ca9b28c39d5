"""Errors as data: parts, places and how a front end spells settings."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from sgclearn.errors import (
    ANY,
    Alternatives,
    DataFileError,
    InputError,
    MissingExtraError,
    Place,
    Setting,
    SgclearnError,
    SgclearnWarning,
    Spell,
    in_file,
    render,
    require,
)


def options(known: dict[str, str]) -> Spell:
    """Spell settings as options of a program that has a few of them."""

    def spell(setting: Setting) -> str | None:
        name = known.get(setting.name)
        return name if name is None or setting.value in (..., ANY) else f"{name} {setting.value}"

    return spell


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("a file must be there",), "a file must be there"),
        (("n must be 1", "2"), "n must be 1: got 2."),
        (("n must be 1", "2", "take 1"), "n must be 1: got 2; take 1."),
        (("n must be 1", "", "take 1"), "n must be 1; take 1."),
    ],
)
def test_error_is_one_sentence_of_the_parts_it_has(parts: tuple[str, ...], sentence: str) -> None:
    assert str(InputError(*parts)) == sentence


def test_error_survives_pickle_with_all_its_parts() -> None:
    error = DataFileError(
        "x must fit", "7", "mend it", argument="x", place=Place("f.csv", 3, "line 5", "age")
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is DataFileError
    assert vars(again) == vars(error)
    assert str(again) == "f.csv: x must fit: got 7 in line 5 of column 'age'; mend it."


def test_error_gives_its_parts_by_name() -> None:
    error = InputError("x must fit", Setting("x", 7), argument="x", place=Place(row=0, column="age"))
    assert error.to_dict() == {
        "error": "InputError",
        "argument": "x",
        "expected": "x must fit",
        "got": "x=7",
        "place": {"row": 0, "column": "age"},
    }


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place(row=3), "got 7 in row 3 (counted from 0)."),
        (Place(row=3, line=""), "got 7."),
        (Place(row=3, line="line 5", others="2 such rows"), "got 7 in line 5 (2 such rows)."),
        (Place(column="age"), "got 7 in column 'age'."),
        (Place(row=3, column="age"), "got 7 in row 3 (counted from 0) of column 'age'."),
    ],
)
def test_place_is_said_after_what_came(place: Place, words: str) -> None:
    assert str(InputError("x must fit", "7", place=place)) == f"x must fit: {words}"


def test_error_about_rows_becomes_one_about_lines_of_a_file() -> None:
    error = InputError("x must fit", "7", "mend it", argument="x", place=Place(row=3, line=""))
    found = in_file(error, Path("f.csv"), lambda row: f"line {row + 2}")
    assert str(found) == "f.csv: x must fit: got 7 in line 5; mend it."
    assert found.to_dict()["place"] == {"file": "f.csv", "row": 3}
    assert str(in_file(error, "f.npz")) == "f.npz: x must fit: got 7; mend it."


def test_front_end_spells_settings_its_own_way() -> None:
    ways = Alternatives(
        ("raise ", Setting("n_hops")), ("raise ", Setting("tol")), ("take ", Setting("plan", "full"))
    )
    error = InputError("n_hops must fit", Setting("n_hops", 7), ("do so, or ", ways), argument="n_hops")
    assert (
        str(error) == "n_hops must fit: got n_hops=7; do so, or raise n_hops, raise tol or take plan='full'."
    )
    spell = options({"n_hops": "--n-hops", "plan": "--plan"})
    assert (
        error.render(spell)
        == "--n-hops must fit: got --n-hops 7; do so, or raise --n-hops or take --plan full."
    )
    in_a_file = in_file(error, "f.csv").render(spell)
    assert in_a_file.startswith("f.csv: --n-hops must fit")


def test_setting_that_a_front_end_lacks_keeps_its_name() -> None:
    assert render(("give ", Setting("nodes", ANY)), options({})) == "give nodes="
    assert str(InputError("the sum must fit", "7", argument="x")) == "the sum must fit: got 7."


def test_words_of_the_user_are_never_taken_for_settings() -> None:
    error = InputError("n_hops must fit", repr("n_hops"), argument="n_hops")
    assert error.render(options({"n_hops": "--n-hops"})) == "--n-hops must fit: got 'n_hops'."


def test_error_with_another_remedy_leaves_the_first_as_it_was() -> None:
    first = MissingExtraError("torch is needed", remedy="install it")
    second = first.but(remedy=(first.remedy, ", or do without"))
    assert (str(first), str(second)) == (
        "torch is needed; install it.",
        "torch is needed; install it, or do without.",
    )
    assert isinstance(second, MissingExtraError)


def test_warning_spells_its_settings_too() -> None:
    warning = SgclearnWarning("no graph: pass ", Setting("graph", ANY), ".")
    assert str(warning) == "no graph: pass graph=."
    assert warning.render(options({"graph": "--edges"})) == "no graph: pass --edges."
    assert str(SgclearnWarning("as it is")) == "as it is"


def test_missing_module_is_named_with_its_extra() -> None:
    with pytest.raises(
        SgclearnError, match=r'no_such_module is needed .*; run pip install "sgclearn\[all\]"\.'
    ):
        require("no_such_module", "all")
