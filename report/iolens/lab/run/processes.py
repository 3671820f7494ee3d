"""A command of many processes, such as a script or a compilation: their logs go to one folder and are merged into two
tables.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from iolens.errors import IolensError
from iolens.foreign import path_component
from iolens.lab.files import like_a_log, move_into, write_aside
from iolens.lab.say import say
from iolens.lazy import pd
from iolens.log import Job

_PROCESSES, _FILES = "processes.csv", "files.csv"


@dataclass(frozen=True)
class Merged:
    """`processes`: a row per log, in the order of their starts, with `log` `command` `ranks` `started` (UTC) `seconds`
    `files` `bytes_read` `bytes_written` `io_seconds`. `files`: a row per path, those with most bytes first, with `path`
    `logs` (how many touched it) `bytes_read` `bytes_written` `seconds` (summed over ranks and logs). `after_finalize`:
    the number of logs that a rank wrote after the log of its job.
    """

    processes: pd.DataFrame
    files: pd.DataFrame
    after_finalize: int


def _gathered(logs: Sequence[Path], program: str) -> tuple[Path, ...]:
    """Moves logs into a new folder beside them, which is named after the program and this process; returns their new
    paths. Processes of several machines or containers may have the same number, so the name may need another one.
    """
    above, name = logs[0].parent, f"iolens-{path_component(Path(program).name)}-{os.getpid()}"
    for number in itertools.count(1):
        folder = above / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return tuple(move_into(folder, log) for log in logs if log.exists())
    raise AssertionError("the numbers have no end")


def _merge_logs(logs: Sequence[Path]) -> Merged:
    """Returns the logs as two tables; a log that cannot be read is named and left out."""

    from iolens.log import read_log
    from iolens.metrics.files.overview import all_files

    rows, parts, after_finalize = [], [], 0
    for log in logs:
        try:
            job = read_log(log)
        except IolensError as error:
            say(f"left out of the merged tables: {error}")
            continue
        found = all_files(job).frame()
        rows.append(_process_row(job, found))
        after_finalize += bool(job.info.get("after_finalize"))
        parts.append(found[["path", "bytes_read", "bytes_written"]].assign(logs=1, seconds=found["seconds_sum"]))
    if not rows:
        raise IolensError("no log could be read, so there are no merged tables")
    processes = pd.DataFrame(rows).sort_values(["started", "log"], kind="stable", ignore_index=True)
    sums = pd.concat(parts).groupby("path", as_index=False).sum()
    order = (sums["bytes_read"] + sums["bytes_written"]).sort_values(ascending=False, kind="stable").index
    columns = ["path", "logs", "bytes_read", "bytes_written", "seconds"]
    return Merged(processes, sums.loc[order, columns].reset_index(drop=True), after_finalize)


def _process_row(job: Job, found: pd.DataFrame) -> dict[str, object]:
    """Returns the row of one log; `found` are its files."""
    return {
        "log": job.log_name,
        "command": job.command or job.exe,
        "ranks": job.nprocs,
        "started": datetime.fromtimestamp(job.start, timezone.utc).isoformat(timespec="milliseconds"),
        "seconds": job.run_time,
        "files": len(found),
        "bytes_read": int(found["bytes_read"].sum()),
        "bytes_written": int(found["bytes_written"].sum()),
        "io_seconds": float(found["seconds_sum"].sum()) if len(found) else 0.0,
    }


def _write_tables(merged: Merged, folder: Path) -> None:
    """Writes processes.csv and files.csv, each whole or not at all; only readers of the logs may read them."""
    write_aside(folder / _PROCESSES, merged.processes.to_csv(index=False), like_a_log())
    write_aside(folder / _FILES, merged.files.to_csv(index=False), like_a_log())


def collect_processes(logs: Sequence[Path], folder: Path | None, program: str) -> Path:
    """Merges logs in `folder`, or in a new folder named after the program, and prints where they are. Returns the
    folder.
    """
    if folder is None:
        logs = _gathered(logs, program)
        folder = logs[0].parent
    merged = _merge_logs(logs)
    _write_tables(merged, folder)
    total = merged.processes
    say(
        f"{len(total)} logs in {folder}: {len(merged.files)} files, "
        f"{total['bytes_read'].sum()} bytes read, {total['bytes_written'].sum()} bytes written"
    )
    say(f"merged: {folder / _PROCESSES}, {folder / _FILES}")
    if merged.after_finalize:
        say(f"logs of what one rank did after MPI_Finalize, where the log of all ranks ends: {merged.after_finalize}")
    return folder
