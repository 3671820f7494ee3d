"""Fit the parameters of the model of storage to measurements."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iolens.errors import IolensError
from iolens.lab.predict.model import StorageModel, model_text
from iolens.lab.predict.predict import predicted_io_seconds
from iolens.lab.predict.steps import RankSteps, play

FITTED = ("ost_mb_per_s", "link_mb_per_s", "ost_rpc_us", "network_us", "lock_us")
"""Keys of ost.yaml that are fitted; the others keep their values."""

_LEAST, _MOST = 1.0, 1e6
"""Smallest and largest value of a fitted parameter, in its unit: the range that the model accepts for a bandwidth."""

STEP = 0.02
"""Relative change of a parameter with which its effect is determined."""

_LARGEST_STEP = math.log(4)
"""Maximum change of a parameter's logarithm in a round."""

_SCALES = (1.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0, 16.0)
"""Factors of the initial values that are tried before slopes are followed."""

_ROUNDS = 25
_SMALL = 1e-4
"""The fit ends when no parameter changed by more than this share in the last round."""

_DAMPING = 1e-3
"""Damping of the normal equations (Levenberg-Marquardt), relative to their diagonal."""

_PULL = 0.01
"""Weight, relative to that of a run, of each parameter's distance from its initial value. A parameter that no run
determines stays at its initial value.
"""

_VISIBLE = 0.02
"""A parameter is determined by the runs if halving or doubling it changes one of their times by at least this share."""


@dataclass(frozen=True)
class FitRun:
    """The steps of the ranks in a run, and the measured I/O seconds."""

    name: str
    program: RankSteps
    measured: float
    ranks_per_client: int | None = None
    """Ranks per node of a run on real nodes; None takes the model's value."""


@dataclass(frozen=True)
class Fit:
    """A fitted model, its error for each run by name (predicted over measured, minus 1), and the parameters that kept
    their values because no run depended on them.
    """

    model: StorageModel
    errors: Mapping[str, float]
    unseen: tuple[str, ...]


def seconds(trial: FitRun, values: Mapping[str, float], folder: Path) -> float:
    """Returns the I/O seconds of a run by the model with these values."""
    config = folder / "model.yaml"
    own = {} if trial.ranks_per_client is None else {"ranks_per_client": trial.ranks_per_client}
    config.write_text(model_text({**values, **own}), encoding="utf-8")
    return predicted_io_seconds(play(trial.program, config))


def fit(trials: Sequence[FitRun], start: StorageModel) -> Fit:
    """Returns the values that minimise the squared logarithms of predicted over measured times, found by the method of
    Levenberg and Marquardt over the logarithms of the parameters.
    """
    if not trials or any(trial.measured <= 0 for trial in trials):
        raise IolensError("the model cannot be fitted, because no run spent time in I/O; give runs with more data")
    values = dict(start.values)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def distances(at: Mapping[str, float]) -> np.ndarray:
            apart = [math.log(seconds(trial, at, folder) / trial.measured) for trial in trials]
            return np.array([*apart, *(_PULL * math.log(at[key] / start.values[key]) for key in FITTED)])

        values = _near(values, distances)
        damping, now = _DAMPING, distances(values)
        for _ in range(_ROUNDS):
            slopes = np.column_stack(
                [(distances({**values, key: values[key] * (1 + STEP)}) - now) / math.log1p(STEP) for key in FITTED]
            )
            change, damping, now = _improve(values, slopes, now, damping, distances)
            values = {
                **values,
                **{key: _within_model(values[key] * math.exp(by)) for key, by in zip(FITTED, change, strict=True)},
            }
            if max(map(abs, change)) < _SMALL:
                break
        unseen = tuple(
            key for key in FITTED if not _is_seen(key, values, start.values[key], now, distances, len(trials))
        )
    values |= {key: start.values[key] for key in unseen}
    errors = {trial.name: math.exp(by) - 1 for trial, by in zip(trials, now, strict=False)}
    sizes = sorted(map(abs, errors.values()))
    model = StorageModel(values, "fitted", (float(np.median(sizes)), sizes[-1]))
    return Fit(model, errors, unseen)


Distances = Callable[[Mapping[str, float]], np.ndarray]
"""Function of the parameters' values that returns the logarithm of predicted over measured time of each run, followed
by the weighted distance of each parameter from its initial value.
"""


def _within_model(value: float) -> float:
    """Returns the value, limited to the range that the model accepts for all fitted parameters."""
    return min(max(value, _LEAST), _MOST)


def _near(values: Mapping[str, float], distances: Distances) -> dict[str, float]:
    """Returns initial values: each parameter in turn, multiplied by the best of _SCALES. This is needed because a fit
    by slopes cannot leave a region in which another parameter alone determines all times, for example if a link is
    assumed to be much faster than the targets.
    """
    found = dict(values)
    for key in FITTED:
        tried = [{**found, key: _within_model(found[key] * scale)} for scale in _SCALES]
        found = min(tried, key=lambda at: float(np.sum(distances(at) ** 2)))
    return found


def _improve(
    values: Mapping[str, float], slopes: np.ndarray, now: np.ndarray, damping: float, distances: Distances
) -> tuple[np.ndarray, float, np.ndarray]:
    """Returns a step that reduces the distances: the change of each logarithm, the next damping, and the new distances.
    The change is zero if no step helps.
    """
    normal, gradient = slopes.T @ slopes, slopes.T @ now
    for _ in range(12):
        scaled = normal + damping * np.diag(np.maximum(np.diag(normal), 1e-6))
        change = np.clip(-np.linalg.solve(scaled, gradient), -_LARGEST_STEP, _LARGEST_STEP)
        tried = {
            **values,
            **{key: _within_model(values[key] * math.exp(by)) for key, by in zip(FITTED, change, strict=True)},
        }
        there = distances(tried)
        if there @ there < now @ now:
            return change, damping / 4, there
        damping = max(4 * damping, _DAMPING)
    return np.zeros(len(FITTED)), damping, now


def _is_seen(
    key: str, values: Mapping[str, float], before: float, now: np.ndarray, distances: Distances, runs: int
) -> bool:
    """Returns True if some run depends on the parameter, now or at its initial value. A link's effect disappears once
    it is so fast that the targets bound all runs, although a slower link would bound them again.
    """
    tried = (values[key] / 2, values[key] * 2, before)
    changed = [distances({**values, key: _within_model(value)}) - now for value in tried]
    return bool(max(np.abs(change[:runs]).max() for change in changed) >= _VISIBLE)
