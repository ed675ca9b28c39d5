"""The peers' environment, with pip replaced: nothing is installed here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sgclearn.bench import environment
from sgclearn.bench.environment import PEERS, RECORD, constraints, default_folder, peer_environment
from sgclearn.errors import InputError


class Commands(list[list[str]]):
    """What would have been run; a command that names a package of `refused` fails."""

    refused: tuple[str, ...] = ()

    def __call__(self, command: Sequence[str]) -> str | None:
        self.append(list(command))
        if "venv" in command:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True, exist_ok=True)
            python.touch()
        return "no such version" if set(command) & set(self.refused) else None


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    recorded = Commands()
    monkeypatch.setattr(environment, "_run", recorded)
    monkeypatch.setattr("sgclearn.bench.environment.os.name", "posix")
    return recorded


def test_environment_is_made_once(tmp_path: Path, commands: Commands) -> None:
    steps: list[tuple[int, int]] = []
    made = peer_environment(tmp_path / "peers", lambda *step: steps.append(step))
    assert made.missing == {}
    assert len(commands) == 1 + len(PEERS)
    assert steps[-1] == (len(PEERS), len(PEERS))
    installed = [word for command in commands[1:] for word in command]
    for packages in PEERS:
        assert set(packages) <= set(installed)
    assert not [word for word in installed if "://" in word]  # pip looks where it is configured to
    again = peer_environment(tmp_path / "peers")
    assert again == made
    assert len(commands) == 1 + len(PEERS)


def test_environment_reports_what_cannot_be_installed_and_tries_it_again(
    tmp_path: Path, commands: Commands
) -> None:
    commands.refused = ("python-graphblas", "mkl")
    made = peer_environment(tmp_path / "peers")
    assert made.missing == dict.fromkeys(("mkl", "sparse_dot_mkl", "python-graphblas"), "no such version")
    assert json.loads((tmp_path / "peers" / RECORD).read_text())["missing"] == made.missing
    commands.refused = ()
    assert peer_environment(tmp_path / "peers").missing == {}


def test_environment_is_filled_again_for_other_versions(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer_environment(tmp_path / "peers")
    monkeypatch.setattr(environment, "constraints", lambda: "torch==9\n")
    peer_environment(tmp_path / "peers")
    assert len(commands) == 1 + 2 * len(PEERS)
    assert (tmp_path / "peers" / "constraints.txt").read_text() == "torch==9\n"


def test_environment_leaves_a_folder_of_something_else_alone(tmp_path: Path, commands: Commands) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="which holds something else; name a new one"):
        peer_environment(tmp_path)
    assert commands == []


def test_environment_without_ensurepip_gets_pip_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def run(command: Sequence[str]) -> str | None:
        seen.append(list(command))
        (tmp_path / "peers").mkdir(exist_ok=True)
        return "ensurepip is not available" if len(seen) == 1 else None

    monkeypatch.setattr(environment, "_run", run)
    peer_environment(tmp_path / "peers")
    assert "--without-pip" in seen[1]
    assert seen[2][-2:] == ["install", "pip"]


def test_environment_that_cannot_be_made_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_run", lambda command: "disk full")
    with pytest.raises(InputError, match="could not be made: disk full"):
        peer_environment(tmp_path / "peers")


def test_commands_that_fail_give_their_last_line() -> None:
    import sys

    assert environment._run([sys.executable, "-c", ""]) is None
    wrong = "import sys; sys.exit('first\\nthe  reason')"
    assert environment._run([sys.executable, "-c", wrong]) == "the reason"
    assert environment._run([sys.executable, "-c", "import sys; sys.exit(4)"]) == "exit code 4"


def test_constraints_pin_every_peer() -> None:
    pinned = {line.split("==")[0] for line in constraints().splitlines() if "==" in line}
    assert {package for packages in PEERS for package in packages} <= pinned


def test_environment_is_in_the_cache_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert default_folder() == Path("cache/sgclearn/bench-peers")
