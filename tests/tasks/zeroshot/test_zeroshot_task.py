"""From a graph of classes to ranked classes of images: the task, its run and its commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgclearn.cli.app import run as sgc
from sgclearn.errors import InputError, ModelFileError
from sgclearn.persist.container import write_container
from sgclearn.runs.run import Run
from sgclearn.tasks import driver
from sgclearn.tasks.zeroshot.metrics import image_scores
from sgclearn.tasks.zeroshot.options import LabelledImages, NewImages, ZeroShotData, ZeroShotModel
from sgclearn.tasks.zeroshot.storage import load_zero_shot
from sgclearn.tasks.zeroshot.task import ZeroShot

N = 40


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A tree of 40 classes whose vectors follow the tree: 24 are seen, 10 images of each of the others."""
    folder = tmp_path_factory.mktemp("zeroshot")
    rng = np.random.default_rng(81)
    parents, vectors = [-1], [rng.normal(size=6)]
    for child in range(1, N):
        parents.append(int(rng.integers(max(1, child // 2))))
        vectors.append(vectors[parents[-1]] + 0.6 * rng.normal(size=6))
    X = np.array(vectors)
    rows = [f"c{i},{'' if p < 0 else f'c{p}'},class {i}" for i, p in enumerate(parents)]
    (folder / "classes.csv").write_text("id,parent,name\n" + "\n".join(rows) + "\n")
    W = X @ rng.normal(size=(6, 12))
    seen = np.sort(rng.permutation(N)[:24])
    novel = np.setdiff1d(np.arange(N), seen)
    X[novel[0]] = 0.0  # a class whose name nobody knows
    np.savez(folder / "vectors.npz", vector=X, ids=np.array([f"c{i}" for i in range(N)]))
    np.savez(folder / "weights.npz", weight=W[seen], bias=np.zeros(24), ids=np.array([f"c{i}" for i in seen]))
    images = np.repeat(W[novel] / np.linalg.norm(W[novel], axis=1, keepdims=True), 10, axis=0)
    np.save(folder / "images.npy", (images + 0.05 * rng.normal(size=images.shape)).astype(np.float32))
    (folder / "labels.txt").write_text("".join(f"c{i}\n" for i in np.repeat(novel, 10)))
    (folder / "few.txt").write_text("".join(f"c{i}\n" for i in novel[:4]))
    return folder


@pytest.fixture(scope="module")
def fitted(files):
    task = ZeroShot()
    data = {
        name: files / f"{name}.{'csv' if name == 'classes' else 'npz'}"
        for name in ("classes", "vectors", "weights")
    }
    samples = task.read(ZeroShotData(**data))
    with Run.create(files / "run") as place:
        return task, driver.fit(task, samples, ZeroShotModel(n_hops=2), place)


def test_run_says_who_lends_its_classifier(fitted):
    _, fit = fitted
    lines = (fit.run.folder / "predictions.csv").read_text().splitlines()
    assert lines[0] == "id,name,label,weight"
    assert len(lines) == N + 1
    assert fit.metrics["seen"] == 24
    assert 0 < fit.metrics["leave_one_out_error"] < 2


def test_images_are_ranked_by_the_predicted_classifiers(files, fitted):
    task, fit = fitted
    run = Run.open(fit.run.folder)
    ranked = driver.predict(task, run, NewImages(images=files / "images.npy", top=3))
    assert ranked.labels.shape == (160, 3)
    model = fit.model
    novel = np.setdiff1d(np.arange(N), model.nodes_)
    images = np.load(files / "images.npy").astype(np.float64)
    scores = image_scores(images, model.predict(fit.samples.X, fit.samples.graph, nodes=novel))
    np.testing.assert_array_equal(ranked.labels[:, 0], fit.samples.graph.ids[novel][scores.argmax(axis=1)])
    np.testing.assert_allclose(ranked.scores[:, 0], scores.max(axis=1))
    assert (np.diff(ranked.scores, axis=1) <= 0).all()
    assert list(ranked.columns()) == ["label", "score", "label_2", "score_2", "label_3", "score_3"]


def test_seen_classes_compete_where_asked_for(files, fitted):
    task, fit = fitted
    run = Run.open(fit.run.folder)
    files_of = {"images": files / "images.npy", "labels": files / "labels.txt"}
    alone = task.measure(run, task.load(run), LabelledImages(**files_of))
    both = task.measure(run, task.load(run), LabelledImages(**files_of, with_seen=True))
    assert alone.hits[1].value > 0.3  # chance is 1 in 16
    assert both.hits[1].value < alone.hits[1].value
    assert (alone.n, alone.n_classes) == (160, 16)


def test_loaded_model_predicts_the_same_bits(fitted):
    _, fit = fitted
    again = load_zero_shot(fit.run.folder / "model.safetensors")
    X, graph = fit.samples.X, fit.samples.graph
    np.testing.assert_array_equal(again.predict(X, graph), fit.model.predict(X, graph))


def test_model_of_another_kind_is_refused(tmp_path):
    write_container(tmp_path / "m.safetensors", {"estimator": "SGCClassifier"}, {})
    with pytest.raises(ModelFileError, match="a model of zero-shot classification: got SGCClassifier"):
        load_zero_shot(tmp_path / "m.safetensors")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": "few.txt"}, "labels must be among the classes that images may be of: got 'c"),
        ({"labels": "few.txt"}, "labels must name the class of each image: got 4 labels for 160 images"),
        ({"images": None}, "images must be named"),
    ],
)
def test_labels_that_do_not_fit_are_refused(files, fitted, options, message):
    task, fit = fitted
    run = Run.open(fit.run.folder)
    named = {"images": "images.npy", "labels": "labels.txt"} | options
    given = {name: None if file is None else files / file for name, file in named.items()}
    with pytest.raises(InputError, match=message):
        task.measure(run, task.load(run), LabelledImages(**given))


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.ones((2, 13)), "a table with the 12 features of the classifiers: got float64 of shape"),
        (np.array([[1.0] * 12, [0.0] * 12]), "not all zero: got 1 others, the first in row 1"),
        (np.full((2, 12), np.nan), "must have finite features"),
    ],
)
def test_images_that_do_not_fit_are_refused(files, fitted, tmp_path, images, message):
    task, fit = fitted
    np.save(tmp_path / "x.npy", images)
    with pytest.raises(InputError, match=message):
        driver.predict(task, Run.open(fit.run.folder), NewImages(images=tmp_path / "x.npy"))


