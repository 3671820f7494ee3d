#!/usr/bin/env python3
"""Compares the run time of IOR's mini-app with IOR's own at stripe counts other than the recorded one.

    .venv/bin/python tests/bench/mimic.py [--ior PROGRAM] [--runs N] [--api POSIX] [--collective]

IOR runs once with traces, on a folder with 3 stripes of emulated storage in slow motion (`balanced-links`). `iolens
mimic` makes its mini-app, and both run in turns with 1, 2, 4, 8 and 12 stripes. A row has the medians of the job's run
time and of the seconds that ranks waited for the emulated storage, and the mini-app's time over IOR's. On a machine
that does other work, run it as root below `TMPDIR=/dev/shm chrt -r 10`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iolens.log import read_log

ROOT = Path(__file__).resolve().parents[2]
IOLENS = Path(sys.executable).parent / "iolens"
RANKS, RECORDED, STRIPES = 4, 3, (1, 2, 4, 8, 12)
_SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_io": "romio321",
}


def run(top: Path, stripes: int, options: Sequence[str], command: Sequence[str]) -> tuple[float, float]:
    """Runs a command in which DIR is replaced by a new folder on emulated storage; returns the run time and the seconds
    that ranks waited for that storage.
    """
    mount, log = top / "mount", top / "run.darshan"
    shutil.rmtree(mount, ignore_errors=True)
    log.unlink(missing_ok=True)
    mount.mkdir()
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([IOLENS, "stripe", "mount", "--config", "balanced-links", mount], **quiet)
    (mount / "data").mkdir()
    subprocess.run([IOLENS, "stripe", "set", "-c", str(stripes), "-S", "1M", mount / "data"], **quiet)
    words = [word.replace("DIR", str(mount / "data")) for word in command]
    subprocess.run(
        [IOLENS, "run", *options, "--storage-mount", mount, "--", "mpirun", "-np", str(RANKS), *words],
        env=os.environ | _SETTINGS | {"IOLENS_LOGFILE": str(log)},
        **quiet,
    )
    books = [json.loads(path.read_text(encoding="utf-8")) for path in (mount / ".ost" / "jobs").glob("*.json")]
    return read_log(log).run_time, sum(book["modelled_seconds"] for book in books)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ior", type=Path, default=ROOT / "build/bin/ior", help="the program (default: the bundled)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program and setting (default: 3)")
    parser.add_argument("--api", default="POSIX", help="POSIX or MPIIO (default: POSIX)")
    parser.add_argument("--collective", action="store_true", help="collective transfers of MPI-IO")
    options = parser.parse_args()
    words = [str(options.ior.resolve()), "-a", options.api, *(["-c"] if options.collective else [])]
    ior = [*words, "-w", "-e", "-b", "1m", "-t", "256k", "-s", "8", "-o", "DIR/file"]
    with tempfile.TemporaryDirectory(prefix="iolens-mimic-") as name:
        top = Path(name)
        run(top, RECORDED, ["--dxt", "--why", "--trace", "mpi"], ior)
        subprocess.run([IOLENS, "mimic", top / "run.darshan", "-o", top / "mini"], check=True)
        subprocess.run(["make", "-s", "-C", top / "mini"], check=True)
        mini = [str(top / "mini" / "mimic"), "--directory", "DIR"]
        print("| stripes | IOR | mini-app | ratio | storage, IOR | storage, mini-app |\n|---|---|---|---|---|---|")
        for stripes in STRIPES:
            pairs = [[run(top, stripes, [], command) for command in (ior, mini)] for _ in range(options.runs)]
            (one, waits), (other, others) = (
                tuple(statistics.median(values) for values in zip(*runs, strict=True))
                for runs in zip(*pairs, strict=True)
            )
            print(f"| {stripes} | {one:.2f} s | {other:.2f} s | {other / one:.2f} | {waits:.2f} s | {others:.2f} s |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
