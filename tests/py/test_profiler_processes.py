"""Checks that processes begin and end under the profiler as without it, and that their logs go where they belong."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import profiler_harness as harness
import pytest
from patience import PATIENCE


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


HOW = "exit _exit _Exit thread_exit stderr_closed vfork vfork_fails fork clone clone_by_number clone3_by_number _Fork"


@pytest.mark.parametrize("how", HOW.split())
def test_every_process_leaves_its_own_log(how: str, tmp_path: Path) -> None:
    result = harness.run(harness.build_program("posix_fork"), how, folder=tmp_path)
    assert (result.returncode, result.stderr) == (3, "")
    expected = list(harness.expectations(result.stdout))
    found = harness.logs(tmp_path)
    assert len(found) == len(expected) == (2 if how == "fork" else 1)
    for one in expected:
        (log,) = [path for path in found if f"-{one.process}_" in path.name]
        assert not harness.differences(one, harness.counters(harness.read_log(log), one.path))
    if how == "stderr_closed":
        assert (tmp_path / "not_stderr").read_bytes() == b""


def test_a_childs_files_are_not_its_parents(tmp_path: Path) -> None:
    """A child of vfork, by which Python starts programs, opens and closes files in its parent's memory; they must not
    change the parent's files.
    """
    harness.run(harness.build_program("posix_fork"), "vfork", folder=tmp_path)
    names = harness.read_log(harness.logs(tmp_path)[0]).name_records.values()
    assert not [name for name in names if name.endswith("of_the_child")]
    script = """
import subprocess
with open("kept.dat", "w") as kept:
    for _ in range(3):
        subprocess.run(["true"], stdin=subprocess.DEVNULL, stdout=kept, check=True)
        kept.write("text")
        kept.flush()
