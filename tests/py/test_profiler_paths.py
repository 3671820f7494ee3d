"""Tests which files are recorded, and their names, record ids and time stamps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def names(folder: Path, *arguments: str, **settings: str) -> set[str]:
    """Runs `cat` with these arguments, and returns the absolute paths of the files in its logs."""
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


def test_links_lead_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "again").symlink_to("folder/deep")
    (tmp_path / "real/deep/data").write_text("x")
    (tmp_path / "alias").symlink_to("again/data")
    spellings = ["alias", "folder/deep/data", "again/data", "again/../deep/data", "real/deep/data", "alias"]
    assert names(tmp_path, *spellings) == {f"{tmp_path}/real/deep/data"}


def counts(folder: Path, code: str) -> dict[str, dict[str, int]]:
    """Maps each file below `folder` to its integer counters that are not 0, for Python code that ran in `folder`."""
    (folder / "code.py").write_text("import os\n" + code)
    done = harness.run(sys.executable, "-I", "code.py", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = harness.logs(folder)
    report = harness.read_log(path)
    below = [name for name in report.name_records.values() if name.startswith(f"{folder}/") and ".py" not in name]
    found = {name[len(str(folder)) + 1 :]: harness.counters(report, name) for name in below}
    return {name: {key: value for key, value in one.items() if value} for name, one in found.items()}


def test_calls_on_a_path_and_on_what_it_leads_to_share_a_record(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    code = """
for name in ("link/data", "real/data"):
    with open(name, "ab", buffering=0) as stream:
        stream.write(b"12345")
os.stat("link/data")
os.truncate("link/data", 3)
os.rename("link/data", "link/moved")
os.stat("real/moved")
os.unlink("link/moved")
"""
    found = counts(tmp_path, code)
    assert set(found) == {"real/data", "real/moved"}
    assert (found["real/data"]["POSIX_OPENS"], found["real/data"]["POSIX_WRITES"]) == (2, 2)
    assert found["real/data"]["POSIX_BYTES_WRITTEN"] == 10
    assert found["real/data"]["POSIX_RENAME_SOURCES"] == 1
    assert found["real/moved"]["POSIX_RENAME_TARGETS"] == 1
    assert found["real/moved"]["POSIX_STATS"] == 1


def test_a_rename_is_counted_for_the_file_however_it_is_spelled(tmp_path: Path) -> None:
    """Before the rename the program never used `real/data` by its path through the link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    found = counts(tmp_path, 'open("real/data", "wb").close(); os.rename("link/data", "link/moved")')
    assert set(found) == {"real/data", "real/moved"}
    assert found["real/data"]["POSIX_RENAME_SOURCES"] == found["real/moved"]["POSIX_RENAME_TARGETS"] == 1


def test_dotdot_behind_a_link_is_followed_in_names_that_a_call_takes_away(tmp_path: Path) -> None:
    """By spelling, both names would lie in the folder of the link. After the call neither exists any more."""
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/deep")
    code = """
for name in ("moved", "removed"):
    open("real/" + name, "wb").close()
os.rename("link/../moved", "link/new")
os.unlink("link/../removed")
"""
    found = counts(tmp_path, code)
    assert set(found) == {"real/moved", "real/removed", "real/deep/new"}
    assert found["real/moved"]["POSIX_RENAME_SOURCES"] == found["real/deep/new"]["POSIX_RENAME_TARGETS"] == 1
    (log,) = harness.logs(tmp_path)
    names, extra = harness.read_log(log).name_records, read_log(log).private["posix_extra"]
    unlinked = [names[record] for record in extra.loc[extra["unlinks"] > 0, "file"]]
    assert unlinked == [f"{tmp_path}/real/removed"]


OPENAT2 = """
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int below(int folder, const char *path)
{
    struct open_how how = {.flags = O_RDWR, .resolve = RESOLVE_IN_ROOT};
    return syscall(SYS_openat2, folder, path, &how, sizeof how);
}
int main(void)
{
    mkdir("root", 0700), mkdir("root/deep", 0700), symlink("/deep", "root/link");
    close(creat("root/deep/data", 0600));
    int root = open("root", O_DIRECTORY);
    const char *const paths[] = {"deep/data", "/deep/data", "link/data", "/../../deep/data", "link/../../deep/data"};
    for (int i = 0; i < 5; i++) {
        int fd = below(root, paths[i]);
        if (fd < 0 || write(fd, "12345", 5) != 5 || close(fd) != 0)
            return 1;
    }
    return below(root, "missing") != -1 || below(-1, (const char *)8) != -1;
}
"""


