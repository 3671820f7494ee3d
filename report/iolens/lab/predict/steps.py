"""The steps of ranks in the language of `ost-replay`, and their execution by the model of storage."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.storage.layout import Layout

_MOST_PIECES = 100_000_000
"""Largest number of pieces of stripes that `ost-replay` plays in some minutes."""


@dataclass
class RankSteps:
    """The steps of all ranks, one after another. Files are numbered by the order of `layouts`; each meeting place is
    used once; `pieces` is the number of stripes that all accesses touch.
    """

    layouts: Mapping[int, Layout]
    lines: list[str] = field(default_factory=list)
    met: int = 0
    pieces: int = 0

    def __post_init__(self) -> None:
        self.numbers = {key: number for number, key in enumerate(self.layouts)}
        for key, number in self.numbers.items():
            layout = self.layouts[key]
            self.lines.append(f"file,{number},{layout.stripe_count},{layout.stripe_size},{layout.start}")

    def wait(self, rank: int, seconds: float) -> None:
        """Adds a step in which the rank spends time without storage."""
        if seconds > 0:
            self.lines.append(f"t,{rank},{seconds:.9f}")

    def move(self, rank: int, file: int, writing: bool, offset: int, length: int) -> None:
        """Adds one access, in bytes. Raises IolensError if the accesses become more than can be played."""
        self.pieces += length // self.layouts[file].stripe_size
        if self.pieces > _MOST_PIECES:
            raise IolensError(
                f"the transfers have more than {_MOST_PIECES:,} pieces of stripes, which would take hours to play; the "
                "log may be damaged"
            )
        if length > 0:
            self.lines.append(f"{'w' if writing else 'r'},{rank},{self.numbers[file]},{offset},{length}")

    def flush(self, rank: int, file: int) -> None:
        """Adds a wait until everything that the rank's client wrote to the file is on the targets."""
        self.lines.append(f"f,{rank},{self.numbers[file]}")

    def meet(self, ranks: Iterable[int]) -> None:
        """Adds a step at which each of these ranks waits until the last of them has arrived."""
        group = list(ranks)
        if len(group) > 1:
            self.lines += [f"m,{rank},{self.met},{len(group)}" for rank in group]
            self.met += 1

    def in_turn(self, ahead: Mapping[int, Sequence[int]]) -> dict[int, int]:
        """Makes each rank wait until the ranks ahead of it have begun their next step. Returns, by rank, the meeting
        places through which the ranks ahead announce that (see `begin`).
        """
        awaited = sorted({other for others in ahead.values() for other in others})
        places = {rank: self.met + number for number, rank in enumerate(awaited)}
        self.met += len(places)
        for rank, others in ahead.items():
            self.lines += [f"b,{rank},{places[other]},1" for other in others]
        return places

    def begin(self, rank: int, place: int) -> None:
        """Makes the rank begin its next step before the ranks that wait at the place continue."""
        self.lines.append(f"p,{rank},{place}")

    def mark(self, rank: int, tag: int) -> None:
        """Adds a mark that records the time."""
        self.lines.append(f"k,{rank},{tag}")


@dataclass(frozen=True)
class Played:
    """The times at which each rank passed its marks (seconds, in their order), and the time at which the last rank
    finished.
    """

    marks: Mapping[int, list[tuple[int, float]]]
    end: float


def play(program: RankSteps, model: Path, seed: int | None = None) -> Played:
    """Executes the steps with the parameters in `model` (the keys of ost.yaml); raises with the reason if that fails.

    Of ranks with the same time the lowest comes first. With a seed (from 1), ranks that arrive together come in a
    random order (TOGETHER in storage/src/replay.c).
    """
    command = [str(find_program("ost-replay")), str(model), *([str(seed)] if seed else [])]
    text = "\n".join(program.lines) + "\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise IolensError(done.stderr.strip().removeprefix("ost-replay: ") or "ost-replay failed")
    marks: dict[int, list[tuple[int, float]]] = defaultdict(list)
    end = 0.0
    for line in done.stdout.splitlines():
        tag, rank, seconds = line.split(",")
        if tag == "end":
            end = float(seconds)
        else:
            marks[int(rank)].append((int(tag), float(seconds)))
    return Played(marks, end)
