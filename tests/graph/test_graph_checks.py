"""Rows that come from outside: the native check and the plain one must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgclearn import Graph
from sgclearn.errors import InputError
from sgclearn.graph import build


def verdict(indptr, indices, directed):
    try:
        return Graph(indptr, indices, directed=directed).looped_nodes.tolist()
    except InputError as error:
        return str(error)


@settings(max_examples=150)
@given(st.data())
def test_native_and_plain_checks_of_rows_agree(data):
    n = data.draw(st.integers(1, 5))
    A = np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    if data.draw(st.booleans()):
        A |= A.T
    indptr = np.append(0, A.sum(axis=1).cumsum()).astype(data.draw(st.sampled_from([np.int32, np.int64])))
    indices = np.nonzero(A)[1].astype(indptr.dtype)
    if len(indices) and data.draw(st.booleans()):
        indices[data.draw(st.integers(0, len(indices) - 1))] = data.draw(st.integers(-1, n))
    directed = data.draw(st.booleans())
    fast = verdict(indptr, indices, directed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "load_kernel", lambda: None)
        assert verdict(indptr, indices, directed) == fast


def test_graph_keeps_its_own_rows():
    indptr, indices = np.array([0, 1, 2], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    graph = Graph(indptr, indices)
    indices[0] = 0
    assert graph.indices.tolist() == [1, 0]
