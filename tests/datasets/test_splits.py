from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.datasets.splits import Split, redraw_training, split_per_class
from sgclearn.errors import InputError

NAMES = ("red", "green", "blue")


def labels(sizes: tuple[int, ...] = (12, 15, 20), unlabelled: int = 6) -> np.ndarray:
    y = np.repeat([-1, *range(len(sizes))], [unlabelled, *sizes])
    return np.random.default_rng(31).permutation(y)


@given(
    seed=st.integers(2, 10**9),
    n_train=st.integers(1, 5),
    n_val=st.integers(0, 4),
    n_test=st.none() | st.integers(0, 3),
)
def test_split_per_class_is_disjoint_sorted_and_stratified(
    seed: int, n_train: int, n_val: int, n_test: int | None
) -> None:
    y = labels()
    split = split_per_class(y, n_train, n_val, n_test, seed, NAMES)
    everything = np.concatenate(split)
    assert len(np.unique(everything)) == len(everything)
    assert all((np.diff(part) > 0).all() for part in split)
    assert (y[everything] >= 0).all()
    assert np.bincount(y[split.train], minlength=3).tolist() == [n_train] * 3
    assert np.bincount(y[split.val], minlength=3).tolist() == [n_val] * 3
    if n_test is None:
        assert len(everything) == (y >= 0).sum()
    else:
        assert np.bincount(y[split.test], minlength=3).tolist() == [n_test] * 3


def test_split_per_class_depends_on_the_seed_alone() -> None:
    y = labels()
    first, again, other = (split_per_class(y, 3, 2, None, seed, NAMES) for seed in (11, 11, 12))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.train, other.train)


def test_split_per_class_nests_training_sets() -> None:
    y = labels()
    small, large = (split_per_class(y, n, 0, None, 11, NAMES).train for n in (2, 5))
    assert set(small) < set(large)


def test_redraw_training_keeps_validation_and_test() -> None:
    y = labels()
    free = split_per_class(y, 2, 3, 3, 11, NAMES)
    split = redraw_training(y, free, 4, 12, NAMES)
    assert np.array_equal(split.val, free.val)
    assert np.array_equal(split.test, free.test)
    assert not set(split.train) & (set(split.val) | set(split.test))
    assert np.bincount(y[split.train]).tolist() == [4, 4, 4]
    assert not np.array_equal(split.train, redraw_training(y, free, 4, 13, NAMES).train)


def test_redraw_training_counts_only_free_nodes() -> None:
    y = np.array([0, 0, 0, 0])
    public = Split(np.array([0]), np.array([1]), np.array([2]))
    assert set(redraw_training(y, public, 2, 12, ("red",)).train) == {0, 3}
    with pytest.raises(InputError, match="must have 3 labelled nodes to draw from: got 2 in class 'red'"):
        redraw_training(y, public, 3, 12, ("red",))


@pytest.mark.parametrize(
    ("n_train", "n_val", "n_test", "message"),
    [
        (0, 0, None, "n_per_class must be an integer of at least 1: got 0"),
        (2.5, 0, None, "n_per_class must be an integer of at least 1: got 2.5"),
        (True, 0, None, "n_per_class"),
        (1, -1, None, "n_val must be an integer of at least 0: got -1"),
        (1, 0, -3, "n_test must be an integer of at least 0: got -3"),
        (10, 5, None, "15 labelled nodes to draw from: got 12 in class 'red'"),
        (5, 5, 5, "15 labelled nodes to draw from: got 12 in class 'red'"),
    ],
)
def test_split_per_class_refuses_bad_counts(n_train: int, n_val: int, n_test: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        split_per_class(labels(), n_train, n_val, n_test, 11, NAMES)


@pytest.mark.parametrize("seed", [-3, 2.0, True, "x"])
def test_split_per_class_refuses_a_bad_seed(seed: int) -> None:
    with pytest.raises(InputError, match="seed must be a whole number >= 0"):
        split_per_class(labels(), 2, 2, None, seed, NAMES)
