"""Where the preload goes: on every application of a command line, never on its launcher."""

from __future__ import annotations

import pytest
from iolens.errors import IolensError
from iolens.lab.run.command_line import take_apart, with_environment
from iolens.lab.run.execute import Setup, instrumented

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


def test_a_launcher_without_a_program_is_an_error() -> None:
    with pytest.raises(IolensError, match="no program found behind `mpirun`"):
        instrumented(["mpirun", "-np", "4"], Setup())
