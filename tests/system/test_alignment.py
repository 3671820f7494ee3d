"""Tests file domains of two-phase transfers: the bytes that each aggregator writes, and the locks that this costs."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from btio_program import BTIO, launch, result
from iolens.lab.run.mpi_launch import openmpi
from iolens.lab.storage.backends import set_stripes
from iolens.lab.storage.emulated import EMULATED, JobStatus, job_status, make_mount
from iolens.lab.storage.layout import Layout
from mpi_libraries import library
from own_words import own_words

ROOT = Path(__file__).resolve().parents[2]
ALIGNMENT = ROOT / "build" / "bin" / "alignment"
SHIM = ROOT / "build" / "lib" / "libost.so"
MIB = 2**20
EVEN, ALIGNED, BOUND = 0, 1, 2


@pytest.fixture(scope="session")
def domains(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("domains") / "domains"
    common = ROOT / "workloads" / "common"
    sources = [ROOT / "tests" / "c" / "file_domains.c", common / "file_domain.c"]
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", f"-I{common}", "-o", program, *sources], check=True)
    return program


def spans(domains: Path, *numbers: int) -> list[tuple[int, ...]]:
    """Returns the file domains as rows (round, aggregator, begin, end), for a kind of domain and the given sizes."""
    done = subprocess.run([domains, *map(str, numbers)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def test_every_byte_has_one_owner(domains: Path) -> None:
    assert spans(domains) == []


def test_even_domains_ignore_the_stripes(domains: Path) -> None:
    assert spans(domains, EVEN, 2, MIB, 16 * MIB, 0, 4_000_000) == [(0, 0, 0, 2_000_000), (0, 1, 2_000_000, 4_000_000)]


def test_aligned_domains_end_at_the_nearest_stripe(domains: Path) -> None:
    assert spans(domains, ALIGNED, 2, MIB, 16 * MIB, 0, 4_000_000) == [(0, 0, 0, 2 * MIB), (0, 1, 2 * MIB, 4_000_000)]


def test_bound_domains_are_stripes_in_turn(domains: Path) -> None:
    assert spans(domains, BOUND, 2, MIB, 16 * MIB, 4_000_000, 6_500_000) == [
        (0, 1, 4_000_000, 4 * MIB),
        (1, 0, 4 * MIB, 5 * MIB),
        (1, 1, 5 * MIB, 6 * MIB),
        (2, 0, 6 * MIB, 6_500_000),
    ]


def test_a_small_buffer_takes_more_rounds(domains: Path) -> None:
    assert spans(domains, EVEN, 1, 10, 30, 5, 80) == [(0, 0, 5, 35), (1, 0, 35, 65), (2, 0, 65, 80)]
    assert spans(domains, ALIGNED, 1, 10, 30, 5, 80) == [(0, 0, 5, 30), (1, 0, 30, 60), (2, 0, 60, 80)]


@dataclass(frozen=True)
class Emulated:
    """Result of a run on emulated stripes: its result JSON, the aggregators' writes, and the storage's accounts."""

    result: dict[str, Any]
    writes: list[dict[str, int]]
    books: JobStatus

    def share(self, unit: str) -> tuple[int, int]:
        """Returns the largest number of aggregators of a stripe or object, and how often a stripe or object passed to
        another aggregator.
        """
        found = self.result["extra"][unit]
        return found["most_aggregators"], found["changes"]


def alone(where: Path, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs one rank without a launcher, because a launcher takes seconds to notice that the program failed."""
    root = openmpi.openmpi_variables(["as root"], None)
    command = [program, *arguments]
    return subprocess.run(command, cwd=where, env=os.environ | root, capture_output=True, text=True, check=False)


def on_stripes(where: Path, command: Sequence[object], stripes: int, size: int = MIB) -> JobStatus:
    """Runs a command with four ranks on its own mount, which replaces MOUNT in the words; returns the storage's
    accounts.
    """
    (where / "mnt").mkdir()
    mount = make_mount(where / "mnt", ROOT / "storage" / "ost.yaml")
    set_stripes(mount, Layout(stripes, size))
    settings = {**EMULATED.environment(mount, "job"), "LD_PRELOAD": str(SHIM)}
    words = ["env", *(f"{key}={value}" for key, value in settings.items())]
    done = launch(where, words + [str(mount) if word == "MOUNT" else str(word) for word in command], ranks=4)
    assert done.status == 0, done.text + done.errors
    return job_status(mount, "job")


