"""The paper's text corpora: accuracies, memory, reasons, and documents that were never in the graph."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sgclearn import TextSGCClassifier
from sgclearn.tasks.text import TextCorpus, TextGraph, TextGraphBuilder, load_corpus

# What the paper reports, and the weight decay that its authors tuned.
PUBLISHED = {"20ng": 88.5, "r8": 97.2, "r52": 94.0, "ohsumed": 68.5, "mr": 75.9}
AUTHORS_DECAY = {"20ng": 1.3576e-3, "r8": 5.554e-4, "r52": 3.392e-6, "ohsumed": 3.911e-3, "mr": 3.133e-3}
ALLOWED = 0.5  # points below the published figure
CLEANED = TextGraphBuilder(analyzer="whitespace")
PAPER = TextGraphBuilder(analyzer="sgc", stop_words="textgcn", min_count=5)


@cache
def corpus_and_graph(name: str, data_dir: Path) -> tuple[TextCorpus, TextGraph]:
    corpus = load_corpus(name, data_dir)
    return corpus, CLEANED.build(corpus.docs)


@cache
def corpus_and_graph_of_the_paper(name: str, data_dir: Path) -> tuple[TextCorpus, TextGraph]:
    corpus = load_corpus(name, data_dir, cleaned=False)
    return corpus, (PAPER if name != "mr" else TextGraphBuilder(analyzer="sgc")).build(corpus.docs)


@cache
def transductive_r8(data_dir: Path) -> TextSGCClassifier:
    corpus, graph = corpus_and_graph("r8", data_dir)
    return TextSGCClassifier(weight_decay=AUTHORS_DECAY["r8"]).fit(graph, corpus.train_labels())


def drawn(corpus: TextCorpus, seed: int) -> NDArray[np.intp]:
    """A random tenth of the training documents, as the paper's protocol holds back for validation."""
    return np.random.default_rng(seed).permutation(corpus.train)[: len(corpus.train) // 10]


def percent_right(corpus: TextCorpus, model: TextSGCClassifier) -> float:
    return 100 * float((model.transduction_[corpus.test] == corpus.y[corpus.test]).mean())


def paper_runs(name: str, data_dir: Path, n_runs: int) -> list[float]:
    """Test accuracies of the paper's protocol: the final model never sees the validation documents."""
    corpus, graph = corpus_and_graph_of_the_paper(name, data_dir)
    found = []
    for seed in range(101, 101 + n_runs):
        y = corpus.train_labels()
        y[drawn(corpus, seed)] = -1
        model = TextSGCClassifier(weight_decay=AUTHORS_DECAY[name], recipe="paper", random_state=seed)
        found.append(percent_right(corpus, model.fit(graph, y)))
    return found


def exact_run(name: str, data_dir: Path, seed: int) -> float:
    """Test accuracy of the exact optimum at the weight decay that the validation documents choose."""
    corpus, graph = corpus_and_graph(name, data_dir)
    model = TextSGCClassifier().fit(graph, corpus.train_labels(), validation=drawn(corpus, seed))
    return percent_right(corpus, model)


@pytest.mark.parametrize("name", ["r8", "mr"])
def test_recipe_of_the_paper_reaches_its_figures(name: str, data_dir: Path) -> None:
    assert np.mean(paper_runs(name, data_dir, n_runs=2)) >= PUBLISHED[name] - ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_runs"), [("20ng", 2), ("r8", 10), ("r52", 4), ("ohsumed", 5), ("mr", 10)]
)
def test_runs_of_the_recipe_reach_the_figures_of_the_paper(name: str, n_runs: int, data_dir: Path) -> None:
    assert np.mean(paper_runs(name, data_dir, n_runs)) >= PUBLISHED[name] - ALLOWED


def test_exact_optimum_with_validated_decay_reaches_the_paper_on_mr(data_dir: Path) -> None:
    assert exact_run("mr", data_dir, 101) >= PUBLISHED["mr"] - ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r8"])
def test_exact_optimum_with_validated_decay_reaches_the_paper(name: str, data_dir: Path) -> None:
    assert np.mean([exact_run(name, data_dir, seed) for seed in (101, 102)]) >= PUBLISHED[name] - ALLOWED


@pytest.mark.slow
def test_documents_held_out_of_the_graph_are_predicted_as_well(data_dir: Path) -> None:
    """Each tenth of R8's test set is left out of the graph in turn, and comes as new."""
    corpus, _ = corpus_and_graph("r8", data_dir)
    right = 0
    for tenth in np.array_split(np.random.default_rng(8).permutation(corpus.test), 10):
        kept = np.setdiff1d(np.arange(len(corpus.docs)), tenth)
        model = TextSGCClassifier(CLEANED, weight_decay=AUTHORS_DECAY["r8"])
        model.fit([corpus.docs[k] for k in kept], corpus.train_labels()[kept])
        right += int((model.predict([corpus.docs[k] for k in tenth]) == corpus.y[tenth]).sum())
    pooled = 100 * right / len(corpus.test)
    assert abs(pooled - percent_right(corpus, transductive_r8(data_dir))) <= 1.0


def test_reasons_sum_to_the_logits_of_real_documents(data_dir: Path) -> None:
    corpus, _ = corpus_and_graph("r8", data_dir)
    model = transductive_r8(data_dir)
    fitted, new = model.decision_function(), model.decision_function(corpus.docs[:3])
    for doc, logits in ((int(corpus.test[5]), fitted[corpus.test[5]]), (corpus.docs[2], new[2])):
        for by in ("features", "text"):
            found = model.explain(doc, by=by)
            total = found.baseline + found.word_contributions.sum() + found.document_contributions.sum()
            assert total == pytest.approx(logits.max(), abs=1e-9)
            assert found.logit == pytest.approx(total, abs=1e-9)


def test_top_words_of_r8_are_those_a_reader_expects(data_dir: Path) -> None:
    corpus, _ = corpus_and_graph("r8", data_dir)
    model = transductive_r8(data_dir)
    expected = {
        "earn": "net",
        "crude": "oil",
        "grain": "crop",
        "interest": "rate",
        "ship": "port",
        "trade": "deficit",
    }
    for label, word in expected.items():
        words = [found for found, _ in model.top_words(corpus.class_names.index(label), 15)]
        assert word in words


MEMORY_OF_20NG = """
import resource
from sgclearn import TextSGCClassifier
from sgclearn.tasks.text import TextGraphBuilder, load_corpus
corpus = load_corpus("20ng")
model = TextSGCClassifier(TextGraphBuilder(analyzer="whitespace"), weight_decay=1.3576e-3, recipe="paper")
model.fit(corpus.docs, corpus.train_labels())
model.predict(corpus.docs)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, model.memory_)
"""


@pytest.mark.slow
def test_20ng_needs_less_than_three_gigabytes(data_dir: Path) -> None:
    command = [sys.executable, "-c", MEMORY_OF_20NG]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, estimate = map(int, done.stdout.split())
    assert peak < 3e9
    assert 0.5 * peak < estimate < 2 * peak
