"""One training loop for all networks, and the rules by which they stop and choose an epoch."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from sgclearn.baselines.interface import OnStep
from sgclearn.errors import InputError

Judgement = tuple[float, float]  # loss and accuracy


class Rule(ABC):
    """Hears of every epoch: are its weights to be kept, and is it the last?"""

    @abstractmethod
    def hear(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """Keep the weights of this epoch (else of an earlier one, or the last), and stop."""


class MeanLoss(Rule):
    """Stop when the loss exceeds the mean of those of the `patience` epochs before; the last weights are taken.

    Paper: Kipf and Welling 2017, as their public code has it. 0 never stops.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.losses: list[float] = []

    def hear(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """See `Rule`."""
        before = self.losses[-self.patience :] if self.patience else []
        self.losses.append(loss)
        enough = len(self.losses) > self.patience + 1
        return False, bool(self.patience) and enough and loss > float(np.mean(before))


class LossAndAccuracy(Rule):
    """Stop after `patience` epochs that better neither loss nor accuracy; keep an epoch that equals or betters both.

    Paper: Velickovic et al. 2018, as their public code has it. 0 never stops.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.loss, self.accuracy, self.waited = np.inf, 0.0, 0

    def hear(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """See `Rule`."""
        lower, higher = loss <= self.loss, accuracy >= self.accuracy
        self.waited = 0 if lower or higher else self.waited + 1
        self.loss, self.accuracy = min(loss, self.loss), max(accuracy, self.accuracy)
        return lower and higher, self.waited == self.patience > 0


class BestAccuracy(Rule):
    """Keep the epoch of the best accuracy, among equal ones that of the lowest loss; stop after `patience` in vain.

    0 never stops.
    """

    def __init__(self, patience: int = 0) -> None:
        self.patience = patience
        self.best, self.waited = (-1.0, -np.inf), 0

    def hear(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """See `Rule`."""
        better = (accuracy, -loss) > self.best
        self.best = max(self.best, (accuracy, -loss))
        self.waited = 0 if better else self.waited + 1
        return better, self.waited == self.patience > 0


class LowestLoss(Rule):
    """Keep the epoch of the lowest loss, stop after `patience` that are not lower.

    Paper: Velickovic et al. 2019. 0 never stops.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best, self.waited = np.inf, 0

    def hear(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """See `Rule`."""
        better = loss < self.best
        self.best = min(self.best, loss)
        self.waited = 0 if better else self.waited + 1
        return better, self.waited == self.patience > 0


def train(
    layers: Any,
    optimizer: Any,
    losses: Callable[[], Any],
    judge: Callable[[], Judgement] | None,
    rule: Rule | None,
    max_epochs: int,
    on_step: OnStep | None = None,
) -> dict[str, Any]:
    """Train `layers`, and leave them with the weights that the rule chose.

    Parameters
    ----------
    layers : torch.nn.Module
    optimizer : torch.optim.Optimizer
    losses : callable
        Yields the loss of each batch of an epoch, to be differentiated; one for a whole graph.
    judge : callable or None
        Loss and accuracy on the validation nodes; None lets the rule hear the training loss.
    rule : Rule or None
        None makes all epochs and takes the last.
    max_epochs : int
    on_step : callable, optional
        Called as `on_step(done, at_most)` after every epoch.

    Returns
    -------
    dict
        Details of a result: epochs made, the one whose weights are taken, whether it stopped early, seconds an epoch.
    """
    kept: dict[str, Any] | None = None
    kept_epoch, stop, epoch = 0, False, 0
    began = time.perf_counter()
    while epoch < max_epochs and not stop:
        epoch += 1
        layers.train()
        total = 0.0
        for loss in losses():
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach())
        if rule is not None:
            layers.eval()
            keep, stop = rule.hear(*((total, 0.0) if judge is None else judge()))
            if keep:
                kept, kept_epoch = _copy(layers), epoch
        if on_step is not None:
            on_step(epoch, max_epochs)
    if kept is not None:
        layers.load_state_dict(kept)
    return {
        "epochs": epoch,
        "epoch_taken": kept_epoch or epoch,
        "stopped_early": stop,
        "seconds_an_epoch": (time.perf_counter() - began) / epoch,
    }


def _copy(layers: Any) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in layers.state_dict().items()}


def check_schedule(hidden: int, dropout: float, patience: int, max_epochs: int) -> None:
    """Raise for settings with which nothing can be trained."""
    if hidden < 1 or max_epochs < 1 or patience < 0:
        raise InputError(
            "hidden and max_epochs must be >= 1 and patience >= 0", f"{hidden}, {max_epochs} and {patience}"
        )
    if not 0.0 <= dropout < 1.0:
        raise InputError("dropout must be a share in [0, 1)", f"{dropout}", argument="dropout")
