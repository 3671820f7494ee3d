"""Tests commands that start containers: where their options end, how the profiler gets in, and when it is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.errors import IolensError, UsageError
from iolens.lab.run.containers.container import assembled, examination, take_contained_apart
from iolens.lab.run.containers.container_inside import SCRIPT, libraries_missing_inside, read_answer, refusal
from iolens.lab.run.containers.container_runtimes import RUNTIMES, bind_option, runtime_of

STARTS = [
    ("apptainer exec a.sif ./app -n 3", "a.sif", "./app -n 3"),
    ("apptainer -d exec -e --nv -B /a:/b --env A=1 a.sif ./app", "a.sif", "./app"),
    ("singularity run --cleanenv --bind=/a a.sif", "a.sif", ""),
    ("docker run --rm -it -v /a:/b -w/b -e A=1 --gpus all --name=x image:1 ./app x", "image:1", "./app x"),
    ("docker container run -ti -u 1:1 --read-only image mpirun -n 2 ./app", "image", "mpirun -n 2 ./app"),
    ("podman --root /a run --tls-verify --rootfs --network none /a ./app", "/a", "./app"),
    ("podman run -- image ./app", "image", "./app"),
]


@pytest.mark.parametrize(("line", "image", "inside"), STARTS)
def test_the_image_and_the_command_inside_are_found(line: str, image: str, inside: str) -> None:
    for launcher in ("", "mpirun -np 4 "):
        parts = take_contained_apart((launcher + line).split(), "any")
        assert (parts.started.image, " ".join(parts.started.inside)) == (image, inside)
        words = [*parts.before, *parts.started.head, *parts.started.options, image, *parts.started.inside]
        assert " ".join(words) == launcher + line


@pytest.mark.parametrize(
    ("line", "name", "why"),
    [
        ("ls", "any", "ls is not one of apptainer, singularity, docker, podman"),
        ("docker exec c ./app", "any", "needs a command that starts a container, with `docker run`"),
        ("docker run --rm", "any", "no image was found after `docker run`"),
        ("docker run -d image ./app", "any", "leave --detach out"),
        ("apptainer exec instance://x ./app", "any", "already runs"),
        ("mpirun -n 1 apptainer exec a ./a : -n 1 apptainer exec a ./b", "any", "takes one program"),
    ],
)
def test_what_cannot_be_recorded_is_refused(line: str, name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        take_contained_apart(line.split(), name)


def test_a_runtime_by_another_name(tmp_path: Path) -> None:
    parts = take_contained_apart("podman-hpc run -w /x image ./app".split(), "podman")
    assert parts.started.runtime is RUNTIMES["podman"]
    assert parts.program == "./app"
    (tmp_path / "apptainer").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "apptainer").chmod(0o755)
    (tmp_path / "singularity").symlink_to("apptainer")
    assert runtime_of(str(tmp_path / "singularity")) is RUNTIMES["apptainer"]


LINES = {
    "docker run -v /d:/d image ./app x": "docker run --env A=1,2 --env LD_PRELOAD=p.so BIND -v /d:/d image ./app x",
    "docker run image mpirun -n 2 ./app": "docker run --env A=1,2 --env LD_PRELOAD=p.so BIND image mpirun -n 2 ./app",
    "srun -n 2 apptainer exec a.sif ./app": "srun -n 2 env APPTAINERENV_A=1,2 APPTAINERENV_LD_PRELOAD=p.so "
    "apptainer exec BIND a.sif ./app",
    "apptainer exec a.sif mpirun -n 2 ./app": "env APPTAINERENV_A=1,2 APPTAINERENV_LD_PRELOAD=p.so "
    "apptainer exec BIND a.sif mpirun -n 2 ./app",
    "singularity run a.sif": "env SINGULARITYENV_A=1,2 SINGULARITYENV_LD_PRELOAD=p.so singularity run BIND a.sif",
}


@pytest.mark.parametrize("line", LINES)
def test_the_preload_is_set_inside_and_on_no_launcher_outside(line: str) -> None:
    parts = take_contained_apart(line.split(), "any")
    made = assembled(parts, ["BIND"], {"A": "1,2", "LD_PRELOAD": "p.so"})
    assert " ".join(made) == LINES[line]


def test_the_shell_that_looks_inside_takes_the_place_of_what_the_image_runs() -> None:
    words = examination(take_contained_apart("docker run -it --name x image ./app".split(), "any"), ["BIND"])
    assert words[:11] == "docker run BIND -it --name x --rm --interactive=false --tty=false --entrypoint sh".split()
    assert words[11:13] == ["image", "-c"]
    words = examination(take_contained_apart("mpirun apptainer run a.sif mpirun ./app".split(), "any"), ["BIND"])
    assert words[:6] == "apptainer exec BIND a.sif sh -c".split()
    assert words[-1] == "./app"


GLIBC_2_31 = """=loader /lib64/ld-linux-x86-64.so.2
=musl
=libraries
/iolens/lib/libiolens.so: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /iolens/lib/libiolens.so)
/iolens/lib/libiolens.so: /lib/libc.so.6: version `GLIBC_2.4' not found (required by /iolens/lib/libiolens.so)
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fb9bcd95000)
=program /usr/bin/cat
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f9c7396a000)
"""
"""Error messages of Debian 11's loader about libraries that were built in Debian 12."""


def test_an_older_c_library_inside_is_named_with_what_helps() -> None:
    inside = read_answer(GLIBC_2_31)
    why = refusal(inside, "the container of x") or ""
    assert "older C library than the profiler was built for (GLIBC_2.34 is missing)" in why
    assert "IOLENS_LIB" in why


def test_musl_and_no_c_library_at_all() -> None:
    musl = read_answer("=loader \n=musl /lib/ld-musl-x86_64.so.1\n")
    assert "musl (as Alpine has), but the profiler needs glibc" in (refusal(musl, "x") or "")
    assert "x has no glibc" in (refusal(read_answer("=loader \n=musl \n"), "x") or "")


def test_an_mpi_that_is_not_inside() -> None:
    text = "=loader /lib64/ld.so\n=musl \n=libraries\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n=program /w/app\n"
    inside = read_answer(text + "\tlibmpi.so.40 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n")
    assert refusal(inside, "x") is None
    assert libraries_missing_inside(inside) == ["libmpi.so.40"]


@pytest.mark.parametrize(("program", "listed"), [("true", False), (sys.executable, True), ("/etc/hostname", False)])
def test_the_script_that_looks_inside_on_this_machine(program: str, listed: bool) -> None:
    done = subprocess.run(["sh", "-c", SCRIPT, "sh", program], capture_output=True, text=True, check=False)
    inside = read_answer(done.stdout)
    assert inside.loader
    assert libraries_missing_inside(inside) == []
    assert ("libc.so.6 =>" in inside.program) is listed


def test_a_path_that_cannot_be_bound() -> None:
    with pytest.raises(IolensError, match="/a:b cannot be bound into a container"):
        bind_option(RUNTIMES["docker"], Path("/a:b"), "/c", False)


@pytest.mark.parametrize("option", ["--profiler=none", "--storage-mount=/x", "--io-component=lustre", "--apa=f"])
def test_options_that_need_more_of_this_machine(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--container", option, "--", "docker", "run", "image", "./app"]) == 2
    assert "--container" in capsys.readouterr().err
