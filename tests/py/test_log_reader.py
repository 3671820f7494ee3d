"""Reads logs: every counter is compared with libdarshan-util (PyPI `darshan`), and damaged files are refused."""

from __future__ import annotations

import bz2
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from darshan.backend import cffi_backend as backend
from iolens.log import Job, LogError, read_log
from iolens.log.format import container, fixed
from iolens.log.format.container import Container, Region, inflate
from iolens.log.format.layouts import MODULES, dtype_of
from iolens.log.records import LazyRows, Records

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))
SMALL = next(path for path in LOGS if path.name == "mpi-io-test-x86_64-3.5.0.darshan")
CALLS = next(path for path in LOGS if path.name == "mpi_calls.darshan")
RECORD_BYTES = {
    "POSIX": {1: 680, 2: 648, 3: 664, 4: 704},
    "MPI-IO": {1: 544, 2: 544, 3: 560},
    "STDIO": {1: 240, 2: 248},
    "H5F": {1: 40, 2: 56, 3: 80},
    "H5D": {1: 904, 2: 912},
    "PNETCDF_FILE": {1: 48, 2: 64, 3: 152},
    "PNETCDF_VAR": {1: 1120},
    "BG/Q": {2: 112},
    "DFS": {1: 584},
    "DAOS": {1: 696},
}
"""Sizes of Darshan's record structures on x86-64."""

SWAPPED = {"POSIX_F_META_TIME", "POSIX_F_MAX_READ_TIME", "POSIX_F_MAX_WRITE_TIME"}
CUT = {"POSIX_F_VARIANCE_RANK_TIME", "POSIX_F_VARIANCE_RANK_BYTES"}
"""libdarshan-util 3.5.0 converts POSIX records older than version 4 wrongly: it does not swap the bytes of the counters
in SWAPPED, and loses those in CUT. Its conversion of BG/Q records has no Python interface.
"""


def witness(path: Path, module: str) -> Iterator[dict[str, Any]]:
    """Yields the module's records as libdarshan-util reads them."""
    log = backend.log_open(str(path))
    read = backend.log_get_record
    if module.startswith("DXT_"):
        read = backend.log_get_dxt_record
    while (record := read(log, module, dtype="dict")) is not None:
        yield record
    backend.log_close(log)


def expected(record: dict[str, Any]) -> dict[str, Any]:
    return {"id": record["id"], "rank": record["rank"], **record["counters"], **record["fcounters"]}


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def job(request: pytest.FixtureRequest) -> Job:
    return read_log(request.param)


def test_every_counter_is_libdarshan_utils(job: Job) -> None:
    versions = {module.name: module.version for module in job.modules}
    for name in (MODULES.keys() & job.frames.keys()) - {"BG/Q"}:
        frame = job.frames[name]
        rows = [expected(record) for record in witness(job.path, name)]
        assert len(frame) == len(rows), name
        wrong = CUT | (SWAPPED if job.byte_order == "big" else set()) if versions[name] < 4 else set()
        for column in rows[0].keys() - wrong:
            ours = frame[column].to_numpy()
            theirs = np.array([row[column] for row in rows], dtype=ours.dtype)
            assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"), (name, column)


def test_job_and_names_are_libdarshan_utils(job: Job) -> None:
    log = backend.log_open(str(job.path))
    fields = backend.log_get_job(log)
    assert (job.uid, job.nprocs, job.jobid) == (fields["uid"], fields["nprocs"], fields["jobid"])
    assert int(job.start) == fields["start_time_sec"]
    assert int(job.end) == fields["end_time_sec"]
    assert job.run_time == pytest.approx(fields["run_time"], abs=1e-6)
    assert job.command == backend.log_get_exe(log).strip()
    assert {(mount.point, mount.kind) for mount in job.mounts} == set(backend.log_get_mounts(log))
    assert dict(job.names) == backend.log_get_name_records(log)
    theirs = backend.log_get_modules(log)
    assert {m.name for m in job.modules} == set(theirs)
    assert {m.name for m in job.modules if m.partial} == {n for n, m in theirs.items() if m["partial_flag"]}
    backend.log_close(log)


def test_lustre_layouts(job: Job) -> None:
    if "LUSTRE" not in job.frames:
        return
    rows = [
        (record["id"], record["rank"], number, *(int(part["counters"][i]) for i in (0, 1)))
        for record in witness(job.path, "LUSTRE")
        for number, part in enumerate(components(record))
    ]
    frame = job.frames["LUSTRE"]
    columns = ["id", "rank", "component", "stripe_size", "stripe_count"]
    assert [tuple(row) for row in frame[columns].itertuples(index=False)] == rows
    osts = [ost for record in witness(job.path, "LUSTRE") for part in record["components"] for ost in part["ost_ids"]]
    assert [ost for row in frame["osts"] for ost in row] == osts