"""
    for log in harness.logs(tmp_path):
        log.unlink()
    done = harness.run(sys.executable, "-c", script, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (log,) = harness.logs(tmp_path)
    found = harness.counters(harness.read_log(log), str(tmp_path / "kept.dat"))
    assert (found["POSIX_WRITES"], found["POSIX_BYTES_WRITTEN"]) == (3, 12)


def test_child_names_its_parent_and_keeps_the_job(tmp_path: Path) -> None:
    result = harness.run(harness.build_program("posix_fork"), "fork", folder=tmp_path)
    child, parent = (one.process for one in harness.expectations(result.stdout))
    jobs = {harness.read_log(path).metadata["job"]["metadata"].get("fork_parent") for path in harness.logs(tmp_path)}
    assert jobs == {None, str(parent)}
    assert {harness.read_log(path).metadata["job"]["jobid"] for path in harness.logs(tmp_path)} == {parent}
    assert child != parent
    told = [harness.private_region(path, "job") for path in harness.logs(tmp_path)]
    above = {one["pid"]: one["ancestors"] for one in told}
    assert above[child][:2] == [parent, os.getpid()]
    assert above[parent][:2] == [os.getpid(), os.getppid()]
    apart = {one["pid"]: one["begin"]["realtime_ns"] - one["begin"]["monotonic_ns"] for one in told}
    assert abs(apart[child] - apart[parent]) < 1e9  # Parent and child run on one host, whose two clocks they share.
    assert told[0]["begin"]["monotonic_ns"] != told[1]["begin"]["monotonic_ns"]


def test_the_rank_that_a_launcher_gave_is_in_the_log(tmp_path: Path) -> None:
    ranks = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "PMI_RANK": "3", "RANKING": "no rank", "MY_RANK": "7"}
    assert harness.run(harness.build_program("posix_many"), "1", folder=tmp_path, **ranks).returncode == 0
    (log,) = harness.logs(tmp_path)
    found = harness.private_region(log, "job")["environment"]
    assert {name: found.get(name) for name in ranks} == {**ranks, "RANKING": None, "MY_RANK": None}


def test_unwritable_folder_is_said_once_and_changes_nothing(tmp_path: Path) -> None:
    settings = {"IOLENS_LOGPATH": "/nonexistent/folder", "IOLENS_SPOOL": str(tmp_path)}
    result = harness.run(harness.build_program("posix_fork"), folder=tmp_path, **settings)
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("iolens: cannot write the log /nonexistent/folder/")
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    assert f"kept in {spool}: `iolens recover -o FOLDER --job {spool.stem}`" in result.stderr


def test_file_size_limit_does_not_kill_the_program(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    result = subprocess.run(
        [harness.build_program("posix_many"), "500"],
        cwd=tmp_path,
        env=harness.environment(tmp_path),
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert result.returncode == 0
    no_spool, no_log = result.stderr.splitlines()
    assert no_spool.startswith("iolens: cannot make a spool in /dev/shm or /tmp: File too large")
    assert no_log.startswith("iolens: cannot write the log")
    assert harness.logs(tmp_path) == []


@pytest.mark.parametrize("setting", [{"IOLENS_DISABLE": "1"}, {"DARSHAN_DISABLE": "1"}, {"IOLENS_NONMPI": "0"}])
def test_switched_off(setting: dict[str, str], tmp_path: Path) -> None:
    result = harness.run(harness.build_program("posix_fork"), folder=tmp_path, **setting)
    assert (result.returncode, result.stderr) == (3, "")
    assert harness.logs(tmp_path) == []


def test_no_file_no_log_unless_it_is_named(tmp_path: Path) -> None:
    assert harness.run("/bin/true", folder=tmp_path).returncode == 0
    assert harness.logs(tmp_path) == []
    name = tmp_path / "logs" / "named.darshan"
    assert harness.run("/bin/true", folder=tmp_path, IOLENS_LOGFILE=str(name)).returncode == 0
    report = harness.read_log(name)
    assert report.metadata["job"]["nprocs"] == 1
    assert dict(report.modules) == {}


def test_a_child_that_only_inherits_leaves_no_log(tmp_path: Path) -> None:
    result = harness.run("/bin/bash", "-c", "exec 9<stdin.txt; (:)", folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(harness.logs(tmp_path)) == 1


def test_a_program_between_redirected_files_leaves_a_log(tmp_path: Path) -> None:
    """A program uses only files that the shell opened for it: it has a log, unless it wrote just a few bytes."""
    size = (tmp_path / "in").write_bytes(b"".join(b"%d\n" % number for number in range(2000)))
    left: list[list[Path]] = []
    for command, logs in (("sort <in >out", 1), ("/usr/bin/printf hello >greeting", 1), ("sort <in | sort", 2)):
        result = harness.run("/bin/sh", "-c", f"exec {command}", folder=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        left.append(harness.logs(tmp_path))
        assert len(left[-1]) == logs, command
    report = harness.read_log(left[0][0])
    counters = report.records["STDIO"].to_df()["counters"].set_index("id")
    moved = {report.name_records[key]: row for key, row in counters.iterrows()}
    assert moved["<STDIN>"]["STDIO_BYTES_READ"] == size
    assert moved["<STDOUT>"]["STDIO_BYTES_WRITTEN"] == size


def test_a_log_is_its_owners_unless_asked_otherwise(tmp_path: Path) -> None:
    for mode, name in [("", "usual"), ("0440", "group"), ("0999", "wrong")]:
        log = tmp_path / f"{name}.darshan"
        done = harness.run("/bin/true", folder=tmp_path, IOLENS_LOGFILE=str(log), IOLENS_LOG_MODE=mode)
        assert done.returncode == 0
        assert ("IOLENS_LOG_MODE=0999 is not an octal number" in done.stderr) == (name == "wrong")
        assert log.stat().st_mode & 0o7777 == (0o440 if name == "group" else 0o400)


def test_a_setting_that_is_no_number_is_said_with_what_is_used_instead(tmp_path: Path) -> None:
    wrong = {"MPI_PEERS": "two", "TIMELINE": "1k", "CALLERS": "3x", "DXT_MEMORY": f"{2**60}"}
    settings = {f"IOLENS_{name}": value for name, value in wrong.items()}
    done = harness.run("/bin/true", folder=tmp_path, IOLENS_DXT="1", IOLENS_SAMPLE="10", **settings)
    assert done.returncode == 0
    for name, value in settings.items():
        assert done.stderr.count(f"iolens: {name}={value} is not a ") == 1, done.stderr
    assert len(done.stderr.splitlines()) == len(wrong)


def test_logs_by_date_in_folders_like_the_one_above(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs").chmod(0o1777)
    before = datetime.now(timezone.utc)
    done = harness.run("/bin/cat", "stdin.txt", folder=tmp_path, IOLENS_LOG_BY_DATE="1")
    after = datetime.now(timezone.utc)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = (tmp_path / "logs").rglob("*.darshan")
    days = [f"{day.year}/{day.month}/{day.day}" for day in (before, after)]
    assert str(log.parent.relative_to(tmp_path / "logs")) in days
    folders = [log.parent, log.parent.parent, log.parent.parent.parent]
    assert {folder.stat().st_mode & 0o7777 for folder in folders} == {0o1777}


@pytest.mark.parametrize("variable", ["IOLENS_LOGPATH_HIERARCHY", "DARSHAN_LOGPATH_HIERARCHY"])
def test_logs_in_a_tree_that_only_the_user_writes_below_the_own_folder(tmp_path: Path, variable: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs").chmod(0o1777)
    settings = {variable: "1", "IOLENS_LOG_BY_DATE": "1", "IOLENS_JOBID": "77", "LOGNAME": "ann"}
    done = harness.run("/bin/cat", "stdin.txt", folder=tmp_path, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = (tmp_path / "logs").rglob("*.darshan")
    host = os.uname().nodename.split(".")[0]
    place = log.relative_to(tmp_path / "logs").as_posix()
    assert re.fullmatch(rf"\d{{4}}/\d+/\d+/ann/cat/id77/{host}/\d+-\d+-\d+-\d+_1\.darshan", place), place
    modes = [folder.stat().st_mode & 0o7777 for folder in list(log.parents)[:7]]
    assert modes == [0o1755] * 4 + [0o1777] * 3
    assert harness.read_log(log).metadata["job"]["jobid"] == 77


@pytest.mark.parametrize(("program", "folder"), [(".", "_"), ("..", "_."), ("", "_")])
def test_a_program_without_a_usable_name_stays_in_the_tree(tmp_path: Path, program: str, folder: str) -> None:
    settings = {"IOLENS_LOGPATH_HIERARCHY": "1", "IOLENS_JOBID": "77", "LOGNAME": ".."}
    start = ("-c", 'exec -a "$0" cat stdin.txt', program)
    done = harness.run("/bin/bash", *start, folder=tmp_path, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = tmp_path.rglob("*.darshan")
    assert log.relative_to(tmp_path / "logs").parts[:3] == ("_.", folder, "id77")


def test_a_named_log_is_replaced_and_not_written_through_a_link(tmp_path: Path) -> None:
    log, victim = tmp_path / "named.darshan", tmp_path / "victim"
    victim.write_text("precious")
    log.symlink_to(victim)
    for _ in range(2):
        assert harness.run("/bin/cat", "stdin.txt", folder=tmp_path, IOLENS_LOGFILE=str(log)).stderr == ""
        assert not log.is_symlink()
        assert harness.read_log(log).metadata["job"]["nprocs"] == 1
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "named.darshan", "stdin.txt", "victim"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a link of another user can be made by root only")
def test_a_folder_that_another_user_planted_is_refused(tmp_path: Path) -> None:
    common, own = tmp_path / "common", tmp_path / "own"
    common.mkdir()
    common.chmod(0o1777)
    own.mkdir()
    for name, owner in [("planted", 65534), ("mine", 0)]:
        (common / name).symlink_to(own)
        os.chown(common / name, owner, owner, follow_symlinks=False)
        settings = {"IOLENS_LOGPATH": str(common / name), "IOLENS_SPOOL": str(common / name)}
        done = harness.run(harness.build_program("posix_fork"), folder=tmp_path, **settings)
        assert done.returncode == 3
        refused = "its path contains a symbolic link of another user" in done.stderr
        assert (refused, "cannot make a spool in" in done.stderr) == (
            (True, True) if name == "planted" else (False, False)
        )
        assert len(list(own.glob("*.darshan"))) == (name == "mine")


@pytest.mark.skipif(os.geteuid() != 0, reason="a link of another user can be made by root only")
@pytest.mark.parametrize("levels", ["IOLENS_LOG_BY_DATE", "IOLENS_LOGPATH_HIERARCHY"])
def test_no_folders_are_made_behind_a_link_that_another_user_planted(tmp_path: Path, levels: str) -> None:
    common, own = tmp_path / "common", tmp_path / "own"
    common.mkdir()
    common.chmod(0o1777)
    own.mkdir()
    (common / "planted").symlink_to(own)
    os.chown(common / "planted", 65534, 65534, follow_symlinks=False)
    settings = {"IOLENS_LOGPATH": str(common / "planted"), "IOLENS_SPOOL": "none", levels: "1"}
    done = harness.run(harness.build_program("posix_fork"), folder=tmp_path, **settings)
    assert done.returncode == 3
    assert "its path contains a symbolic link of another user" in done.stderr
    assert list(own.iterdir()) == []


def test_relative_folder_is_taken_at_the_start(tmp_path: Path) -> None:
    program = harness.build_program("posix_many")
    assert harness.run(program, "3", folder=tmp_path, IOLENS_LOGPATH="logs").returncode == 0
    assert len(harness.logs(tmp_path)) == 1


def test_no_limit_at_a_thousand_files(tmp_path: Path) -> None:
    assert harness.run(harness.build_program("posix_many"), "3000", folder=tmp_path).returncode == 0
    report = harness.read_log(harness.logs(tmp_path)[0])
    frame = report.records["POSIX"].to_df()["counters"]
    assert len(frame) == 3000
    assert int(frame["POSIX_BYTES_WRITTEN"].sum()) == 15000
    assert not report.modules["POSIX"]["partial_flag"]
    assert harness.private_region(harness.logs(tmp_path)[0], "job")["partial"] == []


def test_memory_limit_marks_the_module_partial(tmp_path: Path) -> None:
    program = harness.build_program("posix_many")
    assert harness.run(program, "3000", folder=tmp_path, IOLENS_MEMORY="1").returncode == 0
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    assert 100 < len(report.records["POSIX"].to_df()["counters"]) < 3000
    assert report.modules["POSIX"]["partial_flag"]
    reasons = harness.private_region(log, "job")["partial"]
    assert any("IOLENS_MEMORY" in reason for reason in reasons)
    assert len(reasons) < 4, "modules that the program does not use lack nothing"


def test_job_region(tmp_path: Path) -> None:
    program = harness.build_program("posix_many")
    settings = {
        "IOLENS_JOBID": "4711",
        "IOLENS_MOUNTS": "lustre:/scratch,ost:/work dir",
        "IOLENS_STORAGE": "emulated",
        "LOADEDMODULES": "gcc/13:hdf5/1.14",
        "HDF5_USE_FILE_LOCKING": "FALSE",
        "SLURM_JWT": "eyJ",
        "PBS_PASSWORD": "abc",
        "HDF5_API_KEY": "abc",
        "MPICH_AUTH_COOKIE": "abc",
        "OMPI_MCA_orte_precondition_transports": "4711-0815",
        "EDITOR": "vi",
    }
    before = mounts()
    assert harness.run(program, "1", folder=tmp_path, IOLENS_TOKEN="secret", **settings).returncode == 0
    kinds = before | mounts()
    (log,) = harness.logs(tmp_path)
    assert "_posix_many_id4711-" in log.name
    report = harness.read_log(log)
    job = report.metadata["job"]
    assert job["jobid"] == 4711
    assert job["metadata"]["lib_ver"].startswith("iolens-")
    assert report.metadata["exe"] == f"{program} 1"
    assert job["run_time"] >= 0
    assert ("/scratch", "lustre") in report.mounts
    own = harness.private_region(log, "job")
    assert own["storage"] == "emulated"
    assert (own["mpi"], own["rank_host"]) == (None, [0])
    assert own["environment"]["IOLENS_JOBID"] == "4711"
    assert own["environment"]["LOADEDMODULES"] == "gcc/13:hdf5/1.14"
    assert own["environment"]["HDF5_USE_FILE_LOCKING"] == "FALSE"
    assert not (set(settings) | {"IOLENS_TOKEN"}) & set(own["environment"]) - PUBLIC
    assert own["compiler"] == compilers(program)
    # Inside a changed root folder these folders do not exist.
    above = [str(folder) for folder in tmp_path.parents if str(folder) in kinds]
    for point in above[:1]:
        assert own["mounts"][point]["type"] == kinds[point]
        assert own["mounts"][point]["options"].split(",")[0] in ("rw", "ro")
    assert {point: mount["type"] for point, mount in own["mounts"].items()}.items() <= kinds.items()


PUBLIC = {"IOLENS_JOBID", "IOLENS_MOUNTS", "IOLENS_STORAGE", "LOADEDMODULES", "HDF5_USE_FILE_LOCKING"}


def mounts() -> dict[str, str]:
    """Returns the kinds of file systems by mount point; other tests may mount some meanwhile."""
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return {words[1]: words[2] for words in lines}


def compilers(program: Path) -> list[str]:
    """Returns the texts that readelf finds in a program's section .comment."""
    command = ["readelf", "-p", ".comment", program]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.partition("]")[2].strip() for line in listing.splitlines() if line.strip().startswith("[")]


