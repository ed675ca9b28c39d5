"""`sgc tune`: which number of hops, weight decay and propagation matrix do best on held-out labels."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sgclearn.cli.options import ForceFlag, JsonFlag, with_options
from sgclearn.cli.output import Screen, check_new_file
from sgclearn.cli.task_commands import show_samples
from sgclearn.errors import InputError
from sgclearn.runs.documents import write_json
from sgclearn.tasks.nodes.options import NodeData
from sgclearn.tasks.options import MODEL, RESULT, FitOptions

if TYPE_CHECKING:
    from sgclearn.tasks.driver import Tuned

COMMAND = "tune"
SEARCH = "Search"
MOST_HOPS = 1000  # numbers to try
LARGEST_HOPS = 10_000  # of a model that can be saved
T = TypeVar("T")


class Search(StrEnum):
    """How settings are tried."""

    path, tpe = "path", "tpe"


class Scoring(StrEnum):
    """What the best setting is best at."""

    accuracy, macro_f1, log_loss = "accuracy", "macro_f1", "log_loss"


@with_options
def command(
    *,
    data: NodeData,
    n_hops: Annotated[
        str, typer.Option(help="Hops to try, as 0,1,2 or 0-10.", rich_help_panel=SEARCH)
    ] = "0-10",
    weight_decay: Annotated[
        str | None,
        typer.Option(
            help="Weight decays to try, as 1e-5,1e-4; with tpe the bounds of the search. If not given, 25 "
            "from 1e-8 to 1 (tpe: 1e-10 to 1e-4).",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    normalization: Annotated[
        str, typer.Option(help="Propagation matrices to try, as sym,rw,cheby.", rich_help_panel=MODEL)
    ] = "sym",
    gamma: Annotated[
        str | None,
        typer.Option(
            help="Weights of the node itself to try, as 0,1.", rich_help_panel=MODEL, show_default=False
        ),
    ] = None,
    how: FitOptions,
    search: Annotated[
        Search,
        typer.Option(
            help="path: every setting. tpe: the paper's random search (needs the extra tune).",
            rich_help_panel=SEARCH,
        ),
    ] = Search.path,
    trials: Annotated[
        int | None,
        typer.Option(help="Trials of tpe; 60 if not given.", rich_help_panel=SEARCH, show_default=False),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            help="Folds of the training labels, where there are no validation labels; 5 if not given.",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    scoring: Annotated[
        Scoring, typer.Option(help="What the best setting is best at.", rich_help_panel=SEARCH)
    ] = Scoring.accuracy,
    out: Annotated[
        Path | None,
        typer.Option(
            help="JSON file for every trial and the best setting.", rich_help_panel=RESULT, show_default=False
        ),
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Find the best number of hops and weight decay.

    Settings are compared on the validation labels, or in folds of the training labels. Test labels are never
    used to choose; the accuracy on them is shown for the best setting alone.

    \b
    Examples:
      sgc tune
      sgc tune --edges e.csv --features f.csv --labels l.csv --n-hops 0-4
      sgc tune --dataset cora --normalization sym,rw --gamma 0,1
    """
    from sgclearn.tasks import driver
    from sgclearn.tasks.candidates import Search
    from sgclearn.tasks.nodes.task import Nodes

    task, screen = Nodes(), Screen(as_json)
    check_new_file(out, force)
    wanted = Search(
        hops_of(n_hops),
        _listed("--weight-decay", weight_decay, float),
        _listed("--normalization", normalization, str),
        _listed("--gamma", gamma, float),
        search.value,
        trials,
        cv,
        scoring.value,
    )
    with screen.progress() as stages:
        samples = driver.read(task, data, on_stage=stages.stage)
    candidate = task.search(samples, wanted, how)
    show_samples(screen, samples, task.remarks(samples, how))
    with screen.progress() as stages:
        tuned = driver.tune(task, samples, candidate, on_stage=stages.stage)
    if out is not None:
        write_json(out, tuned.document)
    _show(screen, tuned, scoring.value, out)
    screen.document(tuned.document)


def hops_of(text: str) -> list[int]:
    """Numbers of hops from `0,1,2`, `0-10`, or both."""
    hops: list[int] = []
    for part in text.split(","):
        between = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", part)
        if between:
            first, last = int(between.group(1)), int(between.group(2))
            if first > last:
                raise InputError("--n-hops must go from few to many, as 0-10", repr(part.strip()))
            _check_amount(text, len(hops) + last - first + 1)
            hops += range(first, last + 1)
        else:
            hops += _listed("--n-hops", part, int) or []
    _check_amount(text, len(hops))
    if min(hops) < 0:
        raise InputError("--n-hops must be whole numbers >= 0", f"{min(hops)}", "name them as 0,1,2 or 0-10")
    if max(hops) > LARGEST_HOPS:
        raise InputError(f"--n-hops must be at most {LARGEST_HOPS}", f"{max(hops)}", "the usual are 0-10")
    return hops


def _check_amount(text: str, count: int) -> None:
    if count > MOST_HOPS:
        raise InputError(
            f"--n-hops must name at most {MOST_HOPS} numbers of hops",
            f"{text!r}, which is {count:,}",
            "name fewer",
        )


def _listed(option: str, text: str | None, kind: Callable[[str], T]) -> list[T] | None:
    if text is None:
        return None
    try:
        return [kind(part.strip()) for part in text.split(",")]
    except ValueError:
        example = "0,1,2" if kind is int else "1e-5,1e-4"
        raise InputError(
            f"{option} must be numbers with commas between them, as {example}", repr(text)
        ) from None


def _gamma(trial: dict[str, Any]) -> str:
    """Weight of a node itself as it was used; the Chebyshev matrix has none."""
    if trial["normalization"] == "cheby":
        return "-"
    return "1" if trial["gamma"] is None else f"{trial['gamma']:g}"


def _rank(trial: dict[str, Any]) -> tuple[float, float, float]:
    """As the search itself decides between equal scores."""
    return (-trial["score"], trial["log_loss"], -trial["weight_decay"])


def _show(screen: Screen, tuned: Tuned, scoring: str, out: Path | None) -> None:
    document = tuned.document
    trials = document["trials"]
    best_of = [
        min((trial for trial in trials if trial["n_hops"] == hops), key=_rank)
        for hops in sorted({trial["n_hops"] for trial in trials})
    ]
    rows = []
    for trial in best_of:
        is_best = trial["n_hops"] == document["best"]["n_hops"]
        gamma = _gamma(trial)
        settings = (trial["normalization"], gamma, f"{trial['weight_decay']:.3g}")
        spread = f"{trial['score_std']:.3f}" if trial["score_std"] else "-"
        mark = "best" if is_best else ""
        rows.append((str(trial["n_hops"]), *settings, f"{trial['score']:.3f}", spread, mark))
    name = scoring.replace("_", "-")
    header = ("hops", "matrix", "gamma", "weight decay", f"{name} (held out)", "spread", "")
    screen.table(header, rows, left=2)
    screen.line()
    best, scores = document["best"], document["test"]
    more = "" if best["gamma"] is None else f" --gamma {best['gamma']:g}"
    more += "" if best["row_norm"] is None else f" --row-norm {best['row_norm']}"
    if scores is not None:
        screen.field(
            "Test",
            "accuracy {value:.3f} (95 % interval {low:.3f} to {high:.3f})".format(**scores["accuracy"]),
        )
    screen.field(
        "Best",
        f"--n-hops {best['n_hops']} --weight-decay {best['weight_decay']:.3g} "
        f"--normalization {best['normalization']}{more}",
    )
    if out is not None:
        screen.field("Written", str(out))
