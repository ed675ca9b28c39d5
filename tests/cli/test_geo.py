"""`sgc geo`: the commands of the task, from a table to places on the screen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgclearn.cli.app import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(71)
    lines = ["id,lat,lon,text"]
    for user in range(80):
        lat, lon, word = ((47.4, 8.5, "grüezi"), (40.7, -74.0, "howdy"))[user % 2]
        friend = int(rng.integers(40)) * 2 + user % 2
        lines.append(
            f"u{user},{lat + rng.normal(0, 0.05):.4f},{lon + rng.normal(0, 0.05):.4f},{word} @u{friend}"
        )
    path = tmp_path / "users.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_geo_fits_evaluates_and_predicts(table, tmp_path, capsys):
    folder = str(tmp_path / "run")
    fit = [
        "geo",
        "fit",
        "--users",
        str(table),
        "--min-df",
        "2",
        "--max-df",
        "0.9",
        "--bucket",
        "8",
        "--out",
        folder,
    ]
    assert run(fit) == 0
    shown = capsys.readouterr().out
    assert "Acc@161 km" in shown
    assert "neighbours' places" in shown
    assert f"sgc geo predict {folder}" in " ".join(shown.split())
    assert run(["geo", "evaluate", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["acc_161_km"]["value"] == 1.0
    new = tmp_path / "new.csv"
    new.write_text("id,text\nzoe,howdy @u1\n", encoding="utf-8")
    assert run(["geo", "predict", folder, "--users", str(new), "--json"]) == 0
    (place,) = json.loads(capsys.readouterr().out)["predictions"]
    assert (place["id"], round(place["lat"]), round(place["lon"])) == ("zoe", 41, -74)


def test_geo_says_in_a_sentence_what_is_wrong_with_the_table(table, tmp_path, capsys):
    swapped = tmp_path / "swapped.csv"
    swapped.write_text("id,lat,lon,text\na,-122.3,47.6,x\nb,-95.4,29.8,y\n")
    assert run(["geo", "fit", "--users", str(swapped), "--out", str(tmp_path / "run")]) == 2
    assert "swap the two" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()


def test_help_of_a_command_lists_the_options_of_the_task(capsys):
    assert run(["geo", "fit", "--help"]) == 0
    assert "--max-users" in capsys.readouterr().out
