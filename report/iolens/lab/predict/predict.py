"""Predict the time of a traced run at other settings."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from iolens.lab.predict.model import StorageModel, model_text
from iolens.lab.predict.recorded import OPEN, Recorded
from iolens.lab.predict.replay import ReplayPlan, exchange_bandwidth, steps_of
from iolens.lab.predict.settings import ChangedSettings, predicted_layouts
from iolens.lab.predict.steps import Played, play

_ORDERS = 21
"""Number of replays, each with another order of the ranks that arrive together, because on a real machine chance
decides that order.
"""


@dataclass(frozen=True)
class PredictedTimes:
    """Seconds in I/O calls on striped files (with closes, without collective opens) of the slowest rank, and of the
    whole run. For a replay these are the medians over several orders of the ranks, with the least and the greatest I/O
    time.
    """

    io: float
    run: float
    least: float
    most: float


@dataclass(frozen=True)
class Prediction:
    """A run at other settings: `recorded` is the measurement, `replayed` the model at the same settings, whose
    difference shows the model's error, and `predicted` the model at `settings`.
    """

    settings: ChangedSettings
    recorded: PredictedTimes
    replayed: PredictedTimes
    predicted: PredictedTimes
    exchange: float | None

    @property
    def own_error(self) -> float:
        """Returns the error of the replay at the recorded settings: its I/O time over the measured one, minus 1."""
        return self.replayed.io / self.recorded.io - 1 if self.recorded.io > 0 else 0.0


def recorded_times(recorded: Recorded) -> PredictedTimes:
    """Returns the measured times of the recorded run in seconds: the I/O time, without opens, of the rank that spent
    most in it.
    """
    timed = [[call for call in calls if call.kind != OPEN] for calls in recorded.ranks.values()]
    io = max((sum(call.end - call.start for call in calls) for calls in timed), default=0.0)
    return PredictedTimes(io, recorded.run_time, io, io)


def replay(
    recorded: Recorded, model: StorageModel, settings: ChangedSettings, exchange: float | None, orders: int = _ORDERS
) -> PredictedTimes:
    """Replays the run at the settings with the model, in `orders` different orders of the ranks.

    Writers that share stripes wait for each other's locks, and their order changes how long they wait.
    """
    plan = ReplayPlan(settings, predicted_layouts(recorded, settings, int(model.values["targets"])), exchange)
    program = steps_of(recorded, plan)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "model.yaml"
        config.write_text(model_text(values_for_run(model, recorded)), encoding="utf-8")
        played = [play(program, config, seed) for seed in range(1, orders + 1)]
    last = max((call.end for calls in recorded.ranks.values() for call in calls), default=0.0)
    seconds = [predicted_io_seconds(one) for one in played]
    whole = recorded.run_time - last + median(one.end for one in played)
    return PredictedTimes(median(seconds), whole, min(seconds), max(seconds))


def values_for_run(model: StorageModel, recorded: Recorded) -> Mapping[str, float]:
    """Returns the model's values, with the run's own number of ranks per node if it ran on real nodes."""
    if recorded.emulated:
        return model.values
    return {**model.values, "ranks_per_client": -(-recorded.nprocs // recorded.nodes)}


def predicted_io_seconds(played: Played) -> float:
    """Returns the time between the marks before and after calls, for the slowest rank."""
    sums = [sum(seconds if tag % 2 else -seconds for tag, seconds in marks) for marks in played.marks.values()]
    return max(sums, default=0.0)


def predict(recorded: Recorded, model: StorageModel, points: Sequence[ChangedSettings]) -> list[Prediction]:
    """Predicts the run at each of the points; raises IolensError with the reason if the log is insufficient."""
    exchange = exchange_bandwidth(recorded)
    measured, replayed = recorded_times(recorded), replay(recorded, model, ChangedSettings(), exchange)
    return [Prediction(one, measured, replayed, replay(recorded, model, one, exchange), exchange) for one in points]
