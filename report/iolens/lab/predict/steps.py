"""The steps of ranks, in the language of `ost-replay`, and their playing through the model of storage."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.storage.layout import Layout


@dataclass
class Program:
    """What ranks do, one step after another. Files are numbered by the order of `layouts`; places are met once."""

    layouts: Mapping[int, Layout]
    lines: list[str] = field(default_factory=list)
    met: int = 0

    def __post_init__(self) -> None:
        self.numbers = {key: number for number, key in enumerate(self.layouts)}
        for key, number in self.numbers.items():
            layout = self.layouts[key]
            self.lines.append(f"file,{number},{layout.stripe_count},{layout.stripe_size},{layout.start}")

    def wait(self, rank: int, seconds: float) -> None:
        """Let time pass that has nothing to do with storage."""
        if seconds > 0:
            self.lines.append(f"t,{rank},{seconds:.9f}")

    def move(self, rank: int, file: int, writing: bool, offset: int, length: int) -> None:
        """One access, bytes."""
        if length > 0:
            self.lines.append(f"{'w' if writing else 'r'},{rank},{self.numbers[file]},{offset},{length}")

    def flush(self, rank: int, file: int) -> None:
        """Wait until all that the rank's client wrote to the file is on the targets."""
        self.lines.append(f"f,{rank},{self.numbers[file]}")

    def meet(self, ranks: Iterable[int]) -> None:
        """These ranks go on when the last of them has come here."""
        group = list(ranks)
        if len(group) > 1:
            self.lines += [f"m,{rank},{self.met},{len(group)}" for rank in group]
            self.met += 1

    def in_turn(self, ahead: Mapping[int, Sequence[int]]) -> dict[int, int]:
        """Let each rank wait until those ahead of it begin what they do next, which they say with `begin`. Returns the
        places that these come to, by rank."""
        awaited = sorted({other for others in ahead.values() for other in others})
        places = {rank: self.met + number for number, rank in enumerate(awaited)}
        self.met += len(places)
        for rank, others in ahead.items():
            self.lines += [f"b,{rank},{places[other]},1" for other in others]
        return places

    def begin(self, rank: int, place: int) -> None:
        """What the rank does next is begun before those that wait for it at the place go on."""
        self.lines.append(f"p,{rank},{place}")

    def mark(self, rank: int, tag: int) -> None:
        """Note the time."""
        self.lines.append(f"k,{rank},{tag}")


@dataclass(frozen=True)
class Played:
    """When each rank passed its marks (seconds, in their order), and when the last rank was through."""

    marks: Mapping[int, list[tuple[int, float]]]
    end: float


def play(program: Program, model: Path, seed: int | None = None) -> Played:
    """Play the steps with the parameters in `model` (the keys of ost.yaml); raises with the reason when that fails.

    Of ranks whose time is the same the lowest comes first, or with a seed (from 1) any of those that arrive together
    (TOGETHER in storage/src/replay.c).
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
