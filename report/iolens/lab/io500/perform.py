"""Run the phases of IO500 with the bundled `ior` and `metadata`, one after the other.

A valid submission writes for 300 seconds in each writing phase. Here the amounts are fixed, so a small machine's caches
may hold all of the data, and no result is valid as a submission.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.io500.phases import PHASES, TIMESTAMP_BEFORE, Phase, Scale, options_of
from iolens.lab.io500.score import PhaseResult, outcome_of
from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.launchers.local import LOCAL
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup
from iolens.lab.workloads.workload import RESULT, read_workload_result


def _task_of(phase: Phase, scale: Scale, data: Path, folder: Path, profiler: str) -> RunSpec:
    """Returns the launcher's task for a phase; its log, output and result go to `folder`."""
    program = find_program(phase.program)
    flavour = mpi.flavour_of_program(program)
    words = (str(program), *options_of(phase, scale, data), "--json", str(folder / RESULT))
    return RunSpec(folder, (LOCAL.starter(flavour),), scale.ranks, words, Setup(profiler, folder), flavour)


def _perform_phase(phase: Phase, scale: Scale, data: Path, results: Path, profiler: str) -> PhaseResult:
    """Runs one phase under the profiler; its log, output and result go to results/<phase>/."""
    folder = results / phase.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if phase.name == TIMESTAMP_BEFORE:
        (data / "timestamp").touch()
    [(_, done)] = LOCAL.run([_task_of(phase, scale, data, folder, profiler)])
    if done.exit_code != 0:
        lines = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        said = next((line for line in lines if line.startswith(f"{phase.program}: ")), "no message")
        raise IolensError(f"{phase.name} failed with exit code {done.exit_code}: {said} (see {folder})")
    result = read_workload_result(folder)
    if not result:
        raise IolensError(f"{phase.name} left no result (see {folder})")
    return outcome_of(phase, result)


def perform_all(
    scale: Scale, directory: Path, results: Path, profiler: str, tell: Callable[[PhaseResult], None]
) -> list[PhaseResult]:
    """Runs all phases in a new folder below `directory`, which is removed at the end; calls `tell` after each
    phase.
    """
    data = directory / "io500-data"
    if data.exists():
        raise IolensError(
            f"{data} exists already, from another run or from a run that was interrupted; remove it, or "
            f"give another folder"
        )
    outcomes: list[PhaseResult] = []
    try:
        for folder in {phase.folder for phase in PHASES}:
            (data / folder).mkdir(parents=True, exist_ok=True)
        for phase in PHASES:
            outcomes.append(_perform_phase(phase, scale, data, results, profiler))
            tell(outcomes[-1])
    except OSError as error:
        raise IolensError(f"cannot write into {directory}: {error.strerror}") from error
    finally:
        shutil.rmtree(data, ignore_errors=True)
    return outcomes
