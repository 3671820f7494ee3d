"""Packed records are ordinary zlib streams: zlib returns exactly the bytes that were packed."""

from __future__ import annotations

import random
import subprocess
import zlib
from pathlib import Path

import profiler_harness as harness
import pytest


@pytest.fixture(scope="module")
def program() -> Path:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / "pack_units").unlink(missing_ok=True)
    return harness.build_program("pack_units")


def packed(program: Path, data: bytes, row: int, piece: int) -> bytes:
    done = subprocess.run([program, str(row), str(piece)], input=data, capture_output=True, check=True)
    return done.stdout


def alike(row: int, rows: int, seed: int) -> bytes:
    """Returns rows of bytes that differ from the previous row in a few places only."""
    chance = random.Random(seed)
    current, out = bytearray(chance.randbytes(row)), bytearray()
    for _ in range(rows):
        for _ in range(chance.randrange(6)):
            current[chance.randrange(row)] = chance.randrange(256)
        out += current
    return bytes(out)


@pytest.mark.parametrize(("row", "piece"), [(8, 8), (32, 104), (704, 704), (704, 1 << 22), (4096, 24)])
def test_zlib_unpacks_it(program: Path, row: int, piece: int) -> None:
    chance = random.Random(row)
    cases = [b"", b"\0" * 8, chance.randbytes(8), bytes(range(256)) * 16, b"\xff" * 8000, chance.randbytes(9600)]
    cases += [alike(row, 50, seed) for seed in range(5)]
    cases += [
        b"\0" * row + chance.randbytes(row)[:-8] + b"\0" * (row + 8),
        alike(row, 50, 9)[: 8 * (row * 50 // 8 - 1)],
    ]
    for data in cases:
        assert zlib.decompress(packed(program, data, row, piece)) == data


def test_runs_of_every_length_are_matched(program: Path) -> None:
    """Rows with 0 to 600 equal bytes between two differences: matches of 3 to 258 bytes, and shorter rests."""
    row = 640
    rows = [bytearray(row)]
    for length in range(600):
        rows.append(bytearray(rows[-1]))
        for at in (3, 4 + length):
            rows[-1][at] ^= 1 + length % 255
    data = b"".join(rows)
    stream = packed(program, data, row, row)
    assert zlib.decompress(stream) == data
    assert len(stream) < len(data) / 40


def test_many_megabytes_and_no_likeness(program: Path) -> None:
    data = random.Random(1).randbytes(5 << 20)
    stream = packed(program, data, 704, 5 << 20)
    assert zlib.decompress(stream) == data
    assert len(stream) < len(data) * 9 / 8
    assert zlib.decompress(packed(program, alike(704, 5000, 2), 704, 704)) == alike(704, 5000, 2)


def texts() -> list[bytes]:
    """Returns texts to pack: empty or short ones, some with matches of every length or at distances at the edge of the
    window, and one that is typical of logs.
    """
    chance = random.Random(4)
    noise = chance.randbytes(40000)
    found = [b"", b"a", b"abc", b"abcd" * 2, b"a" * 70000, noise, noise[:32764] + noise[:100], noise[:32768] * 2]
    found += [noise[:32769] * 2, noise[:9000] * 200, bytes(range(256)) * 9]
    found += [noise[:n] + b"#" + noise[:n] + b"!" for n in range(1, 300)]
    found.append("".join(f"/scratch/user/run{i // 100}/rank{i}.dat\0" for i in range(40000)).encode())
    return found


def test_any_bytes_come_out_of_zlib(program: Path) -> None:
    for text in texts():
        assert zlib.decompress(packed(program, text, 0, 0)) == text


def test_text_stays_close_to_the_size_that_zlib_makes_of_it(program: Path) -> None:
    sources = sorted((Path(__file__).parents[2] / "profiler").glob("*.md"))
    for text in [texts()[-1], *(path.read_bytes() for path in sources)]:
        assert len(packed(program, text, 0, 0)) < 1.7 * len(zlib.compress(text, 6)) + 100


def test_a_log_of_many_files_is_packed_and_says_the_same(tmp_path: Path) -> None:
    """libdarshan-util reads 3000 files (2 MB of records) like 300: every counter but the names is equal."""
    frames = []
    for files in (300, 3000):
        folder = tmp_path / str(files)
        folder.mkdir()
        assert harness.run(harness.build_program("posix_many"), str(files), folder=folder).returncode == 0
        report = harness.read_log(harness.logs(folder)[0])
        frame = report.records["POSIX"].to_df()["counters"].drop(columns="id")
        assert len(frame) == files
        assert {Path(name).name for name in report.name_records.values()} >= {f"file{i}" for i in range(files)}
        timed = [name for name in frame.columns if name.endswith("TIME_SIZE")]
        frames.append(frame.drop(columns=timed).drop_duplicates())
    assert len(frames[0]) == 1
    assert frames[0].equals(frames[1])
