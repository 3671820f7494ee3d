"""The programs that sweeps know, and the description of any other program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.workloads.alignment import ALIGNMENT
from iolens.lab.workloads.btio import BTIO
from iolens.lab.workloads.checkpoint import CHECKPOINT, RESTART
from iolens.lab.workloads.collectives import COLLECTIVES
from iolens.lab.workloads.coupled import COUPLED
from iolens.lab.workloads.foreign import FOREIGN
from iolens.lab.workloads.ior import IOR
from iolens.lab.workloads.metadata import METADATA
from iolens.lab.workloads.workload import Workload

WORKLOADS: dict[str, Workload] = {
    workload.program: workload
    for workload in (BTIO, IOR, CHECKPOINT, RESTART, COLLECTIVES, ALIGNMENT, METADATA, COUPLED)
}
"""The workloads by the names of their executables."""


def workload_of(program: str) -> Workload:
    """Returns the description of a program, given as in `workload.program`: a name, or a path, which may belong to
    another program of the same name, such as a user's own IOR.
    """
    known = WORKLOADS.get(Path(program).name, FOREIGN)
    return FOREIGN if "/" in program and _is_another(Path(program)) else known


def _is_another(path: Path) -> bool:
    """Returns True if the path is not the bundled program of its name."""
    try:
        return path.resolve() != find_program(path.name)
    except IolensError:
        return False


def volume_of(workload: Workload, arguments: Sequence[str], ranks: int) -> int | None:
    """Returns the bytes that a run writes to files; None if the arguments do not tell."""
    try:
        return workload.volume(arguments, ranks)
    except ValueError:
        return None  # The workload reports this invalid argument itself when it runs.


def refusal_of(workload: Workload, arguments: Sequence[str], ranks: int) -> str | None:
    """Returns the reason why the program would not run with these arguments and ranks; None if there is none."""
    try:
        return workload.refuses(arguments, ranks)
    except ValueError:
        return None  # The program itself will report the error in this argument.
