"""Runs a serial and a parallel program under the profiler, and checks that their logs agree with their actions."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.doctor.finding import CheckResult
from iolens.lab.doctor.surroundings import version_said
from iolens.lab.doctor.tried import BYTES, PROGRAM
from iolens.lab.installation import find_library, find_program
from iolens.lab.run.execute import execute
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup
from iolens.log import Job, read_log

_RANKS = 2
PATIENCE = 60.0


@dataclass(frozen=True)
class FeatureTrial:
    """A trial: its result, its log, and what the program printed; there is no log if the trial failed."""

    result: CheckResult
    job: Job | None
    said: str = ""


def recording() -> FeatureTrial:
    """Tries to record and to sample a Python program that writes files and makes each kind of call once."""
    with tempfile.TemporaryDirectory() as name:
        words = [sys.executable, "-I", "-S", "-c", PROGRAM, f"{name}/trial"]
        result, job = _judged_log("a program", name, words, {}, 1)
        said = Path(name, "stdout")
        return FeatureTrial(result, job, said.read_text(encoding="utf-8") if said.exists() else "")


def parallel_recording() -> Iterator[CheckResult]:
    """Yields the check that two ranks of the bundled IOR can be recorded while they write a file through MPI-IO."""
    try:
        program = find_program("ior")
        flavour = mpi.flavour_of_program(program)
        launcher = mpi.find_launcher(flavour)
    except IolensError as error:
        yield CheckResult("a parallel program", "not tried", None, str(error))
        return
    yield CheckResult("launcher", f"{launcher}, {version_said(mpi.mpi_output(launcher, '--version'))}")
    if flavour and find_library(f"libiolens-{flavour}.so") is None:
        yield CheckResult("a parallel program", "not tried", works=False, remedy=f"there is no adapter for {flavour}")
        return
    with tempfile.TemporaryDirectory() as name:
        words = [launcher, "-n", str(_RANKS), str(program), "-a", "MPIIO", "-w", "-b", str(BYTES // _RANKS)]
        words += ["-t", str(BYTES // _RANKS), "-o", f"{name}/trial"]
        settings = dict(mpi.environment(flavour, _RANKS, None, launcher=launcher))
        yield _judged_log("a parallel program", name, words, settings, _RANKS)[0]


def _judged_log(
    what: str, folder: str, words: list[str], launcher: dict[str, str], ranks: int
) -> tuple[CheckResult, Job | None]:
    """Records a command, and checks that it wrote one log with this number of ranks and at least `BYTES` written bytes.
    Returns the result and the log.
    """
    logs = Path(folder, "logs")
    logs.mkdir()
    application = {"IOLENS_NONMPI": "1", "DARSHAN_ENABLE_NONMPI": "1", "IOLENS_INCLUDE": folder, "IOLENS_SAMPLE": "100"}
    setup = Setup(logs=logs, application=application, launcher=launcher, timeout=PATIENCE)
    try:
        outcome = execute(words, setup, Path(folder, "stdout"), Path(folder, "stderr"))
        if len(outcome.logs) != 1:
            said = Path(folder, "stderr").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {outcome.exit_code}"
            return CheckResult(what, f"{len(outcome.logs)} logs instead of one", works=False, remedy=why), None
        job = read_log(outcome.logs[0])
    except IolensError as error:
        return CheckResult(what, "failed", works=False, remedy=str(error)), None
    posix = job.frames.get("POSIX")
    written = 0 if posix is None else int(posix["POSIX_BYTES_WRITTEN"].sum())
    found = f"a log of {job.nprocs} process{'es' if job.nprocs > 1 else ''}, {written:,} bytes written"
    works = job.nprocs == ranks and written >= BYTES
    return CheckResult(what, found, works, "" if works else f"{ranks} processes wrote {BYTES:,} bytes"), job
