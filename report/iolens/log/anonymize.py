"""Makes a copy of a log without the names of people, machines, programs and files, and with the same counters.
Everything that is not known to be harmless is replaced or left out: modules, private regions of JSON, keys of the
region `job`, and lines of metadata are in the result only if this file names them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iolens.log.format.container import WIDE, Container, LogError, Region
from iolens.log.format.header import JOB_RECORD, METADATA, read_job
from iolens.log.format.layouts import MODULES, dtype_of, stored
from iolens.log.format.places import record_places
from iolens.log.format.variable import VERSIONS
from iolens.log.known import PROCESSES
from iolens.log.pseudonyms import Pseudonyms, lies_on
from iolens.log.rewrite import Contents, PrivateRegion, put_together, split_log

_METADATA_KEPT = (b"lib_ver", b"h", b"partial")
"""Keys that are copied: the version, MPI-IO hints for writing the log, and why the log is partial."""

_MARK = b"anonymized=yes"
_JOB_KEPT = ("iolens", "storage", "clock", "rank_host", "rank_program", "pid", "ancestors")


@dataclass(frozen=True)
class Anonymous:
    """The new log, its job's number, and the modules and private regions that were left out."""

    data: bytes
    jobid: int
    left_out: tuple[str, ...]


def anonymize(log: Container, key: bytes, keep: frozenset[str]) -> Anonymous:
    """Returns a readable log with pseudonyms that are made with `key`. Records of an unknown kind are left out."""
    old = split_log(log)
    fields = read_job(log)
    mounts = tuple(line.partition(b"\t")[2] for line in _job_lines(log, old.job)[1:])
    names = Pseudonyms(
        key,
        keep,
        tuple(mount for mount in mounts if mount),
        frozenset(b"%d" % n for n in (fields.uid, fields.jobid) if n > 99),
    )
    named = list(_name_entries(log, old.names))
    names.name_records(named)
    known = [region for region in log.modules if region.length and _is_known_format(region)]
    new = Contents(
        job=b"",
        names=b"".join(_name_entry(log, names.record(key), names.path(name)) for key, name in named),
        modules={region.name: _module(log, region, old.modules[region.name], names) for region in known},
        private=None,
    )
    job = _job_region(log, old.job, names, [names.path(name) for _, name in named])
    kept = None if old.private is None else [_private_region(region, names) for region in old.private]
    new = replace(new, job=job, private=None if kept is None else tuple(region for region in kept if region))
    gone = [f"module {name}" for name in old.modules if name not in new.modules]
    gone += [
        f"private region {was.name}" for was, now in zip(old.private or (), kept or (), strict=True) if now is None
    ]
    return Anonymous(put_together(log, new), _renumbered(fields.jobid, names), tuple(gone))


def _is_known_format(region: Region) -> bool:
    """Returns whether this package knows the format of the module's records, and so can find the ids in them."""
    versions = MODULES[region.name].versions if region.name in MODULES else VERSIONS.get(region.name, ())
    return region.version in versions


