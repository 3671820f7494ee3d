"""Runs kinds of programs without the profiler and with it in every way, and prints the differences: python
tests/harm/compare.py [WORD ...]; a word chooses the kinds whose name contains it.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kind import ProgramKind
from kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "build/lib"
SECONDS = 300.0
GROUPS = "blas fftw functions hdf5 heap lapack lustre math netcdf omp pnetcdf pthreads system".split()
SOURCES = {"traced_pairs": ("-Wl,--no-as-needed", "-lm")}


@dataclass(frozen=True)
class Way:
    """A way to run a program under the profiler: the groups of functions that are traced, and settings."""

    name: str
    groups: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


DXT, SAMPLE, WHY = ("IOLENS_DXT", "1"), ("IOLENS_SAMPLE", "1000"), (("IOLENS_TRACE", "mpi"), ("IOLENS_WHY", "64"))
ALL = (DXT, SAMPLE, *WHY, ("IOLENS_HWPC", "0"), ("IOLENS_TIMELINE", "1000"), ("IOLENS_IO_CALLERS", "4"))
WAYS = (
    Way("plain"),
    Way("dxt", settings=(DXT,)),
    Way("sample", settings=(SAMPLE,)),
    Way("why", settings=WHY),
    *(Way(group, (group,)) for group in GROUPS),
    Way("together", tuple(GROUPS), ALL),
)


@dataclass(frozen=True)
class ProgramResults:
    """The results of a program: exit code, output, and the files in its folder with their contents."""

    code: int
    stdout: bytes
    stderr: bytes
    files: tuple[tuple[str, str], ...]

    def difference(self, other: ProgramResults) -> str:
        """Returns the names of the parts that differ, separated by commas; empty if none does."""
        parts = ("code", "stdout", "stderr", "files")
        return ",".join(part for part in parts if getattr(self, part) != getattr(other, part))


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return os.readlink(path) if path.is_symlink() else "no file"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _built(source: str, folder: Path) -> str:
    program = folder / source
    command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-o", program, ROOT / f"tests/c/{source}.c"]
    if source and not program.exists():
        subprocess.run([*command, *SOURCES.get(source, ()), "-lpthread"], check=True)
    return str(program)


def _ended(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    """Returns exit code and output of a command. A command that hangs is killed with all processes that it started."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
    try:
        stdout, stderr = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
    return process.returncode, stdout, stderr


def outcome(kind: ProgramKind, environment: Mapping[str, str], scratch: Path) -> ProgramResults:
    """Runs the program in an empty folder. The folder has the same name in all runs, because programs may print it."""
    surroundings = {**os.environ, **environment, "PROGRAM": _built(kind.source, scratch)}
    with tempfile.TemporaryDirectory(dir=scratch) as parent:
        folder = Path(parent) / "work"
        folder.mkdir()
        for path in (scratch, Path(parent)):  # Programs that change their user need access to their folder.
            path.chmod(0o755)
        code, stdout, stderr = _ended(["/bin/sh", "-c", kind.command], folder, surroundings)
        names = sorted(path for path in folder.rglob("*"))
        # Compiled files are left out, because two runs of a compiler may give different bytes.
        names = [path for path in names if path.name not in ("program", "p", "s")]
        files = tuple((str(path.relative_to(folder)), _digest(path)) for path in names)
    return ProgramResults(code, stdout, stderr, files)


def profiled(way: Way, logs: Path, adapter: str = "") -> dict[str, str]:
    """Returns the environment that puts a program under the profiler in this way, with an MPI library's adapter if
    `adapter` names one.
    """
    names = [f"iolens-trace-{group}" for group in way.groups]
    names += [f"iolens-{adapter}", "iolens"] if adapter else ["iolens"]
    preload = ":".join(str(LIBRARIES / f"lib{name}.so") for name in names)
    return {"LD_PRELOAD": preload, "IOLENS_LOGPATH": str(logs), "IOLENS_SPOOL": str(logs), **dict(way.settings)}


def differences(
    kinds: Sequence[ProgramKind], ways: Sequence[Way], scratch: Path
) -> Iterator[tuple[ProgramKind, list[str]]]:
    """Yields each kind with the differences in each way, or with the reason why it did not run."""
    logs = scratch / "logs"
    logs.mkdir(exist_ok=True)
    logs.chmod(0o1777)
    for kind in kinds:
        if kind.missing():
            yield kind, [f"skipped: no {kind.missing()}"]
            continue
        bare = outcome(kind, {}, scratch)
        yield kind, [outcome(kind, profiled(way, logs, kind.adapter), scratch).difference(bare) for way in ways]


def main(words: Sequence[str]) -> int:
    """Prints a row for each kind: a dot where nothing differs. Returns 1 if anything does."""
    kinds = [kind for kind in KINDS if not words or any(word in kind.name for word in words)]
    failed = False
    print(f"{len(kinds)} kinds x {len(WAYS)} ways: {' '.join(way.name for way in WAYS)}")
    with tempfile.TemporaryDirectory() as scratch:
        for kind, cells in differences(kinds, WAYS, Path(scratch)):
            ran = len(cells) == len(WAYS)
            failed |= ran and any(cells)
            print(f"{kind.name:28} {' '.join(cell or '.' for cell in cells)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
