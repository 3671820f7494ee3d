"""The tables of why a job took so long, and the sentence that sums them up (`iolens run --why`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of
from iolens.metrics.grouping import Groups
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.regions import region_paths
from iolens.metrics.processor.sampled.groups import ASLEEP, COMPUTE, RUNNABLE
from iolens.metrics.processor.time import rank_time
from iolens.metrics.processor.usage import core_use
from iolens.metrics.why.calls.joins import Joins, joins_of
from iolens.metrics.why.calls.program import CORE, OUTSIDE, Program, by_region, program_of, sound_part, whole_part
from iolens.metrics.why.calls.progress import NO_PROGRESS, progress_of
from iolens.metrics.why.causes import Causes, causes_of
from iolens.metrics.why.path import Activities, activities_of, critical_path, lost_cores, with_places
from iolens.metrics.why.replay import Graph, graph_of
from iolens.metrics.why.unknown import NOTHING_OF_RANKS, OfRanks, Unknown, unknown_of
from iolens.metrics.why.waits import PATTERNS, Waits, waits_of
from iolens.metrics.why.what_if import MOST_RANKS, OWN_CORES, STORAGE, Answer, Beside, most_on_files, what_if

_DUE = {
    "computing": "computing",
    "I/O": "io",
    "lock": "locks",
    "core": "cores",
    "fault": "faults",
    "sleep": "sleep",
    "MPI": "mpi",
}
"""Kinds of work that make others wait, with the column of the waits that each kind caused."""

_MOST_ROWS = 15
"""Maximum number of rows of a table on a page; exports have all."""

_LEAST = 0.01
"""Minimum share of the run time for which the reason for a saving is named."""


@dataclass(frozen=True)
class Why:
    """All results from the events of a job; `others`: see `what_if`; `until`: the second at which the events end, if
    that is before the end of the job; `labels`: the names of families of files, by the record ids of their files.
    """

    program: Program
    joins: Joins
    waits: Waits
    activities: Activities
    graph: Graph
    unknown: Unknown
    others: tuple[Graph, ...] = ()
    until: float | None = None
    labels: Mapping[int, str] = field(default_factory=dict)


@once_per_job
def why(job: Job) -> Why | None:
    """Returns the joined events of a job; None if the log has no events, or lacks the events of a rank."""
    events = job.tables.get("why_events")
    if events is None or not len(events):
        return None
    part, until = whole_part(sound_part(events, job.nprocs), job.nprocs)
    if not len(part):
        return None
    program = program_of(part, job.nprocs)
    alike, labels = _families(job, program)
    times = rank_time(job)
    of_ranks = OfRanks(None if times is None else times[COMPUTE], _parents(job))
    found = why_of(program, part.where(part["thread"] != 0), alike, of_ranks)
    return replace(found, until=until, labels=labels)


def _families(job: Job, program: Program) -> tuple[dict[int, int], dict[int, str]]:
    """Returns the file that stands for each file of a family, and the names of families by their files."""
    ids = np.unique(np.concatenate([program.file, program.inner_file]))
    ids = ids[ids != 0]
    kin = families_of(job, ids)
    standing = ids[Groups(kin.place).first]
    several = np.flatnonzero(kin.sizes[kin.place] > 1)
    labels = {int(ids[at]): kin.labels[kin.place[at]] for at in several.tolist()}
    return dict(zip(ids[several].tolist(), standing[kin.place][several].tolist(), strict=True)), labels


def why_of(
    program: Program,
    other_threads: Records | None = None,
    alike: Mapping[int, int] | None = None,
    of_ranks: OfRanks = NOTHING_OF_RANKS,
    advances_alone: bool = False,
) -> Why:
    """Returns the results for the calls of a job. other_threads: rows of `why_events` that are not in `program`; alike:
    see `activities_of`; of_ranks: see `unknown_of`; advances_alone: True if MPI works also while no rank calls it.
    """
    joins = joins_of(program)
    plain = graph_of(program, joins)
    progress = NO_PROGRESS if advances_alone else progress_of(program, joins, plain.cost)
    unknown = unknown_of(program, joins, plain, other_threads, of_ranks, progress)
    waits = waits_of(program, joins, progress)
    graph, cautious = (
        plain if more.is_empty else graph_of(program, joins, more) for more in (progress.likely, progress.cautious)
    )
    others = tuple(each for each in (plain, cautious) if each is not graph)
    return Why(program, joins, waits, activities_of(program, waits, alike), graph, unknown, others)


def _parents(job: Job) -> frozenset[int]:
    """Returns the ranks whose child processes computed for at least 1 % of the run, and may have done I/O beside that.
    Shorter children, such as those with which Python looks for libraries, do not matter.
    """
    used = job.tables.get("process")
    if used is None or not {"rank", "children_time"} <= set(used.names):
        return frozenset()
    return frozenset(used["rank"][used["children_time"] >= _LEAST * job.run_time].tolist())


@once_per_job
def _causes(job: Job) -> Causes | None:
    found = why(job)
    return None if found is None else causes_of(found.program, found.joins, found.waits, found.activities)


@once_per_job
def answers(job: Job) -> list[Answer] | None:
    """Returns the answers to what-if questions; None if the log has no events."""
    found = why(job)
    if found is None:
        return None
    given = what_if(
        found.program, found.joins, found.graph, found.unknown, _beside(job, found.until is None), found.others
    )
    bound = cores_bound(job)
    if bound is None:
        return given
    return [each._replace(most=max(bound, each.saved)) if each.change.question == OWN_CORES else each for each in given]


def _beside(job: Job, is_whole: bool) -> Beside:
    """Returns facts that the calls alone do not tell: the storage targets of files, the ranks whose I/O others waited
    for and, if the events are whole, the seconds in which ranks had no core.
    """
    targets: dict[int, frozenset[int]] = {}
    layouts = job.records.get("LUSTRE")
    for file, on in () if layouts is None or not len(layouts) else layouts.rows("id", "osts"):
        targets[int(file)] = targets.get(int(file), frozenset()) | frozenset(map(int, on))
    times, use = (rank_time(job), core_use(job)) if is_whole else (None, None)
    if times is None or use is None or np.isnan(use.runnable).any() or RUNNABLE not in times:
        return Beside(targets, late=_late_for_io(job))
    return Beside(targets, (times[RUNNABLE], use.runnable), _late_for_io(job))


def _late_for_io(job: Job) -> list[int]:
    """Returns the ranks whose I/O others waited for longest."""
    found, causes = why(job), _causes(job)
    if found is None or causes is None:
        return []
    is_io = np.array([kind.kind == "I/O" for kind in found.activities.kinds])
    waits = (causes.short + causes.long)[:, is_io].sum(axis=1)
    return [rank for rank in np.argsort(-waits, kind="stable").tolist()[:MOST_RANKS] if waits[rank] > 0]


@once_per_job
def wait_states(job: Job) -> Records | None:
    """Returns the waits by pattern: number, ranks that waited, seconds over all ranks, the longest wait, and the
    seconds that are directly due to computing, I/O, locks of files, a missing core, page faults and MPI of the late
    rank. None if the log has no events.
    """
    found, causes = why(job), _causes(job)
    if found is None or causes is None:
        return None
    waits, kinds = found.waits, np.array([kind.kind for kind in found.activities.kinds])
    seconds = np.bincount(waits.pattern, weights=waits.waited, minlength=len(PATTERNS))
    rows = []
    for pattern in np.argsort(-seconds, kind="stable")[: np.count_nonzero(seconds)].tolist():
        chosen = waits.pattern == pattern
        waited, held = waits.waited[chosen], len(np.unique(found.program.rank[waits.call[chosen]]))
        due = [float(causes.by_pattern[pattern][kinds == kind].sum()) for kind in _DUE]
        rows.append((PATTERNS[pattern], len(waited), held, float(seconds[pattern]), float(waited.max()), *due))
    return Records.of(("pattern", "waits", "ranks", "seconds", "longest", *_DUE.values()), rows)


@once_per_job
def waits_by_cause(job: Job) -> Records | None:
    """Returns the ranks and activities that made others wait: rank, kind (of `Activity`), function, file, direct and
    indirect seconds of waiting, their sum, and the number of ranks held up directly. None if the log has no events.
    """
    found, causes = why(job), _causes(job)
    if found is None or causes is None:
        return None
    total = causes.short + causes.long
    rank, what = np.nonzero(total > 0)
    order = np.argsort(-total[rank, what], kind="stable")
    rank, what = rank[order], what[order]
    columns = {
        "direct": causes.short[rank, what],
        "indirect": causes.long[rank, what],
        "seconds": total[rank, what],
        "held_up": causes.held[rank, what],
    }
    return Records({"rank": rank, **_described(job, found, what), **columns})


@once_per_job
def largest_waits(job: Job) -> Records | None:
    """Returns the rows of `waits_by_cause` with most waiting, as many as make up 99 % of it, but at most 15.

    Columns: rank, kind (of `Activity`), function, file, direct and indirect seconds of waiting, their sum, the number
    of ranks held up directly, and the place in the source. None if the log has no events.
    """
    return _placed(job, _largest(waits_by_cause(job)))


@once_per_job
def all_waits(job: Job) -> Records | None:
    """Returns all rows of `waits_by_cause` with their places in the source."""
    return _placed(job, waits_by_cause(job))


@once_per_job
def largest_path_parts(job: Job) -> Records | None:
    """Returns the rows of `path_by_activity` with most time, as many as make up 99 % of the path, but at most 15.

    Columns: rank, kind, function, file, region, seconds and share of the path, lost cores, and the place in the source.
    None if the log has no events.
    """
    return _placed(job, _largest(path_by_activity(job)))


@once_per_job
def all_path_parts(job: Job) -> Records | None:
    """Returns all rows of `path_by_activity` with their places in the source."""
    return _placed(job, path_by_activity(job))


def _placed(job: Job, rows: Records | None) -> Records | None:
    """Returns rows of work with their places in the source."""
    found = why(job)
    return None if found is None or rows is None else with_places(job, rows, found.labels)


def _largest(rows: Records | None) -> Records | None:
    """Returns the first rows, those with most seconds, that make up 99 % of all seconds, but at most 15."""
    if rows is None or not len(rows):
        return rows
    before = np.cumsum(rows["seconds"]) - rows["seconds"]
    enough = int(np.count_nonzero(before < 0.99 * rows["seconds"].sum()))
    return rows.where(slice(min(enough, _MOST_ROWS)))


@once_per_job
def path_pieces(job: Job) -> Records | None:
    """Returns the pieces of the critical path, the last one first: rank, start and end in seconds. None if the log has
    no events.
    """
    found = why(job)
    return None if found is None else critical_path(found.program, found.waits)


@once_per_job
def path_by_activity(job: Job) -> Records | None:
    """Returns the critical path by rank, activity and region: rank, kind, function, file, region, seconds, share of the
    path and lost cores (`lost_cores`). None if the log has no events.
    """
    found, pieces = why(job), path_pieces(job)
    if found is None or pieces is None:
        return None
    pieces = by_region(pieces, job.tables["why_events"])
    rows: list[tuple[int, int, int, float]] = []
    for rank in np.unique(pieces["rank"]).tolist():
        mine = pieces.where(pieces["rank"] == rank)
        spent = found.activities.seconds(rank, mine["start"], mine["end"])
        for region in np.unique(mine["region"]).tolist():
            seconds = spent[mine["region"] == region].sum(axis=0)
            rows += [(rank, int(what), region, float(seconds[what])) for what in np.flatnonzero(seconds > 0)]
    rows.sort(key=lambda row: -row[3])
    table = Records.of(("rank", "what", "region", "seconds"), rows)
    what, seconds, regions = table["what"].astype(np.int64), table["seconds"].astype(float), table["region"].tolist()
    names = [
        path if number != OUTSIDE else "" for number, path in zip(regions, region_paths(job, regions), strict=True)
    ]
    return Records(
        {
            "rank": table["rank"],
            **_described(job, found, what),
            "region": np.array(names, object),
            "seconds": seconds,
            "share": seconds / max(float(seconds.sum()), 1e-300),
            "lost_cores": lost_cores(found.activities, found.program.ranks, what, seconds),
        }
    )


@once_per_job
def replays(job: Job) -> Records | None:
    """Returns the answers to what-if questions: question, rank (-1: all), file, run_time and saved in seconds, and the
    interval of the saved seconds, least and most. The width of the interval is the difference between the run time
    of the unchanged replay and the measured one, plus waits of calls of which the events do not tell the cause. None
    if the log has no events.
    """
    given = answers(job)
    if given is None:
        return None
    rows = [(each.change.question, each.change.rank, _path_of_file(job, each.change.file), *each[1:]) for each in given]
    return Records.of(("question", "rank", "file", "run_time", "saved", "least", "most"), rows)


def _described(job: Job, found: Why, what: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the columns that describe activities; the name of a file is that of its family."""
    kinds = found.activities.kinds
    files = [found.labels.get(kind.file) or _path_of_file(job, kind.file) for kind in kinds]
    return {
        "kind": np.array([kind.kind for kind in kinds], object)[what],
        "function": np.array([kind.function for kind in kinds], object)[what],
        "file": np.array(files, object)[what],
    }


