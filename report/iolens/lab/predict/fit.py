"""The parameters of the model of storage, fitted to what was measured."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iolens.errors import IolensError
from iolens.lab.predict.model import Model, as_text
from iolens.lab.predict.predict import io_seconds
from iolens.lab.predict.steps import Program, play

FITTED = ("ost_mb_per_s", "link_mb_per_s", "ost_rpc_us", "network_us", "lock_us")
"""Keys of ost.yaml that are fitted; the others stay as they are."""

LEAST, MOST = 1.0, 1e6
"""Of a fitted parameter, in its unit: what the model takes for a bandwidth."""

STEP = 0.02
"""Share by which a parameter is changed to see what depends on it."""

LARGEST_STEP = math.log(4)
"""A parameter changes by at most this factor in a round."""

SCALES = (1.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0, 16.0)
"""Of what is known at first, before slopes are followed."""

ROUNDS = 25
SMALL = 1e-4
"""Shares: no parameter changed by more in the last round."""

DAMPING = 1e-3
"""Of the normal equations (Levenberg-Marquardt), relative to their diagonal."""

PULL = 0.01
"""Weight with which every parameter is held to where it began, against that of a run: what no run shows stays there."""

VISIBLE = 0.02
"""A parameter is told from the runs when halving or doubling it changes one of their times by at least this share."""


@dataclass(frozen=True)
class Trial:
    """What ranks did in a run, as steps, and the I/O seconds that were measured."""

    name: str
    program: Program
    measured: float
    ranks_per_client: int | None = None
    """Of a run on real nodes; None: as the model says."""


@dataclass(frozen=True)
class Fit:
    """A fitted model, the error of what it says of each run (predicted over measured, less 1), by name, and the
    parameters that no run depended on, which stayed as they were."""

    model: Model
    errors: Mapping[str, float]
    unseen: tuple[str, ...]


def seconds(trial: Trial, values: Mapping[str, float], folder: Path) -> float:
    """I/O seconds of a run by the model with these values."""
    config = folder / "model.yaml"
    own = {} if trial.ranks_per_client is None else {"ranks_per_client": trial.ranks_per_client}
    config.write_text(as_text({**values, **own}), encoding="utf-8")
    return io_seconds(play(trial.program, config))


def fit(trials: Sequence[Trial], start: Model) -> Fit:
    """The values at which the model's times are nearest to the measured ones: least squares of the logarithms of their
    ratios, by Levenberg and Marquardt over the logarithms of the parameters."""
    if not trials or any(trial.measured <= 0 for trial in trials):
        raise IolensError("there is nothing to fit: no run spent time in I/O")
    values = dict(start.values)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def distances(at: Mapping[str, float]) -> np.ndarray:
            apart = [math.log(seconds(trial, at, folder) / trial.measured) for trial in trials]
            return np.array([*apart, *(PULL * math.log(at[key] / start.values[key]) for key in FITTED)])

        values = near(values, distances)
        damping, now = DAMPING, distances(values)
        for _ in range(ROUNDS):
            slopes = np.column_stack(
                [(distances({**values, key: values[key] * (1 + STEP)}) - now) / math.log1p(STEP) for key in FITTED]
            )
            change, damping, now = improve(values, slopes, now, damping, distances)
            values = {
                **values,
                **{key: within(values[key] * math.exp(by)) for key, by in zip(FITTED, change, strict=True)},
            }
            if max(map(abs, change)) < SMALL:
                break
        unseen = tuple(
            key for key in FITTED if not is_seen(key, values, start.values[key], now, distances, len(trials))
        )
    values |= {key: start.values[key] for key in unseen}
    errors = {trial.name: math.exp(by) - 1 for trial, by in zip(trials, now, strict=False)}
    sizes = sorted(map(abs, errors.values()))
    model = Model(values, "fitted", (float(np.median(sizes)), sizes[-1]))
    return Fit(model, errors, unseen)


Distances = Callable[[Mapping[str, float]], np.ndarray]
"""Of values of parameters, the logarithm of predicted over measured time of each run, then how far each parameter is
from where it began, weighted."""


def within(value: float) -> float:
    """The value, or the nearest one that the model takes for any of the fitted parameters."""
    return min(max(value, LEAST), MOST)


def near(values: Mapping[str, float], distances: Distances) -> dict[str, float]:
    """Where to begin: each parameter in turn at the best of its SCALES. Slopes alone do not lead away from where
    another parameter bounds all times, such as a link that is taken for much faster than the targets."""
    found = dict(values)
    for key in FITTED:
        tried = [{**found, key: within(found[key] * scale)} for scale in SCALES]
        found = min(tried, key=lambda at: float(np.sum(distances(at) ** 2)))
    return found


def improve(
    values: Mapping[str, float], slopes: np.ndarray, now: np.ndarray, damping: float, distances: Distances
) -> tuple[np.ndarray, float, np.ndarray]:
    """A step that brings the times nearer: the change of each logarithm, the next damping, and the new distances. No
    change where none helps."""
    normal, gradient = slopes.T @ slopes, slopes.T @ now
    for _ in range(12):
        scaled = normal + damping * np.diag(np.maximum(np.diag(normal), 1e-6))
        change = np.clip(-np.linalg.solve(scaled, gradient), -LARGEST_STEP, LARGEST_STEP)
        tried = {**values, **{key: within(values[key] * math.exp(by)) for key, by in zip(FITTED, change, strict=True)}}
        there = distances(tried)
        if there @ there < now @ now:
            return change, damping / 4, there
        damping = max(4 * damping, DAMPING)
    return np.zeros(len(FITTED)), damping, now


def is_seen(
    key: str, values: Mapping[str, float], before: float, now: np.ndarray, distances: Distances, runs: int
) -> bool:
    """Whether some run depends on the parameter, or would where it began: that of a link is no longer seen once it is
    so fast that the targets bound all runs, and would bound them again."""
    tried = (values[key] / 2, values[key] * 2, before)
    changed = [distances({**values, key: within(value)}) - now for value in tried]
    return bool(max(np.abs(change[:runs]).max() for change in changed) >= VISIBLE)
