"""NPB's classes as experiments: what `make run` and `make run-class-C` run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.sizes import short_size
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.workloads.btio import BTIO, CLASSES, DEFAULT_INTERVAL, NpbClass


@dataclass(frozen=True)
class Choices:
    """What a person may choose on the command line; None takes the default."""

    ranks: int = 4
    stripes: Sequence[int] = (1, 2, 4)
    aggregators: Sequence[int] = (1, 2, 4)
    cb_buffer: Sequence[int] = (2**20, 16 * 2**20)
    repetitions: int = 3
    confirm: int | None = None
    method: str = "full"
    steps: int | None = None
    full: bool = False
    directory: Path | None = None


def fitting_stripe(dump_bytes: int, stripes: int) -> int:
    """A stripe size that lets one dump touch every stripe: 1 MiB, or the largest power of two from 4 KiB that fits."""
    size = 2**20
    while size > 4096 and size * stripes > dump_bytes:
        size //= 2
    return size


def class_experiment(letter: str, choices: Choices) -> Experiment:
    """BT-IO at one NPB class: a complete verified run first, then the sweep, solver left out unless `full`."""
    if letter not in CLASSES:
        raise UsageError(f"unknown class {letter!r}; choose one of {', '.join(CLASSES)}")
    npb = CLASSES[letter]
    common = ["--class", letter, "--method", choices.method]
    if choices.steps:
        common += ["--steps", str(choices.steps)]
    return experiment(
        f"class-{letter}",
        f"BT-IO class {letter}, {choices.ranks} ranks",
        npb,
        choices,
        sweep=[*common, *([] if choices.full else ["--io-only"])],
        first=common,
    )


def default_experiment(choices: Choices) -> Experiment:
    """What `make run` does: a complete class W run, then class A's grid with 10 dumps and the solver left out."""
    steps = choices.steps or 10 * DEFAULT_INTERVAL
    method = ["--method", choices.method]
    return experiment(
        "class-A-quick",
        f"BT-IO on class A's grid, {-(-steps // DEFAULT_INTERVAL)} dumps, {choices.ranks} ranks",
        CLASSES["A"],
        choices,
        sweep=["--class", "A", "--steps", str(steps), *method, *([] if choices.full else ["--io-only"])],
        first=["--class", "W", *method],
    )


def experiment(
    name: str, title: str, npb: NpbClass, choices: Choices, sweep: list[str], first: list[str]
) -> Experiment:
    """The experiment that these choices make; stripes are sized to the dumps."""
    stripe_size = fitting_stripe(npb.dump_bytes, max(choices.stripes))
    if stripe_size < 2**20:
        title += f", stripes of {short_size(stripe_size)} to fit a dump of {npb.dump_bytes} bytes"
    return Experiment(
        name=name,
        title=title,
        program=BTIO.program,
        arguments=tuple(sweep),
        ranks=choices.ranks,
        matrix={
            "stripe_count": tuple(choices.stripes),
            "aggregators": tuple(choices.aggregators),
            "cb_buffer_size": tuple(choices.cb_buffer),
        },
        repetitions=choices.repetitions,
        confirm=choices.confirm,
        directory=choices.directory,
        stripe_size=stripe_size,
        first=tuple(first),
    )
