"""The step-by-step recipe: balance, hot spots, communication, computation, I/O, each with what this log says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.comparison.settings import percent_text, seconds_text, volume_text
from iolens.metrics.grouping import most
from iolens.metrics.job import cost
from iolens.metrics.once import once_per_job
from iolens.metrics.processor import time
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.counters import WHOLE, counters
from iolens.metrics.processor.mpi.calls import mpi_calls, mpi_functions, mpi_messages, mpi_nodes
from iolens.metrics.processor.sampled import groups
from iolens.metrics.processor.sampled.largest import largest_part
from iolens.metrics.processor.sampled.samples import hot_lines, profile, why_no_lines
from iolens.metrics.processor.traced.functions import exclusive_balance
from iolens.metrics.processor.usage import working_threads
from iolens.metrics.why.answers import path_by_activity, storage_saving, wait_states, waits_by_cause

_BALANCE, _COMMUNICATE = "1. balance the load", "3. communicate less, and start it earlier"
_COMPUTE, _INPUT_OUTPUT = "4. compute faster", "5. write and read at scale"

_ALL = 0.0
"""Threshold that keeps every row."""

_LITTLE = 0.01
"""Maximum share of the run that may be unattributed without a caution in the statements."""

_LEAST = 0.05
"""Parts below this per cent of the time are not mentioned."""


@dataclass(frozen=True)
class Step:
    """One step: the subject, the facts of the log, and the table that tells more. `share` is the part of the time, in
    per cent, that the step covers.
    """

    step: str
    evidence: str
    look: str
    share: float = float("nan")


@once_per_job
def next_steps(job: Job) -> Records | None:
    """Returns the recipe in its order: step, evidence, look (a table's name), share (per cent of the time; NaN: not
    known).

    None if the log does not know where the time went.
    """
    if time.rank_time(job) is None:
        return None
    found = (imbalance_step(job), _hot_step(job), communication_step(job), computation_step(job), _io_step(job))
    further = _said_by_waits(job)
    told = (_with_waits(one, *further[one.step]) if one.step in further else one for one in found)
    return Records.of([one.name for one in fields(Step)], map(astuple, told))


def _with_waits(step: Step, said: str, look: str) -> Step:
    """Returns a step with a sentence on its waits added to its evidence, and with the table of waits to look at."""
    return replace(step, evidence=f"{step.evidence}; {said}", look=look)


def _said_by_waits(job: Job) -> dict[str, tuple[str, str]]:
    """Returns a sentence on waits and the table to look at, by the name of the step to which both belong; empty if the
    log has no events of waits (`iolens run --why`).
    """
    found: dict[str, tuple[str, str]] = {}
    causes, waits, path = waits_by_cause(job), wait_states(job), path_by_activity(job)
    for rank, kind, function, file, waited in () if causes is None else list(_rows(causes, "rank", *_WORK))[:1]:
        work = f"{function or kind}{f' of {PurePosixPath(file).name}' if file else ''}"
        found[_BALANCE] = f"others waited {seconds_text(waited)} for {work} on rank {rank}", "waits_by_cause"
    for pattern, waited in () if waits is None else list(_rows(waits, "pattern", "seconds"))[:1]:
        found[_COMMUNICATE] = f"most waits: {pattern}, {seconds_text(waited)} over all ranks", "wait_states"
    on_path = {} if path is None else _shares_of_path(path)
    if "computing" in on_path:
        found[_COMPUTE] = f"{percent_text(on_path['computing'])} of the critical path", "critical_path"
    saving = storage_saving(job)
    if saving is not None:
        share = f"{percent_text(on_path.get('I/O', 0.0))} of the critical path; "
        found[_INPUT_OUTPUT] = f"{share}infinitely fast storage saves at most {seconds_text(saving.seconds)}", "what_if"
    return found


_WORK = ("kind", "function", "file", "seconds")


def _rows(table: Records, *names: str) -> Iterator[tuple[Any, ...]]:
    """Returns the rows of a table of waits, without those of 0 s."""
    return table.where(table["seconds"] > 0).rows(*names)


def _shares_of_path(path: Records) -> dict[str, float]:
    """Returns the share of each kind of work in the critical path, in per cent."""
    kinds = np.unique(path["kind"].astype(str)).tolist()
    return {kind: 100 * float(path["share"][path["kind"] == kind].sum()) for kind in kinds}


def _parts_of(job: Job) -> dict[str, float]:
    """Returns the share of each part in the time of the average rank, in per cent; empty if the log does not tell."""
    found = time.time_parts(job)
    return {} if found is None else dict(found.rows("part", "share"))


def imbalance_step(job: Job) -> Step:
    """Returns step 1, the balance: the work in which the rank with the longest computing and I/O takes longer than the
    other ranks.
    """
    each = time.rank_time(job)
    if each is None or len(each) < 2:
        return Step(_BALANCE, "n/a: one rank", "load_balance")
    compute, moved = each[groups.COMPUTE] + each[groups.UNTRACED], time.in_parts(each, groups.IO_PARTS)
    work = compute + moved
    busiest = int(work.argmax())
    lost = 100 * float(work[busiest] - work.mean()) / float(time.whole_time(each).max() or 1)
    by_io = moved[busiest] - moved.mean() > compute[busiest] - compute.mean()
    computes = "computes or is in MPI for" if each[groups.UNTRACED].any() else "computes"
    does, part = ("is in I/O for", moved) if by_io else (computes, compute)
    busy, average = seconds_text(float(part[busiest])), seconds_text(float(part.mean()))
    beside = "hardly longer than an average rank" if busy == average else f"an average rank {average}"
    said = f"rank {each['rank'][busiest]} {does} {busy}, {beside}"
    outside = each[groups.UNKNOWN]
    hidden = outside.max() - (outside.mean() if by_io else 0.0)
    if hidden > max(work[busiest] - work.mean(), _LITTLE * job.run_time):
        said, lost = _untold_imbalance(each, outside), float("nan")
    table = exclusive_balance(job, Ask(("function",), _ALL))
    least = _LITTLE * job.run_time
    uneven = None if table is None else table.where((table["imbalance"] > least) & _is_within(table["name"]))
    if uneven is not None and len(uneven):
        worst = most(uneven, "imbalance", 1).rows("name", "imbalance_percent", "most_rank")
        said += "".join(
            f"; among calls, {name} is the most uneven: imbalance {part:.1f} %, rank {rank:.0f} takes most"
            for name, part, rank in worst
        )
    return Step(_BALANCE, said, "load_balance", lost)


def _untold_imbalance(each: Records, outside: np.ndarray) -> str:
    """Returns the difference of ranks in a log whose time outside I/O and MPI may be computing or waiting."""
    longest = int(outside.argmax())
    most, average = seconds_text(float(outside[longest])), seconds_text(float(outside.mean()))
    return (
        f"n/a: this log does not separate computing from waiting on every rank; rank {each['rank'][longest]} spends "
        f"{most} {groups.beyond(bool(each[groups.UNTRACED].any()))}, an average rank {average}"
    )


def _is_within(functions: np.ndarray) -> np.ndarray:
    """Returns, for each function, whether its calls lie between the start and the end of MPI."""
    return np.array([groups.part_of(name) != groups.START for name in functions.tolist()], bool)


def _hot_step(job: Job) -> Step:
    """Returns step 2: the functions that take most samples."""
    table = profile(job)
    if table is None:
        return Step("2. find the hot spots", "n/a: not sampled (iolens run --sample)", "profile")
    top = most(table.where(table["level"] == "function"), "samples", 3)
    said = ", ".join(f"{name} {share:.1f} %" for name, share in top.rows("name", "share"))
    return Step(
        "2. find the hot spots", said or "no function has 0.95 % of the samples", "profile", float(top["share"].sum())
    )


def communication_step(job: Job) -> Step:
    """Returns step 3: time in MPI, the function that took most, message sizes, messages between nodes."""
    name = _COMMUNICATE
    if job.nprocs < 2 and "mpi_calls" not in job.private:
        return Step(name, "n/a: one process, and MPI was not traced", "mpi_calls")
    shares, calls = _parts_of(job), mpi_calls(job)
    share = sum(shares.get(part, 0.0) for part in groups.MPI_PARTS)
    if shares.get(groups.UNTRACED) or not (share or {"mpi_calls", "samples"} & set(job.private)):
        return Step(name, "n/a: MPI was not traced (iolens run --trace mpi)", "mpi_calls")
    sent, where = mpi_messages(job, Ask(threshold=_ALL)), mpi_nodes(job)
    said = _each_share({part: shares[part] for part in groups.MPI_PARTS if shares.get(part)}) or ["no time in MPI"]
    functions, look = mpi_functions(job), "mpi_calls"
    if functions is not None:
        look = "mpi_functions"
        among = "including calls inside MPI-IO, " if shares.get(groups.ANY_MPI) else ""
        said += [
            f"{among}most in {function} ({seconds_text(spent)} and {calls:,.0f} calls a rank)"
            for function, spent, calls in functions.where(slice(1)).rows("function", "seconds", "calls")
        ]
    elif "mpi_calls" not in job.private:
        said.append("calls n/a: MPI was not traced (iolens run --trace mpi)")
    if calls is not None:
        made = calls.where((calls["level"] == "function") & (groups.mpi_part(calls["name"]) != groups.START))
        said += [f"most in {name} ({count:.0f} calls a rank)" for name, count in made.rows("name", "calls")][:1]
    if sent is not None and sent["messages"][0] > 0:
        said.append(f"{volume_text(sent['bytes_sent'][0] / sent['messages'][0])} a message")
    between = 0.0 if where is None else float(where["share"][where["where"] == "between nodes"].sum())
    if between:
        said.append(f"{between:.0f} % of the bytes between nodes (rank_order)")
    lacking = largest_part(job)
    if lacking is not None and lacking.kind == "cores" and lacking.detail:
        without = percent_text(100 * lacking.share)
        said.append(f"an average rank was without a core for {without} of the time, also in these calls")
    return Step(name, "; ".join(said), look, share)


def _each_share(shares: dict[str, float]) -> list[str]:
    """Returns the parts of a step's time with their shares. A single part is returned without its share, because that
    equals the step's share.
    """
    return list(shares) if len(shares) == 1 else [f"{percent_text(value)} {part}" for part, value in shares.items()]


def computation_step(job: Job) -> Step:
    """Returns step 4: computing, its busiest line, and the processor's counters of the whole run."""
    shares, hot = _parts_of(job), hot_lines(job)
    share = sum(shares.get(part, 0.0) for part in (groups.COMPUTE, groups.UNTRACED))
    waits = [part for part in groups.OUTSIDE if part not in (groups.COMPUTE, groups.UNTRACED)]
    idle = {part: shares.get(part, 0.0) for part in sorted(waits, key=lambda part: -shares.get(part, 0.0))}
    seen = {part: value for part, value in idle.items() if value >= _LEAST}
    name, look = _COMPUTE, "time_parts" if hot is None else "hot_lines"
    said = groups.UNTRACED if shares.get(groups.UNTRACED) else groups.COMPUTE
    said += "".join(f", {percent_text(value)} {part}" for part, value in seen.items())
    if sum(idle.values()) > share:
        outside = groups.beyond(bool(shares.get(groups.UNTRACED)))
        name, look, share = f"4. wait less {outside}", "time_parts", sum(idle.values())
        said = ", ".join(_each_share(seen))
        if share == idle[groups.UNKNOWN]:
            name, said = "4. compute faster, or wait less", f"{groups.UNKNOWN}: computing and waiting"
    if hot is not None:
        first = hot.iloc[0]
        said += f"; most samples at {first['source']}, {first['line']}: {first['share']:.1f} %"
        said += " (iolens listing shows the compiler's notes)"
    elif profile(job) is not None:
        said += f"; lines n/a: {why_no_lines(job)}"
    threads = working_threads(job)
    if threads is not None:
        said += (
            f"; {threads.threads} threads of rank {threads.rank}: the busiest on a core for "
            f"{seconds_text(threads.busiest)}, the average one for {seconds_text(threads.mean)}"
        )
    said += "".join(f"; {one}" for one in _told_by_counters(job))
    return Step(name, said, look, share)


TOLD = {("Instructions per cycle", ""): ".2f", ("D1 cache hit ratio", "%"): ".1f", ("Cycles stalled", "%"): ".1f"}
"""The metrics of counters that show whether computing waits for memory, each with its printing format."""


def _told_by_counters(job: Job) -> list[str]:
    """Returns the derived counters of the whole run that show whether computing waits for memory, as texts."""
    found = counters(job)
    rows = [] if found is None else found.rows("region", "event", "unit", "value")
    return [
        f"{event} {value:{TOLD[event, unit]}}{unit}"
        for region, event, unit, value in rows
        if region == WHOLE and (event, unit) in TOLD
    ]


def _io_step(job: Job) -> Step:
    """Returns step 5: time in I/O and the size of a call."""
    shares = _parts_of(job)
    share = sum(shares.get(part, 0.0) for part in groups.IO_PARTS)
    moved = [(one.module, one.bytes_read + one.bytes_written) for one in cost.all_performance(job)]
    said = "; ".join(f"{layer} {volume_text(size)}" for layer, size in moved if size)
    return Step(_INPUT_OUTPUT, said or "no bytes were read or written", "file_output", share)
