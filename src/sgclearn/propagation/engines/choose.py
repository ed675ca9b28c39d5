"""From the name of an engine to the engine."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from sgclearn._native import load_kernel
from sgclearn.errors import InputError, Setting, SgclearnWarning
from sgclearn.propagation.engines.contract import Engine
from sgclearn.propagation.engines.threads import thread_count
from sgclearn.validation.parameters import check_parameter


def get_engine(engine: Any = "auto", n_threads: int | None = None) -> Engine:
    """The engine of that name.

    Parameters
    ----------
    engine : {"auto", "native", "scipy", "torch"}
        "auto" is the native kernel, or scipy with one warning where the kernel was not built. "torch" uses a
        GPU if there is one, and needs the extra of that name.
    n_threads : int, optional
        For the native kernel; see `thread_count`. scipy has one thread, torch its own setting: there it is an
        error, unless it was "auto" that chose.
    """
    engine, n_threads = check_parameter("engine", engine), check_parameter("n_threads", n_threads)
    chosen = engine == "auto"
    if chosen:
        engine = "native" if has_kernel() else "scipy"
        if engine == "scipy":
            _warn_once()
    if engine == "native":
        if not has_kernel():
            raise InputError(
                (Setting("engine", "native"), " needs the compiled kernel"),
                "an installation without it",
                ("install sgclearn where a C++ compiler is at hand, or say ", Setting("engine", "auto")),
            )
        from sgclearn.propagation.engines.native_engine import NativeEngine

        try:
            load_kernel().instruction_set()
        except ValueError as error:  # SGCLEARN_INSTRUCTIONS names none
            raise InputError(str(error)) from None
        return NativeEngine(thread_count(n_threads))
    if n_threads is not None and not chosen:
        raise InputError(
            "n_threads is for the native kernel",
            f"engine={engine!r}",
            "leave n_threads out",
            argument="n_threads",
        )
    if engine == "torch":
        from sgclearn.propagation.engines.torch_engine import TorchEngine

        return TorchEngine()
    from sgclearn.propagation.engines.scipy_engine import ScipyEngine

    return ScipyEngine()


def has_kernel() -> bool:
    """Whether the compiled kernel can be imported."""
    return load_kernel() is not None


@cache
def _warn_once() -> None:
    warnings.warn(
        SgclearnWarning(
            "the compiled kernel is missing, so the slower scipy engine serves: install sgclearn where a C++ compiler "
            "is at hand, or say ",
            *(Setting("engine", "scipy"), " to do without this warning."),
        ),
        stacklevel=2,
    )