def _name_entries(log: Container, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields record ids and names in their order, from a names region that could be read."""
    at, counted = 0, log.format == (3, 0)
    while at + 8 < len(data):
        (key,) = struct.unpack_from(f"{log.order}Q", data, at)
        begin = at + (12 if counted else 8)
        length = struct.unpack_from(f"{log.order}I", data, at + 8)[0] if counted else data.index(b"\0", begin) - begin
        yield key, data[begin : begin + length]
        at = begin + length + (0 if counted else 1)


def _name_entry(log: Container, key: int, name: bytes) -> bytes:
    """Returns one entry of the names region."""
    if log.format == (3, 0):
        return struct.pack(f"{log.order}QI", key, len(name)) + name
    return struct.pack(f"{log.order}Q", key) + name + b"\0"


def _job_lines(log: Container, data: bytes) -> list[bytes]:
    """Returns the command line and then the mounts, one mount per line."""
    return data[8 * _numbers_of(log) + METADATA :].split(b"\0")[0].split(b"\n")


def _numbers_of(log: Container) -> int:
    """Returns how many numbers of 8 bytes stand at the beginning of the job region."""
    return 7 if log.format >= WIDE else 5


def _job_region(log: Container, data: bytes, names: Pseudonyms, paths: list[bytes]) -> bytes:
    """Returns the job region: numbers, metadata, command and mounts. If there is not enough room, mounts without a
    recorded file are left out.
    """
    count = _numbers_of(log)
    numbers = list(struct.unpack_from(f"{log.order}{count}q", data))
    numbers[0], numbers[-1] = _renumbered(numbers[0], names), _renumbered(numbers[-1], names)
    lines = data[8 * count : 8 * count + METADATA].split(b"\0")[0].splitlines()
    kept = [names.sentence(line) for line in lines if line.partition(b"=")[0] in _METADATA_KEPT]
    metadata = b"".join(line + b"\n" for line in [*kept, _MARK])
    if len(metadata) > METADATA:
        raise LogError(log.path, "has too little space in its metadata for the note that it is anonymized")
    first, *mounts = _job_lines(log, data)
    rows = [_anonymous_mount(line, names) for line in mounts if b"\t" in line]
    room = JOB_RECORD - 8 * count - METADATA - 1
    while rows and _size_of(rows) > room // 2:
        unused = [row for row in rows if not any(lies_on(path, row.partition(b"\t")[2]) for path in paths)]
        rows.remove((unused or rows)[-1])
    text = _command(first, names)[: room - _size_of(rows)] + b"".join(b"\n" + row for row in rows)
    return struct.pack(f"{log.order}{count}q", *numbers) + metadata.ljust(METADATA, b"\0") + text + b"\0"


def _renumbered(number: int, names: Pseudonyms) -> int:
    """Returns another number in place of a job's or a user's number."""
    return names.number(b"number:%d" % number, 1 << 31)


def _size_of(rows: list[bytes]) -> int:
    """Returns the bytes that these lines take, each with the line break before it."""
    return sum(len(row) + 1 for row in rows)


def _anonymous_mount(line: bytes, names: Pseudonyms) -> bytes:
    """Returns the mount with a pseudonym; the file system's type stays, since reports depend on it."""
    kind, _, point = line.partition(b"\t")
    return kind + b"\t" + names.path(point)


def _command(line: bytes, names: Pseudonyms) -> bytes:
    """Returns the command line with pseudonyms for the program's path and its arguments; the program's own name stays
    if `names.keep` has "program".
    """
    words = line.strip().split(b" ")
    folder, slash, program = words[0].rpartition(b"/")
    first = names.path(folder + slash) + program if "program" in names.keep else names.path(words[0])
    return b" ".join([first, *(names.text(word) for word in words[1:])])


def _module(log: Container, region: Region, data: bytes, names: Pseudonyms) -> bytes:
    """Returns a module's records under their new ids."""
    if region.name in MODULES:
        return _fixed(log, region, data, names)
    changed = bytearray(data)
    for at, texts in record_places(log, region, data):
        (key,) = struct.unpack_from(f"{log.order}Q", changed, at)
        struct.pack_into(f"{log.order}Q", changed, at, names.record(key))
        for begin, end in texts:
            word = bytes(changed[begin:end]).split(b"\0")[0]
            changed[begin:end] = (names.word(word) if word else b"").ljust(end - begin, b"\0")
    return bytes(changed)


def _fixed(log: Container, region: Region, data: bytes, names: Pseudonyms) -> bytes:
    """Returns records of a fixed size in which ids (also ids of other records) and numbers of a job, a pool or an
    object are replaced.
    """
    layout = MODULES[region.name]
    records = np.frombuffer(data, dtype_of(layout, region.version, log.order)).copy()
    for name in ("id", *(name for name in layout.head if name in (records.dtype.names or ()))):
        records[name] = _renamed(records[name], names)
    whole = [name for name in stored(layout, region.version) if "_F_" not in name]
    if "POSIX_RENAMED_FROM" in whole:
        column = records["i"][:, whole.index("POSIX_RENAMED_FROM")]
        column[:] = _renamed(column.astype("u8"), names).astype("i8")
    if "BGQ_CSJOBID" in whole:
        column = records["i"][:, whole.index("BGQ_CSJOBID")]
        column[:] = [_renumbered(number, names) for number in column.tolist()]
    for name, kind in layout.tail:
        digests = [names.digest(b"object:" + value.tobytes()) for value in records[name]]
        records[name] = np.array([digest[: int(kind[1:])] for digest in digests], "V").view(records[name].dtype)
    return bytes(records.tobytes())


def _renamed(keys: np.ndarray, names: Pseudonyms) -> np.ndarray:
    """Returns new record ids for old ones; 0 stays, since it means that there is no record."""
    known, places = np.unique(keys, return_inverse=True)
    return np.array([names.record(key) if key else 0 for key in known.tolist()], "u8")[places]


def _private_region(region: PrivateRegion, names: Pseudonyms) -> PrivateRegion | None:
    """Returns a private region with pseudonyms; None if the meaning of its contents is not known."""
    if region.kind == "table":
        return replace(region, chunks=anonymous_chunks(region.chunks, names))
    change = {"job": _job, PROCESSES: _process_facts}.get(region.name)
    if change is None:
        return None
    return replace(region, chunks=tuple(json.dumps(change(json.loads(c), names)).encode() for c in region.chunks))


def _process_facts(old: dict[str, Any], names: Pseudonyms) -> dict[str, Any]:
    """Returns the region `processes` with pseudonyms in the facts of each process."""
    rows = []
    for row in old[PROCESSES]:
        user, *times, jobid = row["numbers"]
        lines = [line.encode() for line in row["metadata"]]
        kept = [names.sentence(line) for line in lines if line.partition(b"=")[0] in _METADATA_KEPT]
        rows.append(
            {
                "numbers": [_renumbered(user, names), *times, _renumbered(jobid, names)],
                "metadata": [line.decode() for line in (*kept, _MARK)],
                "command": _command(row["command"].encode(), names).decode("utf-8", "replace"),
                "job": {key: value for key, value in _job(row["job"], names).items() if key in row["job"]},
                "modules": row["modules"],
            }
        )
    return {PROCESSES: rows}


def anonymous_chunks(chunks: tuple[bytes, ...], names: Pseudonyms) -> tuple[bytes, ...]:
    """Returns the parts of a table; a part without column names has the columns of the previous part."""
    columns: list[dict[str, Any]] = []
    new = []
    for chunk in chunks:
        columns = json.loads(chunk.partition(b"\n")[0]).get("columns", columns)
        new.append(_anonymous_table(chunk, columns, names))
    return tuple(new)


def _anonymous_table(chunk: bytes, columns: list[dict[str, Any]], names: Pseudonyms) -> bytes:
    """Returns a table: record ids and texts are replaced, numbers, and texts that its header declares as words,
    stay.
    """
    head, newline, body = chunk.partition(b"\n")
    header = json.loads(head)
    rows, at, parts = int(header["rows"]), 0, []
    for column in columns:
        values = np.frombuffer(body, column["dtype"], rows, at)
        at += values.nbytes
        if values.dtype == np.uint64 and (column["name"] == "file" or column.get("unit") == "record id"):
            values = _renamed(values, names)
        elif values.dtype.kind == "S" and column.get("text") != "word":
            values = np.array([names.text(value) for value in values.tolist()], values.dtype)
        parts.append(values.tobytes())
    return head + newline + b"".join(parts)


def _job(old: dict[str, Any], names: Pseudonyms) -> dict[str, Any]:
    """Returns the region `job`: harmless facts unchanged; hosts, programs and settings replaced by pseudonyms."""
    hosts = [names.word(host.encode()).decode() for host in old.get("hosts", [])]
    new = {name: old[name] for name in _JOB_KEPT if name in old}
    if "programs" in old:
        new["programs"] = [anonymous_program(name, names) for name in old["programs"]]
    component = old.get("io_component")
    return {
        **new,
        "mpi": old["mpi"].partition(",")[0] if isinstance(old.get("mpi"), str) else None,
        "io_component": names.sentence(component.encode()).decode() if isinstance(component, str) else None,
        "hosts": hosts,
        "partial": [names.sentence(str(reason).encode()).decode() for reason in old.get("partial", [])],
        "remarks": [str(remark) for remark in old.get("remarks", [])],
        "environment": {
            name: _anonymous_setting(name, str(value), names) for name, value in old.get("environment", {}).items()
        },
    }


def anonymous_program(name: str, names: Pseudonyms) -> str:
    """Returns a program's name with pseudonyms. If `names.keep` has "program", the program's own name stays, and only
    the name of a script after it is replaced.
    """
    if "program" not in names.keep:
        return names.component(name.encode()).decode()
    own, blank, script = name.partition(" ")
    return own + blank + (names.component(script.encode()).decode() if script else "")


def _anonymous_setting(name: str, value: str, names: Pseudonyms) -> str:
    """Returns the value of an environment variable; the value of an identifier is treated as a word even if it is a
    number.
    """
    raw = value.encode()
    return (names.word(raw) if name.upper().endswith("ID") and raw else names.text(raw)).decode()
