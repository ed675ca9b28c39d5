"""Advice that follows from a spectrum, one sentence a piece; each is backed by a test of what it claims."""

from __future__ import annotations

from dataclasses import dataclass

# Share of the edge weight between two sides from which odd powers are mostly a change of sign.
NEARLY_BIPARTITE = 0.9
# Mean frequency of the features over that of random ones. The real graphs that hops were seen to help on lie
# between 0.72 and 0.92, and random features at 1.
NOT_SMOOTH = 0.95
# Share of the nodes with edges in one component from which the others are not worth a word.
CONNECTED = 0.95


@dataclass(frozen=True)
class Advice:
    """A word for the topic, and one sentence."""

    topic: str
    text: str


def advise(
    *,
    n_nodes: int,
    n_components: int,
    n_parts: int,
    n_largest_component: int,
    n_isolated: int,
    gamma: float,
    cut_share: float,
    n_features: int | None,
    mean_frequency: float,
    mean_frequency_random: float,
) -> tuple[Advice, ...]:
    """Advice for a graph with these numbers, which are those of `SpectrumSummary`."""
    advice = []
    if cut_share >= NEARLY_BIPARTITE:
        kind = "bipartite" if cut_share == 1 else "nearly bipartite"
        advice.append(
            Advice(
                "bipartite",
                f"This graph is {kind} ({cut_share:.0%} of the edge weight in its largest component joins two "
                "sides): odd powers without self-loops flip signs, so take an even number of hops, or self-loops "
                "as heavy as the degrees (gamma about the median degree).",
            )
        )
    if n_features is not None and mean_frequency >= NOT_SMOOTH * mean_frequency_random > 0:
        advice.append(
            Advice(
                "not smooth",
                f"The features are not smooth on this graph (mean frequency {mean_frequency:.2f}, random "
                f"features {mean_frequency_random:.2f}): fewer hops may serve better, so compare "
                "with 0 hops, and with rw if the columns have a common offset.",
            )
        )
    n_joined = n_nodes - (n_components - n_parts)
    if n_parts > 1 and n_largest_component < CONNECTED * n_joined:
        advice.append(
            Advice(
                "disconnected",
                f"The graph falls into {n_parts:,} parts of two nodes or more, the largest with "
                f"{n_largest_component / n_joined:.0%} of their nodes: nothing passes from one to another, so "
                "see that each part that matters has labels or features of its own.",
            )
        )
    if n_isolated:
        fate = "kept unchanged, hop after hop" if gamma > 0 else "lost at the first hop"
        advice.append(
            Advice(
                "isolated",
                f"{n_isolated:,} of {n_nodes:,} nodes have no edge: with gamma={gamma:g} their features are "
                f"{fate}, and the graph tells nothing about them.",
            )
        )
    return tuple(advice)
