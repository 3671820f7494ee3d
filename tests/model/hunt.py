"""Runs random programs under the profiler and holds its log to the model.

    hunt.py --build build -n 1000000 --seed 1 --jobs 2      the long hunt
    hunt.py --build build --replay tests/model/kept/*.calls  programs that once failed

Exit code 1 when a counter was wrong; the programs are printed, shortened as far as they still fail.
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from calllist import Program, operation_names, read_journal, read_programs
from compare import Comparison, Error
from generator import make_program
from logfile import read_log
from process import Process
from rules import Rules

HERE = Path(__file__).resolve().parent
BATCH = 500


@dataclass(frozen=True)
class Setting:
    """How programs are run: with which interpreter, under which library."""

    interpreter: Path
    preload: str
    library: str = "iolens"
    traces: bool = False

    def environment(self, folder: Path, log: Path) -> dict[str, str]:
        env = {"LD_PRELOAD": self.preload, "PATH": os.environ["PATH"], "IOLENS_INCLUDE": str(folder.parent)}
        if self.library == "iolens":
            env |= {"IOLENS_LOGFILE": str(log), "IOLENS_DXT": str(int(self.traces))}
            return env
        config = folder / "config"
        config.write_text("NAME_INCLUDE .* *\nMAX_RECORDS 100000 *\nNAMEMEM 64\nMODMEM 512\n")
        return env | {
            "DARSHAN_LOGFILE": str(log),
            "DARSHAN_ENABLE_NONMPI": "1",
            "DARSHAN_CONFIG_PATH": str(config),
        }


def scratch() -> str:
    """Memory where there is some: no disk takes part."""
    return "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def build_interpreter(folder: Path) -> Path:
    program = folder / "interpreter"
    sources = [
        HERE / f"{name}.c" for name in ("interpreter", "posix_operations", "stdio_operations", "no_mpi_operations")
    ]
    # Without optimization getc_unlocked and its kind stay calls.
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O0", "-g", "-Wall", "-Wextra", "-fno-builtin", "-lpthread"]
    subprocess.run(["gcc", *sources, "-o", program, *flags], check=True)
    return program


def run_batch(setting: Setting, programs: list[Program], names: list[str]) -> list[Error]:
    """What is wrong in the log of one process that ran these programs one after another."""
    with tempfile.TemporaryDirectory(prefix="iolens-model-", dir=scratch()) as top:
        folder = Path(top).resolve() / "w"
        folder.mkdir()
        calls, journal, log = (Path(top).resolve() / name for name in ("calls", "journal", "log"))
        calls.write_text("".join(p.text() for p in programs))
        env = setting.environment(folder, log)
        done = subprocess.run(
            [setting.interpreter, calls, journal], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        if done.returncode or done.stderr:
            return [Error(-1, "interpreter", "", "exit code", 0, f"{done.returncode}: {done.stderr[-500:]}")]
        process = Process(str(folder), Rules(setting.library), os.statvfs(folder).f_bsize)
        for call in read_journal(journal, names, programs):
            process.see(call)
        return Comparison(read_log(log), process).run()


def shortened(setting: Setting, programs: list[Program], names: list[str], counter: tuple[str, str]) -> Program:
    """The fewest lines of these programs that still get this counter (of a module) wrong: delta debugging."""

    def fails(candidate: list[str], number: int) -> bool:
        errors = run_batch(setting, [Program(number, candidate)], names)
        return any((e.module, e.counter) == counter for e in errors)

    program = programs[0]
    lines, step = list(program.lines), max(1, len(program.lines) // 2)
    while step:
        at = 0
        while at < len(lines):
            candidate = lines[:at] + lines[at + step :]
            if candidate and fails(candidate, program.number):
                lines = candidate
            else:
                at += step
        step //= 2
    return Program(program.number, lines)


def hunt_batch(setting: Setting, first: int, count: int, seed: int, names: list[str]) -> list[tuple[Error, str]]:
    programs = [make_program(first + i, seed) for i in range(count)]
    texts = {p.number: p.text() for p in programs}
    return [(e, texts.get(e.program, "")) for e in run_batch(setting, programs, names)]


def report(setting: Setting, found: list[tuple[Error, str]], names: list[str], show: int) -> None:
    """Each kind of error with how many programs show it, and its shortest program."""
    kinds: dict[tuple[str, str], dict[int, tuple[Error, str]]] = collections.defaultdict(dict)
    for error, text in found:
        kinds[error.module, error.counter].setdefault(error.program, (error, text))
    programs = {error.program for error, _ in found}
    print(f"{len(programs)} programs with a wrong counter, {len(kinds)} kinds")
    for kind, examples in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{len(examples):7d}  {kind[0]} {kind[1]}")
    for kind, examples in sorted(kinds.items(), key=lambda item: -len(item[1]))[:show]:
        error, text = min(examples.values(), key=lambda example: len(example[1]))
        if not text:
            print(f"\n# {error}")
            continue
        program = shortened(setting, read_programs(text), names, kind)
        again = [e for e in run_batch(setting, [program], names) if (e.module, e.counter) == kind]
        print(f"\n# {again[0] if again else f'only among others: {error}'}\n{program.text()}", end="")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="folder with lib/libiolens.so")
    parser.add_argument("-n", type=int, default=5000, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--show", type=int, default=10, help="kinds of errors that are shown with a program")
    parser.add_argument("--traces", action="store_true", help="trace every transfer (DXT) as well")
    parser.add_argument("--darshan", action="store_true", help="under the library that DARSHAN_LIB names")
    parser.add_argument("--replay", type=Path, nargs="*", help="call lists instead of random programs")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        interpreter = build_interpreter(Path(folder))
        names = operation_names(interpreter)
        if options.darshan:
            setting = Setting(interpreter, os.environ["DARSHAN_LIB"], "darshan")
        else:
            setting = Setting(interpreter, str(options.build.resolve() / "lib/libiolens.so"), traces=options.traces)
        found: list[tuple[Error, str]] = []
        if options.replay:
            for path in options.replay:
                for program in read_programs(path.read_text()):
                    found += [(e, program.text()) for e in run_batch(setting, [program], names)]
        else:
            starts = range(options.first, options.first + options.n, BATCH)
            with ProcessPoolExecutor(options.jobs) as pool:
                counts = [min(BATCH, options.first + options.n - start) for start in starts]
                jobs = [
                    pool.submit(hunt_batch, setting, start, count, options.seed, names)
                    for start, count in zip(starts, counts, strict=True)
                ]
                for job in jobs:
                    found += job.result()
        took = time.monotonic() - began
        if found:
            report(setting, found, names, options.show)
        else:
            print(f"nothing found in {options.n} programs of seed {options.seed} in {took:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    if shutil.which("gcc") is None:
        sys.exit("hunt.py: gcc is needed to build the interpreter")
    sys.exit(main())