def _path_of_file(job: Job, record: int) -> str:
    """Returns the path of a file; empty for none or several."""
    return job.names.get(record, "") if record else ""


@dataclass(frozen=True)
class Waiting:
    """The seconds of all waits, and the part of them that no work explains."""

    waited: float
    unexplained: float


@once_per_job
def waiting(job: Job) -> Waiting | None:
    """Returns how much the ranks waited; None if the log has no events."""
    found, causes = why(job), _causes(job)
    if found is None or causes is None:
        return None
    return Waiting(float(found.waits.waited.sum()), causes.unexplained)


@dataclass(frozen=True)
class Culprit:
    """The I/O of the rank that made others wait most: its function and file (empty: several), and the number of ranks
    it held up directly.
    """

    rank: int
    function: str
    file: str
    held_up: int


@dataclass(frozen=True)
class StorageSaving:
    """The most that infinitely fast storage saves, in seconds, including all uncertainty. `until`: the second up to
    which the events reach, if not to the end. `culprit` is set if the I/O of one rank accounts for more than half of
    the saving, and the saving for 1 % of the run. `mapped`: files were mapped into memory, and no event has the
    waits for their pages. `for_strangers`: a rank waited for programs that the log does not have for at least 1 % of
    the run.
    """

    seconds: float
    until: float | None
    culprit: Culprit | None
    mapped: bool
    for_strangers: bool


