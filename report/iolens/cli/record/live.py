"""`iolens live [JOB]`: shows the activity of running jobs, from their spools on this node."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError, UsageError
from iolens.foreign import print_line
from iolens.log import Job

if TYPE_CHECKING:
    from iolens.lab.recovery.recover import Spool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("job", nargs="?", type=int, metavar="JOB", help="job id or process id (default: list all jobs)")
    parser.add_argument(
        "--interval", type=float, default=2.0, metavar="S", help="seconds between two updates (default: 2)"
    )
    parser.add_argument(
        "--once", action="store_true", help="read twice, print the second reading, and end (--prometheus: write once)"
    )
    parser.add_argument(
        "--prometheus",
        type=Path,
        metavar="FILE",
        help="write bytes, calls and I/O time of all running jobs to FILE at each update, as Prometheus reads them",
    )
    parser.add_argument("--snapshot", action="store_true", help="write the records so far as a log, and end")
    parser.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder for the snapshot")


def run(args: argparse.Namespace) -> int:
    """Lists jobs, watches one, or writes a snapshot or all metrics."""
    from iolens.lab.recovery import snapshot
    from iolens.pages.output.document import make_folder

    if args.interval <= 0:
        raise UsageError(f"--interval {args.interval} is not a number of seconds above 0")
    if args.prometheus is not None:
        if args.job is not None or args.snapshot:
            raise UsageError("--prometheus writes all running jobs; give it without a job and without --snapshot")
        return _write_metrics(args.prometheus, args.interval, args.once)
    jobs = snapshot.running_jobs()
    if args.snapshot:
        if args.job is None and len(jobs) != 1:
            raise UsageError(f"{len(jobs)} jobs run here; add the id of the job whose snapshot you want")
        chosen = jobs[0] if args.job is None else snapshot.chosen(jobs, args.job)
        make_folder(args.output)
        try:
            print_line(str(snapshot.take(chosen, args.output)))
        except OSError as error:
            raise IolensError(f"the snapshot could not be written to {args.output}: {error.strerror}") from error
    elif args.job is None:
        _list_jobs(jobs)
    else:
        _watch(snapshot.chosen(jobs, args.job), args.interval, args.once)
    return 0


def _looks(jobs: Sequence[list[Spool]]) -> list[tuple[list[Spool], Job]]:
    """Returns each job with its records so far, without jobs that end meanwhile or have no records yet."""
    from iolens.lab.recovery.snapshot import look

    seen = []
    for job in jobs:
        try:
            seen.append((job, look(job)))
        except IolensError:
            continue
    return seen


def _write_metrics(path: Path, interval: float, once: bool) -> int:
    """Writes the numbers of all running jobs to a file, repeatedly until the user stops it."""
    from iolens.lab.recovery.snapshot import running_jobs
    from iolens.pages.job.running_job import Scrapes, exposition, reading
    from iolens.pages.output.document import written_aside

    scrapes = Scrapes()
    while True:
        readings = [
            reading(job, f"{spools[0].job}@{spools[0].job_host}", _job_labels(spools[0], job), len(spools))
            for spools, job in _looks(running_jobs())
        ]
        with written_aside(path) as aside:
            aside.write_text(exposition(scrapes.add(readings)), encoding="utf-8")
        if once:
            return 0
        time.sleep(interval)


def _job_labels(spool: Spool, job: Job) -> tuple[tuple[str, str], ...]:
    """Returns the labels of a job: its id, its owner and its program."""
    import pwd

    try:
        user = pwd.getpwuid(job.uid).pw_name
    except KeyError:
        user = str(job.uid)
    return (("job", str(spool.jobid)), ("user", user), ("application", spool.program))


def _list_jobs(jobs: Sequence[list[Spool]]) -> None:
    """Prints one row per job."""
    from iolens.lab.recovery.places import default_folders
    from iolens.pages.job.job_screen import screen
    from iolens.pages.job.running_job import jobs_table

    seen = _looks(jobs)
    if seen:
        screen().table(jobs_table(seen))
    else:
        print(f"no job runs under the profiler on this node (searched {' and '.join(map(str, default_folders()))})")


def _watch(job: list[Spool], interval: float, once: bool) -> None:
    """Prints the state of the job once, or again and again until the job ends or the user interrupts."""
    from contextlib import nullcontext

    from rich.console import Console, Group
    from rich.live import Live

    from iolens.lab.recovery.snapshot import has_ended, look
    from iolens.pages.job.job_screen import screen
    from iolens.pages.job.running_job import live_parts

    here = screen()
    out = Console(width=here.width, highlight=False, no_color=not here.styled)
    before = look(job)
    with Live(console=out, auto_refresh=False) if sys.stdout.isatty() and not once else nullcontext() as view:
        while not has_ended(job):
            time.sleep(interval)
            try:
                now = look(job)
            except IolensError:
                if has_ended(job):
                    break
                raise
            parts = Group(*live_parts(job, now, before, here.width))
            if view is None:
                out.print(parts)
            else:
                view.update(parts, refresh=True)
            before = now
            if once:
                return
    out.print(f"{job[0].program}, job {job[0].jobid} has ended")
