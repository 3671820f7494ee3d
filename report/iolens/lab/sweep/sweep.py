"""Run the missing runs of a sweep; finished runs are kept, and an interrupted sweep continues where it stopped."""

from __future__ import annotations

import errno
import math
import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.run.execute import interruptible
from iolens.lab.run.record import RunRecord, read_record
from iolens.lab.sweep.define.experiment import NEVER
from iolens.lab.sweep.define.folders import CONFIRM, WARM_UP
from iolens.lab.sweep.define.matrix import matrix_points
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.perform import perform
from iolens.lab.sweep.perform.progress import Progress, watched
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.plan.prepare import Sweep, attempt_at, finished, placed
from iolens.lab.sweep.read.measured import not_measured
from iolens.lab.sweep.read.next_runs import confirming, next_block
from iolens.lab.sweep.read.results import load_results
from iolens.lab.sweep.read.running_table import write_runs


def run_sweep(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """Performs the missing runs; returns the records of the runs that did not end well.

    SIGTERM is treated like Ctrl-C: the run under way is stopped, finished runs are kept.
    """
    records: list[RunRecord] = []
    with alone(sweep.folder, *sweep.mounts), interruptible():
        try:
            records += _run_first(sweep, progress)
            _run_warm_up(sweep, progress)
            records += _run_first_block(sweep, progress)
            if not hopeless(sweep):
                records += _run_rest(sweep, progress, records)
        except OSError as error:
            raise full(error, sweep.folder) from error
        finally:
            leave(sweep)
    return [record for record in records if record.status != "ok"]


def _block_size(sweep: Sweep) -> int:
    """Returns the number of missing runs of the first block: one of every point. In a batch system all runs are one
    block, because jobs are made of runs of one shape from several blocks.
    """
    if sweep.launcher.elsewhere:
        return len(sweep.todo)
    first = {point.id for point in matrix_points(sweep.experiment)}
    return sum(spec.id in {f"{name}/rep-1" for name in first} for spec in sweep.todo)


def _run_first_block(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """Performs the missing runs of the first block."""
    size = _block_size(sweep)
    return run_more(sweep, sweep.todo[:size], progress, sweep.total - len(sweep.todo), len(sweep.todo) - size)


def _run_rest(sweep: Sweep, progress: Progress, before: list[RunRecord]) -> list[RunRecord]:
    """Performs the other missing runs, and then those that the results so far require."""
    rest = sweep.todo[_block_size(sweep) :]
    records = run_more(sweep, rest, progress, sweep.total - len(rest))
    records += _run_until(sweep, progress, [*before, *records])
    return records + run_fresh(sweep, progress, sweep.total + len(records) - len(rest))


def hopeless(sweep: Sweep) -> str:
    """Returns the reason why no further run can succeed, or can be compared; empty if there is none. Every point has a
    run of the first block by then.
    """
    if not sweep.total:
        return ""
    try:
        results = load_results(sweep.folder)
    except UsageError as error:
        return str(error)
    except IolensError:
        return ""
    rows = results.chosen.rows if results.chosen else ()
    reasons = Counter(str(row["reason"]) for row in rows if row["status"] == "failed")
    if rows and sum(reasons.values()) == len(rows):
        why, count = reasons.most_common(1)[0]
        return f"all {len(rows)} runs failed, {count} of them for this reason: {why}"
    return not_measured(results.chosen) if results.chosen else ""


def full(error: OSError, folder: Path) -> Exception:
    """Returns an error that tells the user of a sweep what to do if a full disk, a quota or a limit of file size caused
    `error`; returns any other error unchanged.
    """
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return error
    return IolensError(
        f"the results in {folder} cannot be written ({os.strerror(error.errno)}); finished runs are kept: free some "
        f"space, and run the same command again to continue"
    )


def leave(sweep: Sweep) -> None:
    """Removes the sweep's own data folders, unless the launcher continues with a run or data is kept."""
    own = sweep.experiment.directory is None
    if own and not any(sweep.launcher.holds(run) or _has_data(run) for run in sweep.run_folders):
        for mount in sweep.mounts:
            shutil.rmtree(mount, ignore_errors=True)


def _has_data(run: Path) -> bool:
    """Returns True if the data of a run was kept."""
    record = read_record(run)
    return record is not None and "data" in record.storage


def _run_first(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """Performs the complete run if it is missing, and shows its steps."""
    if sweep.first is None:
        return []
    tell = partial(progress, sweep.total - len(sweep.todo), sweep.total)
    tell("complete run under way", 0)
    with watched(sweep.first.folder / "stdout.txt", sweep.workload, sweep.first.arguments, tell):
        records = list(perform(sweep, [sweep.first]))
    tell(f"complete run: {records[0].status}", 0)
    return records


def _run_warm_up(sweep: Sweep, progress: Progress) -> None:
    """Performs the warm-up runs with the first missing setting and ignores their results, so that no counted run pays
    for a cold start, such as files that no cache holds yet.
    """
    if not sweep.experiment.warm_up or not sweep.todo:
        return
    if not any(map(sweep.launcher.holds, sweep.run_folders)):
        shutil.rmtree(sweep.folder / WARM_UP, ignore_errors=True)
    spec = replace(sweep.todo[0], point={}, keep=replace(sweep.todo[0].keep, data=NEVER))
    runs = [f"{WARM_UP}/rep-{number}" for number in range(1, sweep.experiment.warm_up + 1)]
    attempts = [placed(sweep, replace(spec, id=run)) for run in runs]
    with closing(perform(sweep, attempts, progress.begun)) as performed:
        for record in performed:
            progress(sweep.total - len(sweep.todo), sweep.total, f"{record.id}: {record.reason or 'ok'}", 0)


def _run_until(sweep: Sweep, progress: Progress, before: Sequence[RunRecord]) -> list[RunRecord]:
    """Performs more repetitions of points whose interval is wider than the experiment requests, while there is time. A
    point with a failed run gets no more repetitions.
    """
    end = time.monotonic() + 60 * (sweep.experiment.until_minutes or math.inf)
    records: list[RunRecord] = []
    while time.monotonic() < end:
        failed = [one.id for one in (*sweep.failed, *before, *records) if one.status == "failed"]
        given_up = {name.partition("/")[0] for name in failed}
        block = next_block(sweep.experiment, sweep.folder, given_up)
        if not block:
            break
        records += run_more(sweep, [attempt_at(sweep, run) for run in block], progress, sweep.total + len(records))
    return records


def run_fresh(sweep: Sweep, progress: Progress, done: int) -> list[RunRecord]:
    """Performs the missing confirming runs after `done` other runs; they are made in the same way as the runs of the
    matrix.
    """
    runs = confirming(sweep.experiment, sweep.folder) if sweep.total else []
    attempts = [attempt_at(sweep, run, CONFIRM) for run in runs]
    return run_more(sweep, [one for one in attempts if not finished(one, sweep.kept)], progress, done)


def run_more(
    sweep: Sweep, attempts: Sequence[PointSpec], progress: Progress, done: int, later: int = 0
) -> list[RunRecord]:
    """Performs runs after `done` other runs of the sweep and before `later` ones, and shows the time that is left."""
    began = time.monotonic()
    records: list[RunRecord] = []
    with closing(perform(sweep, attempts, progress.begun)) as performed:
        for record in performed:
            records.append(record)
            write_runs(sweep.folder)
            left = (time.monotonic() - began) / len(records) * (len(attempts) + later - len(records))
            line = f"{record.id}: {record.reason or 'ok'}{lost_text(record)}"
            progress(done + len(records), done + len(attempts) + later, line, left)
    return records


def lost_text(record: RunRecord) -> str:
    """Returns how often a run was repeated because its timing could not be used, in words."""
    return f" ({len(record.lost)} lost before)" if record.lost else ""
