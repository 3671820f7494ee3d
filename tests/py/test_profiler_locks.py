"""Locks on files: how many were taken, refused and waited for, and how long, against the program's own clock."""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise import findings
from iolens.log import read_log
from iolens.pages.exhibits.files import FILE_LOCKS

NUMBERS = ("locks", "exclusive", "refused", "waits")


def test_locks_are_counted_and_timed_in_each_way(tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables["file_locks"]))
    table = job.tables["file_locks"]
    found = {Path(job.names[row[0]]).name: row[1:] for row in table.rows("file", *NUMBERS, "seconds", "longest")}
    expected = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("LOCKS")]
    assert set(found) == {words[0] for words in expected}
    for name, *counts, waited in expected:
        *numbers, seconds, longest = found[name]
        assert numbers == [int(count) for count in counts], name
        assert longest == pytest.approx(float(waited), abs=0.02)
        assert longest <= seconds <= float(waited) + 0.02
        assert float(waited) > 0.2
    shown = FILE_LOCKS.table(job)
    assert shown is not None
    assert len(shown.rows) == 4


def test_waits_for_locks_are_a_finding(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables["file_locks"]))
    (one,) = (finding for finding in findings(job) if finding.id == "lock-waits")
    waited = sum(job.tables["file_locks"]["seconds"])
    assert one.gain is not None
    assert one.gain * job.run_time == pytest.approx(waited, rel=0.01)
    assert "HDF5" not in one.remedy