@once_per_job
def storage_saving(job: Job) -> StorageSaving | None:
    """Returns the saving by infinitely fast storage; None if the log has no events, or the job did no I/O."""
    found, given = why(job), answers(job)
    free = next((each for each in given or () if each.change.question == STORAGE), None)
    if found is None or given is None or free is None:
        return None
    by_rank = {each.change.rank: each.saved for each in given if each.change.rank >= 0}
    rank = max(by_rank, key=lambda one: by_rank[one], default=-1)
    decides = free.most >= _LEAST * found.program.run_time and by_rank.get(rank, 0.0) > free.most / 2
    counters = job.records.get("POSIX")
    mapped = counters is not None and "POSIX_MMAPS" in counters.names and bool((counters["POSIX_MMAPS"] > 0).any())
    strangers = found.unknown.of_strangers >= _LEAST * found.program.run_time
    return StorageSaving(free.most, found.until, _culprit(job, rank) if decides else None, mapped, strangers)


def starts_processes(job: Job) -> bool:
    """Returns True if ranks started other processes, whose calls are not among the events, and may have waited for
    them: a rank slept for at least 1 % of the run, or the time of sleep is not known.
    """
    used, times = job.tables.get("process"), rank_time(job)
    started = used is not None and "children_time" in used.names and bool((used["children_time"] > 0).any())
    return started and (times is None or float(times[ASLEEP].max()) >= _LEAST * job.run_time)


