"""Input that cannot be propagated is refused: what was expected, what was given, what to do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Compute, Graph, propagate
from sgclearn.errors import InputError, InputTypeError
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.propagation.readout import Readout

from zoo import ZOO


@pytest.mark.parametrize("n_hops", [-1, 1.5, True, "2", None, np.float64(2.0), [2]])
def test_n_hops_other_than_whole_numbers_from_zero_are_refused(n_hops):
    with pytest.raises(InputError, match=r"n_hops must be a whole number >= 0: got .*2 the default"):
        propagate(np.ones((2, 1)), ZOO["one-edge"], n_hops)


def test_n_hops_may_be_a_numpy_integer():
    assert check_n_hops(np.int32(3)) == 3
    assert type(check_n_hops(np.int32(3))) is int


def test_wrong_number_of_rows_is_refused_with_both_numbers_and_the_rule():
    graph = Graph.from_edges([(0, 2707)])
    with pytest.raises(InputError) as caught:
        propagate(np.ones((2485, 1)), graph)
    assert str(caught.value) == (
        "graph must have one node per row of X: got 2708 nodes and 2485 rows. "
        "Inside cross-validation, propagate first and split after."
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_features_that_are_not_finite_are_refused(bad, dtype):
    X = np.ones((2, 2), dtype=dtype)
    X[1, 0] = bad
    forms = [X] if dtype == np.float16 else [X, sparse.csr_array(X)]
    for form in forms:
        with pytest.raises(InputError, match=r"X must be finite: got (NaN|infinity)"):
            propagate(form, ZOO["one-edge"])


def test_features_too_large_to_square_are_refused() -> None:
    with pytest.raises(InputError, match="size that can be squared"):
        propagate(np.full((2, 2), 1e308), ZOO["one-edge"])


@pytest.mark.parametrize(
    "X", [np.array([["a"], ["b"]]), np.array([[1], [None]], dtype=object), np.ones((2, 1), dtype=complex)]
)
def test_features_that_are_not_numbers_are_refused(X):
    with pytest.raises(InputTypeError, match="X must hold numbers: got dtype"):
        propagate(X, ZOO["one-edge"])


@pytest.mark.parametrize("X", [np.ones(2), np.ones((2, 1, 1)), 3.0])
def test_features_of_other_than_two_dimensions_are_refused(X):
    with pytest.raises(InputError, match=r"X must have two dimensions .*got shape"):
        propagate(X, ZOO["one-edge"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"nodes": [0, 2]}, "nodes must lie between 0 and 1: got 0 to 2"),
        ({"nodes": [-1]}, "nodes must lie between 0 and 1: got -1 to -1"),
        ({"nodes": [0.0]}, "nodes must be row numbers or a mask: got dtype float64"),
        ({"nodes": [[0]]}, r"nodes must be row numbers or a mask: got dtype int64 and shape \(1, 1\)"),
        ({"nodes": ["ann"]}, r"graph\.positions\(ids\) turns ids into row numbers"),
        ({"nodes": [True]}, r"one entry a node: got shape \(1,\), not \(2,\)"),
        ({"output": "csr"}, "output must be 'auto', 'dense' or 'sparse': got 'csr'"),
        ({"compute": Compute("implicit")}, "one of full, frontier, left-first here: got 'implicit'"),
        ({"row_norm": "l3"}, "row_norm must be None, 'l1' or 'l2': got 'l3'"),
        ({"normalization": "col"}, "normalization must be one of"),
        ({"gamma": -1}, "gamma must be a number >= 0"),
    ],
)
def test_propagate_options_that_do_not_exist_are_refused(option, message):
    with pytest.raises(InputError, match=message):
        propagate(np.ones((2, 1)), ZOO["one-edge"], **option)


def test_nodes_unset_are_all_nodes_and_an_empty_list_none():
    np.testing.assert_array_equal(Readout.given(None, None, 3).nodes, [0, 1, 2])
    assert Readout.given(None, [], 3).nodes.shape == (0,)


def test_features_left_out_need_a_graph():
    with pytest.raises(InputError, match="got neither X nor a graph"):
        NodeFeatures(None)
