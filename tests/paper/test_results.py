"""Result lines survive interruptions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError
from sgclearn.paper import ResultFile
from sgclearn.paper.results import fingerprint

plain = st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=8), st.booleans()))


def test_results_are_there_for_the_next_process(tmp_path):
    path = tmp_path / "new" / "folder" / "r.jsonl"
    file = ResultFile(path)
    assert file.lines("run") == []
    file.append({"kind": "run", "run": 0, "note": "Ünïcode\nin two lines"})
    file.append({"kind": "trial", "run": 0})
    file.append({"kind": "run", "run": 1})
    assert len(path.read_bytes().splitlines()) == 3
    again = ResultFile(path)
    assert [line["run"] for line in again.lines("run")] == [0, 1]
    assert again.lines("run", run=0)[0]["note"] == "Ünïcode\nin two lines"
    assert again.lines("run", other=None, run=1) == [{"kind": "run", "run": 1}]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_results_line_that_a_crash_cut_off_never_counted(tmp_path, cut):
    path = tmp_path / "r.jsonl"
    ResultFile(path).append({"kind": "run", "run": 0})
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:cut])
    file = ResultFile(path)
    assert path.read_bytes() == whole
    file.append({"kind": "run", "run": 1})
    assert [line["run"] for line in ResultFile(path).lines("run")] == [0, 1]


@pytest.mark.parametrize("text", ["no json", "[1, 2]", '{"run": 1}', ""])
def test_results_foreign_line_is_named_and_left_alone(tmp_path, text):
    path = tmp_path / "r.jsonl"
    content = f'{{"kind": "run"}}\n{text}\n'
    path.write_text(content)
    with pytest.raises(DataFileError, match=r"r\.jsonl must hold a result in every line: got .* in line 2"):
        ResultFile(path)
    assert path.read_text() == content


@given(plain, st.randoms())
def test_fingerprint_does_not_depend_on_order_and_changes_with_a_value(settings, random):
    items = list(settings.items())
    random.shuffle(items)
    assert fingerprint(dict(items)) == fingerprint(settings)
    assert fingerprint({**settings, "threads of all": 2}) != fingerprint({**settings, "threads of all": 1})
    assert fingerprint(json.loads(json.dumps(settings))) == fingerprint(settings)
