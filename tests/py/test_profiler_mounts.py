"""The file systems in the log: all that hold files, without options that look like a secret or a person's name, and
for each file the one that the kernel has it on. Witnesses: tables written by hand, and mounts made for the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from iolens.metrics.files.overview import file_systems

TABLE = """21 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw
22 1 0:30 / /lustre/my\\040scratch rw - lustre 10.0.0.1@o2ib:/scratch rw,flock,lazystatfs,encrypt
23 1 0:31 / /share rw shared:7 master:2 - cifs //server/share rw,username=jane,domain=L,password=x,cache=strict,cred=/c
24 1 0:32 / /ceph rw,noatime - ceph mon:/ rw,name=admin,secret=<hidden>,acl
25 1 0:33 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
26 1 0:34 / /secret secret=1 - tmpfs none secret=1
27 1 0:35 / /home rw - autofs auto.home rw,fd=6
28 27 0:36 / /home/jane rw - nfs4 server:/jane rw,hard
"""


def told(table: str, room: int = 20000, used: int = -1, command: str = "./a") -> tuple[Any, bool, list[str]]:
    """Returns the JSON object, whether all mounts had room, and the lines of the job region's text."""
    program = harness.build_program("mount_units")
    done = subprocess.run(
        [program, str(room), str(used), command], input=table, capture_output=True, text=True, check=True
    )
    options, whole, *text = done.stdout.split("\n")
    return json.loads(options), whole == "1", text


def test_public_options_alone() -> None:
    assert told(TABLE)[0] == {
        "/lustre/my scratch": {"type": "lustre", "options": "rw,flock,lazystatfs,encrypt"},
        "/share": {"type": "cifs", "options": "rw,cache=strict"},
        "/ceph": {"type": "ceph", "options": "rw,noatime,acl"},
        "/secret": {"type": "tmpfs", "options": ""},
        "/home/jane": {"type": "nfs4", "options": "rw,hard"},
    }


def test_the_job_region_has_used_mounts_first_and_no_others_that_hold_no_data() -> None:
    text = told(TABLE, used=26)[2]
    assert text == [
        "./a",
        "ost\t/emulated",
        "tmpfs\t/secret",
        "lustre\t/lustre/my scratch",
        "cifs\t/share",
        "ceph\t/ceph",
        "nfs4\t/home/jane",
    ]


def test_a_long_command_line_is_cut_with_a_mark_and_leaves_room_for_used_mounts() -> None:
    command, *mounts = told(TABLE, used=28, command="./a " + 3000 * "x")[2]
    assert command.startswith("./a xxx")
    assert command.endswith("x<TRUNCATED>")
    assert mounts == ["ost\t/emulated", "nfs4\t/home/jane"]
    assert len("\n".join([command, *mounts])) == 3015


def test_of_hundreds_of_mounts_those_stay_that_were_used_or_usually_hold_data() -> None:
    """Options of overlays are long, and automounts of home folders many."""
    rows = [f"{n} 1 0:{n} / /home/u{n} rw - nfs4 s:/u{n} rw,relatime" for n in range(100, 900)]
    rows += [f"{n} 1 0:{n} / /run/c{n} rw - overlay overlay rw,lowerdir={4000 * 'l'}" for n in range(900, 1000)]
    rows += ["1000 1 0:77 / /data rw - ext4 /dev/sdb rw", "1001 1 0:78 / / rw - xfs /dev/sda rw"]
    found, whole, text = told("\n".join(rows) + "\n", used=777)
    assert not whole
    assert 100 < len(found) < 800
    assert {"/home/u777", "/data", "/"} <= found.keys()
    assert text[:3] == ["./a", "ost\t/emulated", "nfs4\t/home/u777"]


WRITE = "import sys\nfor path in sys.argv[1:]: open(path, 'w').write('x' * 5000)"


