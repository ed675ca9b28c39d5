"""Users in, places out: a run of the task geo from files, and new users placed by it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgclearn.errors import InputError
from sgclearn.runs.run import Run
from sgclearn.tasks import driver
from sgclearn.tasks.geo.options import GeoData, GeoModel, NewUsers
from sgclearn.tasks.geo.sphere import haversine
from sgclearn.tasks.geo.task import Geo

CITIES = {
    "york": (40.7, -74.0),
    "angeles": (34.0, -118.2),
    "auckland": (-36.8, 174.8),
    "suva": (-18.1, -178.4),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """200 users of four cities, two thirds with a place, who mention one another and name their city now and then."""
    rng = np.random.default_rng(61)
    names = list(CITIES)
    lines = ["id,lat,lon,text,age"]
    for user in range(200):
        city = user % 4
        lat, lon = CITIES[names[city]]
        friends = [f"@u{int(rng.integers(50)) * 4 + city}" for _ in range(3)]
        words = [names[city]] if rng.random() < 0.6 else ["somewhere"]
        place = (
            f"{lat + rng.normal(0, 0.1):.4f},{lon + rng.normal(0, 0.1):.4f}" if rng.random() < 0.67 else ","
        )
        lines.append(f"u{user},{place},{' '.join([*friends, *words])},{20 + city}")
    path = tmp_path_factory.mktemp("geo") / "users.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def fitted(table, tmp_path_factory):
    task = Geo()
    samples = task.read(GeoData(users=table, min_df=2, max_df=0.9))
    folder = tmp_path_factory.mktemp("runs") / "run"
    with Run.create(folder) as place:
        return task, driver.fit(task, samples, GeoModel(n_hops=2, bucket=6, weight_decay=1e-3), place)


def test_run_is_measured_next_to_what_is_simpler(fitted):
    _, fit = fitted
    assert [trial["model"] for trial in fit.metrics["results"]] == [
        "neighbours' places",
        "without the graph",
        "SGC",
    ]
    assert fit.metrics["evaluation"]["acc_161_km"]["value"] > 0.8
    assert fit.metrics["data"]["unit"] == "user"
    assert fit.run.task == "geo"


def test_predictions_say_where_and_why(fitted):
    _, fit = fitted
    lines = (fit.run.folder / "predictions.csv").read_text().splitlines()
    assert lines[0] == "id,lat,lon,cell,probability,expected_error_km,evidence"
    assert len(lines) == 201
    assert {line.split(",")[-1] for line in lines[1:]} <= {"text", "graph", "prior"}
    places = json.loads((fit.run.folder / "predictions.geojson").read_text())
    first = places["features"][0]
    assert first["geometry"]["coordinates"] == [float(lines[1].split(",")[2]), float(lines[1].split(",")[1])]
    assert first["properties"]["id"] == "u0"


def test_run_predicts_its_own_users_again(fitted):
    task, fit = fitted
    again = driver.predict(task, Run.open(fit.run.folder), NewUsers())
    assert again.to_csv() == fit.predictions.to_csv()


def test_new_users_are_placed_by_mentions_and_text(fitted, tmp_path):
    task, fit = fitted
    (tmp_path / "new.csv").write_text("id,text,age\nzoe,@u2 @u6 @u10 hello,22\nyan,suva,23\nxi,,\n")
    predictions = driver.predict(task, Run.open(fit.run.folder), NewUsers(users=tmp_path / "new.csv"))
    assert predictions.ids.tolist() == ["zoe", "yan", "xi"]
    truth = np.array([CITIES["auckland"], CITIES["suva"]])
    assert (haversine(predictions.points[:2], truth) < 161).all()
    assert predictions.evidence[1] == "text"


def test_new_users_may_not_be_in_the_run(fitted, tmp_path):
    task, fit = fitted
    (tmp_path / "new.csv").write_text("id,text,age\nu3,hello,22\nv,hello,23\n")
    with pytest.raises(InputError, match="new users must not be in the run: got 'u3'"):
        driver.predict(task, Run.open(fit.run.folder), NewUsers(users=tmp_path / "new.csv"))


def test_edges_take_the_place_of_mentions(tmp_path):
    rng = np.random.default_rng(62)
    names = list(CITIES)
    lines, edges = ["airport,lat,lon,split"], ["source,target"]
    for a in range(120):
        lat, lon = CITIES[names[a % 4]]
        lines.append(f"{a},{lat + rng.normal(0, 0.1):.4f},{lon:.4f},{'test' if a % 3 == 0 else 'train'}")
        edges += [f"{a},{(a + 4 * int(rng.integers(1, 30))) % 120}" for _ in range(3)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "e.csv").write_text("\n".join(edges) + "\n")
    task = Geo()
    samples = task.read(GeoData(users=tmp_path / "a.csv", edges=tmp_path / "e.csv"))
    assert samples.X is None
    assert len(samples.where("test")) == 40
    with Run.create(tmp_path / "run") as place:
        fit = driver.fit(task, samples, GeoModel(bucket=15, weight_decay=1e-4, hidden=20), place)
    assert fit.metrics["evaluation"]["acc_161_km"]["value"] > 0.8
    assert [trial["model"] for trial in fit.metrics["results"]] == ["neighbours' places", "SGC"]


def test_folder_of_user_info_files_brings_its_split(tmp_path):
    rows = {
        "train": "a\t47.4\t8.5\tgruezi @b\n",
        "dev": "b\t47.3\t8.6\tgruezi\n",
        "test": "c\t40.7\t-74\thi @a\n",
    }
    for name, text in rows.items():
        (tmp_path / f"user_info.{name}.tsv").write_text(text)
    samples = Geo().read(GeoData(users=tmp_path, min_df=1, max_df=1.0))
    assert samples.split.tolist() == ["train", "val", "test"]
    assert samples.graph.n_edges == 2
    assert samples.feature_names == ("gruezi",)  # words are those of the users for training
    (tmp_path / "user_info.dev.tsv").unlink()
    with pytest.raises(InputError, match=r"must have one file user_info\.dev: got none"):
        Geo().read(GeoData(users=tmp_path))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,lat,lon\na,1,2\nb,3,4\n", {}, "users need a graph: got neither edges nor texts"),
        ("id,lat,lon,text,split\na,1,2,x,train\nb,3,4,y,later\n", {}, "train, val, dev or test: got 'later'"),
        (
            "id,lat,lon,text,split\na,,,x,train\nb,3,4,y,test\n",
            {},
            "users for training must have a known place",
        ),
        (
            "id,lat,lon,text,split\na,1,2,x,train\nb,3,4,y,test\n",
            {"held_out": 0.3},
            "held_out goes with users without",
        ),
    ],
)
def test_users_that_cannot_be_samples_are_refused(tmp_path, text, options, message):
    (tmp_path / "u.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        Geo().read(GeoData(users=tmp_path / "u.csv", min_df=1, max_df=1.0, **options))
