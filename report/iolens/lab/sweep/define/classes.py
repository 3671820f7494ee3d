"""The experiments of NPB's classes, which `make run` and `make run-class-C` run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.io_components import LUSTRE
from iolens.lab.run.mpi_launch.lustre_driver import build_with_driver
from iolens.lab.run.mpi_launch.mpi import find_launcher
from iolens.lab.say import say
from iolens.lab.sizes import short_size
from iolens.lab.sweep.define.experiment import ROMIO, Experiment
from iolens.lab.workloads.btio import BTIO, CLASSES, DEFAULT_INTERVAL, NpbClass

_GENERIC, LUSTRE_LIKE = "generic", "lustre-like"

DRIVERS = (LUSTRE, _GENERIC, LUSTRE_LIKE)
"""The ways in which data can be moved: ROMIO's Lustre driver, the generic driver of the usual MPI, or the transfers of
the bundled writer.
"""

_RUN_BYTES = 10**9
"""Default bytes that each run of a class sweep writes, if neither steps nor the solver are requested."""


@dataclass(frozen=True)
class Choices:
    """The settings that a person may choose on the command line; None takes the default.

    The default stripe counts exceed what one client's link can carry on emulated targets, because only then can
    additional aggregators pay off.
    """

    ranks: int = 4
    stripes: Sequence[int] = (1, 4, 12)
    aggregators: Sequence[int] | None = None
    cb_buffer: Sequence[int] = (2**20, 16 * 2**20)
    driver: str = LUSTRE
    repetitions: int = 5
    confirm: int | None = None
    method: str = "full"
    steps: int | None = None
    full: bool = False
    directory: Path | None = None


def fitting_stripe(dump_bytes: int, stripes: int) -> int:
    """Returns a stripe size with which one dump reaches every stripe: the largest power of two from 4 KiB to 1 MiB that
    fits; 4 KiB if none fits.
    """
    size = 2**20
    while size > 4096 and size * stripes > dump_bytes:
        size //= 2
    return size


def class_experiment(letter: str, choices: Choices) -> Experiment:
    """Returns the experiment for BT-IO at one NPB class: a complete verified run, then the sweep, which leaves out the
    solver unless `full`.
    """
    if letter not in CLASSES:
        raise UsageError(f"unknown class {letter!r}; choose one of {', '.join(CLASSES)}")
    npb = CLASSES[letter]
    common = ["--class", letter, "--method", choices.method]
    dumps = _sweep_dumps(npb)
    steps = choices.steps or (npb.steps if choices.full else min(npb.steps, dumps * DEFAULT_INTERVAL))
    title = f"BT-IO class {letter}, {choices.ranks} ranks"
    if steps != npb.steps:
        title = f"BT-IO on class {letter}'s grid, {-(-steps // DEFAULT_INTERVAL)} dumps, {choices.ranks} ranks"
    sweep = [*common, "--steps", str(steps), *([] if choices.full else ["--io-only"])]
    first = [*common, *(["--steps", str(choices.steps)] if choices.steps else [])]
    return _experiment(f"class-{letter}", title, npb, choices, choices.aggregators or (1, 2, 4), sweep, first)


def _sweep_dumps(npb: NpbClass) -> int:
    """Returns the number of dumps of each run of a sweep: as many as fit into `_RUN_BYTES`, at least 2, at most
    those of the class.
    """
    return min(max(2, _RUN_BYTES // npb.dump_bytes), -(-npb.steps // DEFAULT_INTERVAL))


def default_experiment(choices: Choices) -> Experiment:
    """Returns the experiment of `make run`: a complete class W run, then the grid of class A with 10 dumps and without
    the solver.
    """
    steps = choices.steps or 10 * DEFAULT_INTERVAL
    method = ["--method", choices.method]
    return _experiment(
        "class-A-quick",
        f"BT-IO on class A's grid, {-(-steps // DEFAULT_INTERVAL)} dumps, {choices.ranks} ranks",
        CLASSES["A"],
        choices,
        choices.aggregators or (1, 4),
        sweep=["--class", "A", "--steps", str(steps), *method, *([] if choices.full else ["--io-only"])],
        first=["--class", "W", *method],
    )


def driver_to_be_had(program: str = BTIO.program) -> str:
    """Returns ROMIO's Lustre driver if an MPI has it or can be installed, else the generic driver; prints why the
    generic driver is used.
    """
    try:
        build_with_driver(program, find_launcher)
    except IolensError as error:
        say(f"{error}; the sweep therefore runs ROMIO's generic driver")
        return _GENERIC
    return LUSTRE


def _experiment(
    name: str,
    title: str,
    npb: NpbClass,
    choices: Choices,
    aggregators: Sequence[int],
    sweep: list[str],
    first: list[str],
) -> Experiment:
    """Returns the experiment for these choices; the stripe size fits the dumps. Each point's data is read back and
    checked in its first repetition if the solver is left out.
    """
    if choices.driver == LUSTRE_LIKE and choices.method != "full":
        raise UsageError(
            f"the driver {LUSTRE_LIKE} has only collective transfers; choose the method full instead of "
            f"{choices.method}"
        )
    stripe_size = fitting_stripe(npb.dump_bytes, max(choices.stripes))
    if stripe_size < 2**20:
        title += f", stripes of {short_size(stripe_size)}"
    return Experiment(
        name=name,
        title=title,
        program=BTIO.program,
        arguments=(*sweep, *(("--mpiio-driver", LUSTRE_LIKE) if choices.driver == LUSTRE_LIKE else ())),
        repeated=() if choices.full else ("--write-only",),
        ranks=choices.ranks,
        matrix={
            "stripe_count": tuple(choices.stripes),
            "aggregators": tuple(aggregators),
            "cb_buffer_size": tuple(choices.cb_buffer),
        },
        repetitions=choices.repetitions,
        confirm=choices.confirm,
        directory=choices.directory,
        stripe_size=stripe_size,
        io_component=LUSTRE if choices.driver == LUSTRE else ROMIO,
        first=tuple(first),
    )
