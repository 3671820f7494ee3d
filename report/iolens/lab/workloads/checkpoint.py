"""A climate model's checkpoint, written and read back (workloads/checkpoint)."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.workloads.workload import Workload, size_of

_FACES = 6
"""Number of faces of the cubed sphere."""

_VALUE_BYTES = 4


def _elsewhere(arguments: Sequence[str]) -> bool:
    """Returns whether the arguments do not tell the size of the problem, because it is in a file or follows from
    `--mode`.
    """
    named = {word.partition("=")[0] for word in arguments}
    return bool({"--config_file", "--mode"} & named) or not {"--nx", "--ny"} & named


def _why_no_cube(arguments: Sequence[str], ranks: int) -> str | None:
    """Returns the reason why the ranks cannot share the faces of the cubed sphere evenly; None if they can."""
    if _elsewhere(arguments):
        return None
    needed = _FACES * size_of(arguments, 4, "--nx") * size_of(arguments, 4, "--ny")
    return None if ranks == needed else f"this grid needs 6 * nx * ny = {needed} ranks"


def _bytes_of_fields(arguments: Sequence[str], ranks: int) -> int | None:
    """Returns the bytes of the fields, without the file format's additions; each trial writes the same files again."""
    if _elsewhere(arguments):
        return None
    cells = _FACES * size_of(arguments, 90, "--im_world") ** 2 * size_of(arguments, 137, "--lm")
    return _VALUE_BYTES * cells * size_of(arguments, 5, "--num_arrays")


CHECKPOINT = Workload("checkpoint_simulator", ("write_bandwidth",), refuses=_why_no_cube, volume=_bytes_of_fields)
RESTART = Workload("restart_simulator", ("read_bandwidth",), refuses=_why_no_cube, volume=_bytes_of_fields)
