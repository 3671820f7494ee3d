"""Puts the built parts into a wheel of the Python package: libraries, helpers, configuration, the workloads' sources,
manual pages and shell completions.

    wheel.py PLATFORM BUILD OUTPUT [BUILD ...]

PLATFORM is the wheel's tag, such as manylinux_2_28_x86_64; BUILD a build tree with lib/ and bin/. The libraries of
further trees are added. The wheel lies in the folder OUTPUT; the same parts give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import man
from iolens.cli.described import commands
from iolens.cli.machine import completion

ROOT = Path(__file__).resolve().parents[1]
PARTS = "iolens/parts"
HELPERS = ("iolens-recover", "iolens-selfbench", "ost-simulate")
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every file in the archive: the earliest that a zip archive can store."""

SHARED: tuple[tuple[str, str], ...] = (
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


def main(arguments: Sequence[str]) -> int:
    """Writes the wheel and prints its path."""
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    platform, build, output, *others = arguments
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_wheel(Path(folder))
        target = Path(output) / plain.name.replace("-none-any", f"-none-{platform}")
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_suffix(".new")
        rows = [*rows_of(plain, platform), *parts([Path(build), *map(Path, others)])]
        share = f"{plain.name.rsplit('-', 3)[0]}.data/data/share"
        write(aside, [*rows, *((f"{share}/{name}", content, mode) for name, content, mode in manuals())])
        aside.replace(target)
    print(target)
    return 0


def plain_wheel(folder: Path) -> Path:
    """Builds the wheel that contains only the Python package, and returns its path. The folder build/python is removed
    first, because it may contain modules of an earlier version.
    """
    shutil.rmtree(ROOT / "build" / "python", ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--disable-pip-version-check",
        "-w",
        folder,
        ROOT,
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


COMPLETIONS = {
    "bash": "bash-completion/completions/iolens",
    "zsh": "zsh/site-functions/_iolens",
    "fish": "fish/vendor_completions.d/iolens.fish",
}
"""Folders below a share folder in which each shell looks for completions."""

Row = tuple[str, bytes, int]
"""A file of the archive: its name, content and mode."""


def rows_of(wheel: Path, platform: str) -> Iterator[Row]:
    """Yields the contents of the plain wheel, with the tag of the platform and without its list of files."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".dist-info/WHEEL"):
                text = content.decode().replace("-none-any", f"-none-{platform}")
                content = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").encode()
            if not name.endswith(("/", ".dist-info/RECORD")):
                yield name, content, 0o644


def parts(builds: Sequence[Path]) -> Iterator[Row]:
    """Yields the files of the wheel that are not Python: libraries, programs and shared files."""
    libraries = {path.name: path for build in reversed(builds) for path in (build / "lib").glob("*.so")}
    for name, path in libraries.items():
        yield f"{PARTS}/lib/{name}", path.read_bytes(), 0o755
    for name in HELPERS:
        yield f"{PARTS}/bin/{name}", (builds[0] / "bin" / name).read_bytes(), 0o755
    for pattern, place in SHARED:
        for path in ROOT.glob(pattern):
            below = path.relative_to(ROOT / pattern.split("*")[0]) if "*" in pattern else Path()
            mode = 0o755 if path.suffix == ".sh" else 0o644
            yield (Path(PARTS) / place / below).as_posix(), path.read_bytes(), mode


def manuals() -> Iterator[Row]:
    """Yields man pages and completions, each with its path below the folder `share`."""
    for page, text in man.pages("").items():
        yield f"man/man1/{page}", text.encode(), 0o644
    for shell, place in COMPLETIONS.items():
        yield place, completion.SHELLS[shell](commands()).encode(), 0o644


def write(target: Path, rows: Sequence[Row]) -> None:
    """Writes the archive, with the list of its files that a wheel must have."""
    rows = sorted(rows)
    info = next(name for name, _, _ in rows if name.endswith(".dist-info/WHEEL")).rpartition("/")[0]
    lines = [f"{name},sha256={digest(content)},{len(content)}\n" for name, content, _ in rows]
    record = f"{info}/RECORD"
    listed = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in [*rows, (record, listed, 0o644)]:
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def digest(content: bytes) -> str:
    """Returns the SHA-256 hash of a file as a wheel's list of files (RECORD) writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
