from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from sgclearn.errors import DataFileError, InputError
from sgclearn.tasks.text import load_corpus, read_documents


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_csv_columns_are_found_by_name(tmp_path: Path) -> None:
    text = 'doc_id,Body,topic,split\n007,"Oil, gas\nand coal",energy,train\n12,Corn,farms,test\n9,NA,,\n'
    documents = read_documents(written(tmp_path, "docs.csv", text))
    assert documents.texts == ("Oil, gas\nand coal", "Corn", "NA")
    assert documents.labels.tolist() == ["energy", "farms", None]
    assert documents.ids.tolist() == ["007", "12", "9"]
    assert documents.splits.tolist() == ["train", "test", None]
    assert repr(documents) == "Documents(3 documents, 2 labelled, 1 train, 0 val, 1 test)"


def test_csv_columns_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "docs.tsv", "text\tgroup\tsummary\nlong\t2\toil\nlonger\t-1\tcorn\n")
    documents = read_documents(path, text_column="summary", label_column="group", id_column="text")
    assert documents.texts == ("oil", "corn")
    assert documents.labels.tolist() == [2, -1]
    assert documents.ids.tolist() == ["long", "longer"]


def test_csv_of_one_column(tmp_path: Path) -> None:
    documents = read_documents(written(tmp_path, "docs.csv", 'text\n"Oil, gas"\nCorn\n'))
    assert documents.texts == ("Oil, gas", "Corn")
    assert documents.labels is None
    assert documents.ids.tolist() == [0, 1]
    named = read_documents(written(tmp_path, "named.csv", "story\nOil\n"), text_column="story")
    assert named.texts == ("Oil",)


def test_numbers_in_the_text_column_keep_their_spelling(tmp_path: Path) -> None:
    documents = read_documents(written(tmp_path, "docs.csv", "text,label\n007,1\n1.50,2\n"))
    assert documents.texts == ("007", "1.50")


def test_the_only_column_left_is_the_text(tmp_path: Path) -> None:
    documents = read_documents(written(tmp_path, "docs.csv", "label,story\n3,Oil\n5,Corn\n"))
    assert documents.texts == ("Oil", "Corn")
    assert documents.labels.tolist() == [3, 5]


def test_empty_cells_are_documents_without_text(tmp_path: Path) -> None:
    documents = read_documents(written(tmp_path, "docs.csv", "text,label\n,a\n  ,b\nOil,b\n"))
    assert documents.texts == ("", "", "Oil")


def test_a_column_without_any_label_is_none(tmp_path: Path) -> None:
    assert read_documents(written(tmp_path, "docs.csv", "text,label\nOil,\nCorn,\n")).labels is None


def test_parquet_and_jsonl_hold_the_same(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"text": "Oil", "label": "a", "id": 4}, {"text": None, "label": None, "id": 5}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "docs.parquet")
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    written(tmp_path, "docs.jsonl.gz", gzip.compress(lines + b"\n\n"))
    for name in ("docs.parquet", "docs.jsonl.gz"):
        documents = read_documents(tmp_path / name)
        assert documents.texts == ("Oil", "")
        assert documents.labels.tolist() == ["a", None]
        assert documents.ids.tolist() == [4, 5]


def test_jsonl_lines_may_lack_keys(tmp_path: Path) -> None:
    path = written(tmp_path, "docs.jsonl", '{"text": "Oil", "label": 3}\n{"text": "Corn"}\n')
    documents = read_documents(path)
    assert documents.labels.tolist() == [3, -1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": ', "one JSON object a line: got a fault in line 2"),
        ('["Corn"]', "one JSON object a line: got list in line 2"),
        ('{"text": "Corn", "label": "x"}', "one type of value for each name: got several for 'label'"),
        ('{"text": "Corn \\ud800"}', "got half of a surrogate pair under 'text'"),
    ],
)
def test_jsonl_faults_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, "docs.jsonl", '{"text": "Oil", "label": 3}\n' + line)
    with pytest.raises(DataFileError, match=message):
        read_documents(path)


