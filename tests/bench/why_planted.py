"""Compares the savings that `iolens run --why` reports for planted delays with runs without these delays.

Twelve patterns of waiting (tests/c/why_delays.c) run in C, Fortran and Python under each MPI library of this machine,
and four patterns of one-sided communication in C alone. All run on emulated storage of known speed, with planted writes
and without. Each line has the saved seconds as reported and as measured, their difference as a share of the run with
delays, and the first cause that the log names. The seconds are counted from the end of MPI_Comm_split, so that the
start of MPI is left out. The shortest of several runs counts; the noise is how much longer the others took, with and
without delays.

python tests/bench/why_planted.py [--runs N] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/py"))
from iolens.lab.installation import find_library  # noqa: E402
from iolens.lab.storage.emulated import EMULATED, make_mount  # noqa: E402
from iolens.log import read_log  # noqa: E402
from iolens.metrics.why.answers import replays, waits_by_cause, why  # noqa: E402
from iolens.metrics.why.what_if import STORAGE  # noqa: E402
from mpi_libraries import MpiLibrary, library  # noqa: E402

RANKS, MIB = 4, 10
ONE_SIDED = {"fence": (2,), "late_post": (1,), "early_wait": (0,), "locked": (1,)}
"""The patterns of one-sided communication, which only the programs in C have."""
CULPRITS = {
    "late_sender": (0,),
    "barrier": (2,),
    "late_root": (1,),
    "early_root": (3,),
    "chain": (0,),
    "late_receiver": (1,),
    "halo": (1,),
    "hidden": (),
    "turns": (0, 1, 2),
    "halves": (3,),
    "workers": (2,),
    "partly_hidden": (0,),
    **ONE_SIDED,
}
"""Ranks whose planted write is the root cause of the waits, by pattern; no rank if nobody waits for a write."""


class PlantedRun(NamedTuple):
    """Seconds of a run from the end of MPI_Comm_split, the seconds that better storage could save according to the log,
    and the first cause that the log names.
    """

    seconds: float
    said: float
    cause: str
    is_planted: bool
    rank: int


def compiled(folder: Path) -> Iterator[tuple[str, MpiLibrary, list[str]]]:
    """Yields name, MPI library and command of each program."""
    source = ROOT / "tests/c"
    for name in ("usual", "mpich", "openmpi5"):
        try:
            its = library(name)
        except BaseException as absent:  # noqa: BLE001: pytest's skip is no Exception
            print(f"# {name}: {absent}", flush=True)
            continue
        program = its.compile(source / "why_delays.c", folder / f"C-{name}", str(source / "why_delay.c"), "-O1")
        yield f"C, {name}", its, [str(program)]
    its = library("usual")
    for name, flags in (("mpif.h", []), ("mpi_f08", ["-DMPI_F08"])):
        program = folder / f"fortran-{name}"
        objects = folder / "why_delay.o"
        subprocess.run(["cc", "-c", "-o", objects, source / "why_delay.c"], check=True)
        fortran = [its.mpicc.with_name("mpif90"), "-w", *flags, "-o", program, source / "why_delays.F90", objects]
        subprocess.run(fortran, check=True, cwd=folder)
        yield f"Fortran, {name}", its, [str(program)]
    yield "mpi4py", its, [sys.executable, str(ROOT / "tests/bench/why_delays.py")]


def measured(its: MpiLibrary, command: list[str], pattern: str, mib: int, folder: Path) -> PlantedRun:
    """Runs a program with planted writes of `mib` MiB (0: none), and analyses its log."""
    log, _ = recorded(its, command, pattern, mib, folder)
    return _read(log)


def recorded(its: MpiLibrary, command: list[str], pattern: str, mib: int, folder: Path) -> tuple[Path, str]:
    """Runs a program with planted writes of `mib` MiB (0: none); returns its log and its output."""
    folder.mkdir()
    slow = re.sub(
        r"^ost_mb_per_s: \d+", "ost_mb_per_s: 20", (ROOT / "storage/ost.yaml").read_text(), flags=re.MULTILINE
    )
    config = folder / "ost.yaml"
    config.write_text(slow)
    mount = make_mount(folder / "data", config)
    settings = {
        **EMULATED.environment(mount, "job"),
        "IOLENS_LOGFILE": str(folder / "log.darshan"),
        "IOLENS_WHY": "16",
        "IOLENS_TRACE": "mpi",
        "LD_PRELOAD": f"{its.preload}:{find_library('libost.so')}",
        "DELAY_MIB": str(mib),
        "DELAY_FOLDER": str(mount),
    }
    given = [f"{key}={text}" for key, text in settings.items()]
    words = [its.mpirun, "-np", str(RANKS), "env", *given, *command, pattern]
    environment = {**os.environ, **its.environment(None)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} {pattern} failed: {done.stderr}")
    return folder / "log.darshan", done.stdout


def _read(log: Path) -> PlantedRun:
    job = read_log(log)
    found, answers, causes = why(job), replays(job), waits_by_cause(job)
    assert found is not None
    assert answers is not None
    assert causes is not None
    program = found.program
    began = float(program.end[program.function == program.functions.index("MPI_Comm_split")].max())
    said = dict(zip(answers["question"], answers["saved"], strict=True)).get(STORAGE, 0.0)
    row = next(causes.rows("rank", "kind", "file"), (-1, "none", ""))
    return PlantedRun(program.run_time - began, float(said), row[1], "delay." in row[2], int(row[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=int, default=1, help="runs with delays, one less than those without (default: 1)"
    )
    parser.add_argument("only", nargs="*", metavar="PROGRAM", help="names such as mpi4py (default: all)")
    args = parser.parse_args()
    print(
        f"{'program':<18}{'pattern':<15}{'was s':>8}{'said -s':>9}{'ran -s':>9}{'off %':>8}{'noise %':>9}  first cause"
    )
    off, right, noises = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for name, its, command in compiled(Path(scratch)):
            if args.only and name not in args.only:
                continue
            for pattern, culprits in CULPRITS.items():
                if pattern in ONE_SIDED and not name.startswith("C,"):
                    continue
                with tempfile.TemporaryDirectory() as place:
                    there = [measured(its, command, pattern, MIB, Path(place) / f"{at}") for at in range(args.runs)]
                    gone = [
                        measured(its, command, pattern, 0, Path(place) / f"gone-{at}") for at in range(args.runs + 1)
                    ]
                first, least = min(there), min(gone)
                was, said, ran = first.seconds, first.said, first.seconds - least.seconds
                noise = max(there).seconds - was + max(gone).seconds - least.seconds
                right.append(first.is_planted and first.rank in culprits if culprits else not first.is_planted)
                off.append(100 * abs(said - ran) / was)
                noises.append(100 * noise / was)
                cause = "planted" if first.is_planted else first.cause
                word = f"{cause}, rank {first.rank}{'' if right[-1] else ' WRONG'}"
                numbers = f"{was:>8.3f}{said:>9.3f}{ran:>9.3f}{off[-1]:>8.1f}{noises[-1]:>9.1f}"
                print(f"{name:<18}{pattern:<15}{numbers}  {word}", flush=True)
    print(f"{len(off)} programs; {sum(each <= 3 for each in off)} answers within 3 % of the run, "
          f"{sum(a <= max(3, b) for a, b in zip(off, noises, strict=True))} within that or the noise; "
          f"first cause right in {sum(right)}; noise {statistics.median(noises):.1f} % in the median")  # fmt: skip


if __name__ == "__main__":
    main()
