"""The long run: mutated files into every reader, odd values into every public call.

    python -m fuzz.campaign --files 20000 --calls 2000 --seed 5

Each case runs in a forked child under a limit of time and memory. The summary gives the number of cases and every
distinct failure, by what was raised and the innermost frame of the library; the smallest reproducer of each is kept in
the folder `--out`. The same seed gives the same cases.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pickle
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # before numpy: a thread of the parent would not survive the fork
os.environ.setdefault("SGCLEARN_CACHE", "/nonexistent")

from fuzz.corpus import Bundle, make_corpus
from fuzz.mutate import mutate_bundle
from fuzz.targets import READERS, run_file
from fuzz.verdict import Outcome
from fuzz.workers import SANITIZED, Worker, import_everything, in_child


@dataclass
class Tally:
    """Cases by how they ended, and the smallest reproducer of every distinct failure."""

    cases: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    failures: dict[tuple[str, str, str], tuple[int, int, Any, Outcome]] = field(default_factory=dict)
    slowest: float = 0.0
    largest: float = 0.0

    @property
    def n_distinct(self) -> int:
        """Distinct failures, the blunt ones left out."""
        return sum(outcome.failed for *_, outcome in self.failures.values())

    def add(self, group: str, case: Any, size: int, outcome: Outcome) -> bool:
        """Count a case; True if its failure is new."""
        self.cases += 1
        self.ended[outcome.status] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        self.largest = max(self.largest, outcome.megabytes)
        if outcome.status in ("returned", "refused"):
            return False
        key = (group if not outcome.place else "", *outcome.key)
        known = self.failures.get(key)
        count = 1 if known is None else known[0] + 1
        if known is None or size < known[1]:
            self.failures[key] = (count, size, (group, case), outcome)
        else:
            self.failures[key] = (count, *known[1:])
        return known is None


def fuzz_files(
    n_cases: int, seed: int, *, only: str | None = None, until: float = float("inf"), verbose: bool = False
) -> Tally:
    """Mutated files, the readers in turn."""
    tally = Tally()
    corpus: dict[str, list[Bundle]] = in_child(make_corpus)
    names = [name for name in READERS if only is None or name.startswith(only)]
    # A case of these is a whole command, twenty times as slow as a reader alone.
    weights = [0.15 if "run" in name else 1.0 for name in names]
    order = random.Random(seed)

    def mutant(case: tuple[str, str]) -> tuple[tuple[str, Bundle], int]:
        name, draw = case
        rng = random.Random(draw)
        bundle, changed = mutate_bundle(rng, rng.choice(corpus[name]), corpus[name])
        return (name, bundle), len(bundle.get(changed, b""))

    with Worker(run_file, strict=True, prepare=mutant) as worker:
        for number in range(n_cases):
            if time.monotonic() > until:
                break
            name = order.choices(names, weights)[0]
            outcome = worker((name, f"{seed} {number}"))
            if outcome.status in ("returned", "refused"):
                tally.add(name, None, 0, outcome)
                continue
            (_, bundle), size = in_child(lambda: mutant((name, f"{seed} {number}")))  # noqa: B023
            if tally.add(name, bundle, size, outcome) and verbose:
                print(
                    f"  {number}: {name}: {outcome} ({outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB)",
                    flush=True,
                )
    return tally


def fuzz_calls(
    n_cases: int, seed: int, *, only: str | None = None, until: float = float("inf"), verbose: bool = False
) -> Tally:
    """Odd values into the public callables."""
    from fuzz.calls import names_of_calls, run_call

    tally = Tally()
    names = [name for name in in_child(names_of_calls) if only is None or only in name]
    # What most people call gets most of the calls.
    weights = [6.0 if ".fit" in name else 3.0 if name.startswith(":") else 1.0 for name in names]
    order = random.Random(seed)
    with Worker(run_call, strict=False) as worker:
        for number in range(n_cases):
            if time.monotonic() > until:
                break
            name = names[number] if number < len(names) else order.choices(names, weights)[0]
            outcome = worker((name, f"{seed} {number}"))
            if (
                tally.add(name, (name, f"{seed} {number}", outcome.label), len(outcome.label), outcome)
                and verbose
            ):
                print(f"  {number}: {outcome.label[:160] or name}: {outcome}", flush=True)
    return tally


def report(title: str, tally: Tally, seconds: float, out: Path | None) -> None:
    """Print the figures and, where there is a folder, keep the reproducers."""
    print(
        f"{title}: {tally.cases:,} cases in {seconds:.0f} s: "
        + ", ".join(f"{count:,} {status}" for status, count in sorted(tally.ended.items()))
        + f"; slowest {tally.slowest:.1f} s, largest {tally.largest:.0f} MB"
    )
    print(f"{tally.n_distinct} distinct failures")
    ordered = sorted(
        tally.failures.values(), key=lambda held: (not held[3].failed, held[3].kind, held[3].place)
    )
    for number, (count, size, (group, case), outcome) in enumerate(ordered):
        mark = "" if outcome.failed else "(blunt) "
        where = f"{outcome.place or '?'} ({group}, {count} cases, smallest {size} bytes)"
        print(f"- {mark}{outcome.kind} at {where}: {outcome.message[:160]}")
        if out is not None:
            keep(out / f"{title}-{number:03d}", group, case, outcome)


def keep(folder: Path, group: str, case: Any, outcome: Outcome) -> None:
    """Write a reproducer: the files, or the pickled call, and what happened."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"group": group, "kind": outcome.kind, "place": outcome.place, "message": outcome.message,
             "seconds": outcome.seconds, "megabytes": outcome.megabytes, "label": outcome.label,
             "status": outcome.status, "trace": outcome.trace}  # fmt: skip
    if isinstance(case, dict):
        for name, content in case.items():
            path = folder / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    else:
        facts["call"] = case
    (folder / "facts.json").write_text(json.dumps(facts, indent=1, default=repr))
    (folder / "case.pickle").write_bytes(pickle.dumps((group, case)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz.campaign", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--files", type=int, default=20_000, help="mutated files")
    parser.add_argument("--calls", type=int, default=2_000, help="calls of the public interface")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop each part after so many seconds"
    )
    parser.add_argument(
        "--seed", type=int, default=None, help="of the mutations; drawn and printed if not given"
    )
    parser.add_argument("--only", default=None, help="start of the name of a reader or callable")
    parser.add_argument("--out", type=Path, default=None, help="folder for the reproducers")
    parser.add_argument("--verbose", action="store_true", help="show each new failure when it is found")
    chosen = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    import_everything()
    if SANITIZED:
        importlib.import_module("sanitized_kernel")
    failures = 0
    for title, run, count in (("files", fuzz_files, chosen.files), ("calls", fuzz_calls, chosen.calls)):
        if count == 0:
            continue
        started = time.monotonic()
        tally = run(count, seed, only=chosen.only, until=started + chosen.seconds, verbose=chosen.verbose)
        report(title, tally, time.monotonic() - started, chosen.out)
        failures += tally.n_distinct
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