def test_a_folder_that_acts_as_the_root(tmp_path: Path) -> None:
    """The system call openat2 follows links and `..` within that folder; a call that fails counts as a failed open."""
    (tmp_path / "p.c").write_text(OPENAT2)
    subprocess.run(["gcc", "-w", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    done = harness.run(tmp_path / "p", folder=tmp_path)
    if done.returncode == 1:
        pytest.skip("this kernel has no openat2")
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    found = harness.counters(report, f"{tmp_path}/root/deep/data")
    assert (found["POSIX_OPENS"], found["POSIX_BYTES_WRITTEN"]) == (6, 25)
    failed = read_log(log).private["failed_calls"]
    assert failed.loc[failed["operation"] == "open", "calls"].sum() == 2


def test_a_link_that_is_renamed_is_no_file_and_a_file_that_takes_its_name_is(tmp_path: Path) -> None:
    code = """
open("data", "wb").close()
os.symlink("data", "link")
open("link", "rb").close()
os.rename("link", "other")
open("other", "rb").close()
open("new", "wb").close()
os.rename("new", "other")
"""
    found = counts(tmp_path, code)
    assert set(found) == {"data", "new", "other"}
    assert "POSIX_RENAME_SOURCES" not in found["data"]
    assert "POSIX_RENAME_TARGETS" not in found["data"]
    assert found["new"]["POSIX_RENAME_SOURCES"] == found["other"]["POSIX_RENAME_TARGETS"] == 1


def test_a_link_that_is_changed_leads_to_another_file(tmp_path: Path) -> None:
    code = """
for step in range(3):
    os.mkdir(f"step{step}")
    if step:
        os.unlink("latest")
    os.symlink(f"step{step}", "latest")
    for _ in range(2):
        with open("latest/data", "ab", buffering=0) as stream:
            stream.write(b"1" * (step + 1))
"""
    found = counts(tmp_path, code)
    written = {name: one["POSIX_BYTES_WRITTEN"] for name, one in found.items() if "POSIX_BYTES_WRITTEN" in one}
    assert written == {"step0/data": 2, "step1/data": 4, "step2/data": 6}


@pytest.mark.parametrize(
    ("replace", "known", "target"),
    [
        ("os.rename('data', 'old'); os.symlink('new', 'data')", "data", "new"),
        ("os.unlink('data'); os.symlink('new', 'data')", "data", "new"),
        ("os.symlink('new', 'link'); os.rename('link', 'data')", "data", "new"),
        ("os.rename('dir', 'old'); os.symlink('other', 'dir')", "dir/data", "other/data"),
        ("os.rename('earlier', 'data')", "data", "new"),
        ("os.rename('dir', 'old'); os.rename('elsewhere', 'dir')", "dir/data", "other/data"),
        ("ctypes.CDLL(None).renameat2(-100, b'earlier', -100, b'data', 2)", "data", "new"),
    ],
)
def test_a_link_in_the_place_of_a_known_file_leads_to_another_one(
    tmp_path: Path, replace: str, known: str, target: str
) -> None:
    """The links `earlier` and `elsewhere` are not of the program's making. renameat2 exchanges two names."""
    for folder in ("dir", "other"):
        (tmp_path / folder).mkdir()
    (tmp_path / "earlier").symlink_to("new")
    (tmp_path / "elsewhere").symlink_to("other")
    code = """
import ctypes

def write(text):
    handle = os.open(%r, os.O_WRONLY | os.O_CREAT)
    os.write(handle, text)
    os.close(handle)

write(b"123")
%s
write(b"12345")
"""
    found = counts(tmp_path, code % (known, replace))
    assert (tmp_path / target).read_text() == "12345"
    assert found[known]["POSIX_BYTES_WRITTEN"] == 3
    assert found[target]["POSIX_BYTES_WRITTEN"] == 5


def test_a_file_that_is_made_anew_keeps_its_path(tmp_path: Path) -> None:
    code = """
for name in ("first", "second"):
    for _ in range(2):
        with open(name, "xb", buffering=0) as stream:
            stream.write(b"1")
        os.unlink(name)
"""
    found = counts(tmp_path, code)
    assert {name: one["POSIX_BYTES_WRITTEN"] for name, one in found.items()} == {"first": 2, "second": 2}


def test_hard_links_are_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "other").hardlink_to(tmp_path / "data")
    assert names(tmp_path, "data", "other") == {f"{tmp_path}/data", f"{tmp_path}/other"}


def test_what_is_left_out_is_told_by_the_path_that_was_used(tmp_path: Path) -> None:
    (tmp_path / "hosts").symlink_to("/etc/hosts")
    assert names(tmp_path, "hosts", "/etc/passwd") == {"/etc/hosts"}


@pytest.mark.parametrize("control", ["data.locktest.0", "ompi.n1.0/data", "prterun.n1.7.0/1/pmix-gds-shmem2.n1.data"])
def test_system_folders_and_control_files_are_left_out(tmp_path: Path, control: str) -> None:
    for name in (control, "data"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert names(tmp_path, "/etc/passwd", "/proc/self/stat", control, "data") == {f"{tmp_path}/data"}


def test_include(tmp_path: Path) -> None:
    assert names(tmp_path, "/etc/passwd", IOLENS_INCLUDE="/dev/shm:/etc/pass") == {"/etc/passwd"}


def test_record_ids_are_those_of_darshan(tmp_path: Path) -> None:
    """The known hash of a standard stream's name proves that ids equal Darshan's."""
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


def test_a_name_below_a_path_that_is_too_long_for_the_kernel(tmp_path: Path) -> None:
    done = harness.run(harness.build_program("harm_ends"), "deep", folder=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    report = harness.read_log(harness.logs(tmp_path)[0])
    (name,) = [name for name in report.name_records.values() if name.endswith(">/deep.dat")]
    assert name.startswith("/<folder with a path of more than 4096 bytes, device ")
    assert harness.counters(report, name)["POSIX_BYTES_WRITTEN"] == 10
    subprocess.run(["rm", "-rf", tmp_path / ("n" * 200)], check=True)
