"""Tests the library that emulates storage targets (libost.so): its accounts balance, its layouts are Lustre's, and
files keep their ordinary contents.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.storage.backends import get_stripes, set_stripes
from iolens.lab.storage.emulated import EMULATED, JobStatus, job_status, make_mount
from iolens.lab.storage.layout import Layout
from own_words import complaints

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "build" / "lib" / "libost.so"
MIB = 2**20


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "mnt").mkdir()
    return make_mount(tmp_path / "mnt", ROOT / "storage" / "ost.yaml")


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("ost") / "calls"
    source = ROOT / "tests" / "c" / "ost_calls.c"
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-o", program, source, "-lrt"], check=True)
    return program


def under_shim(mount: Path, job: str, *words: object, rank: int = 0) -> str:
    environment = {**os.environ, **EMULATED.environment(mount, job), "LD_PRELOAD": str(SHIM), "PMI_RANK": str(rank)}
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def python_writes(mount: Path, job: str, code: str, rank: int = 0) -> JobStatus:
    under_shim(mount, job, sys.executable, "-c", code, rank=rank)
    return job_status(mount, job)


def test_every_kind_of_call_is_charged_once(mount: Path, calls: Path) -> None:
    told = dict(line.split() for line in under_shim(mount, "calls", calls, mount).splitlines())
    books = job_status(mount, "calls")
    assert complaints(books) == []
    assert books.bytes_written == int(told["written"])
    assert books.bytes_read == int(told["read"])
    assert sum(target.bytes for target in books.targets) == books.bytes_written + books.bytes_read


@pytest.mark.parametrize("end", ["exit", "flush", "close", "reopen"])
def test_streams_that_append_to_one_file_are_charged_where_their_bytes_land(
    mount: Path, tmp_path: Path, end: str
) -> None:
    program, source = tmp_path / "appending", ROOT / "tests" / "c" / "ost_appending.c"
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-o", program, source], check=True)
    under_shim(mount, "appending", program, mount / "f", end)
    subprocess.run([program, tmp_path / "f", end], check=True)
    books = job_status(mount, "appending")
    assert complaints(books) == []
    assert (mount / "f").read_bytes() == (tmp_path / "f").read_bytes()
    assert books.bytes_written == (mount / "f").stat().st_size


def test_inherited_descriptors_are_followed(mount: Path) -> None:
    under_shim(mount, "shell", "sh", "-c", f"printf 0123456789 > {mount / 'x'}; cat {mount / 'x'} > {mount / 'y'}")
    books = job_status(mount, "shell")
    assert (complaints(books), books.bytes_written, books.bytes_read) == ([], 20, 10)


def test_bytes_that_no_call_wrote_make_the_run_invalid(mount: Path) -> None:
    raw = "ctypes.CDLL(None).syscall(18, f.fileno(), b'x' * 100, 100, 4096)"
    code = f"import ctypes; f = open({str(mount / 'x')!r}, 'wb'); f.write(b'y'); f.flush(); {raw}; f.close()"
    books = python_writes(mount, "raw", code)
    assert not books.valid
    assert "no emulated call wrote" in complaints(books)[0]


def test_the_data_is_the_same_without_the_library(mount: Path) -> None:
    python_writes(mount, "data", f"open({str(mount / 'x')!r}, 'wb').write(bytes(range(256)) * 5000)")
    assert (mount / "x").read_bytes() == bytes(range(256)) * 5000


def test_stripes_spread_a_file_over_targets(mount: Path) -> None:
    (mount / "wide").mkdir()
    set_stripes(mount / "wide", Layout(4, MIB, start=2))
    path = mount / "wide" / "file"
    books = python_writes(mount, "wide", f"open({str(path)!r}, 'wb').write(bytes(8 * {MIB}))")
    assert [target.bytes // MIB for target in books.targets] == [0, 0, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0]
    assert get_stripes(path).targets == (2, 3, 4, 5)


def test_the_layout_is_fixed_once_the_file_exists(mount: Path) -> None:
    path = mount / "file"
    set_stripes(mount, Layout(2, MIB))
    python_writes(mount, "fixed", f"open({str(path)!r}, 'wb').write(b'x')")
    set_stripes(mount, Layout(4, MIB))
    assert get_stripes(path).stripe_count == 2
    path.unlink()
    python_writes(mount, "fixed2", f"open({str(path)!r}, 'wb').write(b'x')")
    assert get_stripes(path).stripe_count == 4


def test_files_take_their_first_targets_in_turn(mount: Path) -> None:
    set_stripes(mount, Layout(5, MIB))
    paths = [mount / name for name in "abc"]
    python_writes(mount, "turn", f"for name in 'abc': open({str(mount)!r} + '/' + name, 'wb').write(b'x')")
    assert [get_stripes(path).targets[0] for path in paths] == [0, 5, 10]


def test_a_turn_that_is_none_begins_anew(mount: Path) -> None:
    (mount / ".ost" / "next").write_text("-5")
    set_stripes(mount, Layout(1, MIB))
    python_writes(mount, "turn", f"open({str(mount)!r} + '/a', 'wb').write(b'x')")
    assert (mount / ".ost" / "next").read_text().strip() == "1"


def test_a_folder_does_not_inherit_from_one_that_is_gone(mount: Path) -> None:
    for name in ("gone", "new"):
        folder = mount / name
        folder.mkdir()
        if name == "gone":
            set_stripes(folder, Layout(4, MIB))
            folder.rmdir()
    assert get_stripes(mount / "new").stripe_count == 1


def test_subdirectories_inherit_the_default(mount: Path) -> None:
    set_stripes(mount, Layout(3, 2 * MIB))
    (mount / "a" / "b").mkdir(parents=True)
    python_writes(mount, "inherit", f"open({str(mount / 'a/b/f')!r}, 'wb').write(b'x')")
    layout = get_stripes(mount / "a" / "b" / "f")
    assert (layout.stripe_count, layout.stripe_size) == (3, 2 * MIB)


def test_lustre_lov_decodes_as_lov_user_md_v1(mount: Path) -> None:
    set_stripes(mount, Layout(2, MIB, start=11))
    code = (
        f"import os; open({str(mount / 'f')!r}, 'wb').write(b'x');"
        f"print(os.getxattr({str(mount / 'f')!r}, 'lustre.lov').hex())"
    )
    value = bytes.fromhex(under_shim(mount, "lov", sys.executable, "-c", code).strip())
    magic, pattern, _, _, size, count, _ = struct.unpack_from("<IIQQIHH", value)
    targets = [struct.unpack_from("<QQII", value, 32 + 24 * stripe)[3] for stripe in range(count)]
    assert (magic, pattern, size, count, targets, len(value)) == (0x0BD10BD0, 1, MIB, 2, [11, 0], 80)


def test_the_attribute_is_absent_outside_the_mount(mount: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x", encoding="utf-8")
    code = f"import os\ntry: os.getxattr({str(outside)!r}, 'lustre.lov')\nexcept OSError as e: print(e.errno)"
    assert int(under_shim(mount, "out", sys.executable, "-c", code)) in (61, 95)


def test_a_mapped_write_makes_the_run_invalid(mount: Path) -> None:
    path = mount / "mapped"
    path.write_bytes(bytes(4096))
    code = f"import mmap; f = open({str(path)!r}, 'r+b'); m = mmap.mmap(f.fileno(), 4096); m[:3] = b'abc'"
    books = python_writes(mount, "mapped", code)
    assert not books.valid
    assert "through a mapping" in complaints(books)[0]


def test_fsync_waits_for_the_targets(mount: Path) -> None:
    code = (
        "import os, time; "
        f"f = os.open({str(mount / 's')!r}, os.O_CREAT | os.O_WRONLY); t = time.monotonic(); "
        f"os.write(f, bytes(20 * {MIB})); os.fsync(f); print(time.monotonic() - t)"
    )
    seconds = float(under_shim(mount, "sync", sys.executable, "-c", code))
    assert seconds >= 20 * MIB / 200e6


def test_two_processes_share_the_clocks(mount: Path) -> None:
    code = "import os; f = os.open({!r}, os.O_CREAT | os.O_WRONLY); os.write(f, bytes(1 << 20)); os.close(f)"
    python_writes(mount, "both", code.format(str(mount / "a")), rank=0)
    books = python_writes(mount, "both", code.format(str(mount / "b")), rank=1)
    assert books.bytes_written == 2 * MIB


def test_a_missing_configuration_is_said_and_the_program_runs(mount: Path) -> None:
    environment = {
        **os.environ,
        "LD_PRELOAD": str(SHIM),
        "OST_MOUNT": str(mount),
        "OST_JOB": "x",
        "OST_CONFIG": "/nowhere",
    }
    done = subprocess.run(["echo", "fine"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert "storage is not emulated: /nowhere" in done.stderr
