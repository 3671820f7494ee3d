"""The seconds that a rank spent in chosen calls on chosen files: an interval where the log has only a sum over ranks.

A record of a single rank has that rank's time of each kind (read, write, metadata). The record that all ranks share has
only the sum over the ranks of each kind, and the time of all kinds together of the slowest rank. With n ranks, S the
sum of the kinds in question, T that of all kinds, and m the slowest rank's time, the slowest rank spent in these kinds

    at least   S / n (the mean) and m - (T - S),
    about      m S / T, if the kinds have the same shares on it as in the sum,
    at most    S and m.

The private table `file_ranks` has the times of each rank; where it has all of them, all three are equal.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import file_records, id_rows
from iolens.metrics.job.interfaces.layers import LAYERS, io_time
from iolens.metrics.job.interfaces.mpiio import file_rank_records
from iolens.metrics.job.share import KINDS, highest_records, seconds_in
from iolens.metrics.once import once_per_job

_EXACT = 1e-6
"""Relative difference up to which the times of ranks count as adding up to the sum over ranks."""

_ALIKE = 0.95
"""An interval whose ends differ by less than this ratio is printed as one number."""


@dataclass(frozen=True)
class Spent:
    """The seconds of the slowest rank: `least` and `most` bound them, `about` is the estimate.

    `span` bounds what a run without these calls can save, which is more than the time of the calls: work between them,
    such as the formatting of each line, may go with them, and every rank may wait for the calls of another one. It is
    the time from the first of the calls to the last.
    """

    least: float
    about: float
    most: float
    span: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            max(self.least, other.least),
            self.about + other.about,
            self.most + other.most,
            self.span + other.span,
        )

    def __mul__(self, part: float) -> Spent:
        """Returns the part of the time that a remedy is assumed to save. The rest need not stay, so `span` does."""
        return replace(self, least=self.least * part, about=self.about * part, most=self.most * part)

    def __sub__(self, other: Spent) -> Spent:
        """Returns the time in calls of a layer outside the calls of the layer below."""
        least, about = max(0.0, self.least - other.most), max(0.0, self.about - other.about)
        return replace(self, least=least, about=about, most=max(about, self.most - other.least))

    @property
    def is_interval(self) -> bool:
        """Returns whether the log leaves the slowest rank's time open to an amount that matters."""
        return self.least < _ALIKE * self.most

    def within(self, limit: float) -> Spent:
        """Returns the same seconds in calls, each at most `limit`, within the same span."""
        return Spent(min(limit, self.least), min(limit, self.about), min(limit, self.most), self.span)


NONE = Spent(0.0, 0.0, 0.0, 0.0)


_NEGLIGIBLE = 0.001
"""Part of the run below which the time in a file cannot make other ranks wait for long."""


@once_per_job
def io_span(job: Job) -> float:
    """Returns the seconds from the first to the last call of I/O on each file, in the highest layer that knows the
    file; the run time if the log does not have the times of a file. Files with a negligible time are left out.
    """
    found = 0.0
    for name, part in highest_records(job):
        prefix = LAYERS[name].prefix
        records = job.records[name].where(part & (io_time(job.records[name], prefix) >= _NEGLIGIBLE * job.run_time))
        found += _span(job, records, prefix, KINDS)
    return min(job.run_time, found)


def of_ranks(job: Job, seconds: np.ndarray) -> Spent:
    """Returns the time of the slowest rank from the seconds of each rank."""
    most = min(job.run_time, float(seconds.max(initial=0.0)))
    return Spent(most, most, most, job.run_time if most else 0.0)


class _Shared(NamedTuple):
    """The records that ranks share: the sums of the chosen kinds and of all kinds, the slowest rank's time, that rank,
    and the record ids.
    """

    chosen: np.ndarray
    every: np.ndarray
    slowest: np.ndarray
    rank: np.ndarray
    id: np.ndarray


def slowest_seconds(job: Job, name: str, ids: Collection[int] | np.ndarray, kinds: tuple[str, ...] = KINDS) -> Spent:
    """Returns the seconds that the slowest rank spent in calls of these kinds on these files of a layer; at most the
    run time.
    """
    files = file_records(job, name)
    wanted = np.zeros(len(files.id) + 1, bool)
    wanted[id_rows(np.asarray(ids if isinstance(ids, np.ndarray) else [*ids], files.id.dtype), files.id)] = True
    rows = np.flatnonzero(wanted[files.file])
    if not len(rows):
        return NONE
    ranks, records = max(job.nprocs, 1), job.records[name].where(rows)
    spent = np.sum([seconds_in(job, name, kind, waits=False)[rows] for kind in kinds], axis=0)
    own = records["rank"] >= 0
    alone = np.bincount(records["rank"][own], weights=spent[own], minlength=ranks)
    shared = _shared_records(job, name, rows[~own], spent[~own])
    least, about, most = _shared_seconds(job, name, shared, kinds)
    mean = float(alone.sum() + shared.chosen.sum()) / ranks
    estimate = float((alone + about).max())
    span = _span(job, records, LAYERS[name].prefix, kinds)
    found = Spent(max(mean, float((alone + least).max())), estimate, float(alone.max()) + most, span)
    return replace(found, most=max(found.most, found.about), span=min(job.run_time, max(span, estimate))).within(
        job.run_time
    )


