"""From letters of cases to JSON; a case that is done, whole and with this code, is not done again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sgclearn.bench.cases import CASES
from sgclearn.bench.cases.case import Bench, Case
from sgclearn.bench.fingerprint import code_fingerprint
from sgclearn.bench.machine import describe_machine
from sgclearn.bench.rounds import OnTurn, Rounds
from sgclearn.errors import InputError
from sgclearn.files import replacing
from sgclearn.version import __version__

FORMAT = 2
QUICK_ROUNDS = Rounds(repeat=1, burst=0.0, pause=0.0)


@dataclass(frozen=True)
class BenchSettings:
    """What to run and how.

    out : folder of the results, made if it is not there.
    quick : small problems, one round: to see that everything runs.
    repeat : rounds after the warm-up, one where it is quick; the best counts.
    threads : for every contender.
    peers_python : of the peers' environment; None leaves them out.
    data_dir : where the real graphs are; None is SGCLEARN_DATA.
    scratch : where the arrays are handed over; None is the system's place for temporary files.
    force : run cases again that are done.
    keep : do not run cases again that are done but with another code, or without somebody; their tables say so.
    """

    out: Path
    quick: bool = False
    repeat: int = 5
    threads: int = 2
    peers_python: Path | None = None
    data_dir: Path | None = None
    scratch: Path | None = None
    force: bool = False
    keep: bool = False

    @property
    def rounds(self) -> Rounds:
        """How each case measures."""
        return QUICK_ROUNDS if self.quick else Rounds(repeat=self.repeat)

    @property
    def mark(self) -> dict[str, Any]:
        """What was asked for: another mark, and the case is run again."""
        return {
            "format": FORMAT,
            "quick": self.quick,
            "repeat": self.rounds.repeat,
            "threads": self.threads,
            "peers": self.peers_python is not None,
        }


OnCase = Callable[[Case, bool, str | None], OnTurn | None]


def run_cases(
    letters: Iterable[str], settings: BenchSettings, on_case: OnCase | None = None
) -> dict[str, dict[str, Any]]:
    """Run cases one after the other, each kept as a file as soon as it is done.

    Parameters
    ----------
    letters : iterable of str
        Of `CASES`.
    settings : BenchSettings
    on_case : callable, optional
        Called as `f(case, is_done, flaw)` before each, with what is wrong with a result that was kept; may give what
        is called as `g(whose, done, of)` at every turn.

    Returns
    -------
    dict of the documents, by letter
    """
    wanted = [check_letter(letter) for letter in letters]
    settings.out.mkdir(parents=True, exist_ok=True)
    documents = {}
    for case in wanted:
        path = settings.out / document_name(case.letter, settings.quick)
        kept = None if settings.force else read_document(path)
        if kept is not None and kept["mark"] != settings.mark:
            kept = None  # an answer to another question
        flaw = None if kept is None else flaw_of(kept)
        is_done = kept is not None and (flaw is None or settings.keep)
        on_turn = None if on_case is None else on_case(case, is_done, flaw)
        if kept is not None and is_done:
            documents[case.letter] = kept
            continue
        documents[case.letter] = document = _run(case, settings, on_turn)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return documents


def check_letter(letter: str) -> Case:
    """The case of a letter, or an error that lists them."""
    if letter not in CASES:
        raise InputError(f"a case must be one of {', '.join(CASES)}", repr(letter))
    return CASES[letter]


def flaw_of(document: dict[str, Any]) -> str | None:
    """Why a result that was kept is not as good as a new one, in words; None if it is."""
    if document["code"] != code_fingerprint():
        return "was measured with an earlier version of the code"
    if document["skipped"]:
        return f"lacks {', '.join(document['skipped'])}"
    contenders = [c for part in document["parts"] for c in part["contenders"]]
    wanted = [c for c in contenders if document["mark"]["peers"] or not c["is_missing"]]
    failed = dict.fromkeys(c["name"] for c in wanted if c["fault"] is not None)
    return f"lacks {', '.join(failed)}" if failed else None


def read_document(path: Path) -> dict[str, Any] | None:
    """A result that was kept; None if there is none that can be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return document if document["mark"]["format"] == FORMAT else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def document_name(letter: str, quick: bool = False) -> str:
    """File of a case; quick runs have their own, so that they never replace a measurement."""
    return f"case-{letter}-quick.json" if quick else f"case-{letter}.json"


def read_documents(folder: Path, quick: bool = False) -> dict[str, dict[str, Any]]:
    """Every result in a folder, by letter."""
    found = {letter: read_document(folder / document_name(letter, quick)) for letter in CASES}
    return {letter: document for letter, document in found.items() if document is not None}


def _run(case: Case, settings: BenchSettings, on_turn: OnTurn | None) -> dict[str, Any]:
    bench = Bench(
        quick=settings.quick,
        threads=settings.threads,
        rounds=settings.rounds,
        peers_python=settings.peers_python,
        data_dir=settings.data_dir,
        scratch=settings.scratch,
        on_turn=on_turn,
    )
    code, day, load = code_fingerprint(), datetime.now(UTC).date().isoformat(), _load()
    outcome = case.run(bench)
    return {
        "case": case.letter,
        "title": case.title,
        "about": case.about,
        "mark": settings.mark,
        "sgclearn": __version__,
        "code": code,
        "day": day,
        "machine": describe_machine(),
        "load_before": load,
        "load_after": _load(),
        **outcome.to_dict(),
    }


def _load() -> float | None:
    """Processes that wanted to run in the last minute, on average, where the system counts them."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
