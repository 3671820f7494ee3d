"""How evenly the ranks share the work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from iolens.metrics import balance
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import Column, Exhibit

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


def rank_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """A bar a rank."""
    from iolens.figures.ranks import rank_bars

    moved = balance.rank_bytes(job)
    if moved is not None:
        yield FigureBlock(rank_bars(moved), "Through POSIX and STDIO, from the heat maps.", title="Bytes of each rank")


RANK_BALANCE: Exhibit[Job] = Exhibit(
    name="rank_balance",
    title="Balance of the ranks",
    metric=balance.rank_balance,
    columns=[
        Column("bytes", "what"),
        Column("least", "least", words.size),
        Column("rank", "least_rank"),
        Column("median", "median", words.size),
        Column("most", "most", words.size),
        Column("rank", "most_rank"),
        Column("most / mean", "imbalance", words.ratio),
    ],
    draw=rank_figure,
)
