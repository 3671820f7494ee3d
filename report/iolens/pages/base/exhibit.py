"""One metric with its table, figures and words: declared once, shown on pages and in terminals, and exported.

Pages refer to an exhibit by its Python object, not by its name. `S` is the type of the data from which its metric is
computed: a Job, or the comparison of a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from iolens.lazy import pd
from iolens.log.records import Records
from iolens.missing import is_nan
from iolens.pages.base.blocks import About, Block, FigureBlock, Ranks, Table, Text

if TYPE_CHECKING:
    Rows: TypeAlias = pd.DataFrame | Records


S = TypeVar("S")

EVERY = 1 << 62
"""Stands for all rows if a metric takes the number of rows for which a page has room."""


@dataclass(frozen=True)
class Column:
    """A column's head, the frame's column (or columns) behind it, and the function that turns their values into words.

    An `optional` column is left out if it would be empty.
    """

    head: str
    source: str | tuple[str, ...]
    say: Callable[..., str] = str
    optional: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the columns of the frame."""
        return (self.source,) if isinstance(self.source, str) else self.source

    def words(self, rows: Rows) -> list[str]:
        """Returns the texts of the column, row by row."""
        return [self.say(*values) for values in zip(*(rows[name].tolist() for name in self.sources), strict=True)]

    def is_shown(self, rows: Rows) -> bool:
        """Returns False for an optional column that would be empty: all its values are missing or 0, or all its texts
        are empty.
        """
        if not self.optional:
            return True
        values = (value for name in self.sources for value in rows[name].tolist())
        return any(value and not is_nan(value) for value in values) and any(self.words(rows))


@dataclass(frozen=True, eq=False)
class Exhibit(Generic[S]):
    """`metric` gives the rows (arrays or a frame), in bytes and seconds; its docstring has their definition and source.

    `name`: the name of the exported file, which has all columns of the rows. `columns`: the columns of the table;
    without them there is no table. `note`: a text below the table. `needs`: a column without which the rows are
    meaningless; if all its values are 0, the exhibit is left out. `draw` makes the figures from the subject and the
    metric's rows. `absent` returns the reason why there is no table although a reader would expect one. `asked`: True
    if the metric also takes a user's choice of levels, rows and threshold (metrics/processor/ask.py). `drilled`: True
    if the table goes down from a total (metrics/processor/sampled/drill.py) by any of its `levels`; its first column
    has the names. `apart`: True if `iolens table` and exports have the exhibit, but no summary does, and a page only in
    place of an exhibit that has nothing to show. `source`: how to record the data, if not every run does. `instead`:
    the exhibit that `iolens table` shows if this one has nothing. `whole` returns all rows, including those for which a
    page has no room: an export has them all. `listed` returns all rows for a page with room for them, if these are not
    the rows of an export: families of files instead of each file. `ranks` returns the ranks behind these rows, so that
    a reader can filter by rank.
    """

    name: str
    title: str
    metric: Callable[[S], Rows | None]
    columns: Sequence[Column] | Callable[[S], Sequence[Column]] = ()
    note: str | Callable[[S], str] = ""
    needs: str = ""
    draw: Callable[[S, pd.DataFrame], Iterable[FigureBlock]] | None = None
    absent: Callable[[S], str] | None = None
    asked: bool = False
    drilled: bool = False
    levels: Sequence[str] = ()
    apart: bool = False
    source: str = ""
    whole: Callable[[S], Rows | None] | None = None
    listed: Callable[[S], Rows | None] | None = None
    instead: Exhibit[S] | None = None
    ranks: Callable[[S, pd.DataFrame], Ranks] | None = None

    def rows(self, subject: S) -> Rows | None:
        """Returns the rows of the metric; None if there are none, or if the column that the exhibit needs has only
        zeros.
        """
        found = self.metric(subject)
        if found is None or not len(found) or (self.needs and not found[self.needs].any()):
            return None
        return found

    def frame(self, subject: S) -> pd.DataFrame | None:
        """Returns `rows` as a frame; None if there is nothing to show."""
        return _as_frame(self.rows(subject))

    def every(self, subject: S) -> pd.DataFrame | None:
        """Returns all rows, for an export; None if there is nothing to show."""
        shown = self.rows(subject)
        if shown is not None and self.asked:
            from iolens.metrics.processor.ask import Ask

            metric: Callable[..., Rows | None] = self.metric
            return _as_frame(metric(subject, Ask(threshold=0.0)))
        return _as_frame(shown if shown is None or self.whole is None else self.whole(subject))

    def _listed(self, subject: S) -> pd.DataFrame | None:
        """Returns the rows for a page that has room for long lists, which by default are all rows."""
        return _as_frame(self.listed(subject)) if self.listed else self.every(subject)

    def table(self, subject: S) -> Table | None:
        """Returns the table for pages and terminals, its values as text; None if there is nothing to show."""
        rows = self.rows(subject) if self.columns else None
        if rows is None:
            return None
        declared = self.columns(subject) if callable(self.columns) else self.columns
        columns = [column for column in declared if column.is_shown(rows)]
        note = self.note if isinstance(self.note, str) else self.note(subject)

        def more(most: int) -> tuple[list[list[str]], int]:
            every = self._listed(subject)
            return ([], 0) if every is None else (_row_words(columns, every.head(most)), len(every))

        def ranks(most: int) -> Ranks:
            every = self._listed(subject)
            return Ranks((), 0) if every is None or self.ranks is None else self.ranks(subject, every.head(most))

        return Table(
            self.title,
            [column.head for column in columns],
            _row_words(columns, rows),
            " ".join(part for part in (note, _small_rows_words(rows)) if part),
            self.about,
            more if self.whole else None,
            ranks if self.ranks else None,
        )

    def tables(self, subject: S) -> list[Block]:
        """Returns the table for a page, or the reason for having none."""
        table = self.table(subject)
        if table is not None:
            return [table]
        reason = self.absent(subject) if self.absent else ""
        return [Text(reason)] if reason else []

    def lack(self, subject: S) -> str:
        """Returns the reason why there is no table: the one that `absent` knows, else the data that the table needs."""
        reason = self.absent(subject) if self.absent else ""
        needed = f"; the table needs {self.source}" if self.source else ""
        return reason or f"this log has no data for the table {self.name}{needed}"

    def figures(self, subject: S) -> list[Block]:
        """Returns the figures for a page."""
        frame = self.frame(subject) if self.draw else None
        drawn = [] if self.draw is None or frame is None else self.draw(subject, frame)
        return [replace(figure, about=self.about) for figure in drawn]

    @property
    def about(self) -> About:
        """Returns the name, title and definition behind the exhibit's tables and figures."""
        return About(self.name, self.title, _readable(definition(self)))


