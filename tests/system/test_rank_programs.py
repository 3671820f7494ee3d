"""Tests jobs in which ranks run two different programs: the log names each rank's program, after a regular end and
after a kill.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.lab.run.mpi_launch import mpi
from iolens.log import read_log
from iolens.log.anonymize import anonymous_program as program_of
from iolens.log.pseudonyms import Pseudonyms
from iolens.pages.wording.job_words import fact_columns, title
from mpi_libraries import need_several_programs
from mpi_library import FLAVOUR, PRELOAD
from patience import PATIENCE
from recovery_program import begin, environment, finish, program, recover

pytestmark = pytest.mark.mpi

BOTH = {"ocean": (0, 1), "atmos": (2,)}


def two_programs(folder: Path, how: str) -> list[str]:
    """Returns the launcher's command line that starts two programs as one job."""
    for name in BOTH:
        shutil.copy(program(), folder / name)
    first, second = (["-np", str(len(ranks)), str(folder / name), how] for name, ranks in BOTH.items())
    launcher = mpi.find_launcher(FLAVOUR)
    need_several_programs(launcher)
    return [launcher, *first, ":", *second]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the log of a job that ended well."""
    folder = tmp_path_factory.mktemp("programs")
    done = finish(begin(folder, two_programs(folder, "")))
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.darshan")
    return found


def test_a_log_says_which_program_each_rank_ran(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = read_log(log)
    info = job.private["job"]
    assert (info["programs"], info["rank_program"]) == (["ocean", "atmos"], [0, 0, 1])
    assert job.programs == BOTH
    assert title(job).startswith("ocean, atmos: ")
    assert dict(fact_columns(job)[0])["programs"] == "ocean (ranks 0-1), atmos (rank 2)"
    assert main(["show", "--all", str(log)]) == 0
    assert "ocean (ranks 0-1), atmos (rank 2)" in capsys.readouterr().out


def test_an_interpreter_is_called_by_what_it_runs(tmp_path: Path) -> None:
    """Ranks run a Python script, the same script with mpi4py, another script, and a module. Arguments of a compiled
    program are not in its label.
    """
    lines = (
        "python3 -u models/ocean.py",
        "python3 -m mpi4py ocean.py",
        "python3 -W ignore -X dev atmos.py",
        "python3 -m atmos fast",
        "ocean a",
    )
    words = [word for line in lines for word in (":", "-np", "1", *f"{tmp_path}/{line}".split())]
    for name in ("python3", "ocean"):
        shutil.copy(program(), tmp_path / name)
    launcher = mpi.find_launcher(FLAVOUR)
    need_several_programs(launcher)
    done = finish(begin(tmp_path, [launcher, *words[1:]]))
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.glob("*.darshan")
    assert read_log(found).programs == {
        "python3 ocean.py": (0, 1),
        "python3 atmos.py": (2,),
        "python3 -m atmos": (3,),
        "ocean": (4,),
    }


def test_a_program_that_is_kept_keeps_no_name_of_its_script() -> None:
    kept = program_of("python a.py", Pseudonyms(b"a secret", frozenset({"program"})))
    assert kept.startswith("python ")
    assert "a.py" not in kept
    assert "python" not in program_of("python a.py", Pseudonyms(b"a secret"))


@pytest.mark.parametrize("keep", [(), ("--keep", "program")])
def test_pseudonyms_hide_them_as_they_hide_the_first(log: Path, tmp_path: Path, keep: tuple[str, ...]) -> None:
    made = tmp_path / "anonymous.darshan"
    assert main(["anonymize", str(log), "-o", str(made), "--key", "a secret", *keep]) == 0
    job = read_log(made)
    first, second = job.programs
    assert list(job.programs.values()) == list(BOTH.values())
    assert Path(job.exe).name == first
    assert ([first, second] == [*BOTH]) == bool(keep)
    assert bool(keep) or not {first, second} & {*BOTH}


def test_of_killed_ranks_their_spools_say_it(tmp_path: Path) -> None:
    """Rank 0 leaves no spool, so the log must call its program unknown, and not give it the name of another rank's
    program.
    """
    launcher, *words = two_programs(tmp_path, "all")
    spared = ["-np", "1", "env", "IOLENS_SPOOL=none", words[2], "all", ":", "-np", "1", *words[2:]]
    settings = {**environment(tmp_path), "IOLENS_LOGPATH": str(tmp_path)}
    command = ["env", f"LD_PRELOAD={PRELOAD}", launcher, *spared]
    subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, check=False, timeout=PATIENCE)
    (tmp_path / "logs").mkdir()
    done = recover(tmp_path, "-o", tmp_path / "logs")
    (found,) = (tmp_path / "logs").rglob("*.darshan")
    job = read_log(found)
    assert job.programs == {"ocean": (1,), "atmos": (2,)}, done.stderr
    assert job.private["job"]["programs"] == ["", "ocean", "atmos"]
    assert dict(fact_columns(job)[0])["programs"] == "ocean (rank 1), atmos (rank 2), not known (rank 0)"
