"""The preload is added to every program of a command line, and never to the launcher."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iolens.errors import IolensError
from iolens.lab import installation
from iolens.lab.run import preload
from iolens.lab.run.command_line import command_name, take_apart, with_environment
from iolens.lab.run.preload import Setup, instrumented

COMMANDS = [
    ("./app -n 3", ["./app"]),
    ("mpirun -np 4 ./app input", ["./app"]),
    ("mpirun --mca io romio321 -x A=1 --map-by core --oversubscribe ./app -np 9", ["./app"]),
    ("mpirun -n 2 -- ./app", ["./app"]),
    ("mpirun -np 1 ./a x : -np 2 ./b y", ["./a", "./b"]),
    ("mpiexec -genv A 1 -ppn 2 -n 4 python3 script.py", ["python3"]),
    ("srun -n 4 --mpi=pmix --export=ALL -N 2 ./app", ["./app"]),
    ("/opt/bin/mpiexec.hydra -hosts a,b -n 4 ./app", ["./app"]),
    ("aprun -n 4 -N 2 ./app", ["./app"]),
]


@pytest.mark.parametrize(("line", "applications"), COMMANDS)
def test_the_application_is_found(line: str, applications: list[str]) -> None:
    command = take_apart(line.split())
    assert [command.words[index] for index in command.applications] == applications


@pytest.mark.parametrize(("line", "applications"), COMMANDS)
def test_the_environment_stands_right_before_each_application(line: str, applications: list[str]) -> None:
    words = with_environment(take_apart(line.split()), {"LD_PRELOAD": "lib.so"})
    for application in applications:
        index = words.index(application)
        assert words[index - 2 : index] == ["env", "LD_PRELOAD=lib.so"]
    assert words.count("env") == len(applications)


def test_a_program_whose_path_has_an_equals_sign_gets_its_environment(tmp_path: Path) -> None:
    program = tmp_path / "a=b c" / "x=y"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$QUOTED" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    words = with_environment(take_apart([str(program), "one 'two", "$3"]), {"QUOTED": "it's $HOME; x=1"})
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "it's $HOME; x=1|one 'two|$3|"
    assert command_name(words) == "x=y"


def test_a_launcher_without_a_program_is_an_error() -> None:
    with pytest.raises(IolensError, match="no program was found after `mpirun`"):
        instrumented(["mpirun", "-np", "4"], Setup())


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("env LD_PRELOAD=x IOLENS_RUN=y /opt/app -n 3", "app"),
        ("env -u HOME A=1 env B=2 sh -c true", "sh"),
        ("mpirun -np 4 env A=1 ./app", "mpirun"),
        ("env", "env"),
        ("env A=1", "env"),
        ("sh -c true", "sh"),
        ("sh -c", "sh"),
    ],
)
def test_what_ended_is_not_called_env(line: str, name: str) -> None:
    assert command_name(line.split()) == name


def test_a_missing_library_is_not_built_where_iolens_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preload, "find_library", lambda _: None)
    assert "run `make build`" in preload.missing_libraries("iolens", None)[0]
    monkeypatch.setattr(installation, "CHECKOUT", tmp_path)
    assert "make build" not in preload.missing_libraries("iolens", None)[0]
    assert "install iolens again" in preload.missing_libraries("iolens", None)[0]