def test_text_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    lists = written(tmp_path, "lists.jsonl", '{"text": ["Oil", "gas"]}\n')
    with pytest.raises(
        DataFileError, match=r"must have texts in its text column: got list.* in column 'text'"
    ):
        read_documents(lists)
    with pytest.raises(DataFileError, match=r"got int64 in column 'n'"):
        read_documents(written(tmp_path, "numbers.jsonl", '{"n": 3, "text": "Oil"}\n'), text_column="n")
    nested = written(tmp_path, "labels.jsonl", '{"text": "Oil", "label": {"a": 2}}\n')
    with pytest.raises(
        DataFileError, match=r"must have integers or strings as labels: got struct.* in column 'label'"
    ):
        read_documents(nested)


def test_txt_is_one_document_a_line(tmp_path: Path) -> None:
    documents = read_documents(written(tmp_path, "docs.txt", "Oil, gas\n\nCorn\x85 wheat\n"))
    assert documents.texts == ("Oil, gas", "", "Corn\x85 wheat")


def test_folder_without_classes(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden"):
        written(tmp_path, f"docs/{name}", f"text of {name}")
    documents = read_documents(tmp_path / "docs")
    assert documents.texts == ("text of a.txt", "text of b.txt")
    assert documents.ids.tolist() == ["a.txt", "b.txt"]
    assert documents.labels is None


def test_folder_of_classes_and_splits(tmp_path: Path) -> None:
    for name in ("train/oil/1", "train/corn/2", "test/oil/3"):
        written(tmp_path, f"both/{name}", "x")
        written(tmp_path, f"classes/{name.split('/', 1)[1]}", "x")
    both, classes = read_documents(tmp_path / "both"), read_documents(tmp_path / "classes")
    assert both.ids.tolist() == ["test/oil/3", "train/corn/2", "train/oil/1"]
    assert both.labels.tolist() == ["oil", "corn", "oil"]
    assert both.splits.tolist() == ["test", "train", "train"]
    assert classes.labels.tolist() == ["corn", "oil", "oil"]
    assert classes.splits is None


def test_folder_refusals(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError, match="must hold files, one a document: got none"):
        read_documents(tmp_path / "empty")
    written(tmp_path, "uneven/a.txt", "x")
    written(tmp_path, "uneven/oil/b.txt", "x")
    with pytest.raises(DataFileError, match=r"equally deep, as a.txt is: got oil/b.txt"):
        read_documents(tmp_path / "uneven")
    written(tmp_path, "deep/a/b/c.txt", "x")
    with pytest.raises(DataFileError, match=r"class/a.txt or train/class/a.txt: got a/b/c.txt"):
        read_documents(tmp_path / "deep")
    with pytest.raises(
        InputError, match=r"label_column goes with tables: got a folder, which has no columns"
    ):
        read_documents(tmp_path / "deep", label_column="topic")


def test_encodings_are_named_or_mixed(tmp_path: Path) -> None:
    mixed = "text,label\nCafé,a\n".encode() + "Élan,b\n".encode("latin-1")
    path = written(tmp_path, "docs.csv", mixed)
    with pytest.raises(
        DataFileError, match="must be UTF-8 text: got other bytes in line 3; name another with encoding="
    ):
        read_documents(path)
    assert read_documents(path, encoding="mixed").texts == ("Café", "Élan")
    assert read_documents(path, encoding="latin-1").texts == ("CafÃ©", "Élan")
    with pytest.raises(DataFileError, match="must be ascii text: got other bytes in line 2"):
        read_documents(path, encoding="ascii")
    with pytest.raises(InputError, match=r"encoding must be one that Python knows.* got 'klingon'"):
        read_documents(path, encoding="klingon")


def test_marks_of_unicode_files_are_understood(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = written(tmp_path, f"{encoding}.csv", "text,label\nCafé,a\nÉlan,b\n".encode(encoding))
        assert read_documents(path).texts == ("Café", "Élan")


def test_folder_names_the_file_with_another_encoding(tmp_path: Path) -> None:
    written(tmp_path, "docs/a.txt", "Café")
    written(tmp_path, "docs/b.txt", "Élan".encode("latin-1"))
    with pytest.raises(DataFileError, match=r"b.txt must be UTF-8 text: got other bytes in line 1"):
        read_documents(tmp_path / "docs")
    assert read_documents(tmp_path / "docs", encoding="mixed").texts == ("Café", "Élan")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "must hold documents: got an empty file"),
        ("text,label\n", {}, "must hold at least one document: got none"),
        ("text,label\nOil,a\n", {"text_column": "body"}, "text_column must name a column of .*: got 'body'"),
        ("text,label\nOil,a\n", {"label_column": "text", "text_column": "text"}, "got one named twice"),
        (
            "title,story,label\nOil,x,2\n",
            {},
            "must show which column is the text: got 'title', 'story', 'label'",
        ),
        ("id,text\n,Oil\n3,Corn\n", {}, "must have an id: got an empty cell in column 'id' for document 1"),
        ("text,label,split\nOil,a,train\nCorn,b,dev\n", {}, "got 'dev' in line 3"),
        (
            "text,label,split\nOil,a,train\nCorn,b,\n",
            {},
            "every label must have a split: got none in line 3",
        ),
        ("Oil,Gas\nCorn,Wheat\n", {}, "must show whether its first line is a header"),
        ("text,label\nOil\0,a\n", {}, "must be text: got NUL bytes"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path: Path, text: str, options: dict[str, str], message: str) -> None:
    with pytest.raises((DataFileError, InputError), match=message):
        read_documents(written(tmp_path, "docs.csv", text), **options)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="must be an existing file"):
        read_documents(tmp_path / "nowhere.csv")
    with pytest.raises(DataFileError, match="must be a whole Parquet file"):
        read_documents(written(tmp_path, "docs.parquet", "text,label\n"))
    with pytest.raises(InputError, match=r"encoding goes with text: got Parquet, which has its own"):
        read_documents(tmp_path / "docs.parquet", encoding="latin-1")


