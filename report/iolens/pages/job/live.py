"""A running job for the terminal: its layers with their speed now, its ranks, its MPI calls, its busiest files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.metrics.files.costly_files import top_files
from iolens.metrics.job.interfaces.mpiio import listed_ranks
from iolens.metrics.job.progress import layers_since, standing
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.mpi.calls import mpi_calls
from iolens.missing import is_nan
from iolens.pages.blocks import Table
from iolens.pages.exhibits.ranks import RANK_BALANCE
from iolens.pages.text.lines import table_text
from iolens.pages.words import GUARD, NONE, count, plural, rate, seconds, size

if TYPE_CHECKING:
    from rich.text import Text

    from iolens.lab.recovery.recover import Spool

_MOST_FILES = 8
_MOST_FUNCTIONS = 8
_NO_SAMPLE = "(no sample: the thread waits in the system, or is stopped)"


def jobs_table(jobs: Sequence[tuple[Sequence[Spool], Job]]) -> Table:
    """Returns one row per running job: what it has moved at the lowest layers so far."""
    rows = []
    for spools, job in jobs:
        layers = [layer for layer in layers_since(job, None) if layer.module in ("POSIX", "STDIO")]
        moved = [size(sum(layer.bytes_read for layer in layers)), size(sum(layer.bytes_written for layer in layers))]
        ranks = f"{len(spools)} of {max(spools[0].ranks, 1)}"
        words = [str(spools[0].jobid), str(spools[0].pid), spools[0].program, ranks, seconds(job.run_time)]
        rows.append([*words, *moved, seconds(sum(layer.seconds for layer in layers))])
    columns = ["job", "process", "program", "ranks here", "runs for (s)", "read", "written", "I/O time (s)"]
    return Table("Running under the profiler", columns, rows, "I/O time: of the slowest rank.")


def live_parts(spools: Sequence[Spool], job: Job, before: Job | None, width: int) -> list[Text]:
    """Returns the parts of the display of a running job, for a terminal of this width."""
    from rich.text import Text

    tables = [_layers_table(job, before), RANK_BALANCE.table(job), _places_table(job, before)]
    marks = [Text(sentence, style="bold") for sentence in [*_incomplete(job), *job.unfollowed]]
    head = Text(_headline(spools, job), style="bold")
    tables += [_mpi_table(job), _files_table(job)]
    shown = [line for one in tables if one and one.rows for line in ("", *table_text(one, width))]
    return [head, *marks, *map(Text, shown)]


def _incomplete(job: Job) -> list[str]:
    """Returns the gaps in the records so far, apart from the missing end of the job."""
    return [f"Incomplete. {reason}" for reason in job.partial if not reason.startswith("A snapshot ")]


def _layers_table(job: Job, before: Job | None) -> Table:
    """Returns the table of each layer's totals, and its speed since the previous reading."""
    rows = [
        [
            one.module,
            count(one.files),
            *(size(moved) for moved in (one.bytes_read, one.bytes_written)),
            seconds(one.seconds),
            *(rate(speed) for speed in (one.read_rate, one.write_rate)),
        ]
        for one in layers_since(job, before)
    ]
    columns = ["layer", "files", "read", "written", "I/O time (s)", "reads now", "writes now"]
    return Table("Layers", columns, rows, "Now: since the last update. I/O time: time of the slowest rank.")


def _mpi_table(job: Job) -> Table | None:
    """Returns the MPI functions that took most time; None if MPI is not traced."""
    found = mpi_calls(job, Ask(threshold=0))
    if found is None:
        return None
    shown = found.where(slice(1 + _MOST_FUNCTIONS))
    rows = [
        [
            *(name, f"{calls:,.2f}".removesuffix(".00"), seconds(time), GUARD if is_nan(most) else seconds(most)),
            *(size(sent), size(received)),
        ]
        for name, calls, time, most, sent, received in shown.rows(
            *("name", "calls", "time", "most", "bytes_sent", "bytes_received")
        )
    ]
    columns = ["function", "calls", "time (s)", "slowest rank (s)", "sent", "received"]
    return Table(
        "MPI calls with the most time", columns, rows, "Values of an average rank, for calls that have returned."
    )


def _places_table(job: Job, before: Job | None) -> Table | None:
    """Returns the functions in which ranks are; None if they are not sampled."""
    found = standing(job, before)
    if found is None:
        return None
    rows = [
        [one.function or _NO_SAMPLE, one.group, listed_ranks(one.ranks), f"{one.share:.0f} %" if one.function else NONE]
        for one in found[:_MOST_FUNCTIONS]
    ]
    note = "Samples of their first threads since the last update; a waiting system call has no samples yet."
    return Table("Where ranks are now", ["mostly in", "group", "ranks", "of their samples"], rows, note)


def _files_table(job: Job) -> Table:
    """Returns the files that took most time."""
    found = top_files(job, "seconds", _MOST_FILES)
    rows = [
        [path, size(read), size(written), seconds(spent)]
        for path, read, written, spent in found.rows("path", "bytes_read", "bytes_written", "seconds")
    ]
    return Table("Files that took most time", ["file", "read", "written", "slowest rank (s)"], rows)


def _headline(spools: Sequence[Spool], job: Job) -> str:
    """Returns the identity of the job and how many of its processes are visible."""
    first = spools[0]
    ranks = max(first.ranks, 1)
    here = f"{plural(len(spools), 'process')} here" + (f" of {ranks}" if ranks != len(spools) else "")
    return f"{first.program}, job {first.jobid}: running for {seconds(job.run_time)} s, {here}"
