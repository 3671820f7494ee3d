"""The words of a command are left alone; the programs in them are found for names, and variables reach other hosts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iolens.lab import installation
from iolens.lab.run import preload
from iolens.lab.run.command_line import command_name, launcher_name, take_apart, with_environment
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.mpi_launch.hosts_reached import across_hosts
from iolens.lab.run.preload import Setup, instrumented

COMMANDS = [
    ("./app -n 3", ["./app"]),
    ("mpirun -np 4 ./app input", ["./app"]),
    ("mpirun --mca io romio321 -x A=1 --map-by core --oversubscribe ./app -np 9", ["./app"]),
    ("mpirun -n 2 -- ./app", ["./app"]),
    ("mpirun -q ./app", ["./app"]),
    ("mpirun --cpus-per-proc 1 -np 2 ./app", ["./app"]),
    ("mpirun.openmpi -np 2 ./app ./a", ["./app"]),
    ("mpirun -np 1 ./a x : -np 2 ./b y", ["./a", "./b"]),
    ("mpiexec -genv A 1 -ppn 2 -n 4 python3 script.py", ["python3"]),
    ("srun -n 4 --mpi=pmix --export=ALL -N 2 ./app", ["./app"]),
    ("srun -J env --gpus-per-task 1 ./app", ["./app"]),
    ("/opt/bin/mpiexec.hydra -hosts a,b -n 4 ./app", ["./app"]),
    ("aprun -n 4 -N 2 ./app", ["./app"]),
    ("mpirun --app commands", []),
    ("mpirun -np 2 ./missing", []),
]


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the current folder one with the programs that the commands start."""
    for name in ("app", "a", "b"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("line", "applications"), COMMANDS)
def test_the_application_is_found(line: str, applications: list[str]) -> None:
    command = take_apart(line.split())
    assert [command.words[index] for index in command.applications] == applications


@pytest.mark.parametrize(("line", "applications"), COMMANDS)
def test_no_word_changes(line: str, applications: list[str], tmp_path: Path) -> None:
    words, variables = instrumented(line.split(), Setup(logs=tmp_path))
    assert words[0] == line.split()[0]
    assert words[len(words) - len(line.split()) + 1 :] == line.split()[1:]
    assert variables["IOLENS_RUN_LOGS"] == str(tmp_path)
    assert variables["LD_PRELOAD"].split(":")[0].endswith("/libiolens.so")


@pytest.mark.parametrize(
    ("word", "name"),
    [("/usr/bin/mpirun.mpich", "mpirun"), ("mpiexec.hydra", "mpiexec"), ("timeout", None), ("./mpirunner", None)],
)
def test_launchers_by_other_names(word: str, name: str | None) -> None:
    assert launcher_name(word) == name


@pytest.mark.parametrize(("line", "applications"), [row for row in COMMANDS if row[1]])
def test_darshan_is_set_up_right_before_each_application(line: str, applications: list[str]) -> None:
    words = with_environment(take_apart(line.split()), {"LD_PRELOAD": "lib.so"})
    for application in applications:
        index = words.index(application)
        assert words[index - 2 : index] == ["env", "LD_PRELOAD=lib.so"]
    assert words.count("LD_PRELOAD=lib.so") == len(applications)


def test_a_program_whose_path_has_an_equals_sign_gets_its_environment(tmp_path: Path) -> None:
    program = tmp_path / "a=b c" / "x=y"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$QUOTED" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    words = with_environment(take_apart([str(program), "one 'two", "$3"]), {"QUOTED": "it's $HOME; x=1"})
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "it's $HOME; x=1|one 'two|$3|"
    assert command_name(words) == "x=y"


@pytest.mark.parametrize("option", ["--hostfile=h", "-H", "--default-hostfile", "-machinefile", "--app"])
def test_open_mpi_is_told_the_variables_for_other_hosts(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "flavour_of_launcher", lambda _: "openmpi")
    monkeypatch.delenv("OMPI_MCA_mca_base_env_list", raising=False)
    words = ["mpirun", option, "h", "./app"]
    assert across_hosts(words, {"A": "1", "OMPI_B": "2"}) == ["mpirun", "-x", "A", *words[1:]]
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "OTHER")
    settings = {"A": "1"}
    assert across_hosts(words, settings) == words
    assert settings["OMPI_MCA_mca_base_env_list"] == "OTHER;A"


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("mpirun -x LD_PRELOAD=u.so ./app", "mpirun -x LD_PRELOAD=p.so:u.so ./app"),
        ("mpiexec -genv LD_PRELOAD u.so ./app", "mpiexec -genv LD_PRELOAD p.so:u.so ./app"),
        ("mpirun -x LD_PRELOAD ./app", "mpirun -x LD_PRELOAD ./app"),
    ],
)
def test_libraries_that_the_launcher_preloads_keep_their_place(given: str, made: str) -> None:
    assert " ".join(across_hosts(given.split(), {"LD_PRELOAD": "p.so"})) == made


def test_an_unknown_launcher_of_several_hosts_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mpi, "flavour_of_launcher", lambda _: pytest.fail("an unknown launcher is not started"))
    for words in (["ibrun", "-f", "hosts", "./app"], ["ibrun", "./app"]):
        assert across_hosts(words, {"A": "1", "B": "2"}) == words
    assert capsys.readouterr().err.count("name these variables to it: A B") == 1


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("srun --export=ALL,X=1 ./app", "srun --export=ALL,X=1 ./app"),
        ("srun --export=NONE ./app", "srun --export=A,B ./app"),
        ("srun --export X ./app", "srun --export X,A,B ./app"),
        ("srun -n 2 ./app --export=NONE", "srun -n 2 ./app --export=NONE"),
    ],
)
def test_srun_that_exports_little_exports_what_recording_needs(given: str, made: str) -> None:
    assert " ".join(across_hosts(given.split(), {"A": "1", "B": "2"})) == made


def test_the_variable_of_sruns_option_is_changed_as_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_EXPORT_ENV", "NONE")
    settings = {"A": "1"}
    across_hosts(["srun", "./app"], settings)
    assert settings["SLURM_EXPORT_ENV"] == "A"


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
    assert "run `make build`" in preload.missing_profiler()
    monkeypatch.setattr(installation, "CHECKOUT", tmp_path)
    assert "make build" not in preload.missing_profiler()
    assert "install iolens again" in preload.missing_profiler()
