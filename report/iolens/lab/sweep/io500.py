"""The phases of IO500 with the bundled `ior` and `metadata`, and the score that IO500 would give them.

Phases, their order and options, and the score are those of the IO500 benchmark (io500.org; J. Kunkel, J. Bent,
J. Lofstead, G. S. Markomanolis: *Establishing the IO-500 benchmark*, 2016). A submission writes for 300 seconds in each
writing phase; here the amounts are given, so the caches of a small machine answer, and no outcome is valid as a
submission.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.launchers.launcher import Task
from iolens.lab.launchers.local import LOCAL
from iolens.lab.run import mpi
from iolens.lab.run.execute import Setup
from iolens.lab.workloads.workload import RESULT, read_result

WHY_INVALID = "not a valid IO500 submission: phases are not held to 300 seconds, so caches may answer"
GIB, KILO = 2**30, 1000.0
BANDWIDTH, RATE = "GiB/s", "kIOPS"


@dataclass(frozen=True)
class Scale:
    """How much is moved: bytes each rank writes to its own file, transfers of 47008 bytes each rank adds to the shared
    file, files each rank makes in its own folder and in the shared one."""

    ranks: int = 2
    easy_block: int = 64 * 2**20
    hard_segments: int = 500
    easy_items: int = 2000
    hard_items: int = 1000


@dataclass(frozen=True)
class Phase:
    """One row of IO500: its program, what it is asked to do, and the result's operation that counts."""

    name: str
    program: str
    folder: str
    options: tuple[str, ...]
    operation: str

    @property
    def unit(self) -> str:
        """GiB/s for `ior`, thousands of files a second for `metadata`."""
        return BANDWIDTH if self.program == "ior" else RATE


@dataclass(frozen=True)
class Outcome:
    """A phase's value in its unit, and its seconds by the slowest rank."""

    phase: Phase
    value: float
    seconds: float


@dataclass(frozen=True)
class Score:
    """GiB/s, kIOPS, and the square root of their product."""

    bandwidth: float
    rate: float
    total: float


PHASES = (
    Phase("ior-easy-write", "ior", "ior-easy", ("-w",), "write"),
    Phase("mdtest-easy-write", "metadata", "mdtest-easy", ("-C",), "create"),
    Phase("ior-hard-write", "ior", "ior-hard", ("-w",), "write"),
    Phase("mdtest-hard-write", "metadata", "mdtest-hard", ("-C",), "create"),
    Phase("find", "metadata", ".", ("--find", "--find-name", "*01*", "--find-size", "3901"), "find"),
    Phase("ior-easy-read", "ior", "ior-easy", ("-r", "-R"), "read"),
    Phase("mdtest-easy-stat", "metadata", "mdtest-easy", ("-T",), "stat"),
    Phase("ior-hard-read", "ior", "ior-hard", ("-r", "-R"), "read"),
    Phase("mdtest-hard-stat", "metadata", "mdtest-hard", ("-T",), "stat"),
    Phase("mdtest-easy-delete", "metadata", "mdtest-easy", ("-r",), "remove"),
    Phase("mdtest-hard-read", "metadata", "mdtest-hard", ("-E",), "read"),
    Phase("mdtest-hard-delete", "metadata", "mdtest-hard", ("-r",), "remove"),
)
"""In IO500's order."""

TIMESTAMP_BEFORE = "ior-hard-write"
"""`find` looks for files that are newer than the moment before this phase."""


def options_of(phase: Phase, scale: Scale, data: Path) -> list[str]:
    """What the phase's program is asked to do: IO500's options at this scale."""
    folder = data / phase.folder
    if phase.name == "find":
        return [*phase.options, "--newer", str(data / "timestamp"), "-d", str(folder)]
    easy = phase.folder.endswith("easy")
    if phase.program == "metadata":
        items = scale.easy_items if easy else scale.hard_items
        return [*phase.options, "--preset", "easy" if easy else "hard", "-n", str(items), "-N", "1", "-d", str(folder)]
    common = ["-a", "POSIX", "-C", "-Q", "1", "-g", "-G", "271", "-k", "-e"]
    if easy:
        return [
            *common,
            "-o",
            str(folder / "ior_file_easy"),
            "-t",
            "2m",
            "-b",
            str(scale.easy_block),
            "-F",
            *phase.options,
        ]
    pieces = ["-t", "47008", "-b", "47008", "-s", str(scale.hard_segments)]
    return [*common, "-o", str(folder / "file"), *pieces, *phase.options]