def emulated(where: Path, kind: int, transfer: int, stripes: int, *more: object) -> Emulated:
    """Runs `alignment` on emulated storage: four ranks, eight segments."""
    options = ["--align", kind, "--transfer", transfer, "--segments", 8, "--directory", "MOUNT"]
    options += ["--json", where / "result.json", "--log", where / "writes.csv", *more]
    books = on_stripes(where, [ALIGNMENT, *options], stripes)
    with (where / "writes.csv").open(newline="") as stream:
        writes = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(stream)]
    return Emulated(result(where / "result.json"), writes, books)


def covered(writes: Sequence[dict[str, int]]) -> list[tuple[int, int]]:
    """Returns the written bytes as joined ranges; raises if two writes overlap."""
    ranges: list[tuple[int, int]] = []
    for begin, bytes_ in sorted((write["offset"], write["bytes"]) for write in writes):
        assert not ranges or begin >= ranges[-1][1]
        if ranges and begin == ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], begin + bytes_)
        else:
            ranges.append((begin, begin + bytes_))
    return ranges


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("kind", "first_call", "per_stripe"),
    [
        (EVEN, [(0, 0, 1_000_000), (1, 1_000_000, 1_000_000), (2, 2_000_000, 1_000_000), (3, 3_000_000, 1_000_000)], 3),
        (ALIGNED, [(0, 0, MIB), (1, MIB, MIB), (2, 2 * MIB, MIB), (3, 3 * MIB, 4_000_000 - 3 * MIB)], 2),
        (BOUND, [(0, 0, MIB), (1, MIB, MIB), (2, 2 * MIB, MIB), (3, 3 * MIB, 4_000_000 - 3 * MIB)], 1),
    ],
)
def test_transfers_that_cross_stripes(
    tmp_path: Path, kind: int, first_call: list[tuple[int, ...]], per_stripe: int
) -> None:
    run = emulated(tmp_path, kind, 1_000_000, 4)
    assert run.result["verification"]["status"] == "successful"
    assert run.result["mpi"]["io_component"] == "two-phase"
    first = [(w["aggregator"], w["offset"], w["bytes"]) for w in run.writes if w["call"] == 0]
    assert first == first_call
    assert covered(run.writes) == [(0, 32_000_000)]
    assert run.books.bytes_written == run.books.bytes_read == 32_000_000
    assert run.share("stripes")[0] == per_stripe
    # A stripe needs no lock of another aggregator only if it stays with one aggregator.
    assert (run.books.lock_handovers == 0) == (kind == BOUND)
    assert (run.share("objects")[1] == 0) == (kind == BOUND)


@pytest.mark.mpi
@pytest.mark.parametrize("kind", [EVEN, ALIGNED, BOUND])
def test_transfers_of_a_stripe_share_nothing(tmp_path: Path, kind: int) -> None:
    run = emulated(tmp_path, kind, MIB, 4)
    assert run.share("stripes") == run.share("objects") == (1, 0)
    assert run.books.lock_handovers == 0
    assert {(w["bytes"], w["offset"] % MIB) for w in run.writes} == {(MIB, 0)}
    assert all(w["aggregator"] == w["offset"] // MIB % 4 for w in run.writes)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("stripes", "hints", "candidates", "used", "handed_over"),
    [
        (1, ["cb_nodes=4"], 4, 1, False),  # With more aggregators than stripes, several would share the one object.
        (3, ["cb_nodes=2"], 2, 1, False),  # Three stripes do not divide evenly among two aggregators.
        (4, ["cb_config_list=*:2"], 2, 2, False),
        # This hint allows several aggregators for each stripe.
        (1, ["cb_nodes=4", "romio_lustre_co_ratio=4"], 4, 4, True),
    ],
)
def test_bound_domains_choose_aggregators_by_the_stripes(
    tmp_path: Path, stripes: int, hints: list[str], candidates: int, used: int, handed_over: bool
) -> None:
    run = emulated(tmp_path, BOUND, 1_000_000, stripes, *(word for hint in hints for word in ("--hint", hint)))
    assert run.result["extra"]["aggregators"] == len({write["aggregator"] for write in run.writes}) == used
    assert run.result["hints"]["effective"]["cb_nodes"] == str(candidates)
    assert (run.books.lock_handovers > 0) == handed_over


