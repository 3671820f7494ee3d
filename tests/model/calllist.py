"""Call lists, which have the calls that a program shall make, and journals, which have the calls as the interpreter
made them (README.md).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ENTRY = np.dtype(
    [
        ("program", "<i4"),
        ("line", "<i4"),
        ("op", "<i4"),
        ("slot", "<i4"),
        ("thread", "<i4"),
        ("error", "<i4"),
        ("result", "<i8"),
        ("begin", "<i8"),
        ("end", "<i8"),
        ("fd", "<i8"),
        ("before", "<i8"),
        ("after", "<i8"),
        ("size", "<i8"),
        ("extra0", "<i8"),
        ("extra1", "<i8"),
        ("extra2", "<i8"),
    ]
)


@dataclass
class ListedProgram:
    """One program of a call list: its lines as written, including `thread`, `rank` and `child` lines."""

    number: int
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join([f"program {self.number}", *self.lines]) + "\n"

    def calls(self) -> list[list[str]]:
        """Returns the words of each call, numbered as the interpreter numbers them."""
        words = (line.split("#")[0].split() for line in self.lines)
        return [w for w in words if w and w[0] not in ("thread", "rank", "child")]


def read_programs(text: str) -> list[ListedProgram]:
    programs: list[ListedProgram] = []
    for line in text.splitlines():
        if line.startswith("program "):
            programs.append(ListedProgram(int(line.split()[1])))
        elif line.strip() and not line.startswith("#"):
            programs[-1].lines.append(line)
    return programs


class ListedCall:
    """One call that was made: its entry in the journal, and its words in the list."""

    __slots__ = (
        "after",
        "args",
        "before",
        "begin",
        "end",
        "error",
        "extra",
        "fd",
        "line",
        "name",
        "program",
        "result",
        "size",
        "slot",
        "thread",
    )

    def __init__(self, entry: tuple, names: list[str], programs: dict[int, list[list[str]]]) -> None:
        (
            self.program,
            self.line,
            op,
            self.slot,
            self.thread,
            self.error,
            self.result,
            self.begin,
            self.end,
            self.fd,
            self.before,
            self.after,
            self.size,
            *self.extra,
        ) = entry
        self.name = names[op]
        self.args = programs[self.program][self.line][1:] if self.line >= 0 else [str(self.slot)]

    def __repr__(self) -> str:
        return f"{self.program}:{self.line} {self.name} {' '.join(self.args)} = {self.result} ({self.error})"


def operation_names(interpreter: Path) -> list[str]:
    listed = subprocess.run([interpreter, "--ops"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def read_journal(path: str | os.PathLike[str], names: list[str], programs: list[ListedProgram]) -> list[ListedCall]:
    """Returns the calls of one process in the order in which they began."""
    words = {p.number: p.calls() for p in programs}
    return [ListedCall(entry, names, words) for entry in np.fromfile(path, ENTRY).tolist()]
