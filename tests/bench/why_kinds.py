"""Measures how often the saved seconds of `iolens run --why` hold on patterns that were written before its analysis was
read: tests/c/why_kinds.h, why_kinds.F90 and why_kinds_mpi4py.py.

Each pattern runs under each MPI library of this machine with one planted delay and without it, on emulated storage of
known speed. The program itself says how long its ranks took. Each line has the run's seconds, the seconds that the
delay cost, what the log says of infinitely fast storage (least, most), and a word: `in` if the truth lies inside the
interval, give or take the tolerance; `OUT` if not; `TIGHT` beside `OUT` if the interval is narrower than the tolerance.

python tests/bench/why_kinds.py [--runs N] [--library NAME] [--output FILE] [PATTERN ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
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
from iolens.metrics.why.answers import replays, waits_by_cause  # noqa: E402
from iolens.metrics.why.what_if import STORAGE  # noqa: E402
from iolens.pages.exhibits.waits import storage_note  # noqa: E402
from mpi_libraries import MpiLibrary, library  # noqa: E402

RANKS, MIB = 4, 20
TOLERANCE = 0.1
"""Seconds by which two equal runs may differ on a machine that other programs use."""
ENOUGH = 60
"""Seconds after which a run counts as hanging."""
LIBRARIES = ("usual", "mpich", "openmpi5")
FORTRAN = ("ibcast_absent", "persistent_halo", "intercomm_reduce", "neighbour_grid")
PYTHON = (
    "objects_to_root",
    "farm",
    "posted_reduction",
    "object_in_the_background",
    "two_communicators",
    "alternating_pairs",
)


class Program(NamedTuple):
    """A program under one MPI library, and the names of its patterns."""

    library: MpiLibrary
    name: str
    command: list[str]
    patterns: tuple[str, ...]


class Run(NamedTuple):
    """Seconds of the slowest rank by its own account, and the log."""

    seconds: float
    log: Path


def programs(folder: Path, names: list[str]) -> Iterator[Program]:
    """Compiles and yields the programs under each MPI library of this machine."""
    source = ROOT / "tests/c"
    for name in names:
        try:
            its = library(name)
        except BaseException as absent:  # noqa: BLE001: pytest's skip is no Exception
            print(f"# {name}: {absent}", flush=True)
            continue
        target = compiled(its, folder / f"C-{name}")
        listed = subprocess.run(
            [target], capture_output=True, text=True, check=True, env=os.environ | its_libraries(its)
        )
        yield Program(its, name, [str(target)], tuple(listed.stdout.split()))
    its = library("usual")
    objects = folder / "why_delay.o"
    subprocess.run(["cc", "-c", "-o", objects, source / "why_delay.c"], check=True)
    fortran = [its.mpicc.with_name("mpif90"), "-w", "-o", folder / "fortran", source / "why_kinds.F90", objects]
    subprocess.run(fortran, check=True, cwd=folder)
    yield Program(its, "usual", [str(folder / "fortran")], tuple(f"fortran_{each}" for each in FORTRAN))
    script = str(ROOT / "tests/bench/why_kinds_mpi4py.py")
    yield Program(its, "usual", [sys.executable, script], tuple(f"mpi4py_{each}" for each in PYTHON))


def compiled(its: MpiLibrary, target: Path) -> Path:
    """Compiles the program in C for this MPI library."""
    first, *others = [*sorted((ROOT / "tests/c").glob("why_kinds*.c")), ROOT / "tests/c/why_delay.c"]
    return its.compile(first, target, *map(str, others), "-O1", "-pthread")


def its_libraries(its: MpiLibrary) -> dict[str, str]:
    """Returns the variable with which a program of this MPI library starts without its launcher."""
    return {"LD_LIBRARY_PATH": str(its.mpicc.parent.parent / "lib")}


def run(program: Program, pattern: str, mib: int, folder: Path) -> Run:
    """Runs a pattern with a planted delay of this many MiB (0: none)."""
    folder.mkdir()
    slow = re.sub(
        r"^ost_mb_per_s: \d+", "ost_mb_per_s: 20", (ROOT / "storage/ost.yaml").read_text(), flags=re.MULTILINE
    )
    config = folder / "ost.yaml"
    config.write_text(slow)
    mount = make_mount(folder / "data", config)
    storage = {**EMULATED.environment(mount, "job"), "DELAY_MIB": str(mib), "DELAY_FOLDER": str(mount)}
    emulated = find_library("libost.so")
    watched = {
        "IOLENS_LOGFILE": str(folder / "log.darshan"),
        "IOLENS_WHY": "16",
        "IOLENS_TRACE": "mpi",
        "LD_PRELOAD": f"{program.library.preload}:{emulated}",
        "CHILD_PRELOAD": str(emulated),
    }
    given = [f"{key}={text}" for key, text in (storage | watched).items()]
    words = [program.library.mpirun, "-np", str(RANKS), "env", *given, *program.command, pattern]
    environment = {**os.environ, **program.library.environment(None), **storage}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=ENOUGH, check=False
    )
    if done.returncode:
        raise OSError(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return Run(max(map(float, re.findall(r"seconds +([\d.]+)", done.stdout))), folder / "log.darshan")


def row_of(program: Program, pattern: str, runs: int) -> dict[str, object]:
    """Runs a pattern with and without its delay, the shortest of several runs each, and compares."""
    with tempfile.TemporaryDirectory() as place:
        there = min(run(program, pattern, MIB, Path(place) / f"{at}") for at in range(runs))
        gone = min(run(program, pattern, 0, Path(place) / f"gone-{at}") for at in range(runs))
        job = read_log(there.log)
        answers, causes = replays(job), waits_by_cause(job)
        assert answers is not None
        assert causes is not None
        rows = (row[1:] for row in answers.rows("question", "saved", "least", "most") if row[0] == STORAGE)
        said, least, most = map(float, next(rows, (0, 0, 0)))
        first = next(causes.rows("rank", "kind", "file"), (-1, "none", ""))
        sentence = storage_note(job)
    saved = there.seconds - gone.seconds
    inside = least - TOLERANCE <= saved <= most + TOLERANCE
    return {
        "library": program.name,
        "pattern": pattern,
        "seconds": there.seconds,
        "saved": saved,
        "said": said,
        "least": least,
        "most": most,
        "word": "in" if inside else "OUT TIGHT" if most - least < TOLERANCE else "OUT",
        "cause": f"{first[1]} {Path(first[2]).name}, rank {first[0]}",
        "sentence": sentence,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1, help="runs with and without the delay (default: 1)")
    parser.add_argument("--library", action="append", choices=LIBRARIES, help="MPI libraries (default: all)")
    parser.add_argument("--output", type=Path, help="file for the rows as JSON, one a line")
    parser.add_argument("only", nargs="*", metavar="PATTERN", help="patterns (default: all)")
    args = parser.parse_args()
    rows = []
    print(
        f"{'library':<9} {'pattern':<32}{'ran s':>7}{'saved':>7}{'said':>7}{'least':>7}{'most':>7}  word; first cause"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for program in programs(Path(scratch), args.library or list(LIBRARIES)):
            for pattern in program.patterns:
                if args.only and pattern not in args.only:
                    continue
                try:
                    row = row_of(program, pattern, args.runs)
                except (OSError, subprocess.TimeoutExpired) as error:
                    print(f"{program.name:<9} {pattern:<32} not run: {str(error)[-200:]}", flush=True)
                    continue
                rows.append(row)
                numbers = "".join(f"{row[key]:>7.2f}" for key in ("seconds", "saved", "said", "least", "most"))
                print(f"{program.name:<9} {pattern:<32}{numbers}  {row['word']}; {row['cause']}", flush=True)
                if args.output:
                    with args.output.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
    inside = sum(row["word"] == "in" for row in rows)
    tight = sum("TIGHT" in str(row["word"]) for row in rows)
    print(f"{inside} of {len(rows)} inside the interval, {tight} outside of an interval narrower than {TOLERANCE} s")


if __name__ == "__main__":
    main()
