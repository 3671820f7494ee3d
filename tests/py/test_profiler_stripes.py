"""Bytes per stripe are compared with a byte-by-byte count; the attributes are packed by hand."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import profiler_harness as harness
import pytest
from iolens.log import read_log
from test_profiler_lustre import INITIALISED, MDT, RAID0, composite, plain, shim

__all__ = ["shim"]

READ, WRITTEN = "bytes_read", "bytes_written"
Rows = dict[tuple[int, int, int], tuple[int, int]]

CODE = """
import os, shutil, sys
fd = os.open("data", os.O_CREAT | os.O_RDWR)
for word in sys.argv[1:]:
    kind, offset, size = word.split(":")
    if kind == "w":
        assert os.pwrite(fd, bytes(int(size)), int(offset)) == int(size)
    elif kind == "r":
        assert len(os.pread(fd, int(size), int(offset))) == int(size)
    else:
        shutil.copy(offset, "attribute")
os.close(fd)
"""


def moved(folder: Path, shim: Path, attribute: bytes, words: list[str]) -> Rows:
    """Counts the transfers `words`: (component, stripe, target) -> bytes read and written."""
    (folder / "attribute").write_bytes(attribute)
    settings = {"LD_PRELOAD": f"{harness.PRELOAD}:{shim}", "LOV_BYTES": str(folder / "attribute")}
    done = harness.run(sys.executable, "-c", CODE, *words, folder=folder, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = harness.logs(folder)
    job = read_log(path)
    table = job.private["ost_bytes"]
    (key,) = [key for key, name in job.names.items() if name == str(folder / "data")]
    rows = table[table["file"] == key]
    assert (rows["rank"] == 0).all()
    return {(row.component, row.stripe, row.ost): (row.bytes_read, row.bytes_written) for row in rows.itertuples()}


def test_every_byte_is_on_its_stripe(tmp_path: Path, shim: Path) -> None:
    size, targets = 1000, [7, 0, 3, 11, 5]
    source = random.Random(5)
    transfers = [("w", 0, 40000)]
    transfers += [(source.choice("rw"), source.randrange(20000), source.randrange(1, 15000)) for _ in range(300)]
    transfers += [("w", size * stripe, size) for stripe in range(3)]
    expected = np.zeros((2, len(targets)), dtype=int)
    for kind, offset, length in transfers:
        stripes = np.arange(offset, offset + length) // size % len(targets)
        expected[int(kind == "w")] += np.bincount(stripes, minlength=len(targets))
    found = moved(tmp_path, shim, plain(size, targets), [f"{k}:{o}:{n}" for k, o, n in transfers])
    assert found == {
        (0, stripe, target): (expected[0, stripe], expected[1, stripe]) for stripe, target in enumerate(targets)
    }


def test_components_and_the_metadata_target(tmp_path: Path, shim: Path) -> None:
    parts = [
        (1, INITIALISED, 0, 100, plain(100, [], pattern=MDT, count=1)),
        (2, INITIALISED, 100, 1000, plain(200, [4, 5])),
        (3, INITIALISED, 1000, 2**64 - 1, plain(1000, [1, 2, 6])),
    ]
    found = moved(tmp_path, shim, composite(parts), ["w:0:3500", "r:50:100"])
    assert found == {
        (-1, -1, -1): (50, 100),
        (1, 0, 4): (50, 100 + 200 + 200),
        (1, 1, 5): (0, 200 + 200),
        (2, 1, 2): (0, 1000),
        (2, 2, 6): (0, 1000),
        (2, 0, 1): (0, 500),
    }


def test_components_that_come_while_the_file_grows(tmp_path: Path, shim: Path) -> None:
    small = (1, INITIALISED, 0, 1000, plain(1000, [4], pattern=RAID0))
    late = (2, INITIALISED, 1000, 2**64 - 1, plain(1000, [8, 9]))
    (tmp_path / "grown").write_bytes(composite([small, late]))
    coming = composite([small, (2, 0, 1000, 2**64 - 1, plain(1000, [], count=0))])
    found = moved(tmp_path, shim, coming, ["w:0:600", "grow:grown:0", "w:600:1000", "r:0:10"])
    assert found == {(0, 0, 4): (10, 1000), (1, 1, 9): (0, 600)}


def test_mirrors_may_all_have_been_used(tmp_path: Path, shim: Path) -> None:
    parts = [(mirror << 16 | 1, INITIALISED, 0, 2**64 - 1, plain(1000, [mirror])) for mirror in (1, 2)]
    assert moved(tmp_path, shim, composite(parts), ["w:0:600"]) == {(-1, -1, -1): (0, 600)}


@pytest.mark.parametrize("name", ["aio", "stdio"])
def test_other_ways_to_write(name: str, tmp_path: Path, shim: Path) -> None:
    (tmp_path / "attribute").write_bytes(plain(100, [3, 4]))
    settings = {"LD_PRELOAD": f"{harness.PRELOAD}:{shim}", "LOV_BYTES": str(tmp_path / "attribute")}
    program = harness.build_program({"aio": "posix_aio", "stdio": "stdio_calls"}[name])
    assert harness.run(program, folder=tmp_path, stdin="12345 word\n", **settings).returncode == 0
    (path,) = harness.logs(tmp_path)
    job = read_log(path)
    table = job.private["ost_bytes"].groupby("file")[[READ, WRITTEN]].sum()
    layers = [
        job.frames[layer].set_index("id")[[f"{layer}_BYTES_READ", f"{layer}_BYTES_WRITTEN"]]
        for layer in ("POSIX", "STDIO")
        if layer in job.frames
    ]
    total = pd.concat([part.set_axis([READ, WRITTEN], axis=1) for part in layers]).groupby("id").sum()
    total = total[total.any(axis=1)]
    real = total[[job.names[key].startswith("/") for key in total.index]]
    assert len(real) > 0
    assert table.to_dict("index") == real.to_dict("index")
