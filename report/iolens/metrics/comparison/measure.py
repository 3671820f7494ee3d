"""The measure by which the settings of a sweep are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A measured value of each run: its `name` for people, its `unit`, the `column` of the frame of runs that has it,
    and the `operation` among the result's phases that it belongs to, if any.

    `less_is_better` is True for times; `of_storage` is True if the value depends on the storage. All comparisons use
    rates (for a time its reciprocal), so that a ratio above 1 is always better.
    """

    name: str
    unit: str = "MiB/s"
    column: str = "bandwidth"
    operation: str = ""
    less_is_better: bool = False
    of_storage: bool = True

    @property
    def axis(self) -> str:
        """Returns the measure's name and unit."""
        return f"{self.name}, {self.unit}"

    def rates(self, values: Sequence[float]) -> list[float]:
        """Converts values to rates, which grow with better results."""
        return [1.0 / value for value in values] if self.less_is_better else list(values)

    def span(self, value: float, low: float | None, high: float | None) -> tuple[float, float | None, float | None]:
        """Converts an interval of rates back to the unit of the measure."""
        if not self.less_is_better:
            return value, low, high
        return 1.0 / value, 1.0 / high if high else None, 1.0 / low if low else None

    def better(self, one: float, other: float) -> bool:
        """Returns whether one value is better than another."""
        return one < other if self.less_is_better else one > other


BANDWIDTH = Measure("bandwidth")
