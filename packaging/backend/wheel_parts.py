"""The parts of a wheel that are not Python, and the archive itself. Needs nothing but Python's own library, because pip
runs it in an environment that has little else.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = "iolens/parts"
_HELPERS = ("iolens-recover", "iolens-selfbench", "ost-simulate")
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every file in the archive: the earliest that a zip archive can store."""

_SHARED: tuple[tuple[str, str], ...] = (
    ("storage/*.yaml", "share"),
    ("slurm/*", "share/slurm"),
    ("packaging/site/*", "share/site"),
    ("packaging/modulefiles/*", "share/modulefiles"),
    ("course/**/*.md", "share/course"),
    ("course/**/*.yaml", "share/course"),
    ("profiler/include/*", "source/profiler/include"),
    ("workloads/**/*.[ch]", "source/workloads"),
    ("workloads/**/*.yaml", "source/workloads"),
    ("workloads/Makefile", "source/workloads/Makefile"),
    ("workloads/find-libraries.sh", "source/workloads/find-libraries.sh"),
)
"""Files of the project, and their places below PARTS: for a single file its new path, for a pattern the folder into
which the files go.
"""

Row = tuple[str, bytes, int]
"""A file of the archive: its name, content and mode."""


def rows_of(wheel: Path, platform: str) -> Iterator[Row]:
    """Yields the contents of the plain wheel with the tag of the platform, but neither its list of files nor the script
    `iolens`.
    """
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".dist-info/WHEEL"):
                text = content.decode().replace("-none-any", f"-none-{platform}")
                content = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").encode()
            if name.endswith(".dist-info/entry_points.txt"):
                lines = content.decode().splitlines(keepends=True)
                content = "".join(line for line in lines if not line.startswith("iolens =")).encode()
            if not name.endswith(("/", ".dist-info/RECORD")):
                yield name, content, 0o644


def command(wheel: Path, build: Path) -> Row:
    """Returns the command `iolens`, the profiler's program that notes the caller's signals before it becomes Python. It
    has the place of the script that pip would make.
    """
    return f"{data_folder(wheel)}/scripts/iolens", (build / "bin" / "iolens").read_bytes(), 0o755


def data_folder(wheel: Path) -> str:
    """Returns the folder of a wheel for files that lie outside the package."""
    return f"{wheel.name.rsplit('-', 3)[0]}.data"


def parts(builds: Sequence[Path]) -> Iterator[Row]:
    """Yields the files of the wheel that are not Python: libraries, programs and shared files."""
    libraries = {path.name: path for build in reversed(builds) for path in (build / "lib").glob("*.so")}
    for name, path in libraries.items():
        yield f"{PARTS}/lib/{name}", path.read_bytes(), 0o755
    for name in _HELPERS:
        yield f"{PARTS}/bin/{name}", (builds[0] / "bin" / name).read_bytes(), 0o755
    for pattern, place in _SHARED:
        for path in ROOT.glob(pattern):
            below = path.relative_to(ROOT / pattern.split("*")[0]) if "*" in pattern else Path()
            mode = 0o755 if path.suffix == ".sh" else 0o644
            yield (Path(PARTS) / place / below).as_posix(), path.read_bytes(), mode


def write(target: Path, rows: Sequence[Row]) -> None:
    """Writes the archive, with the list of its files that a wheel must have. The same rows give the same bytes."""
    rows = sorted(rows)
    info = next(name for name, _, _ in rows if name.endswith(".dist-info/WHEEL")).rpartition("/")[0]
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content, _ in rows]
    record = f"{info}/RECORD"
    listed = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in [*rows, (record, listed, 0o644)]:
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def _digest(content: bytes) -> str:
    """Returns the SHA-256 hash of a file as a wheel's list of files (RECORD) writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
