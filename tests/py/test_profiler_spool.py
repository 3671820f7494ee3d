"""Tests spools: a process's records survive it, and iolens-recover makes an ordinary log of them."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.lab.recovery import recover as spool_files
from iolens.log import read_log as read_job
from iolens.metrics.job.about import host_ranks
from patience import PATIENCE
from spool_copies import PID_AT, RANK_AT, copy_ranks

RECOVER = harness.BUILD / "bin/iolens-recover"


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def end(how: str, folder: Path, files: int = 20, **settings: str) -> subprocess.CompletedProcess[str]:
    program = harness.build_program("spool_killed")
    return harness.run(program, how, str(files), folder=folder, **({"IOLENS_SPOOL": str(folder)} | settings))


def spools(folder: Path) -> list[Path]:
    return sorted(folder.glob("iolens-*/*.spool"))


def merge(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [RECOVER, "merge", *map(str, words)], capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_a_process_killed_while_it_writes_its_log_without_a_spool_leaves_no_file(tmp_path: Path) -> None:
    """strace kills the process at the last call before the log gets its name."""
    data = tmp_path / "data"
    data.write_bytes(b"x")
    environment = harness.environment(tmp_path, IOLENS_SPOOL="none")
    ours = ["-E", f"LD_PRELOAD={environment.pop('LD_PRELOAD')}", "-e", "trace=fchmod"]
    for kill, status, left in (([], 0, 1), (["-e", "inject=fchmod:signal=SIGKILL"], -9, 0)):
        for log in (tmp_path / "logs").iterdir():
            log.unlink()
        command: list[str | Path] = ["strace", "-o", tmp_path / "calls", *ours, *kill, "cat", data]
        done = subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        if done.returncode != status:
            pytest.skip("strace may not trace here, or injects no signals")
        assert len(list((tmp_path / "logs").iterdir())) == left


@pytest.mark.parametrize(("how", "status"), [("kill", -9), ("abort", -6)])
def test_a_killed_process_leaves_its_records(how: str, status: int, tmp_path: Path) -> None:
    ended = end(how, tmp_path)
    assert (ended.returncode, ended.stderr) == (status, "")
    assert harness.logs(tmp_path) == []
    (spool,) = spools(tmp_path)
    assert (spool.stat().st_mode & 0o777, spool.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    done = merge("-w", "it was killed", spool)
    assert done.returncode == 0, done.stderr
    (log,) = harness.logs(tmp_path)
    assert done.stdout == f"{log}\n"
    report = harness.read_log(log)
    frame = report.records["POSIX"].to_df()["counters"]
    assert (len(frame), frame["POSIX_WRITES"].sum(), frame["POSIX_BYTES_WRITTEN"].sum()) == (20, 200, 800)
    assert harness.counters(report, str(tmp_path / "file7"))["POSIX_ACCESS1_COUNT"] == 10
    assert harness.counters(report, str(tmp_path / "stream"))["STDIO_BYTES_WRITTEN"] == 5
    reason = (
        "The process ended without writing its log (it was killed); this one was made from the records that it kept."
    )
    assert report.metadata["job"]["metadata"]["partial"] == reason
    assert harness.private_region(log, "job")["partial"] == [reason]
    assert 0 < report.metadata["job"]["run_time"] < PATIENCE


def test_more_ranks_than_open_files_are_usually_allowed_make_one_log(tmp_path: Path) -> None:
    end("kill", tmp_path)
    paths = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 40)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = subprocess.run(
        [RECOVER, "merge", "-o", tmp_path, "-"],
        input=b"".join(bytes(path) + b"\0" for path in paths),
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, most)),
    )
    assert done.returncode == 0, done.stderr
    log, damaged = spool_files.printed_paths(done.stdout)
    report = harness.read_log(log)
    assert not damaged
    assert report.metadata["job"]["nprocs"] == 40
    assert harness.counters(report, str(tmp_path / "file7"))["POSIX_BYTES_WRITTEN"] == 40 * 40


def test_a_log_of_more_ranks_than_can_be_opened_is_refused_with_the_remedy(tmp_path: Path) -> None:
    end("kill", tmp_path)
    paths = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 40)
    done = subprocess.run(
        [RECOVER, "merge", "-o", tmp_path, *paths],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)),
    )
    assert done.returncode == 1
    assert "a log of 40 ranks needs as many processes and open files at once" in done.stderr
    assert "raise `ulimit -u` and `ulimit -n`" in done.stderr
    assert harness.logs(tmp_path) == []


def test_the_spool_goes_with_the_log(tmp_path: Path) -> None:
    assert end("return", tmp_path).returncode == 3
    assert spools(tmp_path) == []
    assert len(harness.logs(tmp_path)) == 1


@pytest.mark.parametrize("how", ["exec", "exec_in_thread"])
def test_what_was_counted_before_an_exec_is_kept(how: str, tmp_path: Path) -> None:
    assert end(how, tmp_path, IOLENS_LOGFILE=str(tmp_path / "log")).returncode == 0
    (spool,) = spools(tmp_path)
    (tmp_path / "log").unlink()  # The log that /bin/true wrote after the exec.
    done = merge("-w", "unused", spool)
    (log,) = tmp_path.glob("log-*")
    assert done.stdout == f"{log}\n"
    report = harness.read_log(log)
    assert report.records["POSIX"].to_df()["counters"]["POSIX_BYTES_WRITTEN"].sum() == 800
    reason = (
        "The process became another program (exec) without writing its log; this one was made from the records that it "
        "kept."
    )
    assert report.metadata["job"]["metadata"]["partial"] == reason
    assert f"{how} 20" in report.metadata["exe"]


def test_an_exec_that_fails_changes_nothing(tmp_path: Path) -> None:
    assert end("exec_of_nothing", tmp_path).returncode == 3
    (log,) = harness.logs(tmp_path)
    assert spools(tmp_path) == []
    assert harness.counters(harness.read_log(log), str(tmp_path / "later"))["POSIX_BYTES_WRITTEN"] == 40


SCRIPTS = {
    "wrapper": ("exec cat data", 0),
    "sourced": (". ./more.sh; exec cat data", 0),
    "redirected": ("cat data >out; (exec cat data >>out 2>err); exec cat data >out", 0),
    "reads": ("read word <data; exec cat data", 1),
    "itself": ('read word <data; if [ "$1" ]; then exec cat data; fi; exec "$0" again', 2),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_shell_that_becomes_a_program_leaves_what_it_did_with_data_alone(name: str, tmp_path: Path) -> None:
    text, left = SCRIPTS[name]
    script = tmp_path / name
    script.write_text(f"#!/bin/bash\n{text}\n")
    script.chmod(0o755)
    for file in ("data", "more.sh"):
        (tmp_path / file).write_text("word=1\n")
    done = harness.run(script, folder=tmp_path, IOLENS_SPOOL=str(tmp_path), IOLENS_INCLUDE=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(spools(tmp_path)) == left
    found, _ = spool_files.read_spools([tmp_path])
    assert spool_files.set_aside(found, tmp_path / "aside")
    again, _ = spool_files.read_spools([tmp_path / "aside"])
    assert spool_files.set_aside(again, tmp_path / "aside")
    assert [spool_files.state(one) for one in again] == ["ended"] * left


def test_exec_leaves_a_spool_of_another_process_that_had_its_number(tmp_path: Path) -> None:
    end("kill", tmp_path)
    (left,) = spools(tmp_path)
    stale = left.rename(tmp_path / "stale")
    script = f"cp {stale} {left.parent}/$$.spool; exec {harness.build_program('spool_killed')} exec 20"
    assert harness.run("/bin/sh", "-c", script, folder=tmp_path, IOLENS_SPOOL=str(tmp_path)).returncode == 0
    assert sorted(spool.read_bytes() == stale.read_bytes() for spool in spools(tmp_path)) == [False, True]


def test_a_recovered_log_equals_the_usual_one(tmp_path: Path) -> None:
    frames = []
    for how in ("return", "kill"):
        folder = tmp_path / how
        folder.mkdir()
        end(how, folder)
        if how == "kill":
            assert merge(*spools(folder)).returncode == 0
        report = harness.read_log(harness.logs(folder)[0])
        names = {record: Path(name).name for record, name in report.name_records.items()}
        frame = report.records["POSIX"].to_df()["counters"]
        frames.append(frame.assign(id=frame["id"].map(names)).sort_values("id").reset_index(drop=True))
    assert frames[0].equals(frames[1])


def test_a_recovered_log_goes_to_the_tree_that_the_program_asked_for(tmp_path: Path) -> None:
    settings = {"IOLENS_LOGPATH_HIERARCHY": "1", "IOLENS_JOBID": "4711", "LOGNAME": "ann"}
    end("kill", tmp_path, **settings)
    assert merge(*spools(tmp_path)).returncode == 0
    (log,) = (tmp_path / "logs").rglob("*.darshan")
    assert log.relative_to(tmp_path / "logs").parts[:3] == ("ann", "spool_killed", "id4711")


def test_a_recovered_log_goes_flat_into_a_folder_that_is_named(tmp_path: Path) -> None:
    end("kill", tmp_path, IOLENS_LOGPATH_HIERARCHY="1")
    assert merge("-o", tmp_path, *spools(tmp_path)).returncode == 0
    assert len(list(tmp_path.glob("*.darshan"))) == 1


def test_the_list_tells_what_a_spool_is(tmp_path: Path) -> None:
    end("kill", tmp_path, IOLENS_JOBID="4711")
    (spool,) = spools(tmp_path)
    done = subprocess.run([RECOVER, "list", spool], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["program"], found["jobid"], found["ranks"], found["pid"]) == (
        "spool_killed",
        4711,
        0,
        int(spool.stem),
    )


def test_no_room_for_a_spool_is_said_and_harms_nothing(tmp_path: Path) -> None:
    ended = end("return", tmp_path, IOLENS_SPOOL="/proc/nowhere")
    assert ended.returncode == 3
    assert ended.stderr.startswith("iolens: cannot make a spool in /proc/nowhere: No such file or directory;")
    assert len(harness.logs(tmp_path)) == 1


def test_a_planted_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"iolens-{os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    ended = end("return", tmp_path)
    assert "cannot make a spool in" in ended.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("damage", ["short", "empty", "text", "flipped"])
def test_damaged_spools_are_refused_or_used_in_part(damage: str, tmp_path: Path) -> None:
    end("kill", tmp_path)
    (spool,) = spools(tmp_path)
    data = bytearray(spool.read_bytes())
    if damage == "flipped":
        data[0x10000:] = bytes(byte ^ 0x55 for byte in data[0x10000:])
    spool.write_bytes({"short": data[:5000], "empty": b"", "text": b"no spool" * 10000}.get(damage, bytes(data)))
    done = merge(spool)
    assert "iolens: " in done.stderr if damage != "flipped" else done.returncode == 0
    assert len(harness.logs(tmp_path)) == (damage == "flipped")


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_spools_of_ranks_are_named_and_nothing_else_is_blamed(damaged: int, tmp_path: Path) -> None:
    """A spool whose end is cut off inside its first pages has a whole header, and cannot be mapped."""
    end("kill", tmp_path)
    ranks = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 2)
    for spool in ranks[:damaged]:
        os.truncate(spool, 0xFFFF)
    done = merge("-o", tmp_path / "logs", *ranks)
    ends = ["the log is made without it", "no other is left, so no log was made"]
    kept = f"the spool {ranks[damaged - 1]} is damaged; {ends[damaged - 1]}"
    assert kept in done.stderr
    assert done.stderr.count("; ") == damaged, done.stderr
    assert (done.returncode, len(harness.logs(tmp_path))) == ((0, 1) if damaged == 1 else (1, 0))


def test_a_damaged_spool_is_kept_beside_the_log_that_is_made_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_files, "program", lambda: RECOVER)
    end("kill", tmp_path)
    ranks = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 2)
    whole = ranks[1].read_bytes()
    pid = struct.unpack_from("<q", whole, PID_AT)[0]
    ranks[1].write_bytes(whole[:PID_AT] + struct.pack("<q", pid + 1) + whole[PID_AT + 8 : 0xFFFF])
    (job,) = spool_files.jobs(spool_files.read_spools([tmp_path / "ranks"])[0])
    log = spool_files.recover_job(job, tmp_path / "logs")
    assert log
    assert read_job(log).partial[0].endswith("1 of 2 ranks kept; nothing is left of rank 1.")
    assert not any(rank.exists() for rank in ranks)
    kept = {spool.stat().st_size for spool in Path(f"{log}.spools").glob("*.spool")}
    assert kept == {len(whole), 0xFFFF}


def test_spools_of_a_job_without_all_ranks_stay_whatever_number_a_damaged_one_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_files, "program", lambda: RECOVER)
    end("kill", tmp_path)
    *ranks, elsewhere = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 4)
    elsewhere.unlink()
    for rank, path in enumerate(ranks):
        content = bytearray(path.read_bytes())
        struct.pack_into("<q", content, PID_AT, 1 + rank)
        struct.pack_into("<i", content, RANK_AT + 4, 4 if rank else 1)
        path.write_bytes(content)
    (job,) = spool_files.jobs(spool_files.read_spools([tmp_path / "ranks"])[0])
    log = spool_files.recover_job(job, tmp_path / "logs")
    assert len(list(Path(f"{log}.spools").iterdir())) == 3


@pytest.mark.parametrize(("ranks", "made"), [(3, True), (2, False)])
def test_a_number_of_ranks_is_believed_if_most_spools_name_it(ranks: int, made: bool, tmp_path: Path) -> None:
    end("kill", tmp_path)
    paths = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", ranks)
    content = bytearray(paths[1].read_bytes())
    struct.pack_into("<i", content, RANK_AT + 4, 2**20)
    paths[1].write_bytes(content)
    done = merge("-o", tmp_path / "logs", *paths)
    said = f"the spool {paths[1]} is damaged; the log is made" if made else f"{paths[1]} belong to different jobs"
    assert said in done.stderr
    assert (done.returncode, len(harness.logs(tmp_path))) == ((0, 1) if made else (1, 0))


def test_a_rank_that_left_nothing_ran_on_no_host(tmp_path: Path) -> None:
    end("kill", tmp_path)
    first, _ = copy_ranks(spools(tmp_path)[0], tmp_path / "ranks", 2)
    merge("-o", tmp_path / "logs", first)
    (log,) = harness.logs(tmp_path)
    job = read_job(log)
    assert (job.nprocs, job.hosts, host_ranks(job)) == (2, [os.uname().nodename], [(os.uname().nodename, [0])])


def test_a_name_of_a_log_that_no_file_can_have_is_no_log(tmp_path: Path) -> None:
    """Such a name, from a damaged spool, would end the recovery of this job and of all jobs behind it."""
    end("kill", tmp_path)
    (spool,), _ = spool_files.read_spools([tmp_path])
    made = spool_files.recover_job([dataclasses.replace(spool, log=f"/{300 * 'x'}")])
    assert [made] == harness.logs(tmp_path)


def recover(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iolens.cli.main", "recover", *words, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_clean_removes_what_ended_and_what_another_version_left(tmp_path: Path) -> None:
    end("kill", tmp_path)
    (spool,) = spools(tmp_path)
    other, begun, rubbish = (spool.with_name(name) for name in ("1.spool", "2.spool", "3.spool"))
    layout = spool.read_bytes()
    other.write_bytes(layout[:8] + bytes(byte ^ 1 for byte in layout[8:16]) + layout[16:])
    begun.write_bytes(bytes(len(layout)))
    rubbish.write_bytes(b"rubbish" * 20000)
    os.utime(rubbish, (0, 0))
    listed = recover(tmp_path, "--list").stdout
    assert f"{other}: cannot be used, another version of iolens wrote it" in listed
    assert "spool_killed, job" in listed
    assert "ended without its log" in listed
    assert spools(tmp_path) == sorted([spool, other, begun, rubbish])
    assert recover(tmp_path, "--clean").stdout.count("removed") == 3
    assert spools(tmp_path) == [begun]


def test_recover_makes_the_folder_of_its_logs_or_says_why_not(tmp_path: Path) -> None:
    end("kill", tmp_path)
    (tmp_path / "file").touch()
    refused = recover(tmp_path, "-o", str(tmp_path / "file" / "below"))
    why = f"{tmp_path / 'file' / 'below'}: the folder cannot be made (Not a directory); name another folder"
    assert (refused.returncode, refused.stderr) == (1, f"iolens recover: {why}\n")
    assert recover(tmp_path, "-o", str(tmp_path / "not" / "there")).returncode == 0
    assert len(list((tmp_path / "not" / "there").glob("*.darshan"))) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can recover what others left")
def test_root_recovers_with_the_rights_of_the_owner() -> None:
    with tempfile.TemporaryDirectory() as place:  # Folders below tmp_path are readable by their owner only.
        folder = Path(place)
        folder.chmod(0o711)
        end("kill", folder)
        (spool,) = spools(folder)
        for path in (spool.parent, spool):
            os.chown(path, 65534, 65534)
        said = merge("-o", folder, spool).stderr
        assert f"cannot write the log {folder}" in said
        assert said.endswith("; give `-o FOLDER`, a folder with room to which the job's user can write\n")
        (folder / "open").mkdir()
        (folder / "open").chmod(0o1777)
        assert merge("-o", folder / "open", spool).returncode == 0
        (log,) = (folder / "open").glob("*.darshan")
        assert (log.stat().st_uid, log.stat().st_mode & 0o777) == (65534, 0o400)


def recover_in(folder: Path, place: Path, *words: str) -> list[str]:
    """Returns the lines that `iolens recover` prints in the folder `place`, for spools in `folder`."""
    command = [sys.executable, "-m", "iolens.cli.main", "recover", *words]
    settings = {**os.environ, "IOLENS_SPOOL": str(folder)}
    done = subprocess.run(
        command, cwd=place, env=settings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def two_projects(tmp_path: Path) -> tuple[Path, Path]:
    """Makes two folders, each with a killed process; both spools are in the parent folder."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for place in (mine, other):
        place.mkdir()
        end("kill", place, IOLENS_SPOOL=str(tmp_path))
    assert len(spools(tmp_path)) == 2
    return mine, other


