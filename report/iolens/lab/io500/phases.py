"""The phases of IO500: the program of each and its options at a given scale.

Phases, their order and options are those of the IO500 benchmark (io500.org; J. Kunkel, J. Bent, J. Lofstead, G. S.
Markomanolis: *Establishing the IO-500 benchmark*, 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BANDWIDTH, RATE = "GiB/s", "kIOPS"


@dataclass(frozen=True)
class Scale:
    """The amount of work: bytes that each rank writes to its own file, transfers of 47008 bytes that each rank adds to
    the shared file, and files that each rank creates in its own folder and in the shared folder.
    """

    ranks: int = 2
    easy_block: int = 64 * 2**20
    hard_segments: int = 500
    easy_items: int = 2000
    hard_items: int = 1000


@dataclass(frozen=True)
class Phase:
    """One phase of IO500: its program, its options, and the operation whose result is the phase's value."""

    name: str
    program: str
    folder: str
    options: tuple[str, ...]
    operation: str

    @property
    def unit(self) -> str:
        """Returns the unit: GiB/s for `ior`, thousands of files per second for `metadata`."""
        return BANDWIDTH if self.program == "ior" else RATE


PHASES = (
    Phase("ior-easy-write", "ior", "ior-easy", ("-w",), "write"),
    Phase("mdtest-easy-write", "metadata", "mdtest-easy", ("-C",), "create"),
    Phase("ior-hard-write", "ior", "ior-hard", ("-w",), "write"),
    Phase("mdtest-hard-write", "metadata", "mdtest-hard", ("-C",), "create"),
    Phase("find", "metadata", ".", ("--find", "--find-name", "*01*", "--find-size", "3901"), "find"),
    Phase("ior-easy-read", "ior", "ior-easy", ("-r", "-R"), "read"),
    Phase("mdtest-easy-stat", "metadata", "mdtest-easy", ("-T",), "stat"),
    Phase("ior-hard-read", "ior", "ior-hard", ("-r", "-R"), "read"),
    Phase("mdtest-hard-stat", "metadata", "mdtest-hard", ("-T",), "stat"),
    Phase("mdtest-easy-delete", "metadata", "mdtest-easy", ("-r",), "remove"),
    Phase("mdtest-hard-read", "metadata", "mdtest-hard", ("-E",), "read"),
    Phase("mdtest-hard-delete", "metadata", "mdtest-hard", ("-r",), "remove"),
)
"""The phases in IO500's order."""

TIMESTAMP_BEFORE = "ior-hard-write"
"""A timestamp is taken before this phase. The phase `find` then counts the files that are newer."""


def options_of(phase: Phase, scale: Scale, data: Path) -> list[str]:
    """Returns the options of a phase's program: IO500's options at this scale."""
    folder = data / phase.folder
    if phase.name == "find":
        return [*phase.options, "--newer", str(data / "timestamp"), "-d", str(folder)]
    easy = phase.folder.endswith("easy")
    if phase.program == "metadata":
        items = scale.easy_items if easy else scale.hard_items
        return [*phase.options, "--preset", "easy" if easy else "hard", "-n", str(items), "-N", "1", "-d", str(folder)]
    common = ["-a", "POSIX", "-C", "-Q", "1", "-g", "-G", "271", "-k", "-e"]
    if easy:
        return [
            *common,
            "-o",
            str(folder / "ior_file_easy"),
            "-t",
            "2m",
            "-b",
            str(scale.easy_block),
            "-F",
            *phase.options,
        ]
    pieces = ["-t", "47008", "-b", "47008", "-s", str(scale.hard_segments)]
    return [*common, "-o", str(folder / "file"), *pieces, *phase.options]