@pytest.mark.parametrize(
    ("name", "n_docs", "n_train", "n_classes", "n_words"),
    [
        ("20ng", 18_846, 11_314, 20, 42_757),
        ("r8", 7_674, 5_485, 8, 7_688),
        ("R52", 9_100, 6_532, 52, 8_892),
        ("ohsumed", 7_400, 3_357, 23, 14_157),
        ("mr", 10_662, 7_108, 2, 18_764),
    ],
)
def test_corpora_have_their_published_sizes(
    data_dir: Path, name: str, n_docs: int, n_train: int, n_classes: int, n_words: int
) -> None:
    corpus = load_corpus(name, data_dir)
    assert (len(corpus.docs), len(corpus.train), len(corpus.class_names)) == (n_docs, n_train, n_classes)
    assert len({word for text in corpus.docs for word in text.split()}) == n_words
    assert len(corpus.test) == n_docs - n_train
    assert set(np.unique(corpus.y)) == set(range(n_classes))
    labels = corpus.train_labels()
    assert (labels[corpus.test] == -1).all()
    assert (labels[corpus.train] == corpus.y[corpus.train]).all()


def test_corpus_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="name must be one of 20ng, r8, r52, ohsumed, mr: got 'reuters'"):
        load_corpus("reuters")
    with pytest.raises(DataFileError, match=r"needs the file R8.clean.txt.xz: got .* without it"):
        load_corpus("r8", tmp_path)
    monkeypatch.delenv("SGCLEARN_DATA", raising=False)
    with pytest.raises(DataFileError, match="needs a folder with its files: got none"):
        load_corpus("mr")


def test_corpus_parts_must_fit(tmp_path: Path) -> None:
    import lzma

    written(tmp_path, "mr.clean.txt.xz", lzma.compress(b"good film\nbad film"))
    arrays = {"is_train": np.array([True, False]), "label_names": np.array(["bad", "good"])}
    np.savez(tmp_path / "mr.labels.npz", y=np.array([1, 0, 1]), **arrays)
    with pytest.raises(DataFileError, match="y and is_train for each of the 2 documents"):
        load_corpus("mr", tmp_path)
    np.savez(tmp_path / "mr.labels.npz", y=np.array([1, 0]), **arrays)
    corpus = load_corpus("mr", tmp_path)
    assert repr(corpus) == "TextCorpus('mr': 2 documents, 2 classes; train 1, test 1)"
