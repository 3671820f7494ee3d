"""Tests the detection of programs into which no library can be preloaded, from the command line and the files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from iolens.lab.run.command_line import take_apart
from iolens.lab.run.mpi_launch.mpi import head_of, is_static
from iolens.lab.run.preload import Setup, instrumented
from iolens.lab.run.reach import beyond_reach, out_of_reach

ENV = "is started by env without LD_PRELOAD"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("true", None),
        ("./not-there", None),
        ("env", None),
        ("env A=1 true -i", None),
        ("env -u HOME -C / A=1 true", None),
        ("env -u LD_PRELOAD true", ENV),
        ("/usr/bin/env -uLD_PRELOAD true", ENV),
        ("env A=1 --unset=LD_PRELOAD true", ENV),
        ("env -i PATH=/bin true", ENV),
        ("env - true", ENV),
        ("env LD_PRELOAD= true", ENV),
        ("env A=1 env -i true", ENV),
        ("env -u", None),
    ],
)
def test_env_may_take_away_what_is_preloaded(command: str, why: str | None) -> None:
    assert out_of_reach(command.split()) == why


@pytest.mark.parametrize(
    ("at", "bytes_there", "why"),
    [
        (18, b"\xf3\x00", "is built for another type of processor"),
        (4, b"\x01", "is built for another type of processor"),
        (2000, b"/lib/ld-musl-x86_64.so.1", "is built for another C library (musl)"),
        (0, b"#!/b", None),
    ],
)
def test_a_program_of_another_kind(at: int, bytes_there: bytes, why: str | None, tmp_path: Path) -> None:
    program = tmp_path / "program"
    content = bytearray(Path(shutil.which("true") or "").read_bytes())
    content[at : at + len(bytes_there)] = bytes_there
    program.write_bytes(content)
    program.chmod(0o755)
    assert out_of_reach([str(program)]) == why


def test_a_program_that_may_not_be_read_may_be_run(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o711 if os.geteuid() == 0 else 0o111)
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        assert (head_of(program, 4), is_static(program)) == (b"", False)
    finally:
        os.seteuid(user)


def test_only_the_programs_in_reach_get_the_library(tmp_path: Path) -> None:
    """Other ranks of the job do not wait for those that get none."""
    line = "mpirun -np 1 true : -np 2 env -u LD_PRELOAD false : -np 1 true x"
    assert beyond_reach(take_apart(line.split())) == {7: ENV}
    words, variables = instrumented(line.split(), Setup(logs=tmp_path))
    assert " ".join(words) == line.replace("env -u", "env -u LD_PRELOAD env -u")
    assert variables["IOLENS_MPI"] == "0"
