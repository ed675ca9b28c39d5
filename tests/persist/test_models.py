"""Models written and read: the same bits back, and one clear error for every other file."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

import sgclearn
from sgclearn import (
    Graph,
    SGCClassifier,
    SGCClassifierCV,
    SGCMultilabelClassifier,
    load_model,
    save_model,
)
from sgclearn.errors import InputError, InputTypeError, ModelFileError
from sgclearn.persist import read_model_header
from sgclearn.persist.container import read_container, write_container

RING = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)] + [(0, 6), (2, 9)])
X = np.random.default_rng(20190615).normal(size=(12, 5))


def ring_labels(a: Any, b: Any, c: Any = None, missing: Any = None) -> NDArray[Any]:
    y = np.full(12, missing, dtype=object)
    y[[0, 1]], y[[5, 6]] = a, b
    if c is not None:
        y[[9, 10]] = c
    return y


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = SGCClassifier().fit(X, ring_labels("x", "y", "z"), graph=RING)
    save_model(model, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def assert_same_predictions(model: Any, path: Path, X: Any, graph: Graph | None) -> Any:
    save_model(model, path)
    loaded = load_model(path)
    for method in ("predict", "predict_proba", "decision_function"):
        before, after = getattr(model, method)(X, graph=graph), getattr(loaded, method)(X, graph=graph)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(model.coef_, loaded.coef_)
    return loaded


CLASSES = st.one_of(
    *(
        st.lists(values, min_size=2, max_size=3, unique=True)
        for values in (
            st.integers(0, 2**40),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
            st.booleans(),
            st.sampled_from([0.0, 1.0, 2.0, 7.0]),
        )
    )
)


@given(
    classes=CLASSES,
    n_hops=st.integers(0, 3),
    normalization=st.sampled_from(["sym", "rw", "cheby"]),
    row_norm=st.sampled_from([None, "l1", "l2"]),
    scale=st.sampled_from([None, "standard", "minmax"]),
    fit_intercept=st.booleans(),
    narrow=st.booleans(),
)
def test_model_predicts_the_same_bits_after_loading(
    tmp_path_factory: pytest.TempPathFactory,
    classes: list[Any],
    n_hops: int,
    normalization: str,
    row_norm: str | None,
    scale: str | None,
    fit_intercept: bool,
    narrow: bool,
) -> None:
    model = SGCClassifier(
        n_hops,
        normalization=normalization,
        row_norm=row_norm,
        scale=scale,
        fit_intercept=fit_intercept,
        weight_decay=1e-2,
        class_weight="balanced",
    )
    features = X.astype(np.float32) if narrow else X
    model.fit(features, ring_labels(*classes), graph=RING)
    path = tmp_path_factory.getbasetemp() / "round.safetensors"
    loaded = assert_same_predictions(model, path, features, RING)
    assert type(loaded) is SGCClassifier
    assert loaded.get_params() == model.get_params()
    assert loaded.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("labels", [[3, 5], [False, True], [1.0, 2.0], ["a", "b"]])
@pytest.mark.parametrize("keep_objects", [True, False])
def test_classes_keep_their_type(tmp_path: Path, labels: list[Any], keep_objects: bool) -> None:
    y = ring_labels(*labels, missing=labels[0]) if not keep_objects else ring_labels(*labels)
    y = y if keep_objects else np.array(y.tolist())
    model = SGCClassifier(unlabeled=None).fit(X, y, graph=RING)
    loaded = assert_same_predictions(model, tmp_path / "m.safetensors", X, RING)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert [type(value) for value in loaded.classes_.tolist()] == [type(labels[0])] * 2


def test_fitted_facts_come_back(tmp_path: Path) -> None:
    model = SGCClassifier(3, weight_decay=1e-3).fit(X, ring_labels("x", "y"), graph=RING)
    loaded = assert_same_predictions(model, tmp_path / "m.safetensors", X, RING)
    facts = ("n_hops_", "weight_decay_", "normalization_", "gamma_", "uses_graph_", "uses_identity_", "loss_")
    facts += ("n_features_in_", "n_iter_", "converged_", "gradient_ratio_")
    for fact in facts:
        assert getattr(loaded, fact) == getattr(model, fact)
    assert not hasattr(loaded, "plan_")
    assert not hasattr(loaded, "transduction_")


def test_model_without_features_or_graph_comes_back(tmp_path: Path) -> None:
    identity = SGCClassifier().fit(None, ring_labels(3, 4), graph=RING)
    assert_same_predictions(identity, tmp_path / "i.safetensors", None, RING)
    plain = SGCClassifier().fit(X, ring_labels(3, 4))
    assert_same_predictions(plain, tmp_path / "p.safetensors", X, None)


def test_feature_names_come_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = SGCClassifier().fit(frame, ring_labels("x", "y"), graph=RING)
    loaded = assert_same_predictions(model, tmp_path / "m.safetensors", frame, RING)
    assert loaded.feature_names_in_.tolist() == list("abcde")


def test_parameters_that_json_lacks_come_back(tmp_path: Path) -> None:
    model = SGCClassifier(class_weight={3: 2.0, 4: np.float64(0.5)}, unlabeled=np.nan)
    model.fit(X, ring_labels(3, 4), graph=RING)
    save_model(model, tmp_path / "m.safetensors")
    loaded = load_model(tmp_path / "m.safetensors")
    assert loaded.class_weight == {3: 2.0, 4: 0.5}
    assert np.isnan(loaded.unlabeled)


def test_cv_is_saved_as_the_classifier_it_chose(tmp_path: Path) -> None:
    model = SGCClassifierCV(n_hops=(0, 1, 2), weight_decay=(1e-3, 1e-1), cv=2, row_norm="l2")
    model.fit(X, ring_labels("x", "y", "z"), graph=RING)
    loaded = assert_same_predictions(model, tmp_path / "m.safetensors", X, RING)
    assert type(loaded) is SGCClassifier
    assert {name: loaded.get_params()[name] for name in model.best_params_} == model.best_params_
    assert loaded.row_norm == "l2"


def test_multilabel_model_comes_back(tmp_path: Path) -> None:
    Y = np.full((12, 3), -1)
    Y[:4] = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]]
    model = SGCMultilabelClassifier().fit(X, Y, graph=RING)
    assert (
        type(assert_same_predictions(model, tmp_path / "m.safetensors", X, RING)) is SGCMultilabelClassifier
    )


def test_feature_encoding_is_kept_in_the_header(tmp_path: Path) -> None:
    encoding = {"columns": [{"name": "stadt", "kind": "category", "categories": ["Köln"]}], "impute": None}
    model = SGCClassifier().fit(X, ring_labels("x", "y"), graph=RING)
    save_model(model, tmp_path / "m.safetensors", feature_encoding=encoding)
    header = read_model_header(tmp_path / "m.safetensors")
    assert header["feature_encoding"] == encoding
    assert header["estimator"] == "SGCClassifier"
    assert header["library_version"] == sgclearn.__version__


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model = SGCClassifier().fit(X, ring_labels("x", "y"), graph=RING)
    for name in ("a", "b"):
        save_model(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (SGCClassifier(), InputError, "must be fitted before it is saved"),
        (SGCClassifierCV(), InputError, "must be fitted before it is saved"),
        ("text", InputTypeError, "can be saved: got str"),
    ],
)
def test_save_refuses_what_is_no_fitted_model(
    tmp_path: Path, model: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        save_model(model, tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_save_refuses_what_cannot_be_stored(tmp_path: Path) -> None:
    model = SGCClassifier().fit(X, ring_labels("x", "y"), graph=RING)
    model.classes_ = np.array([b"x", b"y"])
    with pytest.raises(InputError, match="classes must be integers, strings, booleans or floats"):
        save_model(model, tmp_path / "m")
    model = SGCClassifier(solver="adam", max_iter=2, random_state=5).fit(X, ring_labels("x", "y"), graph=RING)
    model.random_state = np.random.default_rng(5)  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"random_state must be a number.*got Generator"):
        save_model(model, tmp_path / "m")


def test_save_refuses_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    model = SGCClassifier().fit(X, ring_labels("x", "y"), graph=RING)
    with pytest.raises(InputError, match="must be in a folder that exists"):
        save_model(model, tmp_path / "no" / "m.safetensors")
    with pytest.raises(InputError, match="got a folder"):
        save_model(model, tmp_path)


def test_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def refuse(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(InputError, match="No space left on device"):
        save_model(load_model(saved), saved)
    assert saved.read_bytes() == before
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]


def test_truncated_file_is_refused_at_every_length(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in {1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1}:
        saved.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match="truncated or damaged"):
            load_model(saved)


def test_any_changed_bit_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    rng = np.random.default_rng(77)
    padding = size - len(whole[8 : 8 + size].rstrip(b" "))
    places = rng.choice(len(whole), 150, replace=False)
    for place in places[(places < 8 + size - padding) | (places >= 8 + size)]:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(bytes(changed))
        with pytest.raises(ModelFileError, match=str(saved)):
            load_model(saved)


def test_bytes_at_the_end_are_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    with pytest.raises(ModelFileError, match="truncated or damaged"):
        load_model(saved)


def test_empty_missing_and_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, message in (
        ("empty", "got an empty file"),
        ("none", "got nothing there"),
        (".", "got a folder"),
    ):
        with pytest.raises(ModelFileError, match=message):
            load_model(tmp_path / name)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle_is_refused_unread(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps({"coef": np.ones((40, 40))}, protocol=protocol))
    with pytest.raises(ModelFileError, match="got a pickle"):
        load_model(path)


def test_file_of_another_program_is_refused(tmp_path: Path) -> None:
    save_file({"weight": np.ones(3)}, tmp_path / "w.safetensors")
    with pytest.raises(ModelFileError, match="a safetensors file of another program"):
        load_model(tmp_path / "w.safetensors")
    (tmp_path / "m.csv").write_text("id,label\na,b\n")
    with pytest.raises(ModelFileError, match="got a text file, which is not a model file"):
        load_model(tmp_path / "m.csv")


def rewrite(path: Path, **metadata: str) -> None:
    save_file(load_file(path), path, metadata=metadata)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            '{"format": "sgclearn-model", "version": 3, "library_version": "9.1"}',
            "sgclearn 9.1; upgrade sgclearn",
        ),
        ('{"format": "sgclearn-model", "version": "two"}', "got 'sgclearn-model', 'two'"),
        ('{"format": "other", "version": 1}', "got 'other', 1"),
        ('{"format": "sgclearn-model", "version": 2}', "do not fit the checksum"),
        ('{"format": "sgclearn-model", "version": 1}', "got version 1, .*; fit the model again and save it"),
        ("[1, 2]", "damaged"),
        ("{}", "damaged"),
        ("{", "damaged"),
    ],
)
def test_wrong_header_is_refused(saved: Path, header: str, message: str) -> None:
    rewrite(saved, **{"sgclearn-model": header, "note": "rewritten"})
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"estimator": "Popen"},
        {"parameters": {"n_hop": 2}},
        {"fitted": {}},
        {"classes": {"dtype": "str", "values": ["x", "y"]}},
        {"classes": None},
    ],
)
def test_contents_that_do_not_fit_together_are_refused(saved: Path, change: dict[str, Any]) -> None:
    header, tensors = read_container(saved)
    write_container(saved, {**header, **change}, tensors)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load_model(saved)


def test_unreadable_file_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ModelFileError, match="Permission denied"):
        load_model(saved)


def test_header_is_plain_json(saved: Path) -> None:
    text = saved.read_bytes()
    size = int.from_bytes(text[:8], "little")
    metadata = json.loads(text[8 : 8 + size])["__metadata__"]
    header = json.loads(metadata["sgclearn-model"])
    assert (header["format"], header["version"], header["classes"]["values"]) == (
        "sgclearn-model",
        2,
        ["x", "y", "z"],
    )
