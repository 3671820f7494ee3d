"""The storage targets of a file system: how full each is, and which take no new files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iolens.lab.sizes import rounded_size


@dataclass(frozen=True)
class StorageTarget:
    """One target. `size`, `used` and `available` are in bytes, None if unknown; they need not add up, because some
    space is reserved for the system. `trouble` is in the words of the file system, empty if there is none.
    `takes_files`: new files may get a stripe on it.
    """

    index: int
    name: str
    takes_files: bool = True
    trouble: str = ""
    size: int | None = None
    used: int | None = None
    available: int | None = None

    @property
    def fill(self) -> float | None:
        """Returns the used part of the space for files, 0 to 1, as `df` and `lfs df` count it."""
        if self.used is None or self.available is None:
            return None
        return self.used / (self.used + self.available) if self.used + self.available else None


def usable(targets: Sequence[StorageTarget]) -> int:
    """Returns the number of targets that accept new files, which is the most stripes that a new file can have."""
    return sum(target.takes_files for target in targets)


def without_files(targets: Sequence[StorageTarget]) -> str:
    """Returns the targets that accept no new files, with the reasons: `3 (inactive device), 5 (read-only)`."""
    return ", ".join(f"{target.index} ({target.trouble})" for target in targets if not target.takes_files)


def missing_indices(targets: Sequence[StorageTarget]) -> tuple[int, ...]:
    """Returns the indices below the highest one that no target has. Such a target was permanently deactivated, was
    never made, or is left out by the client.
    """
    known = {target.index for target in targets}
    return tuple(sorted(set(range(max(known, default=0))) - known))


def _in_ranges(numbers: Sequence[int]) -> str:
    """Returns ascending numbers for a person: 2, 3, 4, 9 → `2-4 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def targets_summary(targets: Sequence[StorageTarget]) -> str:
    """Returns a line for people: how many targets accept new files, how full the targets are, and which are closed or
    missing.
    """
    fills = [target.fill for target in targets if target.fill is not None]
    full = f", {100 * min(fills):.0f} % to {100 * max(fills):.0f} % full" if fills else ""
    closed = without_files(targets)
    missing = f"; not listed: {_in_ranges(missing_indices(targets))}" if missing_indices(targets) else ""
    return (
        f"{usable(targets)} of {len(targets)} targets accept new files{full}"
        f"{f'; these do not: {closed}' if closed else ''}{missing}"
    )


def target_lines(targets: Sequence[StorageTarget]) -> str:
    """Returns a line for each target below a heading."""
    width = max([len("target"), *(len(target.name) for target in targets)])
    lines = [f"index  {'target':<{width}}      size   full  state"]
    for target in targets:
        size = rounded_size(target.size) if target.size is not None else "n/a"
        full = f"{100 * target.fill:.0f} %" if target.fill is not None else "n/a"
        lines.append(f"{target.index:>5}  {target.name:<{width}}  {size:>8}  {full:>5}  {target.trouble or 'in order'}")
    return "\n".join(lines)


def record(targets: Sequence[StorageTarget]) -> dict[str, Any]:
    """Returns the targets in the form of run.json."""
    fills = [target.fill for target in targets if target.fill is not None]
    return {
        "count": len(targets),
        "usable": usable(targets),
        "trouble": {str(target.index): target.trouble for target in targets if target.trouble},
        "not_listed": list(missing_indices(targets)),
        "fill": [round(min(fills), 3), round(max(fills), 3)] if fills else None,
    }
