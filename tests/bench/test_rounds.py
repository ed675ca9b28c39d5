"""Measuring in turns, with what sgclearn itself depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn.bench import seats
from sgclearn.bench.answers import Agreement, of_best, of_entries
from sgclearn.bench.measurement import Measurement, without_paths
from sgclearn.bench.problems import small_dataset, write_problem
from sgclearn.bench.process import Contender, ContenderError, Process
from sgclearn.bench.rounds import Rounds, _dismiss, _is_hopeless, measure

OURS = Contender("sgclearn", "ours:propagation", is_peer=False)
SCIPY = Contender("scipy", "scipy_peer:propagation")
ONCE = Rounds(repeat=2, burst=0.0, pause=0.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data, path = small_dataset(), tmp_path_factory.mktemp("problem")
    write_problem(path, data.graph, data.X, data, n_hops=2)
    return path


def test_measure_runs_everyone_in_every_round_and_compares_answers(folder: Path) -> None:
    turns: list[str] = []
    found = measure(
        [OURS, SCIPY], folder, ONCE, on_turn=lambda name, *_: turns.append(name), judge=Agreement("Z")
    )
    assert turns == ["sgclearn", "scipy"] * 3  # the warm-up and two rounds, interleaved
    for measurement in found.values():
        assert measurement.fault is None
        assert len(measurement.seconds) == 2
        assert 0 < measurement.best < 60
        assert measurement.versions["numpy"] == np.__version__
    assert found["sgclearn"].difference == 0
    assert 0 <= found["scipy"].difference < 1e-6


def test_measure_faults_a_contender_whose_answer_differs(folder: Path) -> None:
    other = Contender("one hop", "scipy_peer:propagation", settings={"n_hops": 1})
    found = measure([OURS, other], folder, ONCE, judge=Agreement("Z"))
    assert found["sgclearn"].fault is None
    assert found["one hop"].difference > 1e-3
    assert "its answer differs from the first one" in found["one hop"].fault


def test_measure_says_what_is_missing_and_what_failed(folder: Path) -> None:
    found = measure(
        [
            Contender("no module", "nowhere:f"),
            Contender("no function", "scipy_peer:nothing"),
            Contender("elsewhere", "torch_peer:csr", environment="peers"),
        ],
        folder,
        ONCE,
    )
    assert found["no module"].is_missing
    assert "ModuleNotFoundError" in found["no module"].fault
    assert not found["no function"].is_missing
    assert "AttributeError" in found["no function"].fault
    assert found["elsewhere"].is_missing
    assert found["elsewhere"].fault == "the peers' environment was left out"
    assert all(m.best == float("inf") and not m.seconds for m in found.values())


def test_measure_repeats_short_runs_within_a_turn(folder: Path) -> None:
    found = measure([SCIPY], folder, Rounds(repeat=1, burst=0.2, pause=0.0))
    assert len(found["scipy"].seconds) > 1


def test_process_that_ends_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no memory left >&2\nexit 3\n")
    python.chmod(0o755)
    process = Process(python, 1)
    try:
        with pytest.raises(ContenderError, match="its process ended: no memory left"):
            process.tell("turn", burst=0.0)
    finally:
        process.close()


def test_process_gets_its_threads_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}

    class Popen:
        stdin = stdout = None

        def __init__(self, command: list[str], env: dict[str, str], **more: object) -> None:
            given.update(env)

        def wait(self, timeout: float | None = None) -> int:
            return 0

    monkeypatch.setattr("sgclearn.bench.process.subprocess.Popen", Popen)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    process = Process("python", 3)
    with pytest.raises(ContenderError, match="no pipes"):
        process.tell("turn", burst=0.0)
    process.close()
    for name in ("SGCLEARN_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert given[name] == "3"
    assert "PYTHONPATH" not in given  # the peers must not see another environment's packages


def test_agreement_is_judged_in_the_measure_of_the_answer() -> None:
    labels, scores = np.array([3, 3, 5, 5]), np.array([0.2, 0.8])
    for judge, arrays, other, fault in (
        (Agreement("y", 0.3, of_entries), {"y.rows": labels}, {"y.rows": np.array([3, 5, 5, 5])}, None),
        (
            Agreement("y", 0.2, of_entries),
            {"y.rows": labels},
            {"y.rows": np.array([3, 5, 5, 5])},
            "of the entries",
        ),
        (
            Agreement("s", 0.2, of_best),
            {"s.rows": scores},
            {"s.rows": np.array([0.5, 0.1])},
            "in the best entry",
        ),
        (Agreement("y", 1.0, of_entries), {"y.rows": labels}, {"y.rows": labels[:2]}, "inf"),
        (
            Agreement("y", 0.2, of_entries),
            {"y.rows": labels},
            {"coef.rows": labels},
            None,
        ),  # nothing to compare
    ):
        first, second = Measurement("first", False, 1), Measurement("second", True, 1)
        judge(first, arrays)
        judge(second, other)
        assert (first.difference, first.fault) == (0, None)
        assert (second.fault is None) == (fault is None)
        assert fault is None or fault in second.fault


def test_processes_end_and_start_anew_where_memory_is_short(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    monkeypatch.setattr(seats, "free_share", lambda: 0.1)
    monkeypatch.setattr(Process, "__init__", counted(Process.__init__, started))
    found = measure([OURS, SCIPY], folder, ONCE, judge=Agreement("Z"))
    assert len(started) == 6  # two warm-ups, and two turns each
    assert all(m.fault is None and len(m.seconds) == 2 for m in found.values())
    started.clear()
    monkeypatch.setattr(seats, "free_share", lambda: 0.9)
    measure([OURS, SCIPY], folder, ONCE)
    assert len(started) == 2


def counted(function: Any, calls: list[int]) -> Any:
    def counting(*arguments: Any) -> Any:
        calls.append(len(calls))
        return function(*arguments)

    return counting


def test_process_that_is_killed_beside_others_is_tried_again_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system does for want of memory; guards torch CSR and GraphBLAS, which lost their place that way."""
    monkeypatch.setattr(seats, "free_share", lambda: 0.9)
    alone: list[bool] = []
    with seats.Seats(folder, None) as places:
        places.first(OURS, lambda process, ready: None)

        def work(process: Process, ready: dict[str, Any]) -> str:
            alone.append(list(places._live) == ["scipy"])
            if not alone[-1]:
                process._process.kill()
            return str(process.tell("turn", burst=0.0)["runs"][0]["figures"])

        assert places.first(SCIPY, work) == "{}"
        assert alone == [False, True]
        places._live["scipy"]._process.kill()  # at rest
        assert len(places.turn(SCIPY, 0.0)) == 1
        places.end("scipy")
        with pytest.raises(ContenderError, match="killed by the system, as it does when memory runs out"):
            places.first(
                SCIPY, lambda process, ready: process._process.kill() or process.tell("turn", burst=0.0)
            )


