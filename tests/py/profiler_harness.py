"""Runs C programs that print what their log must hold, and reads the logs with libdarshan-util (PyPI `darshan`)."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import darshan
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("IOLENS_TEST_BUILD", "build")
"""Libraries to preload. tests/sanitize.sh adds the sanitizer's library behind the profiler's, so that callers of
wrapped functions are the program's and not the sanitizer's functions.
"""

LIBRARY = BUILD / "lib/libiolens.so"
PRELOAD = ":".join(word for word in (str(LIBRARY), os.environ.get("IOLENS_TEST_PRELOAD")) if word)
PROGRAMS = BUILD / "tests"
FIXED_MODULES = ("POSIX", "MPI-IO", "STDIO")
ANY = -1  # Stands for an expected value that is not checked.


@dataclass
class Expectation:
    """Expected values that a program prints for one file: the integer counters that are not 0."""

    path: str
    process: int | None
    counters: dict[str, int] = field(default_factory=dict)


def build_library() -> Path:
    """Builds libiolens.so if it is out of date and returns its path."""
    subprocess.run(["make", "-s", "-C", ROOT / "profiler", f"BUILD={BUILD}"], check=True, stdout=subprocess.DEVNULL)
    return LIBRARY


def build_program(name: str, *flags: str) -> Path:
    """Compiles the program tests/c/NAME.c if it is older than its source or a header."""
    source = ROOT / "tests/c" / f"{name}.c"
    target = PROGRAMS / name
    newest = max(path.stat().st_mtime for path in (source, *source.parent.glob("*.h")))
    if not target.exists() or target.stat().st_mtime < newest:
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-w", "-fno-builtin", "-U_FORTIFY_SOURCE"]
        own = target.with_name(
            f"{name}.{os.getpid()}"
        )  # Parallel tests share a program, so its file must appear only when it is complete.
        subprocess.run([*command, *flags, "-o", own, source, "-lpthread", "-lrt"], check=True)
        own.replace(target)
    return target


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Returns the environment of a profiled program, whose logs go to `folder`/logs."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_"))}
    preload = {"LD_PRELOAD": PRELOAD, "IOLENS_LOGPATH": str(logs), "IOLENS_INCLUDE": str(folder)}
    return clean | preload | settings


def run(
    program: Path | str, *arguments: str, folder: Path, stdin: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program in `folder` under the profiler. Keyword arguments are settings; standard input is a file."""
    (folder / "stdin.txt").write_text(stdin)
    with (folder / "stdin.txt").open() as source:
        return subprocess.run(
            [str(program), *arguments],
            cwd=folder,
            env=environment(folder, **settings),
            stdin=source,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def expectations(stdout: str) -> Iterator[Expectation]:
    """Parses the FILE, PROCESS and counter lines of a program; lines that begin with # are other output."""
    process: int | None = None
    current: Expectation | None = None
    for line in stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "PROCESS":
            process = int(rest)
        elif word == "FILE":
            if current:
                yield current
            current = Expectation(rest, process)
        elif current and word.startswith(("POSIX_", "STDIO_", "MPIIO_")):
            current.counters[word] = int(rest)
    if current:
        yield current


def read_log(path: Path) -> darshan.DarshanReport:
    """Reads the whole log through libdarshan-util."""
    return darshan.DarshanReport(str(path), read_all=True)


def logs(folder: Path) -> list[Path]:
    """Returns the finished logs in `folder`, which must hold nothing else."""
    found = sorted((folder / "logs").iterdir())
    assert all(path.suffix == ".darshan" for path in found), found
    return found


def private_region(path: Path, name: str) -> Any:
    """Reads a JSON region behind Darshan's regions, as profiler/LOG.md describes it."""
    data = path.read_bytes()
    magic, offset, size, _ = struct.unpack("<8sQQQ", data[-32:])
    assert magic == b"iolens01"
    (region,) = [r for r in json.loads(data[offset : offset + size])["regions"] if r["name"] == name]
    return json.loads(zlib.decompress(data[region["offset"] : region["offset"] + region["bytes"]]))


def counters(report: darshan.DarshanReport, path: str) -> dict[str, int]:
    """Returns all integer counters of one file, from the records of all modules whose records have a fixed size."""
    ids = [record for record, name in report.name_records.items() if name == path]
    assert len(ids) == 1, f"{path}: {len(ids)} names in {sorted(report.name_records.values())}"
    merged: dict[str, int] = {}
    for module in FIXED_MODULES:
        if module not in report.records:
            continue
        frame = report.records[module].to_df()["counters"]
        rows = frame[frame["id"] == ids[0]]
        assert len(rows) <= 1, f"{path}: {len(rows)} records of {module}"
        for name in frame.columns.difference(["id", "rank"]):
            if len(rows):
                merged[name] = int(rows.iloc[0][name])
    return merged


def times(report: darshan.DarshanReport, path: str, module: str) -> Mapping[str, float]:
    """Returns the double counters of a file in one module."""
    ids = [record for record, name in report.name_records.items() if name == path]
    frame = report.records[module].to_df()["fcounters"]
    row = frame[frame["id"] == ids[0]].iloc[0]
    return {name: float(row[name]) for name in frame.columns.difference(["id", "rank"])}


def differences(expected: Expectation, found: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Returns the counters in which log and expectation differ: name -> (expected, found)."""
    names = set(expected.counters) | set(found)
    pairs = {name: (expected.counters.get(name, 0), found.get(name, 0)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and pair[0] != ANY}


def trace_rows(name: str) -> list[tuple[str, str]]:
    """Returns the rows (kind, function) of a traced group's list, with those of the lists that it includes."""
    path = ROOT / "profiler/src/trace" / f"{name}.def"
    listed = subprocess.run(["gcc", "-E", "-P", "-x", "c", path], capture_output=True, text=True, check=True)
    return re.findall(r"(TRACED|RENAMED)\(\w+, (\w+)\)", listed.stdout)
