"""How far the probabilities of a run can be trusted, before and after calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgclearn.evaluate.probabilities import evaluate_probabilities, untempered
from sgclearn.runs.predictions import ClassPredictions, Predictions
from sgclearn.tasks.protocol import Samples

SCORES = ("log_loss", "brier_score", "calibration_error", "mean_confidence")


def probability_metrics(model: Any, samples: Samples, predictions: Predictions) -> dict[str, Any] | None:
    """Scores of the probabilities of the test samples; None without any, or where numbers are predicted."""
    test = samples.where("test")
    if not isinstance(predictions, ClassPredictions) or not len(test):
        return None
    place = {label: number for number, label in enumerate(predictions.classes.tolist())}
    codes = np.array([place.get(label, -1) for label in samples.y[test].tolist()], dtype=np.intp)
    known = codes >= 0  # a class without a training label has no probability
    if not known.any():
        return None
    P, temperature = predictions.probabilities[test[known]], float(getattr(model, "temperature_", 1.0))
    calibration = getattr(model, "calibration_", None)
    after = evaluate_probabilities(codes[known], P)
    before = evaluate_probabilities(codes[known], untempered(P, temperature)) if temperature != 1.0 else after
    return {
        "temperature": temperature,
        "calibration": None if calibration is None else calibration.to_dict(),
        "before": {name: getattr(before, name) for name in SCORES},
        "after": {name: getattr(after, name) for name in SCORES},
        "risk_coverage": after.to_dict()["risk_coverage"],
    }


def probabilities_in_words(metrics: dict[str, Any] | None) -> str | None:
    """One line for a person."""
    if metrics is None:
        return None
    before, after, calibration = metrics["before"], metrics["after"], metrics["calibration"]
    if metrics["temperature"] != 1.0:
        return (
            f"calibrated by a temperature of {metrics['temperature']:.3g}: on the test labels the log-loss goes from "
            f"{before['log_loss']:.3f} to {after['log_loss']:.3f}, the calibration error from "
            f"{before['calibration_error']:.3f} to {after['calibration_error']:.3f}"
        )
    why = "no labels were held out to fit a temperature on"
    if calibration is not None and calibration["log_loss_after"] is not None:
        why = "a temperature does not lower the log-loss of held-out labels"
    scores = f"log-loss {after['log_loss']:.3f}, calibration error {after['calibration_error']:.3f}"
    return f"not calibrated, as {why}: {scores}"
