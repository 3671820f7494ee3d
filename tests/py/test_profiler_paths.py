"""Which files are recorded and under which name; record ids; time stamps."""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def names(folder: Path, *arguments: str, **settings: str) -> set[str]:
    """Files that `cat arguments` left in the log."""
    result = harness.run("/bin/cat", *arguments, folder=folder, **settings)
    assert result.returncode == 0, result.stderr
    found = {name for log in harness.logs(folder) for name in harness.read_log(log).name_records.values()}
    return {name for name in found if name.startswith("/")}


def test_spellings_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "data").write_text("x")
    spellings = ["data", "./data", ".//data", "sub/../data", f"/{tmp_path}/./data"]
    assert names(tmp_path, *spellings) == {f"{tmp_path}/data"}


def test_dotdot_behind_a_link_goes_where_the_file_system_goes(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/deep")
    (tmp_path / "real/data").write_text("x")
    assert names(tmp_path, "link/../data") == {f"{tmp_path}/real/data"}


def test_links_keep_the_name_that_the_program_used(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "alias").symlink_to("data")
    assert names(tmp_path, "alias") == {f"{tmp_path}/alias"}


def test_system_folders_and_control_files_are_left_out(tmp_path: Path) -> None:
    control = tmp_path / "data.locktest.0"
    control.write_text("x")
    (tmp_path / "data").write_text("x")
    assert names(tmp_path, "/etc/passwd", "/proc/self/stat", str(control), "data") == {f"{tmp_path}/data"}


def test_include(tmp_path: Path) -> None:
    assert names(tmp_path, "/etc/passwd", IOLENS_INCLUDE="/dev/shm:/etc/pass") == {"/etc/passwd"}


def test_record_ids_are_those_of_darshan(tmp_path: Path) -> None:
    """Check value of Darshan's hash for the name of a standard stream."""
    program = harness.build_program("stdio_calls")
    assert harness.run(program, folder=tmp_path, stdin="12345 word\n").returncode == 0
    records = harness.read_log(harness.logs(tmp_path)[0]).name_records
    assert harness.run("/bin/cat", "missing", folder=tmp_path, IOLENS_LOGFILE=f"{tmp_path}/err").returncode == 1
    records |= harness.read_log(tmp_path / "err").name_records
    assert records[7238257241479193519] == "<STDERR>"


@pytest.mark.parametrize("name", ["posix_transfer", "posix_threads"])
def test_times(name: str, tmp_path: Path) -> None:
    assert harness.run(harness.build_program(name), folder=tmp_path).returncode == 0
    report = harness.read_log(harness.logs(tmp_path)[0])
    run_time = report.metadata["job"]["run_time"]
    for path in report.name_records.values():
        if not path.startswith("/"):
            continue
        count, time = harness.counters(report, path), harness.times(report, path, "POSIX")
        for kind, calls in (("READ", count["POSIX_READS"]), ("WRITE", count["POSIX_WRITES"])):
            begin, end = time[f"POSIX_F_{kind}_START_TIMESTAMP"], time[f"POSIX_F_{kind}_END_TIMESTAMP"]
            total, longest = time[f"POSIX_F_{kind}_TIME"], time[f"POSIX_F_MAX_{kind}_TIME"]
            assert (calls > 0) == (begin > 0) == (end > 0) == (total > 0) == (longest > 0)
            assert begin <= end <= run_time + 1e-3
            assert total <= end - begin + 1e-9, "threads' overlap is counted once"
        assert 0 < time["POSIX_F_OPEN_START_TIMESTAMP"] <= time["POSIX_F_CLOSE_END_TIMESTAMP"]
        assert time["POSIX_F_META_TIME"] > 0
        assert time["POSIX_F_VARIANCE_RANK_TIME"] == 0
