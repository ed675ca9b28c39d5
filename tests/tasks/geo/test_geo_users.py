"""Tables of users: what is read, and what is refused with the line it is in."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.tasks.geo.users import Users, read_user_info, read_users
from sgclearn.tasks.geo.words import UserWords, WordSettings


@pytest.fixture
def table(tmp_path):
    def write(text, name="users.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_users_are_read_with_text_split_and_features(table):
    users = read_users(
        table('id,lat,lon,text,split,age\n007,47.4,8.5,"rainy, ""grey""",train,30\nb,,,,test,40\n')
    )
    assert users.ids.tolist() == ["007", "b"]
    np.testing.assert_array_equal(users.points, [[47.4, 8.5], [np.nan, np.nan]])
    assert users.texts == ('rainy, "grey"', "")
    assert users.split == ("train", "test")
    assert users.columns.column_names == ["age"]
    assert users.is_known.tolist() == [True, False]


def test_users_without_text_and_features_are_read(table):
    users = read_users(table("airport\tlatitude\tlng\nZRH\t47.46\t8.55\nGVA\t46.24\t6.11\n", "a.tsv"))
    assert (users.texts, users.columns, users.name) == (None, None, "a")
    assert users.ids.tolist() == ["ZRH", "GVA"]


def test_columns_are_found_by_the_names_given(table):
    path = table("who,y,x,lat\na,1,2,99\nb,3,4,98\n")
    users = read_users(path, id_column="who", lat_column="y", lon_column="x")
    np.testing.assert_array_equal(users.points, [[1, 2], [3, 4]])
    assert users.columns.column_names == ["lat"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,lat,lon\na,8.5,147.4\nb,-74,40.7\nc,122,-33\n",
            r"got latitude 122, longitude -33 for 'c' in line 4.*mend",
        ),
        ("id,lat,lon\na,-122.3,47.6\nb,-95.4,29.8\n", r"for 'a' in line 2 \(2 such\); swap the two"),
        ("id,lat,lon\na,1,181\nb,95,1\n", "longitude in .-180, 180.: got latitude 1, longitude 181.*mend it"),
        (
            "id,lat,lon\na,1,2\nb,3,\n",
            "both latitude and longitude, or neither: got latitude 3, longitude nan.*line 3",
        ),
        ("id,lat,lon\na,1,2\nb,3,4\na,5,6\n", "every user once: got 'a' in line 2 and line 4"),
        ("id,lat,lon\na,1,2\n,3,4\n", "an id for every user: got none in line 3"),
        ("id,lat,lon\na,1,2\nb,north,4\n", "degrees in its column 'lat': got 'north' in line 3"),
        ("id,text\na,x\nb,y\n", "columns of latitude and longitude: got id, text"),
    ],
)
def test_bad_tables_are_refused_with_their_line(table, text, message):
    with pytest.raises((DataFileError, InputError), match=message):
        read_users(table(text))


def test_place_in_the_ocean_is_taken_for_unknown(table):
    with pytest.warns(SgclearnWarning, match="1 user at latitude 0, longitude 0.*'b' in line 3"):
        users = read_users(table("id,lat,lon\na,1,2\nb,0,0\n"))
    assert users.is_known.tolist() == [True, False]


def test_points_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"shape \(1, 2\) for 2 users"):
        Users(np.array([1, 2]), np.zeros((1, 2)))


INFO = 'User_A\t47.6\t-122.3\tsays "hi @b ||| caf\u00e9 \t tab\nb\t40.7\t-74.0\t\nuser_a\t47.7\t-122.4\tlater "\n'


def test_user_info_has_no_quoting_and_is_latin_1(tmp_path):
    path = tmp_path / "user_info.train.gz"
    path.write_bytes(gzip.compress(INFO.encode("latin-1")))
    users = read_user_info(path)
    assert users.ids.tolist() == ["b", "user_a"]  # of a repeated user the last line counts
    assert users.texts == ("", 'later "')
    path.write_bytes(gzip.compress(INFO.split("\n")[0].encode("latin-1")))
    assert read_user_info(path).texts == ('says "hi @b ||| caf\u00e9 \t tab',)


def test_user_info_without_text_gives_places_only(table):
    users = read_user_info(table("a\t1\t2\nb\t3\t4\n", "user_info.train.tsv"))
    assert users.texts is None
    np.testing.assert_array_equal(users.points, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t1\t2\tx\nb 3 4 y\n", "got 1 cell in line 2"),
        ("a\tlat\tlon\tx\n", "got 'lat' and 'lon' in line 1"),
        ("", "must hold users: got an empty file"),
        ("a\t91\t2\tx\n", r"latitude 91, longitude 2 for user 'a'"),
    ],
)
def test_bad_user_info_is_refused(table, text, message):
    with pytest.raises((DataFileError, InputError), match=message):
        read_user_info(table(text, "user_info.dev.tsv"))


def test_joined_users_keep_texts_of_either():
    a = Users(np.array(["x"], dtype=object), np.array([[1.0, 2.0]]), ("hello",))
    b = Users(np.array(["y"], dtype=object), np.array([[3.0, 4.0]]))
    both = a.joined(b)
    assert both.texts == ("hello", "")
    assert both.ids.tolist() == ["x", "y"]
    with pytest.raises(InputError, match="x"):
        a.joined(a)


def test_words_are_learned_from_some_and_applied_to_others():
    settings = WordSettings(min_df=2, max_df=0.9)
    words = UserWords.learn(["rain rain zurich", "rain bern the", "bern sun @rain", "#bern"], settings)
    assert words.vocabulary == ("bern", "rain")  # once in "zurich", "sun"; stop word; no handles, no hashtags
    rows = words.apply(["rain rain rain bern", "zurich", ""]).toarray()
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 0])
    assert rows[0, 0] == pytest.approx(rows[0, 1])  # binary, and of equal idf


def test_words_survive_json():
    import json

    words = UserWords.learn(["ab cd", "ab ef"], WordSettings(min_df=1, max_df=1.0))
    again = UserWords.from_dict(json.loads(json.dumps(words.to_dict())))
    texts = ["ab ef gh", "cd"]
    np.testing.assert_array_equal(again.apply(texts).toarray(), words.apply(texts).toarray())


def test_texts_without_words_are_refused():
    with pytest.raises(
        InputError, match=r"texts must hold a word that at least 10 .*got 2 texts without one"
    ):
        UserWords.learn(["a b", "c"])