@once_per_job
def storage_bound(job: Job) -> float | None:
    """Returns the most seconds that a remedy of I/O can save, by replay; None if the log's events leave out a part of
    the job: its end, other threads, the partners of some calls, or waits for pages of mapped files.
    """
    found, saving = why(job), storage_saving(job)
    if found is None or saving is None:
        return None
    return saving.seconds if _is_whole(found) and not saving.mapped else None


def bound_of(job: Job, question: str) -> float | None:
    """Returns the most seconds that a replay of this question saves; None if the log has no answer, or its events leave
    out a part of the job.
    """
    found = why(job)
    if found is None or not _is_whole(found):
        return None
    return next((each.most for each in answers(job) or () if each.change.question == question), None)


def _is_whole(found: Why) -> bool:
    """Returns True if the events leave out nothing of the job."""
    lone = found.program.left_out + found.joins.not_joined + found.graph.broken
    return found.until is None and lone == 0


@once_per_job
def cores_bound(job: Job) -> float | None:
    """Returns the most seconds that a core for each rank can save; None if the log's events leave out a part of the
    job, or the kernel did not count the waits for cores.

    No chain of work becomes shorter by more than the waits for cores on it, so the critical path bounds the saving. The
    bound adds the waits that events place on the path. For each rank it also adds the waits that no event places, up to
    the rank's other time on the path. It is at most the run time minus the computing time of the rank that computes
    longest.
    """
    found, use, times = why(job), core_use(job), rank_time(job)
    if found is None or use is None or times is None or not _is_whole(found) or np.isnan(use.runnable).any():
        return None
    path = path_by_activity(job)
    if path is None:
        return None
    program, ranks = found.program, found.program.ranks
    of_core = program.kind == CORE
    placed = np.bincount(program.rank[of_core], weights=(program.end - program.start)[of_core], minlength=ranks)
    waits = np.where(path["kind"] == "core", path["seconds"], 0.0)
    on_path = np.bincount(path["rank"], weights=waits, minlength=ranks)
    beside = np.bincount(path["rank"], weights=path["seconds"] - waits, minlength=ranks)
    most = float((on_path + np.minimum(beside, np.maximum(use.runnable[:ranks] - placed, 0.0))).sum())
    return min(most, job.run_time - float(times[COMPUTE].max()))


def files_bound(job: Job, files: Collection[int]) -> float | None:
    """Returns the most seconds that a remedy for these files (record ids) can save, by replay; None if `storage_bound`
    is None, or if calls without a known partner may have waited for these files.
    """
    found = why(job)
    if found is None or storage_bound(job) is None or found.unknown.seconds > 0:
        return None
    plain = found.others[0] if found.others else found.graph
    return most_on_files(found.program, found.joins, plain, found.unknown, files)


def _culprit(job: Job, rank: int) -> Culprit | None:
    """Returns the I/O of a rank that made others wait most; None if none did."""
    rows = waits_by_cause(job)
    if rows is None:
        return None
    of_rank = rows.where((rows["rank"] == rank) & (rows["kind"] == "I/O") & (rows["held_up"] > 0))
    if not len(of_rank):
        return None
    function, file, held_up = next(of_rank.rows("function", "file", "held_up"))
    return Culprit(rank, function, file, int(held_up))
