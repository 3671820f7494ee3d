"""An upper bound on the cost of recording a job: its number of calls times the cost of a call on this machine, plus the
cost of a job's start and end. Whole runs with and without a profiler differ by less than they vary, but these parts
can be measured.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.run.command_line import take_apart, with_environment
from iolens.lab.run.cost.selfbench import CallCost, LibraryCosts, surroundings
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import chain, preload_value
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.statistics.intervals import median_interval

_OPEN = "open and close"
CHARGED: dict[str, dict[str, str]] = {
    "POSIX": {
        "READS": "pread",
        "WRITES": "pwrite",
        **dict.fromkeys(
            ["OPENS", "FILENOS", "DUPS", "SEEKS", "STATS", "MMAPS", "FSYNCS", "FDSYNCS", "RENAME_SOURCES"], _OPEN
        ),
    },
    "STDIO": {**dict.fromkeys(["READS", "WRITES", "SEEKS", "FLUSHES"], "fwrite"), "OPENS": _OPEN, "FDOPENS": _OPEN},
    "MPI-IO": dict.fromkeys(
        [
            *(f"{kind}_{verb}" for kind in ("INDEP", "COLL") for verb in ("OPENS", "READS", "WRITES")),
            *(f"{kind}_{verb}" for kind in ("SPLIT", "NB") for verb in ("READS", "WRITES")),
            "SYNCS",
            "VIEWS",
        ],
        _OPEN,
    ),
}
"""For each module: counters of calls, and the kind of call whose cost is charged for each."""

_PREFIX = {"POSIX": "POSIX", "STDIO": "STDIO", "MPI-IO": "MPIIO"}
_COLD = ", cold caches"


@dataclass(frozen=True)
class CostPart:
    """Seconds that one part of recording took on one rank, with an interval; `count` is the number of
    recorded items.
    """

    what: str
    count: int
    low: float
    high: float


def _most_calls(job: Job, module: str, counter: str) -> int:
    """Returns the number of calls of the rank that made most. Calls in a record of all ranks are divided equally among
    the ranks, and rounded up.
    """
    frame: pd.DataFrame | None = job.frames.get(module)
    if frame is None or counter not in frame:
        return 0
    counts = frame[counter].clip(lower=0)
    merged = frame["rank"] < 0
    own = counts[~merged].groupby(frame["rank"][~merged]).sum()
    return int(own.max() if len(own) else 0) - (-int(counts[merged].sum()) // max(job.nprocs, 1))


def _call_costs(measured: LibraryCosts) -> dict[str, tuple[float, float]]:
    """Returns the seconds per kind of call, low and high: with warm caches and with cold caches, at least 0."""
    costs: dict[str, CallCost] = {cost.call: cost for cost in measured.calls}
    bounds = {}
    for kind in ("pwrite", "pread", "fwrite", _OPEN):
        cold = costs.get(kind + _COLD, costs["pwrite" + _COLD])
        high = max(costs[kind].high, cold.high)
        bounds[kind] = (max(costs[kind].low, 0.0) * 1e-9, max(high, 0.0) * 1e-9)
    return bounds


def _call_parts(job: Job, measured: LibraryCosts) -> list[CostPart]:
    """Returns the cost of the calls of the busiest rank, by module."""
    costs, parts = _call_costs(measured), []
    for module, counters in CHARGED.items():
        charged = [
            (_most_calls(job, module, f"{_PREFIX[module]}_{name}"), costs[kind]) for name, kind in counters.items()
        ]
        count = sum(number for number, _ in charged)
        if count:
            low, high = (sum(number * cost[side] for number, cost in charged) for side in (0, 1))
            parts.append(CostPart(f"{module} calls", count, low, high))
    return parts


def command_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Returns the wall seconds of a command."""
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise IolensError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return time.perf_counter() - begin


def _small_job(ranks: int, folder: Path) -> tuple[list[str], list[str], dict[str, str]]:
    """Returns a job of `ranks` ranks that each write 8 bytes: its command, the same command recorded, and the
    environment.
    """
    program, launch, flavour = find_program("iolens-selfbench"), list[str](), None
    words = ["files", str(folder), "1"]
    if ranks > 1:
        program = find_program("ior")
        flavour = mpi.flavour_of_program(program)
        words = ["-a", "MPIIO", "-w", "-t", "8", "-b", "8", "-o", str(folder / "small")]
        launch = [mpi.find_launcher(flavour), "-np", str(ranks)]
    recording = {
        "LD_PRELOAD": preload_value(chain("iolens")),
        "IOLENS_LOGPATH": str(folder),
        "IOLENS_INCLUDE": str(folder),
    }
    plain = [*launch, str(program), *words]
    starter = launch[0] if launch else None
    return (
        plain,
        with_environment(take_apart(plain), recording),
        surroundings(mpi.environment(flavour, ranks, "romio321", launcher=starter)),
    )


def _job_part(ranks: int, folder: Path, pairs: int) -> CostPart:
    """Returns the cost of the start and the end of a job: the difference in wall time of a job that does almost
    nothing, measured in pairs.
    """
    plain, recorded, environment = _small_job(ranks, folder)
    differences = []
    for pair in range(pairs):
        order = [plain, recorded] if pair % 2 == 0 else [recorded, plain]
        taken = {id(command): command_seconds(command, environment) for command in order}
        differences.append(taken[id(recorded)] - taken[id(plain)])
    low, high, _ = median_interval(differences)
    return CostPart(f"start and end of a job of {ranks} rank{'s' * (ranks > 1)}", 1, max(low, 0.0), max(high, 0.0))


def _files_part(job: Job, measured: LibraryCosts, plain: LibraryCosts, files: int) -> CostPart:
    """Returns the time that the files of the busiest rank add to the end of a job."""
    frame = job.frames.get("POSIX")
    ranks = [] if frame is None else [int(rank) for rank in frame["rank"]]
    own = Counter(rank for rank in ranks if rank >= 0)
    count = sum(rank < 0 for rank in ranks) + max(own.values(), default=0)
    without = statistics.median(one.ending for one in plain.large)
    each = [max(one.ending - without, 0.0) / files for one in measured.large]
    return CostPart("files at the end", count, count * min(each), count * max(each))


def overhead_bound(
    job: Job, plain: LibraryCosts, measured: LibraryCosts, files: int, folder: Path, pairs: int
) -> list[CostPart]:
    """Returns the parts of the upper bound of the profiler's cost: of its calls and of its files, for the rank that has
    most, and of the job's start and end. Each process of `measured` wrote `files` files.
    """
    return [*_call_parts(job, measured), _files_part(job, measured, plain, files), _job_part(job.nprocs, folder, pairs)]
