from __future__ import annotations

import numpy as np
import pytest

from sgclearn.errors import InputError
from sgclearn.validation import memory
from sgclearn.validation.memory import ENVIRONMENT_VARIABLE, format_bytes, memory_limit_bytes


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1000, 1000),
        (2.5e9, 2_500_000_000),
        (np.int64(7), 7),
        ("1", 1),
        ("512B", 512),
        ("1KB", 1000),
        ("1.5 MB", 1_500_000),
        (" 4gb ", 4 * 10**9),
        ("2TB", 2 * 10**12),
        ("1KiB", 1024),
        ("3 mib", 3 * 2**20),
        ("2GiB", 2**31),
        ("1TiB", 2**40),
    ],
)
def test_memory_limit_is_read_as_bytes(limit, expected):
    assert memory_limit_bytes(limit) == expected


@pytest.mark.parametrize(
    "limit", [0, -1, True, float("nan"), float("inf"), [1], "", "GB", "4 XB", "-1GB", "0", "0.1", "4GB left"]
)
def test_memory_limit_that_cannot_be_read_is_refused_with_its_value(limit):
    with pytest.raises(InputError, match=r"memory_limit .*'4GB'.*: got "):
        memory_limit_bytes(limit)


def test_memory_limit_comes_from_the_environment_unless_given(monkeypatch):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "3MB")
    assert memory_limit_bytes() == 3_000_000
    assert memory_limit_bytes("1MB") == 1_000_000
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "plenty")
    with pytest.raises(InputError, match=r"\(or SGCLEARN_MEMORY_LIMIT\) must look like .*got 'plenty'"):
        memory_limit_bytes()


def test_memory_limit_is_a_share_of_what_is_available_otherwise(monkeypatch):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "")
    monkeypatch.setattr(memory, "_latest", {})
    monkeypatch.setattr(memory, "_available_bytes", lambda: 1000)
    assert memory_limit_bytes() == 800


def test_memory_limit_follows_what_is_available(monkeypatch):
    clock, available = iter([10.0, 10.01, 10.04]), iter([1000, 500])
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "")
    monkeypatch.setattr(memory, "_latest", {})
    monkeypatch.setattr(memory, "_available_bytes", lambda: next(available))
    monkeypatch.setattr(memory.time, "monotonic", lambda: next(clock))
    assert [memory_limit_bytes() for _ in range(3)] == [800, 800, 400]


def test_available_memory_is_the_smaller_of_machine_and_container(monkeypatch):
    monkeypatch.setattr(memory, "_meminfo_available", lambda path: 5000)
    monkeypatch.setattr(memory, "_cgroup_left", lambda folder: 3000)
    assert memory._available_bytes() == 3000
    monkeypatch.setattr(memory, "_cgroup_left", lambda folder: None)
    assert memory._available_bytes() == 5000


def test_meminfo_gives_the_available_kilobytes(tmp_path):
    path = tmp_path / "meminfo"
    assert memory._meminfo_available(path) is None
    path.write_text("MemTotal:       16000 kB\nMemFree:  10 kB\nMemAvailable:    2000 kB\n")
    assert memory._meminfo_available(path) == 2000 * 1024
    path.write_text("MemTotal:       16000 kB\n")
    assert memory._meminfo_available(path) is None


def test_cgroup_gives_the_limit_less_what_cannot_give_way(tmp_path):
    assert memory._cgroup_left(tmp_path) is None
    (tmp_path / "memory.max").write_text("10000\n")
    (tmp_path / "memory.current").write_text("7000\n")
    assert memory._cgroup_left(tmp_path) == 3000
    (tmp_path / "memory.stat").write_text("anon 4000\ninactive_file 2500\nactive_file 100\n")
    assert memory._cgroup_left(tmp_path) == 5500
    (tmp_path / "memory.current").write_text("20000\n")
    assert memory._cgroup_left(tmp_path) == 1
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._cgroup_left(tmp_path) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 KB"),
        (2_340_000, "2.3 MB"),
        (7e9, "7.0 GB"),
        (1.25e15, "1250.0 TB"),
    ],
)
def test_format_bytes_is_for_people(count, text):
    assert format_bytes(count) == text
