"""When the system is slow to answer or has no memory left, the program continues normally, and the records are not
damaged.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("what", ["layout", "position", "spool"])
def test_a_thread_that_waits_for_the_system(what: str, tmp_path: Path) -> None:
    """No lock is held during a call to the file system, which may be remote. Only while the spool grows, a lock must be
    held; no other thread may then treat it as abandoned.
    """
    program = harness.build_program("harm_stalled", "-rdynamic")
    done = harness.run(program, what, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    assert len(harness.logs(tmp_path)) == 1


@pytest.mark.parametrize("spool", ["spools", "none"])
def test_no_memory_at_the_end(spool: str, tmp_path: Path) -> None:
    """The log cannot be written. The spool must stay unchanged, because heat maps would otherwise be counted twice."""
    (tmp_path / "spools").mkdir()
    place = "none" if spool == "none" else str(tmp_path / spool)
    done = harness.run(harness.build_program("harm_memory"), folder=tmp_path, IOLENS_SPOOL=place)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert "cannot write the log" in done.stderr
    assert harness.logs(tmp_path) == []
    spools = [str(path) for path in (tmp_path / "spools").rglob("*.spool")]
    assert len(spools) == (spool != "none")
    if spools:
        command = [harness.BUILD / "bin/iolens-recover", "merge", "-o", str(tmp_path), *spools]
        subprocess.run(command, check=True, capture_output=True)
        (log,) = tmp_path.glob("*.darshan")
        frames = read_log(log).frames
        assert list(frames["POSIX"]["POSIX_BYTES_WRITTEN"]) == [1000]
        assert frames["HEATMAP"]["written"].sum() == 1000
