"""`iolens recover [FOLDER …]`: make logs of what processes recorded that ended without writing one."""

from __future__ import annotations

import argparse
import os
from datetime import datetime
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folders",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="folders of spools, of several nodes too; default: this node's",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write the logs there, not where the jobs would have"
    )
    parser.add_argument(
        "--collect",
        type=Path,
        metavar="DIR",
        help="move this node's spools of ended processes, of the Slurm job that this runs in, to a folder that all "
        "nodes share; `iolens recover DIR` makes the logs then",
    )
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument(
        "--clean",
        action="store_true",
        help="remove the spools of jobs that have ended, without logs, and files that are no spools for this version",
    )


def run(args: argparse.Namespace) -> int:
    """Recover every job that has ended; 1 when one could not be. Folders named here are taken to be of ended jobs
    where that cannot be told."""
    from iolens.lab.recovery import recover
    from iolens.pages.output import make_folder

    if args.collect:
        return collect(args.collect)
    failed = 0
    spools, unusable = recover.read_spools(args.folders or recover.default_folders())
    for one in unusable:
        clean = args.clean and recover.is_abandoned(one)
        if clean:
            Path(one.spool).unlink(missing_ok=True)
        word = "removed" if clean else "it may be in use, so it stays" if args.clean else "--clean removes it"
        print(f"{one.spool}: cannot be used, {one.unusable}; {word}")
    for job in recover.jobs(spools):
        states = {recover.state(one) for one in job}
        busy = "running" in states or ("unknown" in states and not args.folders)
        began = datetime.fromtimestamp(job[0].start).strftime("%Y-%m-%d %H:%M")
        label = f"{job[0].program}, job {job[0].jobid} of {began}, {len(job)} of {max(job[0].ranks, 1)} processes"
        if args.list or busy:
            word = "runs" if "running" in states else "may still run" if busy else "ended without its log"
            print(f"{label}: {word} ({Path(job[0].spool).parent})")
        elif args.clean:
            for spool in job:
                Path(spool.spool).unlink(missing_ok=True)
            print(f"{label}: removed")
        else:
            if args.output:
                make_folder(args.output)
            log = recover.recover_job(job, args.output.resolve() if args.output else None)
            failed |= log is None
            print(f"{label}: {log or 'no log could be written; its spools stay'}")
    return int(failed)


def collect(folder: Path) -> int:
    """Bring this node's part of a job to a folder; 1 when something had to stay."""
    from iolens.lab.recovery import rescue

    job = os.environ.get("SLURM_JOB_ID", "")
    moved, left = rescue.collect(folder.resolve(), int(job) if job.isdecimal() else None)
    if moved or left:
        print(f"{os.uname().nodename}: {moved} spools moved to {folder}, {left} stay")
    return int(left > 0)