COMMANDS = {
    "ls": ["ls", "-l", "--time-style=+", "."],
    # With these blocks dd asks aligned_alloc for whole pages; a sanitizer's aligned_alloc refuses other sizes.
    "dd": ["dd", "if=/bin/sh", "of=copy.out", "bs=4096", "status=none"],
    "cat": ["cat", "source.c", "missing"],
    "python3": ["python3", "-c", "import os,sys,subprocess;print(sorted(os.listdir('.')));sys.exit(5)"],
    "bash": ["bash", "-c", "for i in 1 2; do echo $i | tr 1 2; done; cat < source.c; (exit 4)"],
    "daemon": ["bash", "-c", "(sleep 0.05; echo late > late.out) & wait; cat late.out"],
    "git": ["git", "status", "--short"],
    "gcc": ["gcc", "-O1", "source.c", "-o", "program"],
    "sort": ["bash", "-c", "seq 1 20000 | sort -R | sort -n --parallel=2 | tail -1"],
    "tar": ["bash", "-c", "tar cf - source.c | tar tvf - | wc -l"],
    "find": ["find", ".", "-name", "*.c", "-newer", "nothing"],
}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_transparent(name: str, tmp_path: Path) -> None:
    if not shutil.which(name) and name != "daemon":
        pytest.skip(f"{name} is not installed")
    outcomes = []
    for folder, profiled in ((tmp_path / "plain", False), (tmp_path / "profiled", True)):
        folder.mkdir()
        (folder / "source.c").write_text("int main(void) { return 0; }\n")
        if name == "git":
            subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
        env = harness.environment(folder.parent) | {"LC_ALL": "C"}
        if not profiled:
            del env["LD_PRELOAD"]
        result = subprocess.run(COMMANDS[name], cwd=folder, env=env, capture_output=True, check=False, timeout=PATIENCE)
        outcomes.append((result.returncode, result.stdout, result.stderr, sorted(p.name for p in folder.iterdir())))
    assert outcomes[0] == outcomes[1]
    for log in harness.logs(tmp_path):
        assert harness.read_log(log).metadata["job"]["nprocs"] == 1


