"""SGC as the authors train it on Reddit: two steps of L-BFGS on the propagated features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sgclearn.errors import InputError, Setting
from sgclearn.experiments.sgc import SGCModel

STEP = 20


@dataclass(eq=False, repr=False)
class StepsSGCModel(SGCModel):
    """`softmax(S^K X Theta + b)` after a few steps of torch's L-BFGS: no line search, and no optimum.

    Parameters
    ----------
    n_hops, random_state
        As in `SGCModel`.
    weight_decay : float, default 0
    steps : int, default 2
    max_iter : int, default 20
        Iterations of a step.

    Notes
    -----
    `seconds_` has the propagation in it, as the paper's times have.
    """

    weight_decay: float | str = 0.0
    steps: int = 2
    max_iter: int | None = STEP
    solver: str = "lbfgs-steps"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iter != STEP:
            raise InputError(
                ("a step has ", Setting("max_iter", STEP)),
                f"{self.max_iter!r}",
                "choose steps",
                argument="max_iter",
            )

    @property
    def options(self) -> dict[str, Any]:
        """As in `SGCModel`; iterations are counted over all steps."""
        options = super().options | {"max_iter": self.steps * STEP}
        del options["steps"]
        return options
