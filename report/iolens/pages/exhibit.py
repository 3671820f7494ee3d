"""A table with the numbers behind it: the words are shown, the numbers exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from iolens.pages.blocks import Table

if TYPE_CHECKING:
    import pandas as pd

Column: TypeAlias = "tuple[str, str, Callable[[Any], str]]"
"""A column's head, the frame's column, and what turns its values into words."""


@dataclass(frozen=True)
class Exhibit:
    """`name` names the file of an export; `frame` has full numbers, bytes and seconds."""

    name: str
    table: Table
    frame: pd.DataFrame


def exhibit(name: str, title: str, frame: pd.DataFrame, columns: Sequence[Column], note: str = "") -> Exhibit:
    """The frame's rows in words."""
    words = [[say(value) for value in frame[source]] for _, source, say in columns]
    rows = [list(row) for row in zip(*words, strict=True)]
    table = Table(title, [head for head, _, _ in columns], rows, note)
    return Exhibit(name, table, frame[[source for _, source, _ in columns]])
