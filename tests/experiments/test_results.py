"""Result lines survive interruptions."""

from __future__ import annotations

import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError, InputError
from sgclearn.experiments import ResultFile
from sgclearn.experiments.results import fingerprint

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


@pytest.mark.parametrize("text", [b"no json", b"[1, 2]", b'{"run": 1}', b"", b"\xff\xfe", b"[" * 100_000])
def test_results_foreign_line_is_named_and_left_alone(tmp_path, text):
    path = tmp_path / "r.jsonl"
    content = b'{"kind": "run"}\n' + text + b"\n"
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"r\.jsonl must hold a result in every line: got .* in line 2"):
        ResultFile(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0c", "\r"])
def test_results_text_with_any_kind_of_line_end_stays_in_one_line(tmp_path, mark):
    path = tmp_path / "r.jsonl"
    ResultFile(path).append({"kind": "run", "note": f"two{mark}lines"})
    assert ResultFile(path).lines("run")[0]["note"] == f"two{mark}lines"


@pytest.mark.parametrize("written", [0, 1, 9])
def test_results_line_that_the_disk_has_no_space_for_leaves_no_trace(tmp_path, monkeypatch, written):
    path = tmp_path / "r.jsonl"
    file = ResultFile(path)
    file.append({"kind": "run", "run": 0})
    whole, real = path.read_bytes(), os.write

    def full(descriptor, data):
        real(descriptor, data[:written])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="must be writable: got No space left"):
        file.append({"kind": "run", "run": 1})
    assert path.read_bytes() == whole
    assert file.lines("run") == [{"kind": "run", "run": 0}]


def test_results_line_is_written_in_as_many_parts_as_the_system_takes(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
    ResultFile(tmp_path / "r.jsonl").append({"kind": "run", "note": "x" * 40})
    assert ResultFile(tmp_path / "r.jsonl").lines("run")[0]["note"] == "x" * 40


def test_results_line_begins_anew_after_one_that_another_process_left_unfinished(tmp_path):
    path = tmp_path / "r.jsonl"
    file = ResultFile(path)
    file.append({"kind": "run", "run": 0})
    with path.open("ab") as other:
        other.write(b'{"kind": "ru')
    file.append({"kind": "run", "run": 1})
    assert [line["run"] for line in ResultFile(path).lines("run")] == [0, 1]


def test_results_that_may_not_be_changed_are_read_up_to_the_last_whole_line(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"kind": "run"}\n{"kind')

    def forbid(*given, **more):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("sgclearn.experiments.results.locked", forbid)
    assert ResultFile(path).lines("run") == [{"kind": "run"}]
    assert path.read_bytes().endswith(b'{"kind')


def test_results_must_be_a_file(tmp_path):
    with pytest.raises(DataFileError, match="must be a file of results: got a folder, device or pipe"):
        ResultFile(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataFileError, match="got a folder, device or pipe"):
            ResultFile(tmp_path / "pipe")


@given(plain, st.randoms())
def test_fingerprint_does_not_depend_on_order_and_changes_with_a_value(settings, random):
    items = list(settings.items())
    random.shuffle(items)
    assert fingerprint(dict(items)) == fingerprint(settings)
    assert fingerprint({**settings, "threads of all": 2}) != fingerprint({**settings, "threads of all": 1})
    assert fingerprint(json.loads(json.dumps(settings))) == fingerprint(settings)
