"""What contenders compute, run in this process: the same answers that the library gives."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn import SGCClassifier, propagate
from sgclearn.bench.answers import Judge
from sgclearn.bench.cases import equal_loss
from sgclearn.bench.cases.equal_loss import reaches
from sgclearn.bench.contenders import gather, ours, scipy_peer, sklearn_peer, worker
from sgclearn.bench.contenders.objective import Objective
from sgclearn.bench.contenders.problem import Answer, Later, Problem, normalized, row_normalized
from sgclearn.bench.measurement import Measurement
from sgclearn.bench.problems import small_dataset, write_problem
from sgclearn.datasets import GraphDataset, make_block_graph
from sgclearn.operators import Operator

MODEL = {"row_norm": "l1", "weight_decay": 1e-4}


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    return small_dataset()


def problem_in(folder: Path, data: GraphDataset, **settings: Any) -> Problem:
    write_problem(folder, data.graph, data.X, data, **{"n_hops": 2, "threads": 1, **settings})
    return Problem(folder)


def test_problem_reads_back_what_was_written(tmp_path: Path, data: GraphDataset) -> None:
    sizes = write_problem(tmp_path, data.graph, data.X, data, n_hops=3)
    problem = Problem(tmp_path, {"threads": 2})
    assert (sizes["n_nodes"], sizes["n_stored"], sizes["n_train"]) == (600, 12000, len(data.train))
    assert (problem.n_hops, problem.settings["threads"], problem.n_nodes) == (3, 2, 600)
    assert (problem.X != data.X).nnz == 0
    assert (problem.y == data.y).all()
    assert (problem.part("val") == data.val).all()
    assert problem.X.dtype == np.float32


def test_matrix_of_the_peers_is_the_operator(tmp_path: Path, data: GraphDataset) -> None:
    S = normalized(problem_in(tmp_path, data).adjacency())
    assert abs(S - Operator(data.graph).matrix(np.float64)).max() < 1e-7
    assert S.indices.dtype == np.int32


def test_rows_are_divided_by_their_sums_and_empty_ones_left_alone(data: GraphDataset) -> None:
    X = data.X.copy()
    X.data[X.indptr[5] : X.indptr[6]] = 0
    sums = row_normalized(X).sum(axis=1)
    assert sums[5] == 0
    assert np.abs(np.delete(sums, 5) - 1).max() < 1e-6


def test_contenders_of_propagation_agree_with_the_library(tmp_path: Path, data: GraphDataset) -> None:
    problem = problem_in(tmp_path, data)
    wanted = propagate(data.X, data.graph, 2, output="dense")
    for contender in (ours.propagation, scipy_peer.propagation):
        Z = contender(problem)().arrays["Z"]
        Z = Z.toarray() if hasattr(Z, "toarray") else Z
        assert np.abs(Z - wanted).max() < 1e-6


def test_contenders_of_fitting_find_the_same_classes(tmp_path: Path, data: GraphDataset) -> None:
    problem = problem_in(tmp_path, data, model=MODEL, weight_decay=1e-4, solver="lbfgs")
    own, peer = ours.fit(problem)(), sklearn_peer.fit(problem)()
    assert own.figures["accuracy"] == pytest.approx((own.arrays["labels"] == data.y)[data.test].mean())
    assert own.figures["relative_gradient"] < 1e-6
    assert 0 < own.figures["prepare_seconds"] < 10
    assert (own.arrays["labels"] == peer.arrays["labels"]).mean() > 0.98  # its bias is free, ours decayed
    assert peer.figures["iterations"] >= 1


def test_contender_of_tuning_scores_every_decay(tmp_path: Path, data: GraphDataset) -> None:
    decays = [1e-6, 1e-4, 1e-2]
    problem = problem_in(tmp_path, data, model={"row_norm": "l1", "tol": 1e-5}, weight_decays=decays)
    answer = ours.tuning(problem)()
    assert answer.arrays["scores"].shape == (3,)
    assert answer.figures["best_score"] == answer.arrays["scores"].max() > 0.5
    assert answer.figures["solves"] == 4  # three decays and the final fit
    assert 0 < answer.figures["relative_gradient"] <= 1e-5


def test_inductive_contender_never_sees_edges_outside_the_training_nodes(tmp_path: Path) -> None:
    data = make_block_graph(500, 5000, 3, 12, seed=77)
    problem = problem_in(tmp_path, data, model={"weight_decay": 1e-4})
    answer = ours.inductive(problem)()
    model = SGCClassifier(2, weight_decay=1e-4)
    model.fit(data.X[data.train], data.y[data.train], graph=data.graph.subgraph(data.train))
    assert (answer.arrays["labels"] == model.predict(data.X, graph=data.graph)).all()
    right = (answer.arrays["labels"] == data.y)[data.val].mean()
    assert answer.figures["val_accuracy"] == pytest.approx(right)


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge", "ignore:Newton solver did not converge")
def test_training_contenders_reach_the_loss_and_are_judged_by_it(tmp_path: Path) -> None:
    data = make_block_graph(400, 3000, 3, 12, seed=78)
    decay = 1e-3
    model = {"weight_decay": decay, "tol": 1e-6, "penalize_intercept": False}
    write_problem(tmp_path, None, data.X, {"y": data.y}, n_hops=0, model=model)
    objective = Objective(data.X, data.y, decay)
    own = ours.training(Problem(tmp_path))().arrays
    loss, gradient = objective.relative(own["coef"], own["intercept"])
    fitted = SGCClassifier(0, **model).fit(data.X, data.y)
    assert loss == pytest.approx(fitted.loss_, rel=1e-5)
    assert gradient < 1e-5
    wanted = {"weight_decay": decay, "loss": 1.001 * loss, "max_iter": 500, "max_steps": 20}
    judge = reaches(objective, wanted["loss"])
    for training in (sklearn_peer.training, sklearn_peer.newton_training):
        peer = training(Problem(tmp_path, wanted))().arrays
        measurement = judged(judge, peer)
        assert measurement.fault is None
        assert loss * (1 - 1e-6) <= measurement.figures["loss"] <= wanted["loss"]
        assert gradient < measurement.figures["relative_gradient"] < 0.1
    early = sklearn_peer.newton_training(Problem(tmp_path, {**wanted, "max_steps": 1}))().arrays
    assert "did not reach" in judged(judge, early).fault


def test_training_contenders_take_part_with_every_number_of_threads() -> None:
    both = equal_loss.contenders([1, 2], {}, with_newton=True)
    assert len({who.name for who in both}) == len(both) == 8
    for count, label in ((1, ", 1 thread"), (2, ", 2 threads")):
        assert sum(who.threads == count and who.name.endswith(label) for who in both) == 4
    alone = equal_loss.contenders([2], {}, with_newton=False)
    assert [who.name for who in alone] == ["sgclearn", "scikit-learn, lbfgs", "torch L-BFGS"]


def judged(judge: Judge, arrays: dict[str, Any]) -> Measurement:
    measurement = Measurement("x", True, 1)
    judge(measurement, {f"{name}.rows": worker.sketch(array)["rows"] for name, array in arrays.items()})
    return measurement


def test_objective_has_the_gradient_of_its_value() -> None:
    rng = np.random.default_rng(23)
    objective = Objective(rng.standard_normal((30, 4)).astype(np.float32), rng.integers(0, 3, 30), 0.1)
    Theta, b = rng.standard_normal((4, 3)), rng.standard_normal(3)
    value, norm = objective.at(Theta, b)
    slopes = []
    for place in np.ndindex(5, 3):
        moved = np.vstack([Theta, b])
        moved[place] += 1e-6
        slopes.append((objective.loss(moved[:4], moved[4]) - value) / 1e-6)
    assert norm == pytest.approx(np.linalg.norm(slopes), rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_peer_has_the_strength_of_our_weight_decay(n_classes: int) -> None:
    from sklearn.linear_model import LogisticRegression

    data = make_block_graph(200, 800, n_classes, 5, seed=31)
    model = SGCClassifier(0, weight_decay=1e-2, penalize_intercept=False).fit(data.X, data.y)
    C = sklearn_peer.strength(data.y, 1e-2)
    peer = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(data.X, data.y)
    wanted = model.predict_proba(data.X)
    assert np.abs(peer.predict_proba(data.X) - wanted).max() < 1e-3
    if n_classes == 2:
        weaker = LogisticRegression(C=C / 2, tol=1e-8, max_iter=1000).fit(data.X, data.y)
        assert np.abs(weaker.predict_proba(data.X) - wanted).max() > 1e-3


def test_gather_loop_reads_a_line_of_every_neighbour_for_every_column_and_hop(
    tmp_path: Path, data: GraphDataset
) -> None:
    kernel = pytest.importorskip("sgclearn._native._kernel")
    answer = gather.probe(problem_in(tmp_path, data, n_columns=60))()
    lines = -(-60 * 4 // kernel.LINE_BYTES)
    assert answer.figures["passes"] == 2 * lines
    assert answer.figures["gathered_bytes"] == 2 * lines * kernel.LINE_BYTES * data.graph.n_stored


@pytest.mark.parametrize("n_nodes", [1, 1000, 100_000])
def test_lines_of_the_loop_are_aligned_to_huge_pages_and_random(n_nodes: int) -> None:
    lines = gather._aligned_lines(n_nodes, 64)
    assert (lines.shape, lines.dtype) == ((n_nodes, 16), np.float32)
    assert lines.ctypes.data % gather.HUGE_PAGE == 0
    assert len(np.unique(lines)) > 0.9 * lines.size


def test_sketch_of_an_answer_is_its_rows_and_column_sums() -> None:
    Z = np.arange(12.0).reshape(6, 2)
    found = worker.sketch(Later(lambda: Z, Z.nbytes))
    assert (found["rows"] == Z).all()  # few enough to be all of them
    assert found["sums"].tolist() == [30.0, 36.0]
    assert worker.sketch(np.array([3, 1]))["rows"].tolist() == [3, 1]
    tall, taller = np.ones((worker.SKETCH_ROWS + 1, 2)), np.ones((worker.WHOLE, 2))
    assert worker.sketch(tall)["rows"].shape == tall.shape  # weights must be whole to be judged
    assert len(worker.sketch(taller)["rows"]) == worker.SKETCH_ROWS


def test_server_reports_time_memory_and_figures(tmp_path: Path, data: GraphDataset) -> None:
    problem_in(tmp_path, data)
    server = worker.Server()
    with pytest.raises(RuntimeError, match="prepare comes first"):
        server.turn(0.0)
    ready = server.prepare("scipy_peer:propagation", str(tmp_path), {"threads": 1})
    assert ready["versions"]["numpy"] == np.__version__
    (run,) = server.turn(0.0)["runs"]
    assert run["seconds"] > 0
    assert run["bytes"] is None or run["bytes"] >= 0
    server.save(str(tmp_path / "answer.npz"))
    with np.load(tmp_path / "answer.npz") as saved:
        assert saved["Z.rows"].shape == (600, 60)


def test_server_counts_what_a_run_holds_beside_its_result() -> None:
    if worker.memory("VmHWM") is None:
        pytest.skip("this system does not tell the memory of a process")
    size = 64 * 2**20

    def greedy() -> Answer:
        working, result = np.ones(2 * size, dtype=np.uint8), np.ones(size, dtype=np.uint8)
        return Answer({"result": result}, {"kept": float(working[-1])})

    server = worker.Server()
    server.run = greedy
    for _ in range(2):  # what the first left behind does not hide the second
        (run,) = server.turn(0.0, is_first=True)["runs"]
        assert 1.5 * size < run["bytes"] < 2.5 * size


def test_worker_answers_orders_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = io.StringIO()
    orders = [{"order": "turn", "burst": 0.0}, {"order": "prepare", "contender": "nowhere:f"}]
    orders[1] |= {"folder": ".", "settings": {}}
    monkeypatch.setattr("sys.stdin", [json.dumps(order) for order in orders])
    worker.serve(replies)
    first, second = (json.loads(line) for line in replies.getvalue().splitlines())
    assert "prepare comes first" in first["failed"]
    assert "nowhere" in second["missing"]