def test_strace_counts_the_same(tmp_path: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    program = harness.build_program("posix_pattern")
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-e", "trace=pwrite64,pread64", "-o", str(trace), str(program)]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace here")
    traced: dict[str, list[int]] = {"pwrite64": [], "pread64": []}
    for line in trace.read_text().splitlines():
        call = line.split(maxsplit=1)[1].split("(")[0]
        if call in traced and str(tmp_path) in line:
            traced[call].append(int(line.rsplit("= ", 1)[1]))
    assert harness.run(program, folder=tmp_path).returncode == 0
    frame = harness.read_log(harness.logs(tmp_path)[0]).records["POSIX"].to_df()["counters"]
    assert int(frame["POSIX_WRITES"].sum()) == len(traced["pwrite64"])
    assert int(frame["POSIX_BYTES_WRITTEN"].sum()) == sum(traced["pwrite64"])
    assert int(frame["POSIX_READS"].sum()) == len(traced["pread64"])
    assert int(frame["POSIX_BYTES_READ"].sum()) == sum(traced["pread64"])


def test_a_process_that_ends_by_quick_exit_has_its_log(tmp_path: Path) -> None:
    done = harness.run(harness.build_program("harm_ends"), "quick_exit", folder=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    (log,) = harness.logs(tmp_path)
    assert harness.counters(harness.read_log(log), str(tmp_path / "ends.dat"))["POSIX_BYTES_WRITTEN"] == 5


def test_a_short_process_makes_few_system_calls(tmp_path: Path) -> None:
    """Counts of system calls show that the facts about a process are read once, that writing the log loads no library,
    and that the log's parts are written together.
    """
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    listing = tmp_path / "calls"
    settings = [
        f"-E{name}={value}"
        for name, value in harness.environment(tmp_path).items()
        if name in ("LD_PRELOAD", "IOLENS_LOGPATH", "IOLENS_INCLUDE")
    ]
    (tmp_path / "in").write_text("x")
    done = subprocess.run(["strace", "-o", listing, *settings, "/bin/cat", "in"], cwd=tmp_path, check=False)
    if done.returncode != 0 or not harness.logs(tmp_path):
        pytest.skip("strace may not trace here")
    calls = listing.read_text()
    for path, most in (("libz.so", 0), ("/proc/self/exe", 1), ("/proc/self/cmdline", 1), ("/proc/self/mounts", 2)):
        assert calls.count(path) <= most, path
    assert calls.count("pwrite64(") <= 4
    assert calls.count("MAP_ANONYMOUS") < 40
