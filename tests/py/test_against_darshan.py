"""Runs the same programs under Darshan's own library: every counter is equal, except those in
profiler/manual/darshan.md.

Set DARSHAN_LIB to the path of a libdarshan.so to run this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

LIBRARY = os.environ.get("DARSHAN_LIB", "")

ALWAYS = {
    "POSIX_MMAPS": "off in Darshan",
    "POSIX_MAX_READ_TIME_SIZE": "depends on which call took longest",
    "POSIX_MAX_WRITE_TIME_SIZE": "depends on which call took longest",
}
SIZES = {f"POSIX_ACCESS{i}_{what}" for i in range(1, 5) for what in ("ACCESS", "COUNT")}
STRIDES = {f"POSIX_STRIDE{i}_{what}" for i in range(1, 5) for what in ("STRIDE", "COUNT")}
WROTE = {"POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_SIZE_WRITE_0_100", "POSIX_MAX_BYTE_WRITTEN"}
READ = {"POSIX_READS", "POSIX_BYTES_READ", "POSIX_SIZE_READ_0_100", "POSIX_MAX_BYTE_READ"}
ORDER = {"POSIX_CONSEC_WRITES", "POSIX_SEQ_WRITES", "POSIX_CONSEC_READS", "POSIX_SEQ_READS", "POSIX_FILE_NOT_ALIGNED"}

INTENDED: dict[str, tuple[set[str], str]] = {
    "open.dat": ({"POSIX_OPENS"}, "openat of a folder Darshan did not see opened, and fortified opens"),
    "range.dat": (READ | SIZES, "close_range is not seen: the number belongs to another file afterwards"),
    "append.dat": ({"POSIX_MAX_BYTE_WRITTEN"} | ORDER, "appending is counted from 0"),
    "calls.dat": (READ | SIZES | STRIDES | ORDER, "fortified reads are not seen"),
    "meta.dat": ({"POSIX_STATS"}, "stat of today's glibc is not seen"),
    "a.dat": ({"POSIX_RENAME_SOURCES"}, "renameat is not seen"),
    "b.dat": ({"POSIX_RENAME_SOURCES"}, "renameat is not seen"),
    "new.dat": ({"POSIX_RENAME_TARGETS"}, "renameat is not seen"),
    "sizes.dat": (SIZES, "only the first 32 sizes are followed"),
    "cross.dat": (WROTE | SIZES | {"STDIO_MAX_BYTE_WRITTEN"}, "a reused number is taken for the closed file's"),
    "other.dat": ({"STDIO_MAX_BYTE_WRITTEN"}, "appending is counted from 0"),
    "appended.dat": ({"STDIO_MAX_BYTE_WRITTEN"}, "appending is counted from 0"),
    "left_open.dat": ({"STDIO_MAX_BYTE_WRITTEN"}, "appending is counted from 0"),
    "print.dat": (
        {
            *("POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_MAX_BYTE_WRITTEN", "POSIX_MAX_WRITE_TIME_SIZE"),
            *("POSIX_SEQ_WRITES", "POSIX_CONSEC_WRITES", "POSIX_FILE_NOT_ALIGNED", "POSIX_SIZE_WRITE_0_100"),
            *("POSIX_ACCESS1_ACCESS", "POSIX_ACCESS1_COUNT"),
        },
        "dprintf is not seen",
    ),
    "read.txt": ({"STDIO_READS", "STDIO_BYTES_READ", "STDIO_MAX_BYTE_READ"}, "getline and others are not seen"),
    "write.dat": ({"STDIO_WRITES", "STDIO_BYTES_WRITTEN", "STDIO_MAX_BYTE_WRITTEN"}, "fortified prints are not seen"),
}
PROGRAMS = ("posix_open", "posix_transfer", "posix_meta", "posix_pattern", "stdio_calls")

pytestmark = pytest.mark.skipif(not Path(LIBRARY).is_file(), reason="DARSHAN_LIB names no Darshan runtime")


def records(program: Path, folder: Path, preload: str, **settings: str) -> dict[str, dict[str, int]]:
    """Returns the counters of a program's files by path: the program runs in a new folder with `preload` as the
    library.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log = folder.with_suffix(".darshan")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_"))}
    logs = {"DARSHAN_LOGFILE": str(log), "IOLENS_LOGFILE": str(log)}
    (folder / "stdin.txt").write_text("12345 word\n")
    with (folder / "stdin.txt").open() as source:
        environment = {**clean, "LD_PRELOAD": preload, **logs, **settings}
        subprocess.run([program], cwd=folder, env=environment, stdin=source, stdout=subprocess.DEVNULL, check=True)
    report = harness.read_log(log)
    log.unlink()
    paths = [path for path in report.name_records.values() if path.startswith("/")]
    return {path: harness.counters(report, path) for path in paths if paths.count(path) == 1}


@pytest.mark.parametrize("name", PROGRAMS)
def test_counters_are_darshans_or_differ_on_purpose(name: str, tmp_path: Path) -> None:
    program, ours = harness.build_program(name), harness.build_library()
    theirs = records(program, tmp_path / "run", LIBRARY, DARSHAN_ENABLE_NONMPI="1")
    found = records(program, tmp_path / "run", str(ours), IOLENS_INCLUDE=str(tmp_path))
    common = {path for path in set(theirs) & set(found) if Path(path) != tmp_path / "run"}
    assert common
    for path in common:
        intended, _ = INTENDED.get(Path(path).name, (set(), ""))
        pairs = {key: (theirs[path].get(key), found[path].get(key)) for key in set(theirs[path]) | set(found[path])}
        wrong = {key: pair for key, pair in pairs.items() if pair[0] != pair[1] and key not in ALWAYS}
        assert not {key: pair for key, pair in wrong.items() if key not in intended}, path
