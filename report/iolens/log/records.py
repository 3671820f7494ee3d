"""Records as arrays, a column by name, and pandas frames of them for who asks: most questions need no frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Block = tuple[Sequence[str], np.ndarray]


class Records:
    """A table whose columns are arrays of one length: `records["POSIX_READS"]`; nobody changes them in place.

    `columns` are single ones, by name; `blocks` many of one type: their names, and an array with a row for each.
    """

    def __init__(self, columns: Mapping[str, np.ndarray], blocks: Sequence[Block] = ()) -> None:
        self.single = columns
        self.blocks = blocks
        self.columns: dict[str, np.ndarray] = dict(columns)
        for names, values in blocks:
            self.columns.update(zip(names, values, strict=True))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def get(self, name: str, default: Any = None) -> Any:
        """A column, or what stands in for one that is not there."""
        return self.columns.get(name, default)

    def where(self, rows: np.ndarray) -> Records:
        """Some rows: those that are true, or those of these numbers, in their order."""
        return Records(
            {name: values[rows] for name, values in self.single.items()},
            [(names, values[:, rows]) for names, values in self.blocks],
        )

    def frame(self) -> pd.DataFrame:
        """The same as a frame."""
        import pandas as pd

        parts = [pd.DataFrame(dict(self.single))] if self.single or not self.blocks else []
        parts += [pd.DataFrame(values.T, columns=list(names), copy=False) for names, values in self.blocks]
        return parts[0] if len(parts) == 1 else pd.concat(parts, axis=1)


class Frames(Mapping[str, Any]):
    """Tables by name, each a frame from when it is first asked for; `tables` has them as they were read."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        found = self.tables[name]
        if not isinstance(found, Records):
            return found
        if name not in self.made:
            self.made[name] = found.frame()
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.tables


def tables_of(frames: Mapping[str, Any]) -> dict[str, Any]:
    """What there is by name with arrays for frames."""
    tables = frames.tables if isinstance(frames, Frames) else frames
    return {name: as_records(found) for name, found in tables.items()}


def as_records(found: Any) -> Any:
    """Arrays for a frame; what is neither stays as it is."""
    if isinstance(found, (Records, Mapping)):
        return found
    return Records({name: found[name].to_numpy() for name in found})