@pytest.mark.mpi
@pytest.mark.parametrize(("driver", "handed_over"), [("library", True), ("lustre-like", False)])
def test_dumps_of_btio_keep_their_stripes(tmp_path: Path, driver: str, handed_over: bool) -> None:
    """The hints come from ROMIO's hints file, because Open MPI 5 loses the hints of a program, and also the hints in
    the file that have the same names.
    """
    hints = {"romio_cb_write": "enable", "cb_config_list": "*:*", "cb_nodes": "4"}
    (tmp_path / "hints").write_text("".join(f"{key} {value}\n" for key, value in hints.items()))
    command = ["env", f"ROMIO_HINTS={tmp_path}/hints", BTIO, "--class", "W", "--steps", 50, "--io-only"]
    command += ["--mpiio-driver", driver, "--directory", "MOUNT"]
    if driver != "library":
        command += [word for key, value in hints.items() for word in ("--hint", f"{key}={value}")]
    books = on_stripes(tmp_path, command, 4, 65536)
    assert books.bytes_written == books.bytes_read == 10 * 40 * 24**3
    assert (books.lock_handovers > 0) == handed_over


@pytest.mark.mpi
def test_ior_through_the_driver_keeps_stripes_with_aggregators(tmp_path: Path) -> None:
    command = [ROOT / "build" / "bin" / "ior", "-a", "MPIIO", "-c", "--mpiio-driver", "lustre-like", "-w", "-r", "-R"]
    command += ["-b", 1_000_000, "-t", 1_000_000, "-s", 4, "--directory", "MOUNT", "--json", tmp_path / "result.json"]
    books = on_stripes(tmp_path, [*command, "--hint", "cb_nodes=2"], 2)
    assert (books.bytes_written, books.bytes_read, books.lock_handovers) == (16_000_000, 32_000_000, 0)
    assert result(tmp_path / "result.json")["hints"]["effective"]["cb_nodes"] == "2"


@pytest.mark.mpi
def test_ior_says_what_the_driver_needs(tmp_path: Path) -> None:
    done = alone(tmp_path, ROOT / "build" / "bin" / "ior", "-a", "MPIIO", "--mpiio-driver", "lustre-like")
    assert done.returncode == 2
    said = own_words(done.stderr, library("usual"))
    assert said == "ior: --mpiio-driver lustre-like needs -a MPIIO -c, and works neither with -V nor with -p\n"


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_kernel_sees_the_writes_of_the_log(tmp_path: Path) -> None:
    command = ["strace", "-f", "-o", "trace", "-e", "trace=pwrite64", str(ALIGNMENT), "--align", "1", "--segments", "2"]
    command += ["--transfer", "1000", "--hint", "striping_unit=1024", "--hint", "cb_buffer_size=512", "--log", "w.csv"]
    done = launch(tmp_path, command, ranks=1)
    assert done.status == 0, done.errors
    traced = re.findall(r"pwrite64\(\d+, .*, (\d+), (\d+)\) = \1\n", (tmp_path / "trace").read_text())
    with (tmp_path / "w.csv").open(newline="") as stream:
        logged = [(row["bytes"], row["offset"]) for row in csv.DictReader(stream)]
    assert (
        traced
        == logged
        == [
            ("512", "0"),
            ("488", "512"),
            ("24", "1000"),
            ("512", "1024"),
            ("464", "1536"),
        ]
    )


@pytest.mark.mpi
def test_a_changed_file_is_found(tmp_path: Path) -> None:
    library = tmp_path / "libspoil.so"
    source = tmp_path / "spoil.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <unistd.h>\n#include <sys/syscall.h>\n"
        "ssize_t pwrite(int fd, const void *from, size_t n, off_t at)\n"
        "{ return syscall(SYS_pwrite64, fd, from, n, at ? at : 8); }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = launch(tmp_path, ["env", f"LD_PRELOAD={library}", str(ALIGNMENT), "--segments", "1"], ranks=2)
    assert done.status == 1
    assert "verification: unsuccessful" in done.text


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--align", "3"], "--align 3: the value must be 0, 1 or 2"),
        (["--transfer", "12"], "--transfer 12: a multiple of 8 bytes"),
        (["--hint", "cb_nodes=two"], "--hint cb_nodes=two: a whole number"),
        (["--directory", "/nowhere"], "--directory: cannot write into /nowhere: No such file"),
    ],
)
def test_bad_usage_is_one_clear_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = alone(tmp_path, ALIGNMENT, *arguments)
    lines = own_words(done.stderr, library("usual")).splitlines()
    assert done.returncode == 2
    assert len(lines) == 1
    assert lines[0].startswith(f"alignment: {message}")


@pytest.mark.mpi
def test_a_full_disk_is_said_and_leaves_nothing(small_disk: Path) -> None:
    done = launch(small_disk, [str(ALIGNMENT), "--segments", "10"], ranks=2)
    assert done.status == 1
    assert "cannot write ./alignment.out: No space left on device" in done.errors
    assert os.listdir(small_disk) == []