def test_zeroshot_commands_fit_predict_and_evaluate(files, tmp_path, capsys):
    named = [
        f"--{name}={files / name}.{'csv' if name == 'classes' else 'npz'}"
        for name in ("classes", "vectors", "weights")
    ]
    folder = str(tmp_path / "run")
    assert sgc(["zeroshot", "fit", *named, "--n-hops", "2", "--solver", "ridge", "--out", folder]) == 0
    assert "sgc zeroshot predict" in " ".join(capsys.readouterr().out.split())
    images = ["--images", str(files / "images.npy")]
    assert sgc(["zeroshot", "predict", folder, *images, "--top", "2", "--json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)["predictions"]
    assert len(first["labels"]) == 2
    assert (
        sgc(["zeroshot", "evaluate", folder, *images, "--labels", str(files / "labels.txt"), "--json"]) == 0
    )
    scores = json.loads(capsys.readouterr().out)
    assert scores["hit@1"]["low"] <= scores["hit@1"]["value"] <= scores["hit@10"]["value"]


def test_zeroshot_fit_without_vectors_is_refused_in_a_sentence(files, tmp_path, capsys):
    named = ["--classes", str(files / "classes.csv"), "--weights", str(files / "weights.npz")]
    assert sgc(["zeroshot", "fit", *named, "--out", str(tmp_path / "run")]) == 2
    assert "either" in capsys.readouterr().err