def task_of(phase: Phase, scale: Scale, data: Path, folder: Path, profiler: str) -> Task:
    """A phase as the launcher takes it; its log, output and result go to `folder`."""
    program = find_program(phase.program)
    flavour = mpi.flavour_of_program(program)
    words = (str(program), *options_of(phase, scale, data), "--json", str(folder / RESULT))
    return Task(folder, LOCAL.starter(flavour), scale.ranks, words, Setup(profiler, folder), flavour)


def outcome_of(phase: Phase, result: Mapping[str, Any]) -> Outcome:
    """Value and time of a phase from its result (workloads/RESULT.md)."""
    if phase.program == "ior":
        found = [part for part in result["phases"] if part["operation"] == phase.operation]
        moved, seconds = sum(part["bytes"] for part in found), sum(part["seconds"]["max"] for part in found)
        return Outcome(phase, moved / seconds / GIB, seconds)
    rate = next(row for row in result["extra"]["rates"] if row["operation"] == phase.operation)
    return Outcome(phase, rate["items_per_second"] / KILO, rate["seconds"])


def geometric_mean(values: Sequence[float]) -> float:
    """The n-th root of the product of n positive values."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def score_of(outcomes: Sequence[Outcome]) -> Score:
    """Geometric means of the bandwidths and of the rates, and the geometric mean of the two."""
    values = {unit: [one.value for one in outcomes if one.phase.unit == unit] for unit in (BANDWIDTH, RATE)}
    for one in outcomes:
        if one.value <= 0:
            raise IolensError(f"{one.phase.name} came out as {one.value} {one.phase.unit}, so there is no score")
    bandwidth, rate = geometric_mean(values[BANDWIDTH]), geometric_mean(values[RATE])
    return Score(bandwidth, rate, math.sqrt(bandwidth * rate))


def outcome_line(outcome: Outcome) -> str:
    """One line as IO500 prints it."""
    phase = outcome.phase
    unit = "GiB/s " if phase.unit == BANDWIDTH else phase.unit
    return f"[RESULT] {phase.name:>20} {outcome.value:15.6f} {unit} : time {outcome.seconds:.3f} seconds"


def score_line(score: Score) -> str:
    """IO500's last line, marked as it marks what is no submission."""
    means = f"Bandwidth {score.bandwidth:.6f} GiB/s : IOPS {score.rate:.6f} kiops"
    return f"[SCORE INVALID] {means} : TOTAL {score.total:.6f}"


def perform(phase: Phase, scale: Scale, data: Path, results: Path, profiler: str) -> Outcome:
    """Run one phase under the profiler; its log, output and result go to results/<phase>/."""
    folder = results / phase.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if phase.name == TIMESTAMP_BEFORE:
        (data / "timestamp").touch()
    [(_, done)] = LOCAL.run([task_of(phase, scale, data, folder, profiler)])
    if done.exit_code != 0:
        lines = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        said = next((line for line in lines if line.startswith(f"{phase.program}: ")), "no message")
        raise IolensError(f"{phase.name} failed with exit code {done.exit_code}: {said} (see {folder})")
    result = read_result(folder)
    if not result:
        raise IolensError(f"{phase.name} left no result (see {folder})")
    return outcome_of(phase, result)


def perform_all(
    scale: Scale, directory: Path, results: Path, profiler: str, tell: Callable[[Outcome], None]
) -> list[Outcome]:
    """All phases in a new folder below `directory`, which is removed at the end; `tell` hears of each at once."""
    data = directory / "io500-data"
    if data.exists():
        raise IolensError(f"{data} is there already: another run is using it, or left it; remove it, or give another")
    outcomes: list[Outcome] = []
    try:
        for folder in {phase.folder for phase in PHASES}:
            (data / folder).mkdir(parents=True, exist_ok=True)
        for phase in PHASES:
            outcomes.append(perform(phase, scale, data, results, profiler))
            tell(outcomes[-1])
    except OSError as error:
        raise IolensError(f"cannot write into {directory}: {error.strerror}") from error
    finally:
        shutil.rmtree(data, ignore_errors=True)
    return outcomes