def run_mounted(folder: Path, script: str, *paths: str, **settings: str) -> Any:
    """Runs a shell script in a mount namespace of its own, which ends by the program $@; skips if that is not allowed.
    Returns the table of file systems without empty rows, as (mount, type, bytes).
    """
    harness.build_library()
    probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"mounting in a namespace is not allowed: {probe.stderr.strip()}")
    variables = harness.environment(folder, **settings)
    preload = variables.pop("LD_PRELOAD")
    command = [
        "unshare",
        "-m",
        "sh",
        "-ec",
        script,
        "sh",
        "env",
        f"LD_PRELOAD={preload}",
        sys.executable,
        "-S",
        "-c",
        WRITE,
    ]
    done = subprocess.run([*command, *paths], cwd=folder, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(folder)
    table = file_systems(read_log(log))
    rows = zip(table["mount"].tolist(), table["type"].tolist(), table["bytes_written"].tolist(), strict=True)
    return {(mount, kind): int(size) for mount, kind, size in rows if size}


def point(path: Path) -> str:
    """Returns the mount point of a path outside of the namespace, as the kernel tells it."""
    done = subprocess.run(["stat", "-c", "%m", path], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_long_command_line_does_not_hide_the_file_system(tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(
        sys.executable, "-S", "-c", WRITE.replace("sys.argv[1:]", "sys.argv[1:2]"), "a", 4100 * "a", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    assert job.command.endswith("<TRUNCATED>")
    table = file_systems(job)
    written = table["mount"][table["bytes_written"] > 0].tolist()
    assert written == [point(tmp_path)]
    assert point(tmp_path) in {mount.point for mount in job.mounts}


def test_a_blank_in_a_mount_point(tmp_path: Path) -> None:
    place = tmp_path / "my disk"
    place.mkdir()
    script = f"mount -t tmpfs none '{place}'; exec \"$@\""
    assert run_mounted(tmp_path, script, f"{place}/a") == {(str(place), "tmpfs"): 5000}


def test_nested_bind_and_overlay_mounts(tmp_path: Path) -> None:
    for name in ("disk", "bound", "lower", "over"):
        (tmp_path / name).mkdir()
    script = (
        f"cd {tmp_path}; mount -t tmpfs none disk; mkdir disk/in disk/up disk/work; mount -t tmpfs none disk/in; "
        "mount --bind disk bound; mount -t overlay -o lowerdir=lower,upperdir=disk/up,workdir=disk/work over over; "
        'exec "$@"'
    )
    paths = [f"{tmp_path}/{name}/a" for name in ("disk", "disk/in", "bound", "over")]
    assert run_mounted(tmp_path, script, *paths) == {
        (f"{tmp_path}/disk", "tmpfs"): 5000,
        (f"{tmp_path}/disk/in", "tmpfs"): 5000,
        (f"{tmp_path}/bound", "tmpfs"): 5000,
        (f"{tmp_path}/over", "overlay"): 5000,
    }


def test_hundreds_of_mounts(tmp_path: Path) -> None:
    """The list has no room for all 400; the mount that the program used is among those that stay."""
    (tmp_path / "many").mkdir()
    script = (
        f"cd {tmp_path}; for i in $(seq 400); do mkdir many/{60 * 'm'}$i; mount -t tmpfs none many/{60 * 'm'}$i; done; "
        'exec "$@"'
    )
    place = f"{tmp_path}/many/{60 * 'm'}399"
    assert run_mounted(tmp_path, script, f"{place}/a") == {(place, "tmpfs"): 5000}


COVERED = """import subprocess, sys
open(sys.argv[1] + "/a", "w").write("x" * 5000)
subprocess.run(["mount", "-t", "tmpfs", "none", sys.argv[1]], check=True, env={})
open(sys.argv[1] + "/b", "w").write("x" * 700)"""


def test_a_mount_over_a_used_file_does_not_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a.dat leads below the new mount point; the kernel had the file on the earlier file system."""
    place = tmp_path / "disk"
    place.mkdir()
    monkeypatch.setitem(globals(), "WRITE", COVERED)
    assert run_mounted(tmp_path, 'exec "$@"', str(place)) == {
        (point(tmp_path), kind_of(tmp_path)): 5000,
        (str(place), "tmpfs"): 700,
    }


def kind_of(path: Path) -> str:
    """Returns the type of a path's file system by the kernel's table."""
    device = os.stat(path).st_dev
    for row in Path("/proc/self/mountinfo").read_text().splitlines():
        words = row.split()
        if words[2] == f"{os.major(device)}:{os.minor(device)}" and words[4] == point(path):
            return words[words.index("-") + 1]
    pytest.skip(f"the kernel's table has no mount with the device of {path}")


LEFT = """import os, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "none", sys.argv[1]], check=True, env={})
open(sys.argv[1] + "/a", "w").write("x" * 5000)
subprocess.run(["umount", sys.argv[1]], check=True, env={})"""


def test_a_file_system_that_is_gone_is_not_taken_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    monkeypatch.setitem(globals(), "WRITE", LEFT)
    assert run_mounted(tmp_path, 'exec "$@"', str(place)) == {("(no mount point)", ""): 5000}


def test_rows_of_the_user_stand_above_the_kernel(tmp_path: Path) -> None:
    place = tmp_path / "emulated"
    place.mkdir()
    found = run_mounted(tmp_path, 'exec "$@"', f"{place}/a", IOLENS_MOUNTS=f"ost:{place}")
    assert found == {(str(place), "ost"): 5000}
