"""Tests that the emulated storage answers the requests of ROMIO's Lustre driver as Lustre's headers define."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from iolens.lab.storage.backends import get_stripes
from iolens.lab.storage.emulated import EMULATED, make_mount

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "build" / "lib" / "libost.so"
MIB = 2**20
LUSTRE, DEFAULT, ANY = "bd00bd0", 0, 0xFFFF
ASK = """
import fcntl, os, struct, sys
GET, SET, HEADER = 0x4008669B, 0x4008669A, "<IIQQIHH"
def set_stripe(fd, count, size, first, magic=0x0BD10BD0):
    try: fcntl.ioctl(fd, SET, struct.pack(HEADER, magic, 0, 0, 0, size, count, first))
    except OSError as error: return os.strerror(error.errno)
    return "set"
def get_stripe(fd, room=0):
    lum = bytearray(struct.pack(HEADER, 0x0BD10BD0, 0, 0, 0, 0, room, 0) + bytes(24 * 64))
    try: fcntl.ioctl(fd, GET, lum)
    except OSError as error: return os.strerror(error.errno), struct.unpack_from(HEADER, lum)[5]
    magic, pattern, _, _, size, count, _ = struct.unpack_from(HEADER, lum)
    return magic == 0x0BD10BD0, pattern, size, [struct.unpack_from("<QQII", lum, 32 + 24 * i)[3] for i in range(count)]
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_NOCTTY | os.O_ASYNC)
"""


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "mnt").mkdir()
    return make_mount(tmp_path / "mnt", ROOT / "storage" / "ost.yaml")


def asked(mount: Path, path: Path, *expressions: str) -> list[Any]:
    code = ASK + "".join(f"print(repr({one}))\n" for one in expressions)
    words = [sys.executable, "-c", code, str(path)]
    environment = {**os.environ, **EMULATED.environment(mount, "ask"), "LD_PRELOAD": str(SHIM)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return [eval(line) for line in done.stdout.splitlines()]


STATFS = """
import ctypes, sys
answer = (ctypes.c_ulong * 64)()
assert ctypes.CDLL(None).statfs(sys.argv[1].encode(), answer) == 0
print(f"{answer[0]:x}")
"""
"""Source of a program that prints the type of a file system by statfs(2), because stat(1) of newer coreutils calls
statvfs(3).
"""


def kind(mount: Path, path: Path, **more: str) -> str:
    environment = {**os.environ, **EMULATED.environment(mount, "kind"), "LD_PRELOAD": str(SHIM), **more}
    command = [sys.executable, "-c", STATFS, path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_layout_given_as_hints_is_the_files(mount: Path) -> None:
    given, found = asked(mount, mount / "f", f"set_stripe(fd, 3, {2 * MIB}, 11)", "get_stripe(fd)")
    assert given == "set"
    assert found == (True, 1, 2 * MIB, [11, 0, 1])
    assert (get_stripes(mount / "f").stripe_count, get_stripes(mount / "f").stripe_size) == (3, 2 * MIB)


def test_what_a_request_leaves_open_is_the_default(mount: Path) -> None:
    given, found = asked(mount, mount / "f", f"set_stripe(fd, {DEFAULT}, {DEFAULT}, {ANY})", "get_stripe(fd)")
    assert given == "set"
    assert found[:3] == (True, 1, MIB)
    assert len(found[3]) == 1


def test_more_stripes_than_targets_are_all_targets(mount: Path) -> None:
    _, found = asked(mount, mount / "f", f"set_stripe(fd, {ANY}, {MIB}, 0)", "get_stripe(fd)")
    assert found == (True, 1, MIB, list(range(12)))


def test_a_file_without_a_request_has_the_default_layout(mount: Path) -> None:
    assert asked(mount, mount / "f", "get_stripe(fd)") == [(True, 1, MIB, [0])]


@pytest.mark.parametrize("request_", ["fd, 2, 1000, 0", "fd, 2, 65536, 12", "fd, 2, 65536, 0, 0x0BD60BD0"])
def test_an_impossible_layout_is_refused(mount: Path, request_: str) -> None:
    before, refused, after = asked(mount, mount / "f", "get_stripe(fd)", f"set_stripe({request_})", "get_stripe(fd)")
    assert refused == os.strerror(22)
    assert after == before


def test_a_file_with_data_keeps_its_layout(mount: Path) -> None:
    _, refused, found = asked(
        mount, mount / "f", "os.write(fd, b'x')", f"set_stripe(fd, 4, {MIB}, 0)", "get_stripe(fd)"
    )
    assert refused == os.strerror(17)
    assert found == (True, 1, MIB, [0])


def test_room_for_too_few_stripes_is_told(mount: Path) -> None:
    _, short, enough = asked(
        mount, mount / "f", f"set_stripe(fd, 4, {MIB}, 0)", "get_stripe(fd, 2)", "get_stripe(fd, 4)"
    )
    assert short == (os.strerror(75), 4)
    assert enough == (True, 1, MIB, [0, 1, 2, 3])


def test_outside_the_mount_the_kernel_answers(mount: Path, tmp_path: Path) -> None:
    (given, found) = asked(mount, tmp_path / "outside", f"set_stripe(fd, 4, {MIB}, 0)", "get_stripe(fd)")
    assert given == os.strerror(25)
    assert found == (os.strerror(25), 0)


def test_the_mount_is_announced_as_lustre_only_where_asked_for(mount: Path, tmp_path: Path) -> None:
    assert kind(mount, mount, OST_AS_LUSTRE="1") == LUSTRE
    assert kind(mount, mount) == kind(mount, tmp_path)
    assert kind(mount, tmp_path, OST_AS_LUSTRE="1") == kind(mount, tmp_path)