def test_recover_takes_the_jobs_of_this_folder_alone(tmp_path: Path, two_projects: tuple[Path, Path]) -> None:
    mine, other = two_projects
    said = recover_in(tmp_path, mine)
    assert (len(harness.logs(mine)), len(harness.logs(other)), len(spools(tmp_path))) == (1, 0, 1)
    assert said[-1].startswith("1 other job has records here; `iolens recover --list` names them")
    assert f"its log belongs in {other}/logs)" in recover_in(tmp_path, mine, "--list")[-1]
    assert recover_in(tmp_path, mine, "--clean") == said[-1:]
    assert len(spools(tmp_path)) == 1
    recover_in(tmp_path, tmp_path)  # The folder above also holds spools.
    assert len(harness.logs(other)) == 1
    assert recover_in(tmp_path, mine) == []


def test_recover_takes_the_job_that_is_named(tmp_path: Path, two_projects: tuple[Path, Path]) -> None:
    mine, other = two_projects
    (spool,) = (one for one in spool_files.read_spools([tmp_path])[0] if one.folder == f"{other}/logs")
    recover_in(tmp_path, mine, "--job", str(spool.pid))
    assert (len(harness.logs(mine)), len(harness.logs(other))) == (0, 1)


def test_recover_takes_all_after_a_list_of_them(tmp_path: Path, two_projects: tuple[Path, Path]) -> None:
    mine, other = two_projects
    said = recover_in(tmp_path, mine, "--all")
    assert said[0] == "Logs of these jobs will be made:"
    assert [line.rpartition(", in ")[2] for line in said[1:3]] == [f"{mine}/logs", f"{other}/logs"]
    assert (len(harness.logs(mine)), len(harness.logs(other)), len(said)) == (1, 1, 5)


def test_collect_takes_no_other_job_outside_slurm(
    tmp_path: Path, two_projects: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    recover_in(tmp_path, two_projects[0], "--collect", str(tmp_path / "shared"))
    assert (len(list((tmp_path / "shared").iterdir())), len(spools(tmp_path))) == (1, 1)


def test_a_log_with_a_name_of_its_own_belongs_in_the_folder_of_that_name(tmp_path: Path) -> None:
    end("kill", tmp_path, IOLENS_LOGFILE=str(tmp_path / "below" / "job.darshan"))
    (spool,) = spool_files.read_spools([tmp_path])[0]
    assert spool.folder == str(tmp_path / "below")