def components(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the components of a record: their counters as a list."""
    return [{"counters": list(part["counters"].values())} for part in record["components"]]


@pytest.mark.parametrize("module", ["DXT_POSIX", "DXT_MPIIO"])
def test_dxt_segments(job: Job, module: str) -> None:
    # libdarshan-util cannot read traces with threads.
    if module not in job.frames or "thread" in job.frames[module]:
        return
    rows = [
        (record["id"], record["rank"], record["hostname"], op, *(segment[k] for k in SEGMENT))
        for record in witness(job.path, module)
        for op in ("write", "read")
        for segment in record[f"{op}_segments"]
    ]
    assert list(job.frames[module].itertuples(index=False, name=None)) == rows


SEGMENT = ("offset", "length", "start_time", "end_time")


def test_heatmaps(job: Job) -> None:
    if "HEATMAP" not in job.frames:
        return
    frame = job.frames["HEATMAP"]
    for record in witness(job.path, "HEATMAP"):
        mine = frame[(frame["id"] == record["id"]) & (frame["rank"] == record["rank"])]
        assert mine["written"].tolist() == list(record["write_bins"])
        assert mine["read"].tolist() == list(record["read_bins"])
        assert set(mine["width"]) == {record["bin_width_seconds"]}


@pytest.mark.parametrize("module", MODULES)
def test_a_record_has_the_size_of_darshans_struct(module: str) -> None:
    for order in "<>":
        sizes = {v: dtype_of(MODULES[module], v, order).itemsize for v in MODULES[module].versions}
        assert sizes == RECORD_BYTES[module]


def test_the_data_has_old_and_big_endian_logs() -> None:
    formats = {(job.byte_order, job.version) for job in map(read_log, LOGS)}
    assert {("little", "3.0"), ("big", "3.0"), ("big", "3.10"), ("little", "3.41")} <= formats


def rewritten(compress: Any, kind: int) -> bytes:
    """Returns the small log with each region compressed again by `compress`."""
    log = container.open_container(SMALL)
    data = bytearray(log.data[:1328])
    data[16] = kind
    for place, region in [(None, log.job), (32, log.names), *((module_place(r.name), r) for r in log.modules)]:
        stored = compress(container.inflate(log, region))
        if place is not None:
            struct.pack_into("<QQ", data, place, len(data), len(stored))
        data += stored
    return bytes(data)


def module_place(name: str) -> int:
    return 48 + 16 * container.MODULE_NAMES.index(name)


@pytest.mark.parametrize(("kind", "library"), [(0, "zlib"), (1, "bz2"), (2, "none")])
def test_compressions(tmp_path: Path, kind: int, library: str) -> None:
    import bz2

    compress = {"zlib": zlib.compress, "bz2": bz2.compress, "none": bytes}[library]
    path = tmp_path / "again.darshan"
    path.write_bytes(rewritten(compress, kind))
    again, first = read_log(path), read_log(SMALL)
    assert again.names == first.names
    for name, frame in first.frames.items():
        assert again.frames[name].equals(frame), name


def test_private_regions(tmp_path: Path) -> None:
    """Reads back a table with parts of two ranks and a region of JSON, which were written as profiler/LOG.md describes
    them.
    """
    columns = [{"name": "rank", "dtype": "<i4"}, {"name": "key", "dtype": "S8"}, {"name": "time", "dtype": "<f8"}]

    body = SMALL.read_bytes()
    regions = {
        "job": ("json", zlib.compress(json.dumps({"storage": "emulated", "partial": ["Cut."]}).encode())),
        "hints": ("table", chunk(columns, 0, b"cb") + chunk(columns, 3, b"x")),
    }
    entries = []
    for name, (kind, stored) in regions.items():
        entries.append({"name": name, "kind": kind, "offset": len(body), "bytes": len(stored)})
        body += stored
    directory = json.dumps({"schema": 1, "regions": entries}).encode()
    body += directory + struct.pack("<8sQQQ", b"iolens01", len(body), len(directory), 0)
    path = tmp_path / "private.darshan"
    path.write_bytes(body)
    job = read_log(path)
    assert job.storage == "emulated"
    assert job.partial == ("Cut.",)
    rows = job.private["hints"].itertuples(index=False, name=None)
    assert list(rows) == [(0, "cb", 0.0), (3, "x", 0.75)]


def chunk(columns: list[dict[str, str]], rank: int, key: bytes) -> bytes:
    """Returns the row of one rank."""
    head = json.dumps({"rows": 1, "columns": columns}).encode() + b"\n"
    return zlib.compress(head + struct.pack("<i", rank) + key.ljust(8, b"\0") + struct.pack("<d", rank / 4))


def damage(data: bytes, random_source: random.Random) -> bytes:
    """Returns a file that is cut off or has some bytes changed."""
    if random_source.random() < 0.5:
        return data[: random_source.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(random_source.randint(1, 8)):
        changed[random_source.randrange(len(data))] = random_source.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", [0, 2])
def test_damage_is_a_log_error_or_still_readable(tmp_path: Path, kind: int) -> None:
    source = random.Random(7)
    whole = rewritten(zlib.compress if kind == 0 else bytes, kind)
    path = tmp_path / "damaged.darshan"
    errors = 0
    for _ in range(300):
        path.write_bytes(damage(whole, source))
        try:
            read_log(path)
        except LogError as error:
            errors += str(path) in str(error)
    assert errors > 100


@pytest.mark.parametrize(("compression", "compress"), [("zlib", zlib.compress), ("bzip2", bz2.compress)])
def test_streams_of_many_ranks_are_copied_once(
    compression: str, compress: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes after the end of a compressed stream are passed to its inflater only up to the size of a window."""
    monkeypatch.setattr(container, "WINDOW", 64)
    parts = [random.Random(rank).randbytes(rank) for rank in range(200)]
    stored = memoryview(b"".join(map(compress, parts)))
    found, longest = [], 0
    while stored:
        before = len(stored)
        piece, rest = container.inflate_stream(compression, stored, 1 << 20)
        longest = max(longest, before - len(rest))
        found.append(piece)
        assert rest.obj is stored.obj
        stored = rest
    assert found == parts
    assert longest > container.WINDOW
    with pytest.raises(EOFError):
        container.inflate_stream(compression, memoryview(compress(parts[-1]))[:-1], 1 << 20)


def test_an_inflation_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "INFLATED_LIMIT", 1000)
    with pytest.raises(LogError, match="after decompression"):
        read_log(SMALL)


