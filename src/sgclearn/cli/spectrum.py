"""`sgc spectrum`: what the frequencies of a graph say about hops and filters, before anything is fitted."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import ForceFlag, JsonFlag, with_options
from sgclearn.cli.output import Screen, Stages, counted
from sgclearn.errors import InputError
from sgclearn.tasks.nodes.options import GraphOptions, NodeData
from sgclearn.tasks.options import MODEL, RESULT

if TYPE_CHECKING:
    from sgclearn.graph import Graph
    from sgclearn.spectral import SpectrumSummary

COMMAND = "spectrum"
PICTURES = (".png", ".svg", ".pdf")


def _option(text: str, panel: str) -> Any:
    return typer.Option(help=text, rich_help_panel=panel, show_default=False)


@with_options
def command(
    *,
    data: GraphOptions,
    gamma: Annotated[
        float, _option("Weight of a node itself beside its neighbours; 1 if not given.", MODEL)
    ] = 1.0,
    n_hops: Annotated[int, _option("Hops of SGC in the table of filters; 2 if not given.", MODEL)] = 2,
    plot: Annotated[
        Path | None, _option("Write a figure of the spectrum: a .png, .svg or .pdf file.", RESULT)
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Show the frequencies of a graph, where its features lie among them, and what each filter keeps.

    Low frequencies are what neighbours share, high ones what they differ in; hops keep the low ones. No labels
    are needed, and nothing is fitted.

    \b
    Examples:
      sgc spectrum
      sgc spectrum --edges e.csv --features f.csv --plot spectrum.png
    """
    from sgclearn.spectral import plot_spectrum, summarize_spectrum
    from sgclearn.spectral.summary import default_filters

    screen = Screen(as_json)
    _check_plot(plot, force)
    with screen.progress() as stages:
        name, graph, X = _read(data, stages)
        if graph.directed:
            raise InputError(
                "sgc spectrum must have an undirected graph",
                "a directed one, whose eigenvalues need not be real",
                "add --undirected to take every edge in both directions",
            )
        filters = default_filters(n_hops)
        stages.stage("finding eigenvalues")
        summary = summarize_spectrum(graph, X, gamma=gamma, filters=filters)
        if plot is not None:
            stages.stage("drawing")
            _save(plot_spectrum(graph, X, gamma=gamma, filters=filters), plot)
    features = "no features" if X is None else counted(X.shape[1], "feature")
    nodes, edges = counted(graph.n_nodes, "node"), counted(graph.n_edges, "edge")
    screen.field("Data", f"{name}: {nodes}, {edges}, {features}")
    show_summary(screen, summary)
    if plot is not None:
        screen.field("Figure", str(plot))
    screen.document({"data": name, **summary.to_dict(), "plot": plot})


def show_summary(screen: Screen, summary: SpectrumSummary) -> None:
    """Write the tables and the advice."""
    component = counted(summary.n_largest_component, "node")
    screen.table(
        ("largest eigenvalue of I - S", "value"),
        [
            ("without self-loops", f"{summary.lambda_n:.4f}"),
            (f"  in the largest component ({component})", f"{summary.lambda_n_component:.4f}"),
            (f"with self-loops, gamma {summary.gamma:g}", f"{summary.lambda_n_augmented:.4f}"),
        ],
    )
    what = "random features" if summary.n_features is None else "features"
    rows = [
        (
            f"energy in the low half, up to {summary.middle:.3f}",
            f"{summary.low_half:.1%}",
            f"{summary.low_half_random:.1%}",
        ),
        (
            "mean frequency (Dirichlet energy)",
            f"{summary.mean_frequency:.4f}",
            f"{summary.mean_frequency_random:.4f}",
        ),
    ]
    if summary.n_features is None:
        screen.table(("smoothness", "random features"), [(row[0], row[2]) for row in rows])
    else:
        screen.table(("smoothness", "features", "random features"), rows)
    screen.table(
        (f"energy of the {what} that a filter keeps", "in all", "low half", "high half", "mean frequency"),
        [
            (
                effect.name,
                f"{effect.kept:.1%}" + (f" +- {effect.kept_error:.1%}" if effect.kept_error else ""),
                f"{effect.kept_low:.1%}",
                f"{effect.kept_high:.1%}",
                f"{effect.mean_frequency:.4f}",
            )
            for effect in summary.filters
        ],
    )
    screen.line()
    if not summary.is_exact:
        screen.field("Note", "shares of energy are estimates from the density of the spectrum")
    for position, advice in enumerate(summary.advice):
        screen.field("Advice" if position == 0 else "", advice.text)
    if not summary.advice:
        screen.field("Advice", "none: nothing in this spectrum speaks against the defaults")


def _read(data: GraphOptions, stages: Stages) -> tuple[str, Graph, Any]:
    """Name, graph and features that the options ask for; the embedded graph if they name nothing."""
    from sgclearn.tasks.nodes.reading import features_of, graph_of, read_nodes

    given = {field.name: getattr(data, field.name) for field in fields(GraphOptions)}
    options = NodeData(**given)
    if data.dataset is not None or (data.edges is None and data.features is None):
        samples = read_nodes(options, stages.stage)
        return samples.name, samples.graph, samples.X
    if data.edges is None:
        raise InputError("--edges is needed beside --features", "none", "name the file of the edges")
    if data.data_dir is not None:
        raise InputError("--data-dir goes with --dataset", "it with files of your own", "leave it out")
    features = None
    if data.features is not None:
        stages.stage(f"reading {data.features.name}")
        features = features_of(options, data.features)
    elif unused := [name for name in ("impute", "max_categories", "id_column") if given[name] is not None]:
        raise InputError(
            f"--{unused[0].replace('_', '-')} goes with --features", "it without", "leave one of them out"
        )
    graph = graph_of(options, data.edges, features, stages.stage)
    return data.edges.name, graph, None if features is None else features.align(graph)


def _check_plot(plot: Path | None, force: bool) -> None:
    if plot is None:
        return
    if plot.suffix.lower() not in PICTURES:
        raise InputError(f"--plot must end in {', '.join(PICTURES)}", f"{plot}", "choose one of them")
    if plot.exists() and not force:
        raise InputError(
            "--plot must be a new file", f"{plot}, which exists", "choose another or add --force"
        )


def _save(figure: Any, path: Path) -> None:
    from sgclearn.files import replacing

    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150)
