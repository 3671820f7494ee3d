"""Rows of private tables that many ranks have in common: nodes of call chains, and objects. A row that several ranks
share has rank -1 and the same number on each of them; a rank's own rows have higher numbers. A number on a rank
therefore means the rank's own row, or else the common row. In logs of older versions, each row belongs to one rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from iolens.lazy import pd

_COMMON = -1
"""The rank of rows that all ranks share."""

T = TypeVar("T")


class ByRank(Mapping[tuple[int, int], T], Generic[T]):
    """Maps (rank, number) to its meaning on that rank; iterates over the rows in the order of the log."""

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
    """Returns `rows` (`rank`, `number`, …), each with the columns of the row of `table` to which its number refers;
    these are missing values if there is no such row.

    `table` has the columns `rank` and `number` too; the rank in the result is that of `rows`.
    """
    own = pd.MultiIndex.from_frame(rows[["rank", number]]).isin(pd.MultiIndex.from_frame(table[["rank", number]]))
    keyed = rows.assign(owner=rows["rank"].where(own, _COMMON))
    return keyed.merge(table.rename(columns={"rank": "owner"}), how="left", on=["owner", number]).drop(columns="owner")
