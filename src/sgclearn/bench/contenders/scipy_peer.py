"""scipy: one sparse product a hop. Its products use one thread, whatever they are given."""

from __future__ import annotations

from .problem import Answer, Problem, Run, normalized


def propagation(problem: Problem) -> Run:
    """`S @ (S @ X)` with the values of S ready."""
    S, X = normalized(problem.adjacency()), problem.X

    def run() -> Answer:
        Z = X
        for _ in range(problem.n_hops):
            Z = S @ Z
        return Answer({"Z": Z})

    return run