def test_memory_that_is_free_is_a_share_of_all() -> None:
    assert 0 < seats.free_share() <= 1


def test_hopeless_is_only_a_slow_peer_among_peers() -> None:
    def took(name: str, seconds: float, is_peer: bool = True) -> Measurement:
        return Measurement(name, is_peer, 1, [seconds])

    quick, slow, slower = took("quick", 4.0), took("slow", 11.0), took("slower", 13.0)
    ours, moment = took("ours", 100.0, is_peer=False), took("moment", 0.1)
    running = [quick, slow, slower, ours]
    assert [m.name for m in running if _is_hopeless(m, running)] == ["slower"]
    assert not _is_hopeless(
        took("short", 1.9), [moment, took("short", 1.9)]
    )  # too short to be worth skipping


def test_hopeless_contenders_end_at_once() -> None:
    closed: list[str] = []

    class Live:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)

    times = (("slow", 30.0), ("quick", 4.0), ("slow, in a bar", 40.0))
    measured = {name: Measurement(name, True, 1, [took]) for name, took in times}
    going = {name: Contender(name, "nowhere:f", is_barred=name.endswith("bar")) for name in measured}
    places = seats.Seats(Path(), None)
    places._live = {name: Live(name) for name in measured}  # type: ignore[misc]
    _dismiss(measured, going, places)
    assert closed == ["slow"]
    assert list(going) == list(places._live) == ["quick", "slow, in a bar"]
    assert measured["slow"].best == 30.0  # what the table shows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ImportError: /a/b/lib.so: cannot open", "ImportError: lib.so: cannot open"),
        ("C:\\Users\\ann\\x.dll is bad", "x.dll is bad"),
        ("a ratio of 3/4 and no path", "a ratio of 3/4 and no path"),
        ("see 'lib/x.so'", "see 'lib/x.so'"),  # nothing above it is told
    ],
)
def test_paths_are_cut_to_their_last_name(text: str, expected: str) -> None:
    assert without_paths(text) == expected
