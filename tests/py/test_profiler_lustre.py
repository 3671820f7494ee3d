"""Tests layouts of striped files, from attributes packed here by hand after lustre_user.h."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from darshan.backend import cffi_backend

RAID0, MDT, OVERSTRIPED = 0x1, 0x100, 0x200
INITIALISED, STALE = 0x10, 0x1


def plain(
    size: int, targets: list[int], pool: bytes | None = None, pattern: int = RAID0, count: int | None = None
) -> bytes:
    """Packs struct lov_user_md_v1, or _v3 if there is a pool."""
    magic = 0x0BD10BD0 if pool is None else 0x0BD30BD0
    stripes = len(targets) if count is None else count
    head = struct.pack("<II16sIHH", magic, pattern, b"", size, stripes, 0)
    objects = b"".join(struct.pack("<16sII", b"", 0, target) for target in targets)
    return head + (b"" if pool is None else pool.ljust(16, b"\0")) + objects


def composite(parts: list[tuple[int, int, int, int, bytes]]) -> bytes:
    """Packs struct lov_comp_md_v1 of (id, flags, begin, end, plain layout)."""
    offset = 32 + 48 * len(parts)
    entries, blobs = b"", b""
    for number, flags, begin, end, blob in parts:
        entries += struct.pack("<IIQQIIIQI", number, flags, begin, end, offset + len(blobs), len(blob), 0, 0, 0)
        blobs += blob
    total = offset + len(blobs)
    return struct.pack("<IIIHHH14s", 0x0BD60BD0, total, 1, 0, len(parts), 0, b"") + entries + blobs


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    harness.build_library()
    target = tmp_path_factory.mktemp("shim") / "liblov.so"
    source = harness.ROOT / "tests/c/posix_lov_shim.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", target, source], check=True)
    return target


def layout(folder: Path, shim: Path, attribute: bytes) -> list[dict[str, Any]] | None:
    """Returns the components in the log of a file with this attribute. The alignment in the log is their first stripe
    size.
    """
    (folder / "attribute").write_bytes(attribute)
    settings = {"LD_PRELOAD": f"{harness.PRELOAD}:{shim}", "LOV_BYTES": str(folder / "attribute")}
    assert harness.run(harness.build_program("posix_many"), "1", folder=folder, **settings).returncode == 0
    (log,) = harness.logs(folder)
    posix = harness.read_log(log).records["POSIX"].to_df()["counters"].iloc[0]
    handle = cffi_backend.log_open(str(log))
    record = cffi_backend.log_get_record(handle, "LUSTRE", "dict")
    assert cffi_backend.log_get_record(handle, "LUSTRE", "dict") is None if record else True
    cffi_backend.log_close(handle)
    if record is None:
        return None
    assert (record["id"], record["rank"]) == (posix["id"], 0)
    assert posix["POSIX_FILE_ALIGNMENT"] == record["components"][0]["counters"]["LUSTRE_COMP_STRIPE_SIZE"]
    return list(record["components"])


def component(
    size: int,
    targets: list[int],
    pattern: int = 0,
    flags: int = 0,
    begin: int = 0,
    end: int = -1,
    mirror: int = 0,
) -> tuple[dict[str, int], list[int]]:
    """Returns the counters that the log must have for a component of a layout."""
    values = (size, len(targets), pattern, flags, begin, end, mirror)
    names = ("STRIPE_SIZE", "STRIPE_COUNT", "STRIPE_PATTERN", "FLAGS", "EXT_START", "EXT_END", "MIRROR_ID")
    return {f"LUSTRE_COMP_{name}": value for name, value in zip(names, values, strict=True)}, targets


def seen(components: list[dict[str, Any]] | None) -> list[tuple[dict[str, int], list[int]]]:
    return [({k: int(v) for k, v in c["counters"].items()}, list(c["ost_ids"])) for c in components or []]


def test_version_1(tmp_path: Path, shim: Path) -> None:
    found = layout(tmp_path, shim, plain(1 << 20, [3, 0, 11]))
    assert seen(found) == [component(1 << 20, [3, 0, 11])]


def test_version_3_names_its_pool(tmp_path: Path, shim: Path) -> None:
    found = layout(tmp_path, shim, plain(65536, [7], pool=b"flash"))
    assert seen(found) == [component(65536, [7])]
    assert found is not None
    assert found[0]["pool_name"] == "flash"


def test_more_targets_than_the_usual_buffer_holds(tmp_path: Path, shim: Path) -> None:
    targets = list(range(500))
    assert seen(layout(tmp_path, shim, plain(1 << 22, targets))) == [component(1 << 22, targets)]


def test_composite_lists_what_is_initialised(tmp_path: Path, shim: Path) -> None:
    mirror = 2 << 16
    attribute = composite(
        [
            (mirror | 1, INITIALISED, 0, 1 << 20, plain(1 << 16, [], pattern=MDT, count=1)),
            (mirror | 2, INITIALISED | STALE, 1 << 20, 1 << 30, plain(1 << 20, [4, 5])),
            (mirror | 3, 0, 1 << 30, 2**64 - 1, plain(1 << 20, [], count=0)),
            (
                mirror | 4,
                INITIALISED,
                1 << 30,
                2**64 - 1,
                plain(1 << 20, [1, 1], pattern=RAID0 | OVERSTRIPED),
            ),
        ]
    )
    assert seen(layout(tmp_path, shim, attribute)) == [
        component(1 << 16, [], pattern=2, flags=INITIALISED, end=1 << 20, mirror=2),
        component(1 << 20, [4, 5], flags=INITIALISED | STALE, begin=1 << 20, end=1 << 30, mirror=2),
        component(1 << 20, [1, 1], pattern=4, flags=INITIALISED, begin=1 << 30, mirror=2),
    ]


@pytest.mark.parametrize("attribute", [b"", b"\xd0\x0b", plain(4096, [1, 2])[:-1], b"x" * 200, composite([])[:20]])
def test_damaged_attributes_are_no_layout(attribute: bytes, tmp_path: Path, shim: Path) -> None:
    assert layout(tmp_path, shim, attribute) is None
