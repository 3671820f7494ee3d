"""Amounts that are spread evenly over spans of time, added up in bins."""

from __future__ import annotations

import numpy as np


class Spread:
    """Sums over calls in bins of time, for each line of a figure: bytes, calls, and the seconds in calls. Bins are
    `width` seconds wide.
    """

    def __init__(self, lines: int, bins: int, width: float) -> None:
        self.shape, self.width = (lines, bins), width
        self.moved, self.busy, self.calls = (np.zeros(lines * bins) for _ in range(3))
        # These arrays hold differences: a call raises the running sum at the first bin that it fills and lowers it
        # after the last.
        self.moved_steps, self.busy_steps = (np.zeros(lines * bins) for _ in range(2))

    def add(self, line: np.ndarray, moved: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Adds calls: arrays of one length, with the bytes and the span in seconds of each."""
        bins = self.shape[1]
        first, last = (np.clip(time / self.width, 0, bins - 1).astype(np.int64) for time in (start, end))
        base = line * bins
        taken = np.maximum(end - start, 0.0)
        self.calls += np.bincount(base + first, minlength=self.calls.size)
        within = first >= last
        for sums, amount in ((self.moved, moved), (self.busy, taken)):
            sums += np.bincount((base + first)[within], weights=amount[within], minlength=sums.size)
        if not within.all():
            across = ~within
            self.add_across(base[across], moved[across], start[across], taken[across], first[across], last[across])

    def add_across(
        self,
        base: np.ndarray,
        moved: np.ndarray,
        start: np.ndarray,
        taken: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
    ) -> None:
        """Adds calls that end in another bin than they began in: one part to the first bin, the rest to the last, and
        the same amount to each bin between them.
        """
        head = np.clip(((first + 1) * self.width - start) / taken, 0.0, 1.0)
        full = np.clip(self.width / taken, 0.0, 1.0)
        between = last - first - 1
        tail = np.maximum(1.0 - head - between * full, 0.0)
        size = self.moved.size
        several = between > 0
        for sums, steps, amount in ((self.moved, self.moved_steps, moved), (self.busy, self.busy_steps, taken)):
            sums += np.bincount(base + first, weights=amount * head, minlength=size)
            sums += np.bincount(base + last, weights=amount * tail, minlength=size)
            each = (amount * full)[several]
            steps += np.bincount((base + first + 1)[several], weights=each, minlength=size)
            steps -= np.bincount((base + last)[several], weights=each, minlength=size)

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Returns the cells that are not empty, arrays of one length: line, bin, moved (whole bytes), calls (that began
        there), busy (seconds).
        """
        moved = self.moved + np.cumsum(self.moved_steps.reshape(self.shape), axis=1).ravel()
        busy = self.busy + np.cumsum(self.busy_steps.reshape(self.shape), axis=1).ravel()
        moved = np.rint(moved)
        found = np.flatnonzero((moved > 0) | (self.calls > 0))
        line, bin_ = np.divmod(found, self.shape[1])
        return line, bin_, moved[found], self.calls[found], np.maximum(busy[found], 0.0)
