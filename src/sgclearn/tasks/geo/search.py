"""Settings of `GeoSGC` chosen on users whose places are held back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from sgclearn.errors import InputError
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.tables.messages import counted
from sgclearn.tasks.geo.metrics import NEAR
from sgclearn.tasks.geo.model import DEFAULT_BUCKET, DEFAULT_N_HOPS, GeoSGC
from sgclearn.tasks.geo.sphere import haversine
from sgclearn.tasks.geo.users import check_points
from sgclearn.validation.arrays import positions_of
from sgclearn.validation.parameters import Number

ONE_MAP_DECAYS = (1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
TWO_MAP_DECAYS = (1e-3, 6e-4, 4e-4, 3e-4, 2e-4)
_SHARE = Number(high=1.0, open=True)


class GeoSGCCV(GeoSGC):
    """`GeoSGC` with its settings chosen on held-back places: the largest share within 161 km, then the smallest mean.

    Parameters
    ----------
    n_hops, bucket, normalization : one or a sequence of them
    weight_decay : float or sequence of float, optional
        By default 1e-4 to 1e-6, with two maps 1e-3 to 2e-4.
    hidden, gamma, row_norm, scale, max_iter, tol, random_state, compute
        As in `GeoSGC`.
    held_out : float in (0, 1), default 0.2
        Share of the known places to choose on where `fit` gets no validation nodes.
    refit_with_validation : bool, default True
        Whether the final model learns from the validation places too.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        Share of the validation places within 161 km.
    cv_results_ : list of dict
        Every trial: settings, score, mean and median error in km.
    cells_, classifier_, cell_errors_
        As in `GeoSGC`.
    """

    def __init__(
        self,
        n_hops: int | Sequence[int] = DEFAULT_N_HOPS,
        *,
        bucket: int | Sequence[int] = DEFAULT_BUCKET,
        weight_decay: float | Sequence[float] | None = None,
        hidden: int | None = None,
        normalization: str | Sequence[str] = ("sym", "rw"),
        gamma: float | None = None,
        row_norm: str | None = None,
        scale: str | None = None,
        max_iter: int | None = None,
        tol: float = 1e-6,
        held_out: float = 0.2,
        refit_with_validation: bool = True,
        random_state: int | None = 2019,
        compute: Compute | None = None,
    ) -> None:
        super().__init__(
            n_hops,  # type: ignore[arg-type]
            bucket=bucket,  # type: ignore[arg-type]
            weight_decay=weight_decay,  # type: ignore[arg-type]
            hidden=hidden,
            normalization=normalization,  # type: ignore[arg-type]
            gamma=gamma,
            row_norm=row_norm,
            scale=scale,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            compute=compute,
        )
        self.held_out = held_out
        self.refit_with_validation = refit_with_validation

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        graph: Graph | None = None,
        *,
        validation: Any = None,
        on_step: Callable[[int, int], None] | None = None,
        **progress: Any,
    ) -> GeoSGCCV:
        """Try every combination, then fit the best.

        Parameters
        ----------
        X, y, graph
            As in `GeoSGC.fit`.
        validation : array of int or bool, optional
            Nodes with known places to choose on; they are not learned from while settings are chosen.
        on_step : callable, optional
            Called as `on_step(done, of)` after every trial.
        """
        points = check_points(y, len(np.asarray(y)), lambda row: f"row {row}")
        held = self._held_out(points, validation)
        learned = points.copy()
        learned[held] = np.nan
        candidates = list(self._candidates())
        self.cv_results_: list[dict[str, Any]] = []
        for done, parameters in enumerate(candidates, start=1):
            model = self._model(parameters).fit(X, learned, graph)
            errors = haversine(points[held], model.predict(X, graph, nodes=held))
            score = {"score": float((errors < NEAR).mean()), "mean_km": float(errors.mean())}
            self.cv_results_.append(parameters | score | {"median_km": float(np.median(errors))})
            if on_step is not None:
                on_step(done, len(candidates))
        ranks = [(-trial["score"], trial["mean_km"]) for trial in self.cv_results_]
        best = ranks.index(min(ranks))
        self.best_params_, self.best_score_ = candidates[best], self.cv_results_[best]["score"]
        final = self._model(self.best_params_)
        final.fit(X, points if self.refit_with_validation else learned, graph, **progress)
        self._keep(final.cells_, final.classifier_, final.cell_errors_)
        return self

    def _held_out(self, points: NDArray[np.float64], validation: Any) -> NDArray[np.intp]:
        known = np.flatnonzero(~np.isnan(points[:, 0]))
        if validation is None:
            share = _SHARE.check("held_out", self.held_out)
            order = np.random.default_rng(self.random_state).permutation(known)
            held = np.sort(order[: round(share * len(known))])
        else:
            held = positions_of(validation, len(points))
        if len(held) == 0 or not np.isin(held, known).all() or len(held) >= len(known):
            raise InputError(
                "validation nodes must have a known place and leave others to learn from",
                f"{counted(len(held), 'node')} of {len(known):,} with a place",
                "name some of those",
                argument="validation",
            )
        return held

    def _candidates(self) -> Iterator[dict[str, Any]]:
        default = ONE_MAP_DECAYS if self.hidden is None else TWO_MAP_DECAYS
        decays = default if self.weight_decay is None else _listed(self.weight_decay)
        others = [_listed(value) for value in (self.n_hops, self.bucket, self.normalization)]
        for n_hops, bucket, normalization, decay in product(*others, decays):
            yield {"n_hops": n_hops, "bucket": bucket, "normalization": normalization, "weight_decay": decay}

    def _model(self, parameters: dict[str, Any]) -> GeoSGC:
        own = self.get_params(deep=False)
        model = GeoSGC(**{name: own[name] for name in GeoSGC().get_params(deep=False)})
        return clone(model).set_params(**parameters)  # type: ignore[no-any-return]


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) else list(value)
