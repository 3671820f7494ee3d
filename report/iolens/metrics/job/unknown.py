"""The facts that a log cannot tell about its job, with the reasons."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.comparison.settings import volume_text
from iolens.metrics.files.stripes import ost
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.cost import moved_once
from iolens.metrics.job.interfaces import mpiio
from iolens.metrics.job.interfaces.operations import file_bytes
from iolens.metrics.job.ranks import rank_times
from iolens.metrics.job.share import io_mean_seconds
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.groups import UNKNOWN, UNTRACED
from iolens.metrics.processor.time import rank_time, summed_mpi
from iolens.metrics.processor.usage import core_use
from iolens.metrics.times.timespans import FEWEST_SPAN_BINS
from iolens.metrics.times.traces import TRACES

NUMBERS, CAUSES, NOTHING = "numbers", "causes", "nothing"
"""The part of a verdict that a gap makes uncertain: its numbers, the cause that it names, or nothing."""

RECORDS, TRANSFERS, REMARKS = "some records", "some transfers", "some numbers"
"""Kinds of gaps whose reason is a complete sentence."""

_LITTLE = 0.05
"""Share of an average rank's time. If less time than this has no record, it is assumed not to change the verdict on
what limits the run.
"""

CLOCK = "start and end to less than a second"

EXCHANGE = "separate times of exchange and waiting in collective calls"


@once_per_job
def unknown(job: Job) -> Records | None:
    """Returns one row per gap, the most important first: what, why, doubt (the part of a verdict that the gap puts in
    doubt).

    None without gaps. Gaps are records that are missing, wrong or not read; bytes that no layer saw; times of
    computation and MPI; and hints, targets and positions in files that the log does not record.
    """
    rows = [(RECORDS, reason, NUMBERS) for reason in job.partial]
    rows += [(TRANSFERS, reason, NUMBERS) for reason in job.unfollowed]
    rows += [(REMARKS, reason, NOTHING) for reason in job.remarks]
    lost = sum(mpiio.unseen(job).values())
    if lost:
        what = f"how {volume_text(lost)} of MPI-IO reached the files"
        rows.append((what, "POSIX recorded almost none of it", NUMBERS))
    hidden = unrecorded_files(job)
    if hidden:
        noun = "files have stripes" if hidden > 1 else "file has stripes"
        said = f"{hidden:,} {noun} in this log, but no record of any I/O: the log has no records of POSIX."
        rows.append((TRANSFERS, said, NUMBERS))
    rows += [(what, why, doubt) for what, why, doubt, holds in _gaps(job) if holds]
    return Records.of(["what", "why", "doubt"], rows) if rows else None


def _no_heatmap(job: Job) -> tuple[str, bool]:
    """Returns the reason why a job that moved bytes has no map of them over time, and True if the map is missing."""
    heat = job.records.get("HEATMAP")
    if set(TRACES) & set(job.records) or not moved_once(job):
        return "", False
    if heat is None:
        return "the log has no heat map (Darshan from 3.4 on, and iolens, write one)", True
    printed = "STDIO" in job.records and not file_bytes(job, "STDIO")
    files = heat.where(heat["module"] != "STDIO") if printed else heat
    width = float(heat["width"][0]) if len(heat) else 0.0
    if len(files) and job.run_time <= (FEWEST_SPAN_BINS - 1) * width:
        return f"the run was too short for its heat map, whose bins are {width:g} s wide", True
    few = len(files) > 0 and int(files["bin"].max()) + 1 < FEWEST_SPAN_BINS
    return f"the log's heat map ends within its first {FEWEST_SPAN_BINS - 1} bins, which are {width:g} s wide", few


def _is_waiting_unknown(job: Job) -> bool:
    """Returns True if the log has neither processor times nor timed calls nor samples of its ranks."""
    return rank_time(job) is None or (summed_mpi(job) is not None and core_use(job) is None)


def _doubt_of_waiting(job: Job) -> str:
    """Returns the part of a verdict that is in doubt if computing and waiting cannot be distinguished: nothing, if the
    time that may be either is a small part of the run, less than the time in I/O, or small on the rank that is longest
    in I/O.
    """
    each, moved, ranks = rank_time(job), io_mean_seconds(job) or 0.0, rank_times(job)
    untold = job.run_time - moved if each is None else float(each[UNKNOWN].mean())
    if each is None and ranks is not None and job.run_time - float(ranks["seconds"].max()) < _LITTLE * job.run_time:
        return NOTHING
    return NOTHING if untold < max(_LITTLE * job.run_time, moved) else CAUSES


def _computes_or_communicates(job: Job) -> bool:
    """Returns True if the log cannot tell computing from MPI for some of the time."""
    times = rank_time(job)
    return times is not None and bool(times[UNTRACED].any())


def _gaps(job: Job) -> list[tuple[str, str, str, bool]]:
    """Returns the facts that some logs record and others do not: the fact, the reason, the part of a verdict that is
    in doubt without it, and whether it is missing here.
    """
    when_moved, is_map_missing = _no_heatmap(job)
    records, private = job.records, job.private
    return [
        (
            "computing and waiting apart",
            "the log has no processor times (iolens run records them)",
            _doubt_of_waiting(job),
            _is_waiting_unknown(job),
        ),
        (
            "computing and MPI apart",
            "MPI calls were not timed (iolens run --trace mpi or --sample times them)",
            CAUSES,
            _computes_or_communicates(job),
        ),
        (
            "when bytes moved",
            when_moved,
            NOTHING,
            is_map_missing,
        ),
        (
            "hints of MPI-IO",
            mpiio.hints_unknown(job),
            NOTHING,
            "MPI-IO" in records and "mpiio_hints" not in private,
        ),
        (
            "bytes per storage target",
            ost.target_bytes(job).reason,
            NOTHING,
            "LUSTRE" in records and bool(ost.target_bytes(job).reason),
        ),
        (
            EXCHANGE,
            "the log does not have the times at which ranks entered them (iolens run records these)",
            CAUSES,
            mpiio.has_collective_transfers(job) and mpiio.exchange_times(job) is None,
        ),
        ("places within files", "single transfers were not traced (DXT)", NOTHING, not set(TRACES) & set(records)),
        (
            CLOCK,
            "this format counts whole seconds",
            NUMBERS if job.coarse else NOTHING,
            job.whole_seconds,
        ),
    ]
