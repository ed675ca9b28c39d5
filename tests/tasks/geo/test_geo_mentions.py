"""Mentions in texts become edges between users, directly and through handles that few share."""

from __future__ import annotations

import numpy as np
import pytest

from sgclearn.errors import InputError
from sgclearn.tasks.geo.mentions import Mentions, find_mentions


def edges(mentions, **options):
    graph = mentions.graph(**options)
    A = graph.to_scipy().tocoo()
    return {(graph.ids[i], graph.ids[j]) for i, j in zip(A.row, A.col, strict=True) if i < j}


def test_mentions_are_handles_and_no_addresses():
    text = 'RT @USER_1: "@b", x@y.org a.@no (@c) @ d @_e9 \u00e9@f'
    assert find_mentions(text) == {"user_1", "b", "c", "_e9", "f"}
    assert find_mentions("") == set()


def test_graph_joins_who_mentions_whom():
    mentions = Mentions.from_texts(["Ada", "@bob", "eve"], ["@BOB and @ada", "", "@ada"])
    assert edges(mentions) == {("Ada", "@bob"), ("Ada", "eve")}


def test_graph_joins_users_of_a_shared_handle_up_to_the_threshold():
    ids = list("abcdef")
    texts = ["@cafe", "@cafe @star", "@cafe @star", "@star", "@star", "@lonely"]
    mentions = Mentions.from_texts(ids, texts)
    cafe = {("a", "b"), ("a", "c"), ("b", "c")}
    star = {(u, v) for u in "bcde" for v in "bcde" if u < v}
    assert edges(mentions, max_users=3) == cafe
    assert edges(mentions, max_users=4) == cafe | star == edges(mentions, max_users=None)
    assert edges(mentions, max_users=0) == set()


def test_graph_does_not_join_users_through_a_user():
    mentions = Mentions.from_texts(["a", "b", "hub"], ["@hub", "@hub", ""])
    assert edges(mentions) == {("a", "hub"), ("b", "hub")}


def test_graph_counts_users_and_not_mentions():
    mentions = Mentions.from_texts(["a", "b"], ["@x @x @X @x", "@x"])
    assert edges(mentions, max_users=2) == {("a", "b")}
    assert not mentions.graph().is_weighted


def test_graph_of_users_without_mentions_has_no_edges():
    graph = Mentions.from_texts([7, 9], ["", "hello"]).graph()
    assert (graph.n_nodes, graph.n_edges) == (2, 0)
    assert graph.ids.tolist() == [7, 9]


def test_joined_gives_the_graph_of_all_texts():
    rng = np.random.default_rng(31)
    names = [f"u{i}" for i in range(20)]
    pool = [*names, *(f"h{i}" for i in range(15))]
    texts = [" ".join(f"@{pool[j]}" for j in rng.integers(len(pool), size=4)) for _ in names]
    apart = Mentions.from_texts(names[:12], texts[:12]).joined(names[12:], texts[12:])
    assert edges(apart) == edges(Mentions.from_texts(names, texts))
    assert len(edges(apart)) > 20


def test_joined_users_meet_old_texts_that_named_them():
    old = Mentions.from_texts(["a", "b"], ["@new", "@cafe"])
    assert edges(old.joined(["new"], ["@cafe"])) == {("a", "new"), ("b", "new")}


def test_mentions_need_one_text_per_user():
    with pytest.raises(InputError, match="one text a user: got 1 text and 2 users"):
        Mentions.from_texts(["a", "b"], ["x"])


def test_graph_refuses_a_negative_threshold():
    with pytest.raises(InputError, match="max_users must be a whole number >= 0 or None"):
        Mentions.from_texts(["a"], [""]).graph(-1)


def test_geotext_graph_has_the_edges_that_were_counted_by_hand(data_dir):
    from sgclearn.tasks.geo.users import read_user_info

    users = read_user_info(data_dir / "geotext" / "user_info.dev.tsv.xz").joined(
        read_user_info(data_dir / "geotext" / "user_info.test.tsv.xz")
    )
    graph = Mentions.from_texts(users.ids, users.texts).graph()
    assert (graph.n_nodes, graph.n_edges) == (3790, 14452)
