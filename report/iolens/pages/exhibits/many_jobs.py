"""Many jobs of a store: users, applications, file systems, what could be saved, and the months."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iolens.advise.say import percent
from iolens.fleet.store import QUESTIONS, Store
from iolens.lazy import pd
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.exhibit import Column, Exhibit

_MOST = 20
"""Maximum number of rows on a page."""

_LEAST = 0.001
"""Minimum number of hours that is printed as a number."""


def hours(value: float) -> str:
    """Formats hours with three digits."""
    return f"< {_LEAST}" if 0 < value < _LEAST else words.guarded(value)


_MOVED = (
    Column("jobs", "jobs", words.count),
    Column("process hours", "process_hours", hours),
    Column("in I/O, h", "io_hours", hours),
    Column("of all", ("io_hours", "process_hours"), words.percent),
    Column("read", "bytes_read", words.size),
    Column("written", "bytes_written", words.size),
    Column("could save, h", "saved_hours", hours),
)


def _metric_of_question(question: str) -> Callable[[Store], pd.DataFrame]:
    """Returns a metric that answers one of the questions in iolens.fleet about a store."""

    def metric(store: Store) -> pd.DataFrame:
        return store.ask(question)

    metric.__doc__ = f"{' '.join(QUESTIONS[question].split())} (DuckDB, on the tables of iolens.fleet.job_rows)."
    return metric


def _first(question: str) -> Callable[[Store], pd.DataFrame]:
    """Returns a metric that answers one of the questions with as many rows as a page has room for."""

    def metric(store: Store) -> pd.DataFrame:
        return store.ask(question).head(_MOST)

    metric.__doc__ = _metric_of_question(question).__doc__
    return metric


def day(value: pd.Timestamp) -> str:
    """Formats a date, which is in UTC; n/a if no log has a plausible one."""
    return words.NONE if pd.isna(value) else f"{value:%Y-%m-%d}"


_TOTALS: Exhibit[Store] = Exhibit(name="totals", title="All jobs", metric=_metric_of_question("totals"))

USERS: Exhibit[Store] = Exhibit(
    name="users",
    title="Who",
    metric=_first("users"),
    whole=_metric_of_question("users"),
    columns=[Column("user", "user"), *_MOVED],
)

APPLICATIONS: Exhibit[Store] = Exhibit(
    name="applications",
    title="Which application",
    metric=_first("applications"),
    whole=_metric_of_question("applications"),
    columns=[Column("application", "application"), Column("users", "users", words.count), *_MOVED],
    note="In I/O: time in read, write and metadata calls, summed over processes; with threads it may exceed the "
    "total. Could save: most process hours that the best single remedy of each job can save, including ranks "
    "that wait for the slowest rank in I/O; remedies of one job are not added up.",
)

FILE_SYSTEMS: Exhibit[Store] = Exhibit(
    name="file_systems",
    title="Which file system",
    metric=_first("file_systems"),
    whole=_metric_of_question("file_systems"),
    columns=[
        Column("mount point", "mount"),
        Column("type", "file_system"),
        Column("jobs", "jobs", words.count),
        Column("files", "files", words.count),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("opens", "opens", words.count),
        Column("in I/O, h", "io_hours", hours),
    ],
)

OFFENDERS: Exhibit[Store] = Exhibit(
    name="offenders",
    title="Jobs with most to save",
    metric=_first("offenders"),
    whole=_metric_of_question("offenders"),
    columns=[
        Column("application", "application"),
        Column("user", "user"),
        Column("job", "jobid", str),
        Column("day", "start", day),
        Column("processes", "nprocs", words.count),
        Column("run time", "run_time", words.duration),
        Column("about", "gain", percent),
        Column("hours", "saved_hours", hours),
        Column("by", "remedy_for"),
    ],
    note="About: part of the run time that the remedy for the finding on the right may save; hours are this "
    "time multiplied by the number of processes. iolens advise prints the remedy for the log, which an export names in "
    "its column log.",
    absent=lambda _: "Jobs with most to save: none. No finding of the advice is worth a change.",
)

RULES: Exhibit[Store] = Exhibit(
    name="rules",
    title="What is found most",
    metric=_first("rules"),
    whole=_metric_of_question("rules"),
    columns=[
        Column("finding", "title"),
        Column("jobs", "jobs", words.count),
        Column("applications", "applications", words.count),
        Column("could save, h", "saved_hours", hours),
    ],
    note="Upper bound in process hours, over the jobs whose log gives a bound; findings of one job overlap and must "
    "not be added. Findings that are not worth a change save 0.",
)


def _trend_figure(store: Store, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figures of the months."""
    from iolens.figures.many_jobs import trend

    if len(found) > 1:
        spent = zip((f"{month:%Y-%m}" for month in found["month"]), found["io_hours"], strict=True)
        says = f"process hours in I/O: {columns.extremes(spent, hours)}"
        yield FigureBlock(trend(found), "", title="Month by month", says=says)


TREND: Exhibit[Store] = Exhibit(
    name="trend",
    title="Month by month",
    metric=_metric_of_question("trend"),
    columns=[Column("month", "month", lambda value: f"{value:%Y-%m}"), *_MOVED],
    draw=_trend_figure,
)

DAMAGED: Exhibit[Store] = Exhibit(
    name="damaged",
    title="Logs that could not be read",
    metric=_first("damaged"),
    whole=_metric_of_question("damaged"),
    columns=[Column("log", "log"), Column("reason", "reason")],
)

FLEET_EXHIBITS: tuple[Exhibit[Store], ...] = (
    _TOTALS,
    APPLICATIONS,
    USERS,
    FILE_SYSTEMS,
    OFFENDERS,
    RULES,
    TREND,
    DAMAGED,
)
"""The exhibits in the order in which the terminal shows them."""