def _as_frame(rows: Rows | None) -> pd.DataFrame | None:
    """Returns rows as a frame."""
    return rows.frame() if isinstance(rows, Records) else rows


def _small_rows_words(rows: Rows) -> str:
    """Returns the number of rows that a metric left out because they are small, in words."""
    from iolens.metrics.processor.ask import THRESHOLD

    number = rows_left_out(rows)
    said = f"{number} row{'s' if number != 1 else ''}"
    return f"Left out: {said} with less than {THRESHOLD} % of the total." if number else ""


def rows_left_out(rows: Rows) -> int:
    """Returns the number of rows that a metric left out because they are small."""
    from iolens.metrics.processor.ask import LEFT_OUT

    return int(rows.left_out if isinstance(rows, Records) else rows.attrs.get(LEFT_OUT, 0))


def _row_words(columns: Sequence[Column], rows: Rows) -> list[list[str]]:
    """Returns the rows as the texts of a table's cells."""
    return [list(row) for row in zip(*(column.words(rows) for column in columns), strict=True)]


def frames(exhibits: Iterable[Exhibit[S]], subject: S) -> Mapping[str, pd.DataFrame]:
    """Returns the full numbers of exhibits by name, without those that have nothing to show, and an `index` of them.

    The index has a row per table: name, title, rows, columns (names, separated by blanks), definition (the metric's).
    """
    shown = [(exhibit, exhibit.every(subject)) for exhibit in exhibits]
    found = {exhibit.name: frame for exhibit, frame in shown if frame is not None}
    rows = [
        (exhibit.name, exhibit.title, len(frame), " ".join(map(str, frame.columns)), definition(exhibit))
        for exhibit, frame in shown
        if frame is not None
    ]
    return found | {"index": pd.DataFrame(rows, columns=["name", "title", "rows", "columns", "definition"])}


_CODE = re.compile(r"`|\w_\w|\w\.\w+\.\w|\b(Columns|None|NaN|Returns|[Oo]ne row|[Oo]ne frame|rows of)\b")
"""Matches parts of sentences that are about columns and functions, and not about the measurement."""


def _readable(text: str) -> str:
    """Returns the sentences of a definition that contain no names of code."""
    return " ".join(one for one in re.split(r"(?<=\.) (?=[A-Z`])", text) if not _CODE.search(one))


def definition(exhibit: Exhibit[S]) -> str:
    """Returns the definition of a metric from its docstring, on one line and without the verb with which a docstring
    begins.
    """
    text = " ".join((getdoc(exhibit.metric) or "").split()).removeprefix("Returns ")
    return text[:1].upper() + text[1:]
