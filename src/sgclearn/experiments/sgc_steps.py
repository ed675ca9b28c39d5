"""SGC as the authors train it on Reddit: two steps of L-BFGS on the propagated features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.baselines import Baseline
from sgclearn.baselines.interface import OnStep
from sgclearn.datasets import GraphDataset
from sgclearn.errors import InputError
from sgclearn.estimators.labels import one_hot
from sgclearn.estimators.loss import Objective, Softmax
from sgclearn.estimators.solvers.adam import torch_linear_start
from sgclearn.estimators.solvers.lbfgs_steps import minimize_lbfgs_steps
from sgclearn.operators import Operator
from sgclearn.propagation import propagate
from sgclearn.propagation.design import ExplicitDesign
from sgclearn.propagation.propagate import propagate_product
from sgclearn.propagation.source import NodeFeatures


class StepsSGCModel(Baseline):
    """`softmax(S^K X Theta + b)` after a few steps of torch's L-BFGS: no line search, and no optimum.

    Parameters
    ----------
    n_hops : int, default 2
    weight_decay : float, default 0
    steps : int, default 2
    max_iter : int, default 20
        Iterations of a step, at most.
    random_state : int, default 2019
        Of the start, which is that of `torch.nn.Linear`.

    Notes
    -----
    `seconds_` has the propagation in it, as the paper's times have.
    """

    def __init__(
        self,
        n_hops: int = 2,
        *,
        weight_decay: float = 0.0,
        steps: int = 2,
        max_iter: int = 20,
        random_state: int = 2019,
    ) -> None:
        self.n_hops = n_hops
        self.weight_decay = weight_decay
        self.steps = steps
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, data: GraphDataset, on_step: OnStep | None = None) -> Self:
        """Fit to the training labels; see `Baseline.fit`."""
        with self.timed():
            Z = propagate(data.X, data.graph, self.n_hops, nodes=data.train, output="dense")
            Y = one_hot(data.y[data.train], len(data.class_names))
            design = ExplicitDesign(Z)
            # In the precision of the samples, as torch has it.
            objective = Objective(design, Y, np.ones(len(Y)), Softmax, self.weight_decay, rough=True)
            start = torch_linear_start(objective.shape, Z.shape[1], np.random.default_rng(self.random_state))
            result = minimize_lbfgs_steps(
                objective,
                start,
                max_iter=self.steps * self.max_iter,
                step=self.max_iter,
                dtype=Z.dtype,
                on_iteration=on_step,
            )
        self.Theta_, self.b_ = result.W[:-1], result.W[-1]
        self.n_parameters_ = int(result.W.size)
        self.details_ = {
            "iterations": result.n_iter,
            "loss": result.loss,
            "gradient_ratio": result.gradient_ratio,
        }
        return self

    def predict(self, data: GraphDataset) -> NDArray[np.intp]:
        """Class of every node, of the graph of the fit or of another with the same features."""
        if not hasattr(self, "Theta_"):
            raise InputError("StepsSGCModel must be fitted before it predicts: call fit first.")
        features: Any = NodeFeatures(data.X, data.graph.n_nodes, None)
        logits = propagate_product(Operator(data.graph), features, self.n_hops, self.Theta_) + self.b_
        return np.asarray(logits.argmax(axis=1), dtype=np.intp)
