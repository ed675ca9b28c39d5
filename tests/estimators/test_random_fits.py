"""A thousand random fits against the reference; `make random-fits` runs a hundred times as many."""

from __future__ import annotations

import numpy as np
import pytest
import random_fits


def test_random_fits_are_those_of_the_reference() -> None:
    summary = random_fits.run(1000, seed=409)
    assert summary.failures == []
    assert summary.outcomes["converged"] > 800
    assert summary.outcomes["(classes compared)"] > 5000


def test_random_fits_notice_weights_that_are_not_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = random_fits.SGCClassifier.fit

    def slightly_wrong(self, *arguments, **options):
        fitted = fit(self, *arguments, **options)
        fitted.coef_ = fitted.coef_ * (1 + 1e-5)
        return fitted

    monkeypatch.setattr(random_fits.SGCClassifier, "fit", slightly_wrong)
    summary = random_fits.run(20, seed=409)
    assert sum("converged_ with a gradient of" in failure for failure in summary.failures) > 5


def test_random_fits_notice_what_is_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = random_fits.SGCClassifier.fit

    def without_a_bias(self, *arguments, **options):
        fitted = fit(self, *arguments, **options)
        fitted.intercept_ = np.full_like(fitted.intercept_, np.nan)
        return fitted

    monkeypatch.setattr(random_fits.SGCClassifier, "fit", without_a_bias)
    assert len(random_fits.run(10, seed=409).failures) > 5
