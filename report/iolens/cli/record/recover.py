"""`iolens recover [FOLDER …]`: makes logs from the spools of processes that ended without writing a log."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import UsageError
from iolens.foreign import print_line

if TYPE_CHECKING:
    from iolens.lab.recovery.choice import JobSelection
    from iolens.lab.recovery.recover import Spool, Unusable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "folders",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="recover the jobs whose spools lie in these folders, also spools of several nodes; without a folder, "
        "this node's spools are searched, and only jobs are recovered whose log belongs in the current folder or "
        "below it",
    )
    parser.add_argument(
        "--job",
        action="append",
        default=[],
        metavar="JOB",
        help="recover only this job, wherever its log belongs: a job id, or the id of one of its processes; may be "
        "repeated",
    )
    parser.add_argument(
        "--all", action="store_true", help="list all of your jobs that ended on this node, and recover them"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="write the logs into this folder, instead of the folders that the jobs were to use",
    )
    parser.add_argument(
        "--collect",
        type=Path,
        metavar="DIR",
        help="move this node's spools of ended processes to a folder that all nodes share; inside a Slurm job only "
        "the spools of that job, unless others are named; afterwards `iolens recover DIR` makes the logs",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the jobs of this and of other folders, and recover none"
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="remove the spools of these jobs without making logs, if the jobs have ended; with --all or a FOLDER, "
        "also files that this version cannot read as spools",
    )


def run(args: argparse.Namespace) -> int:
    """Recovers the chosen jobs that have ended; returns 1 if one of them failed. If nothing shows whether a job of a
    named folder still runs, it counts as ended.
    """
    from iolens.lab.recovery import recover
    from iolens.lab.recovery.places import default_folders

    if args.all and (args.job or args.folders):
        raise UsageError("--all takes every job, but --job or a FOLDER takes some; give only one of them")
    if args.collect:
        return _collect(args)
    choice = _choice(args)
    spools, unusable = recover.read_spools(args.folders or default_folders())
    jobs = recover.jobs(spools)
    taken = [job for job in jobs if (args.list and not args.job) or choice.takes(job)]
    if args.list or choice.takes_all:
        _settle_unusable(unusable, args.clean)
    if args.all and not args.list:
        _announce(taken, args.clean)
    failed = [job for job in taken if not _settle(job, args)]
    if not args.list:
        _mention([job for job in jobs if job not in taken])
    return int(bool(failed))


def _choice(args: argparse.Namespace) -> JobSelection:
    """Returns the choice of jobs that the arguments ask for."""
    from iolens.lab.recovery.choice import JobSelection

    return JobSelection(tuple(args.job), None if args.all or args.folders else Path.cwd())


def _settle_unusable(unusable: Sequence[Unusable], clean: bool) -> None:
    """Prints each file that is not a spool of this version, and removes the file if that was requested and no process
    uses it.
    """
    from iolens.lab.recovery import recover

    for one in unusable:
        removed = clean and recover.is_abandoned(one)
        if removed:
            Path(one.spool).unlink(missing_ok=True)
        word = "removed" if removed else "it may be in use and was kept" if clean else "`--clean --all` removes it"
        print_line(f"{one.spool}: cannot be used, {one.unusable}; {word}")


def _settle(job: Sequence[Spool], args: argparse.Namespace) -> bool:
    """Lists, removes or recovers one job, and prints what was done. Returns false if its log could not be made."""
    from iolens.lab.recovery import recover
    from iolens.pages.output.document import make_folder

    state = _state(job, bool(args.folders))
    if args.list or state != "ended without its log":
        print_line(f"{_label(job)}: {state} ({Path(job[0].spool).parent}; its log belongs in {job[0].folder})")
        return True
    if args.clean:
        for spool in job:
            Path(spool.spool).unlink(missing_ok=True)
        print(f"{_label(job)}: removed")
        return True
    if args.output:
        make_folder(args.output)
    log = recover.recover_job(job, args.output.resolve() if args.output else None)
    vanished = log is None and not recover.remaining(job)
    lost = "its spools have vanished: the job itself or another recovery took them"
    print_line(f"{_label(job)}: {log or (lost if vanished else 'no log could be written; its spools were kept')}")
    return vanished or log is not None


def _state(job: Sequence[Spool], named: bool = False) -> str:
    """Returns the words for a job's state; in a named folder, a process whose state is unknown counts as ended."""
    from iolens.lab.recovery import recover

    states = {recover.state(one) for one in job}
    if "running" in states:
        return "runs"
    return "may still run" if "unknown" in states and not named else "ended without its log"


def _label(job: Sequence[Spool]) -> str:
    """Returns the description by which a user recognises a job: program, number, start and processes."""
    began = datetime.fromtimestamp(job[0].start).strftime("%Y-%m-%d %H:%M")
    return f"{job[0].program}, job {job[0].jobid} of {began}, spools of {len(job)} of {max(job[0].ranks, 1)} processes"


def _announce(jobs: Sequence[Sequence[Spool]], clean: bool) -> None:
    """Prints, in advance, the ended jobs that will be recovered or removed."""
    ended = [job for job in jobs if _state(job) == "ended without its log"]
    if ended:
        print("The spools of these jobs will be removed:" if clean else "Logs of these jobs will be made:")
    for job in ended:
        print_line(f"  {_label(job)}, in {job[0].folder}")


def _mention(jobs: Sequence[Sequence[Spool]]) -> None:
    """Prints that other jobs have ended too, and the command that recovers them."""
    ended = [job for job in jobs if _state(job) == "ended without its log"]
    if ended:
        count = "1 other job has" if len(ended) == 1 else f"{len(ended)} other jobs have"
        print(f"{count} records here; `iolens recover --list` names them, `--job JOB` takes one, `--all` takes all")


def _collect(args: argparse.Namespace) -> int:
    """Moves the spools of the chosen jobs from this node to a folder; returns 1 if any could not be moved."""
    from iolens.lab.recovery import rescue
    from iolens.lab.recovery.choice import JobSelection

    if args.folders:
        raise UsageError("--collect takes the spools of this node only; leave the folders out")
    job = os.environ.get("SLURM_JOB_ID", "")
    own = job.isdecimal() and not (args.job or args.all)
    choice = JobSelection(batch_job=int(job)) if own else _choice(args)
    moved, left = rescue.collect_rescued(args.collect.resolve(), choice)
    if moved or left:
        print_line(f"{os.uname().nodename}: {moved} spools were moved to {args.collect}, {left} were left here")
    return int(left > 0)
