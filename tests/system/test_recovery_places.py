"""Tests recovery where the disk is full, a folder is missing, or ranks ran on several nodes: either the log is made, or
a message names the folder of the records.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import darshan
import pytest
from iolens.advise import diagnosis
from iolens.log import read_log
from recovery_program import begin, check_log, command, finish, program, recover, wait_until

pytestmark = pytest.mark.mpi


def fill(folder: Path, leave: int = 0) -> None:
    """Fills the disk until this many bytes, or none, are free."""
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            file.truncate(file.tell() - leave)


def forbid(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


PLACES: dict[str, tuple[Callable[[Path], None], str]] = {
    "full": (fill, "No space left on device"),
    "read-only": (forbid, "Read-only file system"),
    "vanished": (lambda folder: shutil.rmtree(folder / "logs"), "No such file or directory"),
}


@pytest.mark.parametrize("place", PLACES)
def test_without_a_place_for_the_log_the_records_stay_and_it_is_said(
    place: str, tmp_path: Path, small_disk: Path
) -> None:
    spoil, why = PLACES[place]
    logs = small_disk / "logs"
    logs.mkdir()
    running = begin(tmp_path, command("wait", options=["-wdir", str(tmp_path)]), logs=logs)
    wait_until((tmp_path / "ready").exists)
    spoil(small_disk)
    (tmp_path / "go").touch()
    done = finish(running)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert f"cannot write the log {logs}/" in done.stderr
    assert why in done.stderr
    assert "`iolens recover -o FOLDER --job " in done.stderr
    assert not list(small_disk.rglob("*.darshan*"))
    assert recover(tmp_path, "-o", tmp_path).returncode == 0
    (log,) = tmp_path.glob("*.darshan")
    assert "3 of 3 ranks kept" in check_log(log)


@pytest.mark.parametrize("how", ["return", "kill"])
@pytest.mark.parametrize("spools", ["elsewhere", "none", "beside the log"])
def test_sentences_about_a_full_log_folder_agree(how: str, spools: str, tmp_path: Path, small_disk: Path) -> None:
    """If messages say that records are kept, the command that they name must make the log. If no message does, a
    message must say that no log was written.
    """
    logs, made = small_disk / "logs", tmp_path / "made"
    logs.mkdir()
    fill(small_disk)
    place = {"elsewhere": tmp_path, "none": Path("none"), "beside the log": small_disk}[spools]
    killed = program("spool_killed", "gcc")
    words = ["sh", "-c", f"cd {tmp_path} && exec {killed} {how} 3"]
    done = finish(begin(tmp_path, words, logs=logs, spool=place))
    assert done.returncode == {"return": 3, "kill": 137}[how], done.stderr
    assert ("No space left on device" in done.stderr) == (spools != "none" or how == "return"), done.stderr
    commands = set(re.findall(r"`(iolens recover -o FOLDER [^`]*)`", done.stderr))
    assert len({re.sub(r"(--job \d+).*", r"\1", one) for one in commands}) == (spools == "elsewhere"), done.stderr
    assert done.stderr.count("the records are kept") == (spools == "elsewhere" and how == "return")
    if not commands:
        assert "no log was written: " in done.stderr
        known = spools == "none" and how == "kill"
        reason = "with IOLENS_SPOOL=none a killed" if known else "a message above may give the reason"
        assert reason in done.stderr
        return
    assert "no log was written" not in done.stderr
    made.mkdir()
    *_, last = sorted(commands, key=len)
    words = [word.replace("FOLDER", str(made)) for word in shlex.split(last)[2:]]
    assert recover(tmp_path, *words).returncode == 0
    assert len(list(made.glob("*.darshan"))) == 1


def test_a_full_disk_under_the_output_harms_no_exit_code(tmp_path: Path, small_disk: Path) -> None:
    running = begin(tmp_path, command("wait"), ["--output", str(small_disk)])
    wait_until((tmp_path / "ready").exists)
    fill(small_disk)
    (tmp_path / "go").touch()
    done = finish(running)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "run.json cannot be written: No space left on device" in done.stderr
    assert "`iolens recover -o FOLDER --job " in done.stderr
    assert "no log was written" not in done.stderr, "its reason would be that nothing was recorded"
    assert not list(small_disk.glob("run.json*"))
    assert recover(tmp_path, "-o", tmp_path).returncode == 0
    assert len(list(tmp_path.glob("*.darshan"))) == 1


@pytest.mark.parametrize("how", ["return", "kill"])
def test_a_full_spool_folder_loses_only_later_files_of_a_killed_process(
    how: str, tmp_path: Path, small_disk: Path
) -> None:
    fill(small_disk, leave=1 << 20)
    killed = program("spool_killed", "gcc")
    done = finish(begin(tmp_path, [str(killed), how, "1500"], spool=small_disk))
    assert done.returncode == {"return": 3, "kill": 137}[how]
    (log,) = tmp_path.glob("*.darshan")
    report = darshan.DarshanReport(str(log), read_all=True)
    frame = report.records["POSIX"].to_df()["counters"]
    assert set(frame["POSIX_WRITES"]) == {10}
    reason = report.metadata["job"]["metadata"].get("partial", "")
    assert (len(frame) == 1500, "ran out of room" in reason) == {"return": (True, False), "kill": (False, True)}[how]
    job = read_log(log)
    assert len(job.partial) == {"return": 0, "kill": 2}[how], job.partial
    assert "IOLENS_MEMORY" not in " ".join(job.partial)
    notes = [note.remedy for note in diagnosis(job).notes if note.id == "log-partial"]
    assert [("IOLENS_SPOOL" in remedy, "IOLENS_MEMORY" in remedy) for remedy in notes] == [(True, False)] * (
        how == "kill"
    )
    assert not list(small_disk.rglob("*.spool"))


@pytest.mark.parametrize("how", ["return", "kill"])
def test_without_any_room_for_a_spool_that_is_said(how: str, tmp_path: Path, small_disk: Path) -> None:
    fill(small_disk)
    killed = program("spool_killed", "gcc")
    done = finish(begin(tmp_path, [str(killed), how, "3"], spool=small_disk))
    assert done.returncode == {"return": 3, "kill": 137}[how]
    assert (
        f"cannot make a spool in {small_disk}: No space left on device; if this process is killed, it leaves"
        in done.stderr
    )
    assert len(list(tmp_path.glob("*.darshan"))) == (how == "return")


def test_a_read_only_output_folder_is_named_so(tmp_path: Path, small_disk: Path) -> None:
    forbid(small_disk)
    done = finish(begin(tmp_path, ["true"], ["--output", str(small_disk)]))
    assert done.returncode == 2
    assert f"no log can be written into {small_disk}: Read-only file system" in done.stderr


@pytest.mark.parametrize("how", ["kill", "exec"])
def test_a_spool_finds_a_name_beside_those_of_many_containers(how: str, tmp_path: Path) -> None:
    """Processes of containers that start together may have one number and one start. The script, whose number and start
    the program keeps, takes the first names.
    """
    folder = tmp_path / "spool" / f"iolens-{os.geteuid()}"
    folder.mkdir(parents=True, mode=0o700)
    (tmp_path / "script").write_text(
        "read -r line </proc/$$/stat; set -- ${line##*)}; shift 19\n"
        f"for name in $$ $$-$1 $$-$1-2; do echo other >{folder}/$name.spool; done\n"
        f"exec {program('spool_killed', 'gcc')} {how} 3\n"
    )
    words = ["env", "IOLENS_APP_EXCLUDE=sh", "sh", str(tmp_path / "script")]
    done = finish(begin(tmp_path, words, spool=tmp_path / "spool"))
    assert done.returncode == {"kill": 137, "exec": 0}[how], done.stderr
    assert "cannot make a spool" not in done.stderr
    (log,) = tmp_path.glob("*.darshan")
    assert ("became another program" in read_log(log).partial[0]) == (how == "exec")


def test_a_limit_of_memory_harms_no_program_and_is_said_in_the_log(tmp_path: Path) -> None:
    killed = program("spool_killed", "gcc")
    done = finish(begin(tmp_path, ["sh", "-c", f"ulimit -v 12000; exec {killed} kill 1500"]))
    assert done.returncode == 137, done.stderr
    assert len(list(tmp_path.glob("file*"))) == 1500
    (log,) = tmp_path.glob("*.darshan")
    assert any("no room" in reason for reason in read_log(log).partial)


NODE = """
mount -t tmpfs tmpfs /dev/shm && mkdir -p "$1/$2" && mount --bind "$1/$2" /dev/shm && hostname "$2" && shift 2
exec "$@"
"""


def as_nodes(folder: Path) -> str:
    """Returns the path of a script that starts a rank as if ranks 0 and 1 ran on one node, and ranks 2 and 3 on
    another: with the node's host name, and with a /dev/shm that is kept in the folder.
    """
    script = folder / "node"
    script.write_text(
        "#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
        f"exec unshare -m -u sh -c '{NODE}' node {folder} node$((rank / 2)) \"$@\"\n"
    )
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def namespaces() -> None:
    """Skips the test if ranks cannot get their own host name and mounts."""
    if subprocess.run(["unshare", "-m", "-u", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False).returncode != 0:
        pytest.skip("namespaces of mounts and host names need root")


@pytest.mark.usefixtures("namespaces")
def test_spools_of_several_nodes_make_one_log(tmp_path: Path) -> None:
    """Two simulated nodes keep their own spools. Recovery of one node makes a partial log; recovery of the other then
    completes it.
    """
    words = command("abort", ranks=4)
    words[words.index(str(program())) :] = [as_nodes(tmp_path), str(program()), "abort"]
    running = begin(tmp_path, words, spool=Path("/dev/shm"))
    assert finish(running).returncode == 7
    first, second = (tmp_path / f"node{n}" for n in range(2))
    assert [len(list(node.rglob("*.spool"))) for node in (first, second)] == [2, 2]
    assert recover(tmp_path, "-o", tmp_path, second).returncode == 0
    (part,) = tmp_path.glob("*_mpi_killed_*.darshan")  # The programs that start the ranks have another log.
    assert "2 of 4 ranks kept; nothing is left of ranks 0-1" in check_log(part, 4, found=[2, 3])
    assert recover(tmp_path, "-o", tmp_path, first, f"{part}.spools").returncode == 0
    assert list(tmp_path.glob("*_mpi_killed_*.darshan")) == [part]
    assert "4 of 4 ranks kept" in check_log(part, 4)
    assert not list(tmp_path.rglob("*.spool*"))
