"""Runs random programs under the profiler and compares its log with the model.

    hunt.py --build build -n 1000000 --seed 1 --jobs 2      the long hunt
    hunt.py --build build --replay tests/model/kept/*.calls  programs that once failed

Exit code 1 when a counter was wrong; the programs are printed, shortened as far as possible while they still fail.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from calllist import ListedProgram, operation_names, read_journal, read_programs
from compare import Error, LogComparison
from generator import make_program
from iolens.lab.run.mpi_launch import mpi, openmpi
from logfile import read_log
from model_stripes import ModelStripes
from process import ModelProcess
from rank_generator import make_job
from ranks import compare_job
from rules import Rules

HERE = Path(__file__).resolve().parent
NOT_UNDER_DARSHAN = (
    "freopen",  # Darshan counts a reopened stream for its earlier file, also in later programs of the same process.
    *(
        "openat2",
        "tmpfile",
        "print",
        "stdout_to",
        "spawn",
        "leave",
        "fflush_all",
    ),  # Darshan records the calls in this list differently or not at all.
)
ABORT_OF_ROMIO = "An error occurred in MPI_Status_set_elements_x"
"""Message with which ROMIO in Open MPI 5 aborts a few programs, even without the profiler."""
BATCH = 500
PATIENCE = 900  # Longest time in seconds that a batch of programs may take.
# Four ranks run on two cores, perhaps as root in a container. They use ROMIO, because Open MPI's own MPI-IO hangs in
# some of these programs.
OPEN_MPI = {
    **mpi.environment("openmpi", 4, "romio321", launcher="mpirun"),
    **openmpi.openmpi_variables(["as root", "oversubscribed", "yielding", "unbound", "no single copy"], None),
    "HOME": os.environ.get("HOME", "/"),
}


@dataclass(frozen=True)
class HuntSetting:
    """The conditions under which programs run: the interpreter of their calls, the profiler, and the number of
    ranks.
    """

    interpreter: Path
    preload: str
    recorder: str = "iolens"
    traces: bool = False
    ranks: int = 0  # Number of ranks; 0 means without MPI.
    adapter: str = ""
    striped: str = ""  # Library that reports a stripe layout for every file.

    def command(self, calls: Path, journal: Path, env: dict[str, str]) -> list[str]:
        """Returns the command that starts the interpreter; only the interpreter is preloaded, not the launcher."""
        words = [str(self.interpreter), str(calls), str(journal)]
        if not self.ranks:
            return words
        preload = ":".join(filter(None, [self.adapter, env.pop("LD_PRELOAD")]))
        return ["mpirun", "-np", str(self.ranks), "env", f"LD_PRELOAD={preload}", *words]

    def environment(self, folder: Path, log: Path) -> dict[str, str]:
        preload = ":".join(filter(None, [self.preload, self.striped]))
        env = {"LD_PRELOAD": preload, "PATH": os.environ["PATH"], "IOLENS_INCLUDE": str(folder.parent)}
        if self.recorder == "iolens":
            return env | {"IOLENS_LOGFILE": str(log), "IOLENS_DXT": str(int(self.traces))} | OPEN_MPI
        config = folder / "config"
        config.write_text("NAME_INCLUDE .* *\nMAX_RECORDS 100000 *\nNAMEMEM 64\nMODMEM 512\n")
        return env | {
            "DARSHAN_LOGFILE": str(log),
            "DARSHAN_ENABLE_NONMPI": "1",
            "DARSHAN_CONFIG_PATH": str(config),
            **OPEN_MPI,
        }


def scratch() -> str:
    """Returns a folder in memory if there is one, so that no disk takes part."""
    return "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def build_interpreter(folder: Path, mpi: bool) -> Path:
    program = folder / "interpreter"
    parts = ("interpreter", "posix_operations", "stdio_operations", "wide_operations")
    parts = (*parts, "mpi_operations" if mpi else "no_mpi_operations")
    # The interpreter's own calls pass the profiler, which records calls of `syscall`.
    own_calls = HERE.parents[1] / "profiler/src/system/system_call.c"
    sources = [*(HERE / f"{name}.c" for name in parts), own_calls]
    # Without optimization, getc_unlocked and similar functions stay calls.
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O0", "-g", "-Wall", "-Wextra", "-fno-builtin", "-lpthread"]
    compiler = ["mpicc", "-DWITH_MPI"] if mpi else ["gcc"]
    subprocess.run([*compiler, *sources, "-o", program, *flags], check=True)
    return program


def build_striped(folder: Path) -> str:
    """Builds a library that answers for Lustre; the file LOV_BYTES holds the layout of every file."""
    library = folder / "libstriped.so"
    subprocess.run(["gcc", "-shared", "-fPIC", HERE.parent / "c/posix_lov_shim.c", "-o", library], check=True)
    return str(library)


def some_layout(number: int) -> ModelStripes:
    chance = random.Random(number)
    targets = chance.sample(range(100), chance.choice([1, 2, 3, 7, 12]))
    return ModelStripes(chance.choice([1000, 4096, 65536, 1 << 20]), tuple(targets))


def child_errors(journal: Path, child: ModelProcess) -> list[Error]:
    """Returns the errors in the log of a process that a program started; a process that recorded nothing has no log."""
    program, log = int(journal.name.split(".")[-2]), Path(f"{journal}.log")
    if not log.exists():
        recorded = [*child.stdio.files, *(file for file in child.posix.files.values() if file.is_recorded())]
        return [Error(program, "child", "", "log", "one", "none")] if recorded else []
    return [replace(error, program=program) for error in LogComparison(read_log(log), child).run()]


def run_batch(setting: HuntSetting, programs: list[ListedProgram], names: list[str]) -> list[Error]:
    """Returns the errors in the log of one process that ran these programs one after another."""
    with tempfile.TemporaryDirectory(prefix="iolens-model-", dir=scratch()) as top:
        folder = Path(top).resolve() / "w"
        folder.mkdir()
        calls, journal, log = (Path(top).resolve() / name for name in ("calls", "journal", "log"))
        calls.write_text("".join(p.text() for p in programs))
        env = setting.environment(folder, log)
        layout = some_layout(programs[0].number) if setting.striped else None
        if layout:
            (Path(top) / "layout").write_bytes(layout.attribute())
            env["LOV_BYTES"] = str(Path(top) / "layout")
        words = setting.command(calls, journal, env)
        try:
            done = subprocess.run(
                words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return [Error(-1, "interpreter", "", "end", "", f"none within {PATIENCE} s")]
        if ABORT_OF_ROMIO in done.stderr:
            return []
        if done.returncode or (done.stderr and not setting.ranks):
            return [Error(-1, "interpreter", "", "exit code", 0, f"{done.returncode}: {done.stderr[-2000:]}")]
        journals = [f"{journal}.{rank}" for rank in range(setting.ranks)] if setting.ranks > 1 else [journal]
        block_size = os.statvfs(folder).f_bsize
        processes = [
            ModelProcess(str(folder), Rules(setting.recorder), block_size, len(journals), layout) for _ in journals
        ]
        for process, path in zip(processes, journals, strict=True):
            for call in read_journal(path, names, programs):
                process.see(call)
        found = read_log(log)
        if setting.ranks > 1:
            return compare_job(found, processes)
        errors = LogComparison(found, processes[0]).run()
        for path in sorted(journal.parent.glob(f"{journal.name}.child.*[0-9]")):
            child = ModelProcess(str(folder), Rules(setting.recorder), block_size, 1, layout)
            for call in read_journal(path, names, programs):
                child.see(call)
            errors += child_errors(path, child)
        return errors


def shortened(
    setting: HuntSetting, programs: list[ListedProgram], names: list[str], counter: tuple[str, str]
) -> ListedProgram:
    """Returns the fewest lines of these programs for which this counter (of a module) is still wrong, by delta
    debugging.
    """

    def fails(candidate: list[str], number: int) -> bool:
        errors = run_batch(setting, [ListedProgram(number, candidate)], names)
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
    return ListedProgram(program.number, lines)


def hunt_batch(setting: HuntSetting, first: int, count: int, seed: int, names: list[str]) -> list[tuple[Error, str]]:
    numbers = range(first, first + count)
    programs = [make_job(i, seed, setting.ranks) if setting.ranks else make_program(i, seed) for i in numbers]
    if setting.recorder == "darshan":
        programs = [p for p in programs if not any(line.startswith(NOT_UNDER_DARSHAN) for line in p.lines)]
    texts = {p.number: p.text() for p in programs}
    return [(e, texts.get(e.program, "")) for e in run_batch(setting, programs, names)]


def report(setting: HuntSetting, found: list[tuple[Error, str]], names: list[str], show: int) -> None:
    """Prints each kind of error with the number of programs that have it, and the shortest of them."""
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
    parser.add_argument("--striped", action="store_true", help="on files that are striped over storage targets")
    parser.add_argument("--darshan", action="store_true", help="under the library that DARSHAN_LIB names")
    parser.add_argument("--ranks", type=int, default=0, help="programs of so many ranks (2 or more) under Open MPI")
    parser.add_argument("--replay", type=Path, nargs="*", help="call lists instead of random programs")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        interpreter = build_interpreter(Path(folder), options.ranks > 0)
        names = operation_names(interpreter)
        if options.darshan:
            setting = HuntSetting(interpreter, os.environ["DARSHAN_LIB"], "darshan", ranks=options.ranks)
        else:
            core, adapter = (str(options.build.resolve() / "lib" / f"lib{n}.so") for n in ("iolens", "iolens-openmpi"))
            striped = build_striped(Path(folder)) if options.striped else ""
            setting = HuntSetting(interpreter, core, "iolens", options.traces, options.ranks, adapter, striped)
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
