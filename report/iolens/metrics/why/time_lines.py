"""Time lines of all ranks for a picture, and the facts that the events of a job cannot tell, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.comparison.settings import seconds_text
from iolens.metrics.once import once_per_job
from iolens.metrics.times.clocks import CommonClock, common_clock
from iolens.metrics.why.answers import Why, why

_LEAST_UNKNOWN = 100e-6
"""Shortest time, in seconds, in calls without a known partner that a sentence mentions. Shorter waits are not
certain.
"""


@once_per_job
def limits(job: Job) -> list[str]:
    """Returns a sentence for each kind of question that the events of the job cannot answer; none if the log has no
    events.
    """
    found = why(job)
    if found is None:
        return []
    clock = common_clock(job)
    said = [f"{clock.said} Waits between nodes are as uncertain."] if _of_several_nodes(job, clock) else []
    if found.until is not None:
        memory = any("IOLENS_WHY" in reason for reason in job.partial)
        reason = "iolens run --why MIB gives them more memory" if memory else "the job did not end as it should"
        beyond = job.tables["why_events"].left_out
        if beyond:
            reason = f"this machine has too little memory for the {beyond:,} later ones"
        said.append(
            f"The events of all ranks end with the collective call at {seconds_text(found.until)}; nothing after it "
            f"is analysed ({reason})."
        )
    if found.unknown.in_calls >= _LEAST_UNKNOWN:
        some = ", ".join(found.unknown.functions[:3])
        said.append(
            f"In {some}{' and others' if len(found.unknown.functions) > 3 else ''} a rank spent up to "
            f"{seconds_text(found.unknown.in_calls)}, and the events do not tell what it waited for."
        )
    if found.program.left_out:
        said.append(
            f"Calls of other threads are left out: {found.program.left_out:,}. What they did counts as computing: up "
            f"to {seconds_text(found.unknown.in_gaps)} of a rank."
        )
    if found.unknown.asleep >= _LEAST_UNKNOWN:
        said.append(
            f"Between calls such as MPI_Test that found nothing, a rank slept for up to "
            f"{seconds_text(found.unknown.asleep)}, which counts as computing."
        )
    if found.joins.not_joined:
        lone = found.joins.not_joined
        said.append(f"Parts of messages and collective calls without a partner in the log: {lone:,}.")
    if found.waits.violations:
        said.append(
            f"Messages that arrived before they were sent, by the clocks of their nodes: {found.waits.violations:,}, "
            f"by up to {1e6 * found.waits.largest_violation:,.0f} µs. Their waits end with the call."
        )
    return said


def _of_several_nodes(job: Job, clock: CommonClock) -> bool:
    """Returns True if the ranks read several clocks, compared or not."""
    return bool(clock.uncertainty) or (clock.uncertainty is None and len(job.hosts) > 1)


KINDS = ("computing", "I/O", "lock", "core", "fault", "sleep", "MPI", "waiting")
"""Kinds of work; waiting is time spent waiting for another rank, which is in none of the other kinds."""


@dataclass(frozen=True)
class TimeLines:
    """shares: part of each bin's time that ranks spent on each kind, an array of rows × bins × KINDS. A row stands for
    `each` neighbouring ranks. seconds: width of all bins together, from the start of the job. on_path: the share of
    each kind on the critical path, bins × KINDS. path: the pieces of the critical path that take at least a tenth of
    a bin, in the order of time, rows of rank, start and end.
    """

    shares: np.ndarray
    each: int
    seconds: float
    on_path: np.ndarray
    path: np.ndarray


def time_lines(found: Why, pieces: Records, most_rows: int, bins: int) -> TimeLines:
    """Returns the time lines of all ranks in at most `most_rows` rows, and the `pieces` of the critical path, the last
    of which comes first.
    """
    program = found.program
    each = -(-program.ranks // most_rows)
    edges = np.linspace(0.0, program.run_time, bins + 1)
    seconds = np.zeros((-(-program.ranks // each), bins, len(KINDS)))
    for (rank, what), (times, totals) in found.activities.sums.items():
        kind = KINDS.index(found.activities.kinds[what].kind)
        seconds[rank // each, :, kind] += np.diff(np.interp(edges, times, totals))
    start, rank = program.start[found.waits.call], program.rank[found.waits.call]
    order = np.lexsort((start, rank))
    bounds = np.searchsorted(rank[order], np.arange(program.ranks + 1))
    for one in np.unique(rank).tolist():
        rows = order[bounds[one] : bounds[one + 1]]
        spent = np.cumsum(found.waits.waited[rows])
        times = np.stack([start[rows], start[rows] + found.waits.waited[rows]], axis=1).reshape(-1)
        totals = np.stack([spent - found.waits.waited[rows], spent], axis=1).reshape(-1)
        seconds[one // each, :, -1] += np.diff(np.interp(edges, times, totals))
    ranks = np.minimum(each, program.ranks - each * np.arange(len(seconds)))
    shares = seconds / np.maximum(ranks[:, None, None] * program.run_time / bins, 1e-300)
    width = program.run_time / bins
    path = np.stack([pieces[name] for name in ("rank", "start", "end")], axis=1)[::-1]
    path = path[path[:, 2] - path[:, 1] >= width / 10]
    return TimeLines(shares, each, program.run_time, _on_path(found, path, edges) / max(width, 1e-300), path)


def _on_path(found: Why, path: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Returns the seconds of each kind on the path between neighbouring `edges`."""
    seconds = np.zeros((len(edges) - 1, len(KINDS)))
    kinds = [KINDS.index(kind.kind) for kind in found.activities.kinds]
    for rank, start, end in path.tolist():
        first, last = np.searchsorted(edges, [start, end])
        places = np.arange(max(first - 1, 0), min(last, len(seconds)))
        spent = found.activities.seconds(
            int(rank), np.clip(edges[places], start, end), np.clip(edges[places + 1], start, end)
        )
        np.add.at(seconds, (places[:, None], np.array(kinds)[None, :]), spent)
    return seconds
