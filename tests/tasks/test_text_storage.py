"""Text models written and read: the same bits back, and one clear error for every other file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn import SGCClassifier, TextSGCClassifier, load_model, save_model
from sgclearn.errors import InputError, InputTypeError, ModelFileError
from sgclearn.graph import Graph
from sgclearn.persist.container import read_container, write_container
from sgclearn.tasks.text import TextGraphBuilder, load_text_model, save_text_model

ALL = ("energy", "farm", "money")
NEW = ["crude said", "rain on corn", "yen export unheard"]


@pytest.fixture(scope="module")
def model(news: Any) -> TextSGCClassifier:
    builder = TextGraphBuilder(window=5, stop_words=["said"], min_df=2)
    return TextSGCClassifier(builder, weight_decay=1e-2).fit(news.docs, news.labels(*ALL))


@pytest.fixture
def path(model: TextSGCClassifier, tmp_path: Path) -> Path:
    save_text_model(model, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("kind", ["text", "two", "numbers"])
@pytest.mark.parametrize("recipe", ["exact", "paper"])
def test_loaded_model_predicts_the_same_bits(news: Any, tmp_path: Path, kind: str, recipe: str) -> None:
    y: Any = news.labels(*(ALL[:2] if kind == "two" else ALL))
    if kind == "numbers":
        y = [-1 if label == "" else 10 * ALL.index(label) for label in y]
    fitted = TextSGCClassifier(weight_decay=(1e-3, 1e-2), cv=2, recipe=recipe, class_weight="balanced")
    fitted.fit(news.docs, y)
    save_text_model(fitted, tmp_path / "m")
    loaded = load_text_model(tmp_path / "m", fitted.text_graph_)
    assert (
        load_text_model(tmp_path / "m", fitted.text_graph_.graph).explain(5).logit == loaded.explain(5).logit
    )
    with pytest.raises(InputTypeError, match="graph must be the graph of the fit: got str"):
        load_text_model(tmp_path / "m", "graph.npz")  # type: ignore[arg-type]
    for method in ("predict", "predict_proba", "decision_function"):
        before, after = getattr(fitted, method)(NEW), getattr(loaded, method)(NEW)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert loaded.get_params() == {
        **fitted.get_params(), "weight_decay": fitted.weight_decay_, "builder": TextGraphBuilder()
    }  # fmt: skip
    assert loaded.top_words() == fitted.top_words()
    for doc in (5, NEW[0]):
        assert loaded.explain(doc).logit == pytest.approx(fitted.explain(doc).logit, abs=1e-12)
    assert loaded.converged_ == fitted.converged_
    with pytest.raises(InputError, match="documents of the fit are not stored"):
        loaded.predict()


def test_builder_is_stored(model: TextSGCClassifier, path: Path) -> None:
    loaded = load_text_model(path)
    assert loaded.words_.builder.settings == model.words_.builder.settings
    assert loaded.builder == TextGraphBuilder(window=5, stop_words=["said"], min_df=2)
    assert "said" not in loaded.words_.vocabulary


def test_same_model_gives_the_same_file(model: TextSGCClassifier, path: Path, tmp_path: Path) -> None:
    save_text_model(load_text_model(path), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again", "model.safetensors"]


def test_models_that_cannot_be_saved_are_refused(news: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fitted before it is saved"):
        save_text_model(TextSGCClassifier(), tmp_path / "m")
    with pytest.raises(InputTypeError, match="got SGCClassifier; save_model saves other models"):
        save_text_model(SGCClassifier(), tmp_path / "m")  # type: ignore[arg-type]
    own = TextSGCClassifier(TextGraphBuilder(analyzer=lambda text: text.split()), weight_decay=1e-2)
    own.fit(news.docs, news.labels(*ALL))
    with pytest.raises(InputError, match="which no file can hold"):
        save_text_model(own, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_files_of_the_other_kind_are_refused_by_name(
    model: TextSGCClassifier, path: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelFileError, match="TextSGCClassifier"):
        load_model(path)
    other = SGCClassifier().fit(None, [0, -1, 1], graph=Graph.from_edges([(0, 1), (1, 2)]))
    save_model(other, tmp_path / "other")
    with pytest.raises(ModelFileError, match="must be a text model: got a model of the kind 'SGCClassifier'"):
        load_text_model(tmp_path / "other")


def test_graph_must_be_that_of_the_fit(model: TextSGCClassifier, path: Path, news: Any) -> None:
    with pytest.raises(InputError, match="graph must be the one that the model was fitted on"):
        load_text_model(path, Graph.from_edges([(0, 1)]))
    same_size = model.text_graph_.graph
    changed = Graph(same_size.indptr, same_size.indices, np.ones(same_size.n_stored))
    with pytest.raises(InputError, match="graph must be the one"):
        load_text_model(path, changed)


def _cut(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["coef"] = tensors["coef"][:, :-1].copy()


def _infinite(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["word_scores"] = tensors["word_scores"] * np.inf


def _negative(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["word_degrees"] = -tensors["word_degrees"]


def _single(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["idf"] = tensors["idf"].astype(np.float32)


def _wordless(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["text"]["vocabulary"][0] = 7


def _twice(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["classes"]["values"][1] = header["classes"]["values"][0]


def _hops(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["fitted"]["n_hops_"] = 0


def _builder(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["text"]["builder"]["window"] = "wide"


def _nodes(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["text"]["n_documents"] += 1


def _filtered(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["fitted"]["normalization_"] = "rw"


def _missing(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    del tensors["class_prior"]


@pytest.mark.parametrize(
    "damage",
    [_cut, _infinite, _negative, _single, _wordless, _twice, _hops, _builder, _nodes, _filtered, _missing],
)
def test_contents_that_do_not_fit_are_refused(path: Path, damage: Any) -> None:
    header, tensors = read_container(path)
    damage(header, tensors)
    write_container(path, header, tensors)
    with pytest.raises(ModelFileError, match="must describe a whole model"):
        load_text_model(path)


def test_other_versions_and_changed_files_are_refused(path: Path) -> None:
    header, tensors = read_container(path)
    for version, remedy in ((1, "fit it again"), (3, "upgrade sgclearn")):
        header["text"]["version"] = version
        write_container(path, header, tensors)
        with pytest.raises(ModelFileError, match=f"of version 2: got version {version}; {remedy}"):
            load_text_model(path)
    raw = bytearray(path.read_bytes())
    raw[-9] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(ModelFileError, match="checksum"):
        load_text_model(path)
