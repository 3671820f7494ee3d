"""Rows of private tables that many ranks have in common: nodes of call chains, and objects.

What several ranks have is one row with rank -1, whose number means the same on all of them; a rank's own rows have
numbers behind those. In logs of versions that told all ranks apart, each row is a rank's own. So a number that a rank
names is the row of that rank, and where it has none, the common one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import pandas as pd

_COMMON = -1
"""The rank of what all ranks have in common."""

T = TypeVar("T")


class ByRank(Mapping[tuple[int, int], T], Generic[T]):
    """(rank, number) to what it means there; iterates over the rows as they are in the log."""

    def __init__(self, rows: Mapping[tuple[int, int], T]) -> None:
        self.rows = rows

    def __getitem__(self, key: tuple[int, int]) -> T:
        found = self.rows.get(key)
        return self.rows[_COMMON, key[1]] if found is None else found

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def with_rows(rows: pd.DataFrame, table: pd.DataFrame, number: str) -> pd.DataFrame:
    """Returns `rows` (`rank`, `number`, …) with the columns of the row of `table` that each of them names, missing if
    there is none.

    `table` has the columns `rank` and `number` too; the rank in the result is that of `rows`.
    """
    import pandas as pd

    own = pd.MultiIndex.from_frame(rows[["rank", number]]).isin(pd.MultiIndex.from_frame(table[["rank", number]]))
    keyed = rows.assign(owner=rows["rank"].where(own, _COMMON))
    return keyed.merge(table.rename(columns={"rank": "owner"}), how="left", on=["owner", number]).drop(columns="owner")
