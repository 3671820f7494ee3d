"""Shows how the best setting depends on the machine: replays a run with links that are 1 to 16 times as fast as a
target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iolens.lab.predict.model import StorageModel
from iolens.lab.predict.predict import replay
from iolens.lab.predict.recorded import Recorded
from iolens.lab.predict.settings import ChangedSettings

_RATIOS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Speeds of a client's link, as multiples of the speed of a target. Published machines lie between 1.5 and 49."""

_ORDERS = 3
"""Number of replays of each setting on each machine with different orders of the ranks."""

_FASTEST_LINK = 1e6
"""Maximum of link_mb_per_s in a model (storage/src/params.def)."""

_TIED = 0.02
"""A setting counts as equal to the fastest one if its I/O time is longer by at most this share."""


@dataclass(frozen=True)
class Links:
    """I/O times of several settings on machines with different links: `here` is the ratio link : target of the model
    itself; each of `machines` has its own ratio, and the I/O seconds of all settings in the order of the settings.
    """

    here: float
    machines: Sequence[tuple[float, Sequence[float]]]

    @property
    def fastest(self) -> list[int]:
        """Returns the numbers of the settings that are tied with the fastest one on the model's own machine."""
        seconds = next(times for ratio, times in self.machines if ratio == self.here)
        return [place for place in range(len(seconds)) if _is_tied(seconds, place)]

    def range_of(self, place: int) -> tuple[float, float] | None:
        """Returns the smallest and the largest ratio link : target, around that of the model, between which this
        setting is tied with the fastest one on every machine; None if it is slower on the model's own machine.
        """
        if place not in self.fastest:
            return None
        own = next(number for number, (ratio, _) in enumerate(self.machines) if ratio == self.here)
        first = last = own
        while first > 0 and _is_tied(self.machines[first - 1][1], place):
            first -= 1
        while last + 1 < len(self.machines) and _is_tied(self.machines[last + 1][1], place):
            last += 1
        return self.machines[first][0], self.machines[last][0]

    def words(self, place: int) -> str:
        """Returns a sentence on the machines for which this setting is the best; empty if it is slower on the model's
        own machine.
        """
        limits = self.range_of(place)
        if limits is None:
            return ""
        tried = f"{self.machines[0][0]:.3g} to {self.machines[-1][0]:.3g}"
        return (
            f"This choice holds if a client's link is {limits[0]:.3g} to {limits[1]:.3g} times as fast as a target: "
            f"then it is within {_TIED:.0%} of the fastest of {len(self.machines[0][1])} settings in the model (this "
            f"machine has {self.here:.3g}; the model tried {tried} by changing only the speed of the links)."
        )


def _is_tied(seconds: Sequence[float], place: int) -> bool:
    """Returns True if the setting at this position takes hardly longer than the fastest one."""
    return seconds[place] <= (1.0 + _TIED) * min(seconds)


def vary_links(
    recorded: Recorded, model: StorageModel, settings: Sequence[ChangedSettings], exchange: float | None
) -> Links | None:
    """Replays the run at every setting on machines that differ from the model only in the speed of the clients' links;
    returns None if there are fewer than two settings to compare. Raises IolensError as `replay` does.
    """
    if len(settings) < 2:
        return None
    target = model.values["ost_mb_per_s"]
    here = model.values["link_mb_per_s"] / target
    machines = []
    for ratio in sorted({here, *(each for each in _RATIOS if each * target <= _FASTEST_LINK)}):
        machine = replace(model, values={**model.values, "link_mb_per_s": ratio * target})
        machines.append((ratio, [replay(recorded, machine, one, exchange, _ORDERS).io for one in settings]))
    return Links(here, machines)
