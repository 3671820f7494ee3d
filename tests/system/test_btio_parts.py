"""Tests parts of btio alone, and its I/O calls as the MPI library and the kernel see them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from btio_program import BTIO, ROOT, launch, verified

pytestmark = pytest.mark.mpi
OBJECTS = ROOT / "build" / "obj" / "workloads"


def compiled(source: str, output: Path, *arguments: str) -> Path:
    command = [
        "mpicc",
        "-std=gnu11",
        "-march=native",
        "-Wall",
        "-Wextra",
        "-Werror",
        str(ROOT / "tests" / "c" / source),
    ]
    subprocess.run([*command, *arguments, "-o", str(output)], check=True)
    return output


@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_parts(tmp_path: Path, ranks: int) -> None:
    objects = [str(o) for part in ("btio", "common") for o in (OBJECTS / part).glob("*.o") if o.name != "main.o"]
    folders = [f"-I{ROOT / 'workloads' / part}" for part in ("btio", "common")]
    found = (OBJECTS / "libraries.mk").read_text(encoding="utf-8")
    libraries = " ".join(re.findall(r"^LIBS_PNETCDF = (.*)$", found, re.MULTILINE)).split()
    program = compiled("btio_units.c", tmp_path / "units", *folders, *objects, *libraries, "-lm")
    done = launch(tmp_path, [str(program)], ranks=ranks)
    assert done.status == 0, done.errors


@pytest.mark.parametrize(
    ("method", "ranks", "expected"),
    [
        ("full", 1, "open=2 view=2 write_at=0 read_at=0 write_at_all=12 read_at_all=12"),
        ("full", 4, "open=2 view=2 write_at=0 read_at=0 write_at_all=12 read_at_all=12"),
        ("simple", 1, "open=2 view=2 write_at=1728 read_at=1728 write_at_all=0 read_at_all=0"),
        ("simple", 4, "open=2 view=2 write_at=864 read_at=864 write_at_all=0 read_at_all=0"),
        ("fortran", 1, "open=0 view=0 write_at=0 read_at=0 write_at_all=0 read_at_all=0"),
    ],
)
def test_mpi_io_calls_are_those_of_the_reference(tmp_path: Path, method: str, ranks: int, expected: str) -> None:
    """The expected numbers were counted in the reference program for class S."""
    counter = compiled("btio_calls.c", tmp_path / "libcalls.so", "-shared", "-fPIC")
    command = ["env", f"LD_PRELOAD={counter}", str(BTIO), "--class", "S", "--method", method]
    done = launch(tmp_path, command, ranks=ranks)
    assert done.status == 0, done.errors
    assert f"CALLS {expected}\n" in done.text


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("method", ["full", "simple", "epio", "fortran"])
def test_fsync_reaches_the_kernel(tmp_path: Path, method: str) -> None:
    """With the option the file is synced once, before it is closed; without it never."""
    for option, expected in ((["--fsync"], 1), ([], 0)):
        trace = ["strace", "-f", "-y", "-o", "trace.txt", "-e", "trace=fsync,fdatasync"]
        done = launch(tmp_path, [*trace, str(BTIO), "--method", method, *option])
        assert done.status == 0, done.errors
        calls = (tmp_path / "trace.txt").read_text().splitlines()
        assert len([call for call in calls if "btio." in call]) == expected


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_fortran_writes_forty_bytes_at_a_time(tmp_path: Path) -> None:
    trace = ["strace", "-f", "-y", "-o", "trace.txt", "-e", "trace=pwrite64"]
    arguments = ["--steps", "1", "--io-only", "--method", "fortran"]
    done = launch(tmp_path, [*trace, str(BTIO), *arguments])
    assert done.status == 0, done.errors
    sizes = re.findall(r"btio\.fortran\.out.* (\d+), \d+\) += 40$", (tmp_path / "trace.txt").read_text(), re.MULTILINE)
    assert sizes == ["40"] * 12**3


def test_a_size_limit_is_an_error_message(tmp_path: Path) -> None:
    """The kernel sends a signal at the limit, which must not kill the program. (20 MB leave room for MPI's
    own files.)
    """
    verified(tmp_path, "--class", "W", "--io-only", "--method", "epio")
    limited = ["bash", "-c", f"ulimit -f 20000; exec {BTIO} --class W --io-only --method epio"]
    done = launch(tmp_path, limited)
    assert done.status == 1
    assert done.messages == ["btio: cannot write ./btio.epio.out.0000: File too large"]
    assert list(tmp_path.iterdir()) == []
