"""Seconds and memory to build the graph of documents and words, beside two naive builders.

Builds the graph of R8 with `TextGraphBuilder` and with Python dictionaries over windows: once as TextGCN's public code
keeps its counts (a string for each pair, in both orders), once with `collections.Counter` over pairs of numbers, the
shortest loop there is. Both count windows that hold both words, and both must give the edges that the builder gives.
Then builds the graph of 20NG in a process of its own, for its peak memory, and compares with the naive times of R8
scaled by windows x window^2, which is what their loops visit. Times are processor seconds of one thread, so that other
work on the machine does not count. Needs the corpora in the folder that SGCLEARN_DATA names. Run it with
`python benchmarks/text_graph.py`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations

from sgclearn.tasks.text import TextGraphBuilder, load_corpus

WINDOW = 20


def windows_of(docs: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Every window of every document."""
    for words in docs:
        for start in range(max(1, len(words) - WINDOW + 1)):
            yield words[start : start + WINDOW]


def count_with_strings(windows: list[Sequence[str]], number: dict[str, int]) -> list[tuple[int, int, int]]:
    """A dictionary of strings such as "3,17", each pair in both orders."""
    counts: dict[str, int] = {}
    for window in windows:
        words = sorted(set(window))
        for i in range(1, len(words)):
            for j in range(i):
                one, other = number[words[i]], number[words[j]]
                for pair in (f"{one},{other}", f"{other},{one}"):
                    if pair in counts:
                        counts[pair] += 1
                    else:
                        counts[pair] = 1
    split = ((*map(int, pair.split(",")), count) for pair, count in counts.items())
    return [(one, other, count) for one, other, count in split if one < other]


def count_with_counter(windows: list[Sequence[str]], number: dict[str, int]) -> list[tuple[int, int, int]]:
    """A counter of pairs of numbers, each pair once."""
    counts: Counter[tuple[int, int]] = Counter()
    for window in windows:
        counts.update(combinations(sorted({number[word] for word in window}), 2))
    return [(one, other, count) for (one, other), count in counts.items()]


def naive_edges(
    texts: Sequence[str],
    count: Callable[[list[Sequence[str]], dict[str, int]], list[tuple[int, int, int]]],
) -> int:
    """Number of edges of the graph that a naive builder finds; the weights are worked out as well."""
    from math import log

    docs = [text.split() for text in texts]
    number = {word: i for i, word in enumerate(sorted({word for words in docs for word in words}))}
    windows = list(windows_of(docs))
    holding = Counter(number[word] for window in windows for word in set(window))
    edges = {}
    for one, other, together in count(windows, number):
        if together * len(windows) > holding[one] * holding[other]:
            edges[one, other] = log(together * len(windows) / (holding[one] * holding[other]))
    frequency = Counter(word for words in docs for word in set(words))
    for i, words in enumerate(docs):
        for word, times in Counter(words).items():
            if frequency[word] < len(docs):
                edges[f"document {i}", number[word]] = times * log(len(docs) / frequency[word])
    return len(edges)


def n_windows(texts: Sequence[str]) -> int:
    """How many windows there are."""
    return sum(max(1, len(text.split()) - WINDOW + 1) for text in texts)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Processor seconds, and what the work returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def build(name: str) -> tuple[float, float, int, int, float]:
    """Processor and clock seconds, nodes, edges, and the peak memory of this process in bytes."""
    docs = load_corpus(name).docs
    start = time.perf_counter()
    seconds, text_graph = timed(lambda: TextGraphBuilder(analyzer="whitespace", window=WINDOW).build(docs))
    clock = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return seconds, clock, text_graph.graph.n_nodes, text_graph.graph.n_edges, peak  # type: ignore[attr-defined]


def build_alone(name: str) -> tuple[float, float, int, int, float]:
    """The same in a process of its own, so that its peak memory is that of this graph."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(build, name).result()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--small", default="r8", help="corpus that the naive builders go through (default r8)"
    )
    parser.add_argument("--large", default="20ng", help="corpus that they are scaled to (default 20ng)")
    parser.add_argument(
        "--turns", type=int, default=3, help="builds of the small corpus, best counts (default 3)"
    )
    arguments = parser.parse_args()
    if arguments.turns < 1:
        parser.error("--turns must be 1 or more")
    small, large = load_corpus(arguments.small).docs, load_corpus(arguments.large).docs
    scale = n_windows(large) / n_windows(small)
    ours, _, nodes, edges, _ = min(build_alone(arguments.small) for _ in range(arguments.turns))
    large_ours, clock, large_nodes, large_edges, peak = build_alone(arguments.large)
    print(f"{arguments.small}: {nodes:,} nodes, {edges:,} edges, {n_windows(small):,} windows")
    print(f"  TextGraphBuilder        {ours:8.2f} s")
    print(f"{arguments.large}: {large_nodes:,} nodes, {large_edges:,} edges, {n_windows(large):,} windows")
    print(
        f"  TextGraphBuilder        {large_ours:8.2f} s ({clock:.1f} s by the clock), peak {peak / 1e9:.2f} GB"
    )
    for title, count in (
        ("dictionary, as TextGCN", count_with_strings),
        ("Counter of pairs", count_with_counter),
    ):
        seconds, found = timed(lambda count=count: naive_edges(small, count))  # type: ignore[misc]
        if found != edges:
            raise SystemExit(f"the naive builder found {found:,} edges, and TextGraphBuilder {edges:,}")
        print(
            f"naive, {title:23} {seconds:8.2f} s on {arguments.small}, the same edges: {seconds / ours:.0f} times as "
            f"long; {arguments.large} by its windows {scale * seconds:.0f} s: {scale * seconds / large_ours:.0f} times"
        )


if __name__ == "__main__":
    main()
