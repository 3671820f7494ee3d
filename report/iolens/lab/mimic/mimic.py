"""The folder of a mini-app: its C file, Makefile, experiment.yaml and README."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iolens.errors import IolensError
from iolens.lab.files import write_aside
from iolens.lab.mimic.phases import MimicStep, RankGroup, fold, pauses, rank_groups, step_waits
from iolens.lab.mimic.readme import experiment_of, makefile, readme_of
from iolens.lab.mimic.tables import c_tables_of, kinds
from iolens.lab.mimic.trace import read_trace
from iolens.log import Job

if TYPE_CHECKING:
    from iolens.lab.mimic.calls import Trace

_LONG = (1e-3, 1e-2, 1e-1, np.inf)
"""Thresholds in seconds: only a wait longer than the threshold distinguishes otherwise equal calls. The next threshold
is tried if the scatter of shorter waits prevents calls from being joined into loops.
"""

_FEW_STEPS = 500

_PARTS = ("declarations", "errors_and_values", "posix_files", "streams", "mpi_files", "exchanges", "main")
"""The files of the folder `program` that make up the mini-app's C file, in their order."""


_MARK = b"`iolens mimic` wrote this file"
"""Text in the first comment of a generated C file, by which the file is recognised."""


@dataclass(frozen=True, eq=False)
class MiniApp:
    """The files of a mini-app by name, and the numbers of calls and of steps in its table."""

    files: dict[str, str]
    calls: int
    steps: int
    notes: tuple[str, ...]


def mimic(job: Job, names: bool = False) -> MiniApp:
    """Returns the mini-app of a traced run; with `names`, its files have the names of the traced files. Raises
    IolensError with the reason if the log lacks data that a mini-app needs.
    """
    trace = read_trace(job)
    programs = [(group, _group_steps(trace, group)) for group in rank_groups(trace.calls, _waits(trace))]
    folder = Path(__file__).with_name("program")
    template = "\n".join((folder / f"{part}.c").read_text(encoding="utf-8") for part in _PARTS)
    source = template.replace("/* KINDS */\n", kinds()).replace("/* TABLES */\n", c_tables_of(trace, programs, names))
    steps = sum(len(found) for _, found in programs)
    files = {
        "mimic.c": source,
        "Makefile": makefile(trace),
        "experiment.yaml": experiment_of(trace),
        "README.md": readme_of(trace, steps, names),
    }
    return MiniApp(files, len(trace.calls), steps, trace.notes)


def _waits(trace: Trace) -> np.ndarray:
    return step_waits(trace.calls, trace.begins)


def _group_steps(trace: Trace, group: RankGroup) -> list[MimicStep]:
    """Returns the steps of a group of ranks. Waits above a threshold distinguish steps; the lowest threshold with which
    the table of steps stays small is taken.
    """
    best: list[MimicStep] = []
    for threshold in _LONG:
        found = fold(trace.calls, group, pauses(group, threshold))
        if not best or len(found) < len(best) // 2:
            best = found
        if len(best) <= _FEW_STEPS:
            break
    return best


def write_program(app: MiniApp, folder: Path) -> None:
    """Writes the files of a mini-app into a folder, which is made. Raises IolensError if the folder has files of these
    names that do not belong to a mini-app.
    """
    program = folder / "mimic.c"
    if not program.is_file() or _MARK not in program.read_bytes():
        for name in (name for name in app.files if (folder / name).exists()):
            raise IolensError(f"{folder / name} is not of a mini-app and is not replaced; name another folder with -o")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in app.files.items():
        write_aside(folder / name, text)
