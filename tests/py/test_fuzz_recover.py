"""Gives damaged spools to the recovery: a fixed sample of tests/fuzz/recover.c, and the faults that its long runs
found.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.cli.main import main
from iolens.lab.recovery import recover
from iolens.log import read_log
from iolens.log.record_id import record_id
from patience import PATIENCE
from spool_copies import PID_AT, copy_ranks

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
from mutate import mutate

RECOVER = harness.BUILD / "bin/iolens-recover"


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the spool of a killed process that used four files and a stream."""
    folder = tmp_path_factory.mktemp("killed")
    program = harness.build_program("spool_killed")
    harness.run(program, "kill", "4", folder=folder, IOLENS_SPOOL=str(folder), IOLENS_DXT="1")
    (found,) = folder.glob("iolens-*/*.spool")
    return found


def test_a_sample_of_damage(tmp_path: Path, spool: Path) -> None:
    """This build has no sanitizers, unlike that of `make fuzz`, so a fault is only seen if it ends the process."""
    fuzzer = harness.BUILD / "bin/fuzz-recover"
    make = ["make", "-s", "-C", harness.ROOT / "profiler", f"BUILD={harness.BUILD}"]
    subprocess.run([*make, "fuzz-recover"], check=True)
    command = [str(fuzzer), "-n", "1500", str(tmp_path), str(spool)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout
    assert " 0 failures" in done.stdout


@pytest.mark.parametrize("seed", range(20))
def test_the_command_makes_a_readable_log_of_a_damaged_job_or_keeps_its_spools(
    seed: int, tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recover, "program", lambda: RECOVER)
    chance = random.Random(seed)
    ranks = copy_ranks(spool, tmp_path / "ranks", 3)
    for rank, path in enumerate(ranks):
        data = bytearray(path.read_bytes())
        struct.pack_into("<q", data, PID_AT, 1 + rank)
        path.write_bytes(mutate(bytes(data), chance) if chance.random() < 0.6 else data)
    code = main(["recover", "-o", str(tmp_path / "logs"), str(tmp_path / "ranks")])
    logs = list((tmp_path / "logs").glob("*.darshan"))
    for log in logs:
        read_log(log)
    assert code in (0, 1)
    assert logs or all(path.exists() for path in ranks)


NOT_IN_A_SPOOL = {
    "lustre_client": "the process reads the counters again when it writes its log",
    "start_up": "only the process itself knows its libraries",
}
"""Private tables that no log of a spool has, and the reasons."""

NEEDED = {
    "clocks": "clocks",
    "libaio": "unfollowed",
    "memory": "memory_nodes",
    "requests": "http_requests",
    "rings": "io_uring",
}
"""Tables of the spools that need a library, a kernel or rights that a machine may lack, by the spools' folders."""


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the undamaged spools of tests/fuzz/spools.sh."""
    folder = tmp_path_factory.mktemp("seeds")
    subprocess.run([harness.ROOT / "tests/fuzz/spools.sh", folder], capture_output=True, check=True)
    return folder


@pytest.mark.mpi
def test_the_spools_that_are_damaged_fill_every_private_table(tmp_path: Path, seeds: Path) -> None:
    found: set[str] = set()
    folders = {path.parent for path in seeds.glob("*/*/*.spool")}
    jobs = [[spool] for spool in seeds.glob("*/*/*.spool")]
    # Several spools in a folder are the ranks of a job, or jobs of their own.
    jobs += [[*folder.glob("*.spool")] for folder in folders]
    for number, spools in enumerate(jobs):
        logs = tmp_path / "logs" / str(number)
        logs.mkdir(parents=True)
        merged(logs, *spools)
    for log in tmp_path.glob("logs/*/*.darshan"):
        found |= {name for name, rows in read_log(log).private.items() if len(rows)}
    made = {folder.parent.name for folder in folders}
    if not {"hdf5", "messages"} <= made:
        pytest.skip("this machine lacks MPI or HDF5, whose tables the spools cannot have here")
    script = (harness.ROOT / "tests/fuzz/spools.sh").read_text()
    assert all(f"keep {folder} " in script for folder in NEEDED)
    not_here = {table for folder, table in NEEDED.items() if folder not in made}
    listed = (harness.ROOT / "profiler/src/tables.def").read_text()
    not_here.add("hdf5_not_collective")  # HDF5 1.14 carries out collectively what 1.10 did not.
    assert {*re.findall(r"^TABLE\((\w+)\)", listed, re.M)} - found - not_here == set(NOT_IN_A_SPOOL)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("table", "columns", "layout"),
    [
        ("mpi_events", ("bytes", "peer", "thread"), "<qiI"),
        ("why_events", ("communicator", "peer", "tag", "bytes"), "<Iiif"),
    ],
)
def test_a_peer_that_the_job_does_not_have_is_none(
    table: str, columns: tuple[str, ...], layout: str, tmp_path: Path, seeds: Path
) -> None:
    """The reader refuses a log with such a peer, and `iolens recover` would have removed the spools."""
    spools = sorted(seeds.glob("messages/*/*.spool"))
    if not spools:
        pytest.skip("this machine lacks MPI")
    (tmp_path / "whole").mkdir()
    rows = read_log(merged(tmp_path / "whole", *spools).stdout.strip()).private[table]
    row = rows[(rows["peer"] >= 0) & (rows["bytes"] > 0)].iloc[0]
    found, wrong = (struct.pack(layout, *({**row, "peer": peer}[key] for key in columns)) for peer in (row["peer"], 99))
    damaged = [tmp_path / spool.name for spool in spools]
    for spool, copy in zip(spools, damaged, strict=True):
        copy.write_bytes(spool.read_bytes().replace(found, wrong))
    assert any(wrong in copy.read_bytes() for copy in damaged)
    job = read_log(merged(tmp_path, *damaged).stdout.strip())
    assert len(job.private[table]) == len(rows)
    assert (job.private[table]["peer"] == -1).sum() > (rows["peer"] == -1).sum()


def merged(folder: Path, *spools: Path) -> subprocess.CompletedProcess[str]:
    command = [str(RECOVER), "merge", "-o", str(folder), *map(str, spools)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


def word(data: bytes | bytearray, at: int) -> int:
    return int(struct.unpack_from("<Q", data, at)[0])


def first_file(data: bytes | bytearray) -> int:
    """Returns the offset of a file's oldest record, found by the name of the first file and the pointer to it."""
    name = data.index(b"/file0\0")
    begin = data.rindex(b"\0", 0, name) + 1
    base = word(data, 16)
    return data.index(struct.pack("<Q", base + begin)) - 8


def overlapping(data: bytearray) -> None:
    """Makes the second file point to the first one's POSIX state."""
    at = first_file(data)
    second = word(data, at + 24) - word(data, 16)
    data[second + 32 : second + 40] = data[at + 32 : at + 40]


def ring(data: bytearray) -> None:
    """Makes the list of files a circle: the second file is followed by the first."""
    at = first_file(data)
    second = word(data, at + 24) - word(data, 16)
    data[second + 24 : second + 32] = struct.pack("<Q", word(data, 16) + at)


@pytest.mark.parametrize("change", [overlapping, ring])
def test_records_that_cannot_be_are_left_out(change: Callable[[bytearray], None], tmp_path: Path, spool: Path) -> None:
    data = bytearray(spool.read_bytes())
    change(data)
    damaged = tmp_path / "damaged.spool"
    damaged.write_bytes(data)
    done = merged(tmp_path, damaged)
    assert done.returncode == 0, done.stderr
    assert " is damaged; the log is made without it" not in done.stderr
    job = read_log(done.stdout.strip())
    assert any(module.partial for module in job.modules)


def test_a_program_without_mpi_has_no_record_of_it(tmp_path: Path, spool: Path) -> None:
    """A damaged pointer made other bytes the record of a file's MPI calls, which only the writing of a log makes."""
    data = bytearray(spool.read_bytes())
    listed = re.findall(r"^MODULE\((\w+)\)", (harness.ROOT / "profiler/src/modules.def").read_text(), re.M)
    struct.pack_into("<Q", data, first_file(data) + 32 + 8 * listed.index("APMPI"), word(data, 16) + len(data) - 4096)
    damaged = tmp_path / "damaged.spool"
    damaged.write_bytes(data)
    job = read_log(merged(tmp_path, damaged).stdout.strip())
    assert "APMPI" not in {module.name for module in job.modules}
    assert "POSIX" in job.frames


def test_no_more_ranks_than_a_machine_has(tmp_path: Path, spool: Path) -> None:
    """A damaged number of ranks must not make the recovery allocate a table of that size."""
    data = bytearray(spool.read_bytes())
    host = os.uname().nodename.encode().ljust(64, b"\0")[:64]
    ranks = data.index(host) + 64 + 4
    assert struct.unpack_from("<ii", data, ranks - 4) == (-1, 0)
    struct.pack_into("<ii", data, ranks - 4, 0, 2**31 - 1)
    damaged = tmp_path / "damaged.spool"
    damaged.write_bytes(data)
    done = merged(tmp_path, damaged)
    assert done.returncode == 1
    assert "its header is damaged" in done.stderr


COMMAND, COMPILER, MOUNTS, ENVIRONMENT, PROCESSOR, MOUNT_IDS = 456, 3472, 3984, 24464, 40848, 40936
"""Offsets in a process's facts (job/identity.h)."""


def identity_hash(identity: bytes) -> int:
    """Returns the checksum of a process's facts: the short texts, each long text up to its end, and the numbers."""
    places = ((COMMAND, COMPILER), (COMPILER, MOUNTS), (MOUNTS, ENVIRONMENT), (ENVIRONMENT, PROCESSOR))
    parts = [identity[begin:end].partition(b"\0")[0] for begin, end in places]
    found = record_id(identity[:COMMAND])
    for part in (*parts, identity[PROCESSOR:MOUNT_IDS], identity[MOUNT_IDS : MOUNT_IDS + 8]):
        found = (found * 0x100000001B3 % 2**64) ^ record_id(part)
    return found


def test_a_checksum_is_not_trusted(tmp_path: Path, spool: Path) -> None:
    """Makes a spool whose command line has no end in its place, with a correct checksum."""
    data = bytearray(spool.read_bytes())
    host = os.uname().nodename.encode().ljust(64, b"\0")[:64]
    begin = data.index(host, data.index(host) + 1) - 8
    end = begin + MOUNT_IDS + 8
    assert word(data, end) == identity_hash(bytes(data[begin:end]))
    data[begin + COMMAND : begin + COMPILER] = b"x" * (COMPILER - COMMAND)
    struct.pack_into("<Q", data, end, identity_hash(bytes(data[begin:end])))
    damaged = tmp_path / "damaged.spool"
    damaged.write_bytes(data)
    done = merged(tmp_path, damaged)
    assert done.returncode == 1
    assert "its header is damaged" in done.stderr


def test_a_spool_is_read_as_it_was(tmp_path: Path, spool: Path) -> None:
    """All files of an undamaged spool are recovered; none counts as overlapping another."""
    whole = tmp_path / "whole.spool"
    shutil.copy(spool, whole)
    job = read_log(merged(tmp_path, whole).stdout.strip())
    assert not any(module.partial for module in job.modules)
    assert job.frames["POSIX"]["POSIX_WRITES"].tolist() == [10, 10, 10, 10]