def _shared_records(job: Job, name: str, rows: np.ndarray, spent: np.ndarray) -> _Shared:
    """Returns the shared records in these rows; the slowest rank's time is at most the sum over ranks, and is the mean
    of the ranks where the log does not have it.
    """
    records, prefix = job.records[name].where(rows), LAYERS[name].prefix
    every = np.sum([seconds_in(job, name, kind, waits=False)[rows] for kind in KINDS], axis=0)
    ranks = max(job.nprocs, 1)
    slowest = np.minimum(np.maximum(records[f"{prefix}_F_SLOWEST_RANK_TIME"], 0.0), every)
    rank = np.clip(records.get(f"{prefix}_SLOWEST_RANK", np.zeros(len(rows))), 0, ranks - 1).astype(np.int64)
    return _Shared(spent, every, slowest, rank, records["id"])


def _shared_seconds(
    job: Job, name: str, shared: _Shared, kinds: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns, for shared records, a lower bound and an estimate of each rank's seconds, and the upper bound of the
    slowest rank's seconds: the sum over the records of that of their slowest ranks.
    """
    ranks = max(job.nprocs, 1)
    exact, known = _exact_seconds(job, name, shared, kinds)
    least, about = exact.sum(axis=0), exact.sum(axis=0)
    most = float(exact.max(axis=1, initial=0.0).sum())
    chosen, every, slowest, rank = (each[~known] for each in shared[:4])
    timed = slowest > 0
    part = np.divide(chosen, every, out=np.zeros_like(chosen), where=every > 0)
    rest = np.where(timed, (every - slowest) / max(ranks - 1, 1), every / ranks)
    extra = np.where(timed, np.maximum(slowest - rest, 0.0), 0.0)
    about = about + float((rest * part).sum()) + np.bincount(rank, extra * part, ranks)
    certain = np.where(timed, np.maximum(slowest - (every - chosen), 0.0), 0.0)
    least = least + np.bincount(rank, certain, ranks)
    return least, about, most + float(np.where(timed, np.minimum(chosen, slowest), chosen).sum())


def _exact_seconds(job: Job, name: str, shared: _Shared, kinds: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the seconds of each rank (columns) in the records of which the log has every rank's times (rows), and a
    mask of these records among the shared ones.
    """
    found: list[np.ndarray] = [np.zeros((0, max(job.nprocs, 1)))]
    known = np.zeros(len(shared.id), bool)
    tables = _rank_tables(job) if name == "POSIX" else {}
    for place, key in enumerate(shared.id.tolist()):
        if key in tables:
            rows = tables[key]
            seconds = np.sum([rows[f"{kind.lower()}_time"] for kind in kinds], axis=0)
            if abs(seconds.sum() - shared.chosen[place]) <= _EXACT * max(shared.chosen[place], 1e-3):
                known[place] = True
                found.append(np.bincount(rows["rank"], seconds, max(job.nprocs, 1))[None])
    return np.concatenate(found), known


@once_per_job
def _rank_tables(job: Job) -> dict[int, Records]:
    """Returns the times of each rank in the files for which the log has no sum over several ranks, by file."""
    table = file_rank_records(job)
    if table is None or "meta_time" not in table:
        return {}
    order = np.argsort(table["file"], kind="stable")
    keys, first = np.unique(table["file"][order], return_index=True)
    parts = {int(key): table.where(rows) for key, rows in zip(keys, np.split(order, first[1:]), strict=True)}
    return {key: rows for key, rows in parts.items() if (rows["rank"] >= 0).all() and (rows["rank"] < job.nprocs).all()}


_STAMPS = {
    "READ": ("READ_START", "READ_END"),
    "WRITE": ("WRITE_START", "WRITE_END", "CLOSE_END"),
    "META": ("OPEN_START", "OPEN_END", "READ_END", "WRITE_END", "CLOSE_END"),
}
"""For each kind of calls, the time stamp of the first one, and those of the last one. A sync after the last write
counts as writing, but has no time stamp.
"""


def _stamps(records: Records, column: str) -> np.ndarray:
    """Returns a column of time stamps; 0 if the layer does not have it."""
    return np.asarray(records.get(column, np.zeros(len(records))))


def _span(job: Job, records: Records, prefix: str, kinds: tuple[str, ...]) -> float:
    """Returns the seconds between the first and the last of the calls on each file, without counting any twice; of one
    process, which may prepare a file between others, those between the first and the last of all calls. Returns the run
    time if the log does not have the times of a file.
    """
    begins, ends = [], []
    for kind in kinds:
        used = records.where(records[f"{prefix}_F_{kind}_TIME"] > 0)
        first, *last = _STAMPS[kind]
        begins.append(_stamps(used, f"{prefix}_F_{first}_TIMESTAMP"))
        ends.append(np.max([_stamps(used, f"{prefix}_F_{each}_TIMESTAMP") for each in last], axis=0))
    begin, end = np.concatenate(begins), np.concatenate(ends)
    if not len(begin):
        return 0.0
    if (end <= 0).any() or (end < begin).any():
        return job.run_time
    if job.nprocs <= 1:
        return float(end.max() - begin.min())
    order = np.argsort(begin)
    begin, end = begin[order], np.maximum.accumulate(end[order])
    covered = np.concatenate([[begin[0]], end[:-1]])
    return float(np.maximum(end - np.maximum(begin, covered), 0.0).sum())
