"""Tests counters of the Lustre client, read from files like a client's `stats` (format from Lustre's manual and mailing
list).
"""

from __future__ import annotations

import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.pages.exhibits.striping import LUSTRE_CLIENT
from test_profiler_lustre import plain, shim

__all__ = ["shim"]

LLITE = """snapshot_time             1523008010.817348638 secs.nsecs
start_time                1523000000.000000000 secs.nsecs
read_bytes                {reads} samples [bytes] 1 3366225 {read} 4366299781827334380
write_bytes               13641 samples [bytes] 1 3366225 468230469
ioctl                     8050 samples [regs]
open                      {opens} samples [usec] 3 4711 {waited} 28824671200467887
"""
OSC = """snapshot_time             1637627183.394337 secs.usecs
req_waittime              {requests} samples [usec] 31 17820911 {usec} 28824671200467887
write_bytes               10208130 samples [bytes] 1 4194304 10917616761706 4366299781827334380
"""
CODE = """
import os, shutil
fd = os.open("data", os.O_CREAT | os.O_RDWR)
os.pwrite(fd, b"x" * 100, 0)
shutil.copytree("later", "stats", dirs_exist_ok=True)
os.close(fd)
"""


def counters(folder: Path, llite: str, osc: str, extra: str = "") -> None:
    """Writes the `stats` files of a Lustre client with one file system and one target."""
    for name, text in (("llite/scratch-ffff81019a4eb000", llite), ("osc/scratch-OST0000-osc-ffff8101", osc)):
        (folder / name).mkdir(parents=True)
        (folder / name / "stats").write_text(text + (extra if name.startswith("llite") else ""))


@pytest.fixture
def before_and_after(tmp_path: Path) -> Path:
    harness.build_library()
    counters(
        tmp_path / "stats",
        LLITE.format(reads=25673, read=145121869, opens=12, waited=300),
        OSC.format(requests=100, usec=4000),
    )
    counters(
        tmp_path / "later",
        LLITE.format(reads=25683, read=146121869, opens=15, waited=450),
        OSC.format(requests=107, usec=4700),
        "fsync                     2 samples [usec] 3 4 7\n",
    )
    return tmp_path


def test_what_changed_is_in_the_log(before_and_after: Path, shim: Path) -> None:
    folder = before_and_after
    (folder / "attribute").write_bytes(plain(1000, [3]))
    settings = {"LD_PRELOAD": f"{harness.PRELOAD}:{shim}", "LOV_BYTES": str(folder / "attribute")}
    stats = f"{folder / 'nowhere'}:{folder / 'stats'}"
    done = harness.run(sys.executable, "-c", CODE, folder=folder, IOLENS_LUSTRE_STATS=stats, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = harness.logs(folder)
    job = read_log(path)
    table = job.private["lustre_client"]
    columns = ["counter", "unit", "samples_before", "samples_after", "sum_before", "sum_after"]
    assert set(table["rank"]) == {0}
    assert set(table["node"]) == set(job.private["job"]["hosts"])
    assert {tuple(row) for row in table[columns].itertuples(index=False)} == {
        ("read_bytes", "bytes", 25673, 25683, 145121869, 146121869),
        ("open", "usec", 12, 15, 300, 450),
        ("fsync", "usec", 0, 2, 0, 7),
        ("req_waittime", "usec", 100, 107, 4000, 4700),
    }
    assert set(zip(table["layer"], table["device"], strict=True)) == {
        ("llite", "scratch-ffff81019a4eb000"),
        ("osc", "scratch-OST0000-osc-ffff8101"),
    }
    rows = LUSTRE_CLIENT.table(job).rows
    assert ["programs", "read_bytes", "10", "977 KiB", "1"] in rows
    assert ["storage targets", "req_waittime", "7", "700 usec", "1"] in rows


def test_a_program_without_layouts_reads_none(before_and_after: Path) -> None:
    stats = str(before_and_after / "stats")
    done = harness.run(sys.executable, "-c", CODE, folder=before_and_after, IOLENS_LUSTRE_STATS=stats)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = harness.logs(before_and_after)
    assert "lustre_client" not in read_log(path).private
