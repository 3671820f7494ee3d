"""Settings by environment and configuration file, with Darshan's names, decide what is recorded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def run(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that reads two files, each through both interfaces, with these settings."""
    (folder / "one.dat").write_text("1")
    (folder / "two.log").write_text("22")
    program = harness.build_program("filter_reader")
    return harness.run(program, "one.dat", "two.log", folder=folder, **settings)


def recorded(folder: Path, module: str = "POSIX") -> set[str]:
    """Returns the names of a module's files in the only log of `folder`."""
    (log,) = harness.logs(folder)
    job = read_log(log)
    frame = job.frames.get(module)
    names = [] if frame is None else [Path(job.names[int(key)]).name for key in frame["id"]]
    return {name for name in names if name.endswith((".dat", ".log"))}


def config(folder: Path, text: str) -> str:
    path = folder / "iolens.conf"
    path.write_text(text)
    return str(path)


def test_everything_is_recorded_without_settings(tmp_path: Path) -> None:
    assert run(tmp_path).stderr == ""
    assert recorded(tmp_path) == {"one.dat", "two.log"}


@pytest.mark.parametrize(
    ("line", "posix", "stdio"),
    [
        (r"NAME_EXCLUDE  \.log$  *", {"one.dat"}, {"one.dat"}),
        (r"NAME_EXCLUDE  \.log$,\.dat$  POSIX", set(), {"one.dat", "two.log"}),
        ("MOD_DISABLE   STDIO,LUSTRE", {"one.dat", "two.log"}, set()),
        ("MOD_DISABLE   *\nMOD_ENABLE POSIX", {"one.dat", "two.log"}, set()),
        (r"NAME_EXCLUDE  .*  *" + "\n" + r"NAME_INCLUDE  one  *", {"one.dat"}, {"one.dat"}),
        ("MAX_RECORDS   1  POSIX", {"one.dat"}, {"one.dat", "two.log"}),
    ],
)
def test_a_configuration_file_chooses(tmp_path: Path, line: str, posix: set[str], stdio: set[str]) -> None:
    path = config(tmp_path, f"# a comment\n{line}   # behind it\n")
    assert run(tmp_path, DARSHAN_CONFIG_PATH=path, IOLENS_INCLUDE="/nowhere").stderr == ""
    assert (recorded(tmp_path), recorded(tmp_path, "STDIO")) == (posix, stdio)


def test_a_limit_of_records_marks_the_module_partial(tmp_path: Path) -> None:
    run(tmp_path, IOLENS_MAX_RECORDS="1 POSIX")
    (log,) = harness.logs(tmp_path)
    assert read_log(log).partial


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    path = config(tmp_path, "MOD_DISABLE POSIX\n")
    run(tmp_path, IOLENS_CONFIG_PATH=path, DARSHAN_MOD_DISABLE="STDIO")
    assert recorded(tmp_path, "STDIO") == set()
    assert recorded(tmp_path) == {"one.dat", "two.log"}


def test_traces_are_switched_on_by_their_modules(tmp_path: Path) -> None:
    run(tmp_path, DARSHAN_MOD_ENABLE="DXT_POSIX,DXT_MPIIO")
    (log,) = harness.logs(tmp_path)
    assert "DXT_POSIX" in {module.name for module in read_log(log).modules}


@pytest.mark.parametrize(
    ("settings", "logs"),
    [
        ({"IOLENS_APP_EXCLUDE": "filter_*"}, 0),
        ({"IOLENS_APP_INCLUDE": "other"}, 0),
        ({"IOLENS_APP_INCLUDE": "filter_reader"}, 1),
    ],
)
def test_programs_are_chosen_by_name(tmp_path: Path, settings: dict[str, str], logs: int) -> None:
    run(tmp_path, **settings)
    assert len(harness.logs(tmp_path)) == logs


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("NO_SUCH 1", ":2: no setting is called NO_SUCH"),
        ("NAME_EXCLUDE [ *", "[ is not a valid extended regular expression"),
        ("MOD_DISABLE NOSUCH", "no module is called NOSUCH"),
        ("MAX_RECORDS many POSIX", "MAX_RECORDS many: the number must be positive"),
    ],
)
def test_a_bad_line_is_named_and_left_out(tmp_path: Path, line: str, said: str) -> None:
    done = run(tmp_path, IOLENS_CONFIG_PATH=config(tmp_path, f"# first\n{line}\n"))
    assert done.returncode == 0
    assert done.stderr.count(said) == 1
    assert recorded(tmp_path) == {"one.dat", "two.log"}


def test_settings_can_be_printed(tmp_path: Path) -> None:
    done = run(tmp_path, DARSHAN_DUMP_CONFIG="1", IOLENS_MEMORY="99")
    assert "IOLENS_MEMORY=99  # MiB that a process may use" in done.stderr
