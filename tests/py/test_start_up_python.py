"""The finding about the start of a real Python program has the calls on its modules that strace saw."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise import findings
from iolens.advise.limits import DEFAULTS
from iolens.log import read_log
from iolens.metrics.files.use import by_file

PROGRAM = """
import asyncio, ctypes, decimal, email.mime.multipart, http.server, json.tool, logging.config, multiprocessing.pool
import tarfile, unittest.mock, urllib.request, xml.dom.minidom, xmlrpc.client, zipfile
"""
WORDS = ("-S", "-B", "-c", PROGRAM)

OPENS_AND_STATS = ("open", "openat", "stat", "lstat", "fstat", "newfstatat", "statx")

CALL = re.compile(r"^\w+\((?:AT_FDCWD<[^>]*>, )?(?:\d+<([^>]*)>|\"([^\"]*)\").* = \d+\S*$", re.M)
"""Matches a successful call in strace's listing, with the path of a descriptor, or the path given."""

MODULE = re.compile(r"/python[^/]*/.*\.pyc?$")


def traced(folder: Path) -> Counter[str]:
    """Returns the number of successful opens and stats of each path in the program."""
    listing = folder / "trace"
    command = ["strace", "-y", "-o", listing, "-e", f"trace={','.join(OPENS_AND_STATS)}", sys.executable, *WORDS]
    if subprocess.run(command, cwd=folder, check=False).returncode:
        pytest.skip("strace may not trace here")
    return Counter(held or given for held, given in CALL.findall(listing.read_text()))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_modules_that_python_loads_are_counted_as_strace_saw_them(tmp_path: Path) -> None:
    harness.build_library()
    seen = traced(tmp_path)
    # A Python of the system lies in a folder that is left out by default.
    settings = {"IOLENS_INCLUDE": sys.base_prefix}
    assert harness.run(Path(sys.executable), *WORDS, folder=tmp_path, **settings).returncode == 0
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    table = by_file(job, "POSIX")
    calls = {job.names[key]: int(opens + stats) for key, opens, stats in table.rows("id", "OPENS", "STATS")}
    modules = {path: number for path, number in calls.items() if MODULE.search(path)}
    assert modules == {path: number for path, number in seen.items() if MODULE.search(path)}
    assert len(modules) > 150

    limits = {**DEFAULTS, "few_calls": 100.0, "slow_start": 0.0, "worth_gain": 0.0} | {
        "least_gain": 0.0,
        "least_seconds": 0.0,
    }
    (storm,) = [one for one in findings(job, limits) if one.id == "start-up-storm"]
    (told,) = re.findall(r"of libraries and modules ([\d,]+) times", storm.evidence)
    # Besides modules, the finding counts Python's calls on extensions (.so). The calls by which the loader loads them
    # are in no log.
    libraries = sum(number for path, number in seen.items() if "/lib" in path or path.endswith("pyvenv.cfg"))
    assert sum(modules.values()) <= int(told.replace(",", "")) <= libraries
    assert storm.gain > 0
