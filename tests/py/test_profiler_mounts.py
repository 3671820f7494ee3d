"""Mount options of file systems that hold files are in the log, but no options that look like a secret or a person's
name.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import profiler_harness as harness

TABLE = """proc /proc proc rw,nosuid 0 0
10.0.0.1@o2ib:/scratch /lustre/my\\040scratch lustre rw,flock,lazystatfs,encrypt 0 0
//server/share /share cifs rw,username=jane,domain=LAB,password=x,cache=strict,credentials=/root/c 0 0
mon:/ /ceph ceph rw,name=admin,secret=<hidden>,acl 0 0
cgroup2 /sys/fs/cgroup cgroup2 rw 0 0
none /secret tmpfs secret=1 0 0
"""


def options(table: str, limit: int = 8191) -> Any:
    program = harness.build_program("mount_units")
    done = subprocess.run([program, str(limit)], input=table, capture_output=True, text=True, check=True)
    assert len(done.stdout) <= limit
    return json.loads(done.stdout)


def test_public_options_alone() -> None:
    assert options(TABLE) == {
        "/lustre/my\\040scratch": {"type": "lustre", "options": "rw,flock,lazystatfs,encrypt"},
        "/share": {"type": "cifs", "options": "rw,cache=strict"},
        "/ceph": {"type": "ceph", "options": "rw,acl"},
        "/secret": {"type": "tmpfs", "options": ""},
    }


def test_what_does_not_fit_is_left_out() -> None:
    table = "".join(f"disk /mnt/{number} ext4 rw,relatime 0 0\n" for number in range(1000))
    found = options(table)
    assert 50 < len(found) < 1000
    assert all(mount == {"type": "ext4", "options": "rw,relatime"} for mount in found.values())