def test_what_is_there_of_a_file_that_was_cut_short_is_read(job: Job, tmp_path: Path) -> None:
    whole, path = job.path.read_bytes(), tmp_path / "cut.darshan"
    names = container.open_container(job.path).names
    begin = names.offset
    if not names.length:
        pytest.skip("a log without names and records")
    for place in {begin, begin + 1, *range(begin, len(whole), max(1, (len(whole) - begin) // 4)), len(whole) - 1}:
        path.write_bytes(whole[:place])
        found = read_log(path)
        assert (found.nprocs, found.run_time, found.command) == (job.nprocs, job.run_time, job.command)
        assert found.partial
        assert dict(found.names) == {key: job.names[key] for key in found.names}
        for name, frame in found.frames.items():
            # The numbers of threads depend on which threads are in the log, so that they are not compared.
            shared = [column for column in frame if column != "thread"]
            assert frame[shared].astype(str).equals(job.frames[name][shared].head(len(frame)).astype(str))


def test_a_log_cut_within_its_job_region_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(SMALL.read_bytes()[: container.open_container(SMALL).names.offset - 1])
    with pytest.raises(LogError, match="is truncated in its job region"):
        read_log(path)


@pytest.mark.parametrize("content", [b"hello, this is no log at all", b"3.41\0\0\0\0" + bytes(2000)])
def test_another_file_is_not_a_log(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.darshan"
    path.write_bytes(content)
    with pytest.raises(LogError, match="not a Darshan log"):
        read_log(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.darshan"
    empty.touch()
    with pytest.raises(LogError, match=r"empty\.darshan: is empty$"):
        read_log(empty)
    with pytest.raises(LogError, match=r"none\.darshan: cannot be read"):
        read_log(tmp_path / "none.darshan")


def test_some_parts_of_a_log_are_what_they_are_in_the_whole_log() -> None:
    whole, some = (read_log(CALLS, parts) for parts in ((), ("POSIX", "job")))
    assert set(some.records) == {"POSIX"} < set(whole.records)
    assert (some.info, set(some.private)) == (whole.info, {"job"})
    assert some.records["POSIX"].frame().equals(whole.records["POSIX"].frame())
    assert set(some.regions) == set(whole.private)
    assert (some.partial, some.names) == (whole.partial, whole.names)


@pytest.mark.parametrize("piece", [1, 700, 1 << 16])
def test_a_region_that_is_read_in_pieces_has_the_same_records(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_log(SMALL).records

    def pieces(log: Container, region: Region) -> Iterator[bytes]:
        content = inflate(log, region)
        yield from (content[at : at + piece] for at in range(0, len(content), piece))

    monkeypatch.setattr(fixed, "_SMALL", 0)
    monkeypatch.setattr(fixed, "inflated_pieces", pieces)
    parts = read_log(SMALL).records
    for name in ("POSIX", "MPI-IO"):
        assert parts[name].names == whole[name].names
        assert all(np.array_equal(parts[name][column], whole[name][column]) for column in whole[name].names)


def test_a_selection_of_rows_computes_only_the_columns_that_are_asked_for() -> None:
    asked: list[int] = []

    def row(place: int) -> np.ndarray:
        asked.append(place)
        return np.arange(4.0) + place

    table = Records({"id": np.arange(4)}, [({"a": 0, "b": 1, "c": 2}, LazyRows(row))])
    chosen = table.where(np.array([False, True, True, False])).where(np.array([1]))
    assert asked == []
    assert chosen["b"].tolist() == [3.0]
    assert chosen["b"].tolist() == [3.0]
    assert asked == [1]
    assert chosen.frame().to_dict("list") == {"id": [2], "a": [2.0], "b": [3.0], "c": [4.0]}
