"""The profiler's libraries do not record their own calls, because none of these calls goes through one of their
wrappers.
"""

from __future__ import annotations

import itertools
import re
import subprocess
from functools import cache
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.lab.run.settings.groups import GROUPS, libraries

TRACED = [group.name for group in GROUPS if not group.part]
PAIRS = list(itertools.combinations(TRACED, 2))
SWITCHES = {
    "sample": {"IOLENS_SAMPLE": "1000"},
    "dxt": {"IOLENS_DXT": "1"},
    "hwpc": {"IOLENS_HWPC": "0"},
    "timeline": {"IOLENS_SAMPLE": "1000", "IOLENS_TIMELINE": "1000", "IOLENS_IO_CALLERS": "4"},
}
OWN = re.compile(r"iolens_|PAT_|pat_|MPIX?_|PMPI_|mpi_|pmpi_")
"""Functions that the libraries export under names of their own, and those that an adapter gets from the MPI library."""

CORE = "libiolens.so"
ALLOWED = {
    ("adapter", "free"),
    ("adapter", "dlopen"),
    (CORE, "fgetxattr"),
    (CORE, "fstatfs"),
    (CORE, "getxattr"),
    (CORE, "statfs"),
}
"""An adapter frees memory from the MPI library by the program's `free`; its dlopen asks for libraries that are loaded,
which the wrapper hands on. The core reads stripes from file systems
and the emulated storage by calls that it does not wrap itself.
"""


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def built() -> list[Path]:
    """Returns the libraries that programs load; the reports alone load the one that replays events."""
    return sorted(path for path in (harness.BUILD / "lib").glob("libiolens*.so") if path.stem != "libiolens-replay")


def kind(library: Path) -> str:
    is_core_or_group = library.name == CORE or library.name.startswith("libiolens-trace-")
    return library.name if is_core_or_group else "adapter"


def printed(*command: str | Path) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@cache
def wrapped() -> frozenset[str]:
    """Returns the names of the functions that the libraries wrap for the program."""
    lines = [line for library in built() for line in printed("nm", "-D", "--defined-only", library)]
    names = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in "TWi"}
    return frozenset(name for name in names if not OWN.match(name))


def listed() -> set[str]:
    """Returns the names in the lists of calls and of traced groups."""
    found: set[str] = set()
    for path in (harness.ROOT / "calls").glob("*.def"):
        for row in re.findall(r"^(?:CALL64|CALL|VARIADIC)\((.+)\)$", path.read_text(), re.M):
            cells = [cell.strip() for cell in row.split(",")]
            found |= {cells[2], cells[3]} if row.startswith("CALL64") else {cells[2]}
    for path in (harness.ROOT / "profiler/src/trace").glob("*.def"):
        found |= {name for _, name in harness.trace_rows(path.stem)}
    return found


def reached(library: Path) -> set[str]:
    """Returns the names of functions that the loader resolves for the library's own code."""
    names = set()
    for line in printed("readelf", "-rW", library):
        words = line.split()
        if len(words) > 4 and re.search(r"GLOB_DAT|JUMP_SLOT|JUMP_SLO|R_\w+_64$", words[2]):
            names.add(words[4].split("@")[0])
    return names


def test_no_library_calls_what_is_wrapped() -> None:
    """No library may call a function that one of the libraries wraps or that a list contains, even if this machine
    lacks that wrapper.
    """
    assert wrapped() >= {"open", "syscall", "gethostname", "malloc", "pthread_create", "poll", "dlclose", "longjmp"}
    # The wrapper of dlsym hands on every name that is none of MPI's, and records nothing.
    names = (wrapped() | listed()) - {"dlsym"}
    assert len(built()) >= 1 + len(TRACED)
    found = {(kind(path), name) for path in built() for name in reached(path) & names}
    assert found <= ALLOWED
    assert not {name for owner, name in ALLOWED if owner == CORE} & wrapped()


def test_a_call_of_a_wrapped_function_is_found(tmp_path: Path) -> None:
    """The search must find calls with and without a procedure linkage table."""
    (tmp_path / "own.c").write_text("#include <unistd.h>\nint own(char *n) { return gethostname(n, 8) + getuid(); }\n")
    for flag in ("-fplt", "-fno-plt"):
        command = ["gcc", "-shared", "-fPIC", "-O1", flag, "-o", "own.so", "own.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        assert {"gethostname", "getuid"} <= reached(tmp_path / "own.so")


@pytest.mark.parametrize("switch", SWITCHES)
def test_two_groups_and_a_switch_together(switch: str, tmp_path: Path) -> None:
    program = harness.build_program("traced_pairs", "-Wl,--no-as-needed", "-lm")
    alone = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (alone.stdout, alone.stderr, alone.returncode) == ("200 10 hello 1.414 7\n", "", 3)
    for pair in PAIRS:
        preload = ":".join([*map(str, libraries(pair)), harness.PRELOAD])
        done = harness.run(program, folder=tmp_path, LD_PRELOAD=preload, **SWITCHES[switch])
        assert (done.stdout, done.stderr, done.returncode) == (alone.stdout, "", 3), pair
