"""How a result is computed: one setting for the plan, the engine, its threads and the memory they may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sgclearn.propagation.engines import Engine, get_engine
from sgclearn.validation.memory import memory_limit_bytes
from sgclearn.validation.parameters import check_parameter, check_type


@dataclass(frozen=True)
class Compute:
    """How a result is computed; none of these settings changes it beyond rounding.

    Parameters
    ----------
    plan : {"auto", "full", "frontier", "left-first", "implicit"}, default "auto"
        The order of the products; "auto" takes the fastest that fits into memory.
    engine : {"auto", "native", "scipy", "torch"}, default "auto"
        What computes the products; "auto" is the native kernel, or scipy where that was not built.
    n_threads : int, optional
        Threads of the native kernel: SGCLEARN_NUM_THREADS, OMP_NUM_THREADS or all cores if not given. The result
        has the same bits for any number.
    memory_limit : int, str or None
        Refuse what would need more, such as "4GB", before anything is allocated: SGCLEARN_MEMORY_LIMIT or 80 % of
        the available memory if not given.

    Examples
    --------
    >>> from sgclearn import Compute, SGCClassifier
    >>> SGCClassifier(compute=Compute(engine="scipy", memory_limit="4GB")).compute.plan
    'auto'
    """

    plan: str = "auto"
    engine: str = "auto"
    n_threads: int | None = None
    memory_limit: int | float | str | None = None

    def __post_init__(self) -> None:
        for name in ("plan", "engine", "n_threads"):
            object.__setattr__(self, name, check_parameter(name, getattr(self, name)))
        if self.memory_limit is not None:
            memory_limit_bytes(self.memory_limit)

    def load_engine(self) -> Engine:
        """The engine with its threads; an error where it cannot run here."""
        return get_engine(self.engine, self.n_threads)


DEFAULT_COMPUTE = Compute()


def check_compute(compute: Any) -> Compute:
    """The settings given, or the default ones for None."""
    if compute is None:
        return DEFAULT_COMPUTE
    check_type(compute, Compute, "compute", "write compute=Compute(engine='scipy'), for example")
    return compute  # type: ignore[no-any-return]
