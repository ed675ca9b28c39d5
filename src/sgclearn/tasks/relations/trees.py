"""Dependency trees as one block-diagonal graph, and the path between two entities in each."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.graph import Graph

Positions = NDArray[np.intp]


class Forest:
    """m trees over n tokens, with a subject and an object in each.

    Parameters
    ----------
    parents : integer array (n,)
        Parent of every token, -1 at a root.
    starts : integer array (m + 1,)
        Where the tokens of each tree begin.
    subjects, objects : integer array (m, 2)
        First token of the entity, and the one behind its last.

    Examples
    --------
    The tree of "the rain caused heavy floods", with the entities "rain" and "floods".

    >>> forest = Forest(np.array([1, 2, -1, 4, 2]), np.array([0, 5]), np.array([[1, 2]]), np.array([[4, 5]]))
    >>> forest.path.tolist(), forest.ancestors.tolist()
    ([False, True, True, False, True], [2])
    >>> forest.distance.tolist()
    [1, 0, 0, 1, 0]
    """

    def __init__(
        self, parents: Positions, starts: Positions, subjects: Positions, objects: Positions
    ) -> None:
        self.parents, self.starts = parents, starts
        self.subjects, self.objects = subjects, objects
        self.n_trees, self.n_tokens = len(starts) - 1, len(parents)
        self.tree_of = np.repeat(np.arange(self.n_trees), np.diff(starts))

    @cached_property
    def graph(self) -> Graph:
        """The trees as one undirected graph: A is block-diagonal, one block a sentence."""
        child = np.flatnonzero(self.parents >= 0)
        return Graph.from_edges(child, self.parents[child], n_nodes=self.n_tokens)

    @cached_property
    def depth(self) -> Positions:
        """Steps from every token to its root."""
        depth = np.zeros(self.n_tokens, dtype=np.intp)
        above = self.parents.copy()
        while (climbing := above >= 0).any():
            depth[climbing] += 1
            above[climbing] = self.parents[above[climbing]]
        return depth

    def _levels(self) -> list[Positions]:
        """Tokens with a parent, by depth, the deepest first."""
        order = np.argsort(-self.depth, kind="stable")
        cuts = np.flatnonzero(np.diff(self.depth[order])) + 1
        return [level for level in np.split(order, cuts) if len(level) and self.depth[level[0]] > 0]

    def spans(self, bounds: Positions) -> NDArray[np.bool_]:
        """Which tokens lie within `[first, stop)` of their tree (n,)."""
        edges = np.zeros(self.n_tokens + 1, dtype=np.intp)
        np.add.at(edges, bounds[:, 0], 1)
        np.add.at(edges, bounds[:, 1], -1)
        return np.cumsum(edges[:-1]) > 0

    @cached_property
    def _below(self) -> tuple[Positions, Positions]:
        """Subject tokens and object tokens in the subtree of every token, itself included."""
        counts = np.stack([self.spans(self.subjects), self.spans(self.objects)], axis=1).astype(np.intp)
        for level in self._levels():
            np.add.at(counts, self.parents[level], counts[level])
        return counts[:, 0], counts[:, 1]

    @cached_property
    def ancestors(self) -> Positions:
        """Lowest common ancestor of all entity tokens of each tree (m,)."""
        n_subject, n_object = self._below
        sizes = np.diff(self.subjects, axis=1).ravel() + np.diff(self.objects, axis=1).ravel()
        common = np.flatnonzero(n_subject + n_object == sizes[self.tree_of])
        lowest = np.lexsort((self.depth[common], self.tree_of[common]))
        last = np.append(np.flatnonzero(np.diff(self.tree_of[common][lowest])), len(common) - 1)
        return np.asarray(common[lowest][last])

    @cached_property
    def path(self) -> NDArray[np.bool_]:
        """Tokens on the shortest paths between the entities' tokens and their lowest common ancestor (n,)."""
        n_subject, n_object = self._below
        on_path = (n_subject + n_object > 0) & (self.depth > self.depth[self.ancestors][self.tree_of])
        on_path[self.ancestors] = True
        return np.asarray(on_path)

    @cached_property
    def distance(self) -> Positions:
        """Steps from every token down from the path; n for a token that no path token is above of."""
        far = np.full(self.n_tokens, self.n_tokens, dtype=np.intp)
        far[self.path] = 0
        for level in reversed(self._levels()):
            open_tokens = level[far[level] > 0]
            far[open_tokens] = np.minimum(far[self.parents[open_tokens]] + 1, self.n_tokens)
        return far

    @cached_property
    def subject_heads(self) -> Positions:
        """Highest token of each subject, the first of several (m,)."""
        return self._heads(self.subjects)

    @cached_property
    def object_heads(self) -> Positions:
        """Highest token of each object, the first of several (m,)."""
        return self._heads(self.objects)

    def _heads(self, bounds: Positions) -> Positions:
        inside = np.flatnonzero(self.spans(bounds))
        order = np.lexsort((inside, self.depth[inside], self.tree_of[inside]))
        trees = self.tree_of[inside][order]
        first = np.concatenate([[0], np.flatnonzero(np.diff(trees)) + 1])
        return np.asarray(inside[order][first])

    def readout(self, tokens: NDArray[np.bool_]) -> Any:
        """`P` (m, n) that takes the mean over the marked tokens of each tree; an empty row where none is marked."""
        which = np.flatnonzero(tokens)
        trees = self.tree_of[which]
        counts = np.bincount(trees, minlength=self.n_trees)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return sp.csr_array((1.0 / counts[trees], which, indptr), shape=(self.n_trees, self.n_tokens))
