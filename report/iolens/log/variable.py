"""Modules whose records differ in length: LUSTRE layouts, DXT segments, heatmaps.

A Python loop finds where the records begin; the numbers themselves are taken in bulk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.log.container import Container, LogError, Region, inflate

if TYPE_CHECKING:
    import pandas as pd

HEATMAP_NAMES = {
    16592106915301738621: "POSIX",
    3989511027826779520: "STDIO",
    3668870418325792824: "MPI-IO",
    1597927878319380788: "DFS",
    4131494093108637317: "DAOS",
}
VERSIONS = {"LUSTRE": (1, 2), "DXT_POSIX": (1, 2), "DXT_MPIIO": (1, 2, 3), "HEATMAP": (1,)}
"""Known record versions."""

COMPONENT = ("stripe_size", "stripe_count", "pattern", "flags", "extent_start", "extent_end", "mirror")


def damaged(log: Container, region: Region) -> LogError:
    """The error for a record that does not end within its region."""
    return LogError(log.path, f"is damaged: a record of its {region.name} region is cut off")


def words_of(log: Container, region: Region) -> tuple[bytes, np.ndarray]:
    """A region's bytes, and the same as 64-bit integers in this machine's order; of a cut one the whole integers."""
    data = inflate(log, region)
    if len(data) % 8 and not region.cut:
        raise damaged(log, region)
    data = data[: len(data) - len(data) % 8]
    return data, np.frombuffer(data, f"{log.order}i8").astype(np.int64)


def read_lustre(log: Container, region: Region) -> pd.DataFrame:
    """One row a layout component: id, rank, component (from 0), its fields, pool, and `osts`, a tuple.

    Sizes and extents are bytes; an extent end of -1 is the end of the file; -1 elsewhere: not recorded.
    """
    import pandas as pd

    data, words = words_of(log, region)
    read = lustre_v1 if region.version == 1 else lustre_v2
    rows: list[tuple[Any, ...]] = []
    at = 0
    while at < len(words):
        try:
            at = read(log, region, data, words, at, rows)
        except LogError:
            if region.cut:
                break
            raise
    return pd.DataFrame(rows, columns=["id", "rank", "component", *COMPONENT, "pool", "osts"])


def lustre_v1(
    log: Container, region: Region, data: bytes, words: np.ndarray, at: int, rows: list[tuple[Any, ...]]
) -> int:
    """A record of version 1: OST and MDT counts, MDT offset, stripe size and count, OSTs."""
    head = words[at : at + 7].tolist()
    if len(head) < 7 or not 0 <= head[6] <= len(words) - at - 7:
        raise damaged(log, region)
    osts = tuple(words[at + 7 : at + 7 + head[6]].tolist())
    rows.append((unsigned(head[0]), head[1], 0, head[5], head[6], -1, -1, 0, -1, -1, "", osts))
    return at + 7 + len(osts)


def lustre_v2(
    log: Container, region: Region, data: bytes, words: np.ndarray, at: int, rows: list[tuple[Any, ...]]
) -> int:
    """A record of version 2: components of 7 numbers and a pool name, then the OSTs of all of them."""
    head = words[at : at + 4].tolist()
    if len(head) < 4 or min(head[2:]) < 0 or head[2] * 9 + head[3] > len(words) - at - 4:
        raise damaged(log, region)
    key, rank, components, stripes = head
    ost_at = at + 4 + 9 * components
    end = ost_at + stripes
    for number in range(components):
        begin = at + 4 + 9 * number
        fields = words[begin : begin + 7].tolist()
        if fields[0] == -1:
            break
        pool = data[8 * (begin + 7) : 8 * (begin + 9)].split(b"\0")[0].decode("utf-8", "replace")
        osts = tuple(words[ost_at : min(end, ost_at + max(0, fields[1]))].tolist())
        ost_at += len(osts)
        rows.append((unsigned(key), rank, number, *fields, pool, osts))
    return int(end)


def unsigned(key: int) -> int:
    """A record id read as a signed number."""
    return key & 0xFFFFFFFFFFFFFFFF


def read_dxt(log: Container, region: Region) -> pd.DataFrame:
    """One row a traced access: id, rank, host, op (`write` or `read`), offset, length, start, end.

    The first version of DXT_MPIIO and Open MPI know no offsets: -1. From DXT_POSIX 2 and DXT_MPIIO 3 on there is a
    column more, thread: the thread that made the call, numbered within its rank by its first access, from 0.
    """
    import pandas as pd

    data, words = words_of(log, region)
    size = segment_words(region)
    places, heads, at = [], [], 0
    while at < len(words):
        head = words[at : at + 13].tolist()
        if len(head) < 13 or min(head[11:]) < 0 or (head[11] + head[12]) * size > len(words) - at - 13:
            if region.cut:
                break
            raise damaged(log, region)
        end = at + 13 + size * (head[11] + head[12])
        if end > at + 13:
            host = data[8 * (at + 3) : 8 * (at + 11)].split(b"\0")[0].decode("utf-8", "replace")
            heads.append((unsigned(head[0]), head[1], host, head[11], head[12]))
            places.append(words[at + 13 : end])
        at = end
    segments = (np.concatenate(places) if places else words[:0]).reshape(-1, size)
    counts = np.array([head[3:] for head in heads], dtype=np.int64).reshape(-1, 2)
    each = counts.sum(axis=1)
    table = pd.DataFrame(heads, columns=["id", "rank", "host", "writes", "reads"])[["id", "rank", "host"]]
    frame = table.loc[np.repeat(np.arange(len(heads)), each)].reset_index(drop=True)
    op = np.repeat(np.tile(np.array(["write", "read"], dtype=object), len(heads)), counts.ravel())
    times = np.ascontiguousarray(segments[:, 2:4]).view(np.float64)
    offset = segments[:, 0] if region.version > 1 or region.name == "DXT_POSIX" else np.full(len(segments), -1)
    frame = frame.assign(op=op, offset=offset, length=segments[:, 1], start=times[:, 0], end=times[:, 1])
    return frame if size == 4 else frame.assign(thread=thread_numbers(frame, segments[:, 4]))


def segment_words(region: Region) -> int:
    """Numbers of a traced access in a DXT region: offset, length, start, end, and in newer versions the thread."""
    return 5 if region.version > (1 if region.name == "DXT_POSIX" else 2) else 4


def thread_numbers(frame: pd.DataFrame, threads: np.ndarray) -> pd.Series[int]:
    """Small numbers for the threads of each rank, in the order of their first accesses.

    A log names a thread by its pthread_self(), which is an address that means nothing outside its process.
    """
    first = frame[["rank", "start"]].assign(thread=threads).groupby(["rank", "thread"])["start"].min()
    number = first.groupby("rank").rank(method="first").astype(int) - 1
    keys = frame[["rank"]].assign(thread=threads)
    return keys.join(number.rename("number"), on=["rank", "thread"])["number"]


def read_heatmap(log: Container, region: Region) -> pd.DataFrame:
    """One row a time bin: id, module, rank, bin, width (seconds), written, read (bytes)."""
    import pandas as pd

    _, words = words_of(log, region)
    parts: list[dict[str, Any]] = []
    at = 0
    while at < len(words):
        head = words[at : at + 6].tolist()
        if len(head) < 6 or not 0 <= 2 * head[3] <= len(words) - at - 6:
            if region.cut:
                break
            raise damaged(log, region)
        bins, begin = head[3], at + 6
        at = begin + 2 * bins
        if bins == 0:
            continue
        width = float(words[begin - 4 : begin - 3].view(np.float64)[0])
        key = unsigned(head[0])
        parts.append({"id": key, "module": HEATMAP_NAMES.get(key, "unknown"), "rank": head[1], "width": width})
        parts[-1] |= {
            "bins": bins,
            "written": words[begin : begin + bins],
            "read": words[begin + bins : at],
        }
    counts = [part["bins"] for part in parts]
    columns: dict[str, Any] = {
        name: np.repeat(np.array([part[name] for part in parts], dtype=kind), counts)
        for name, kind in (("id", np.uint64), ("module", object), ("rank", np.int64), ("width", np.float64))
    }
    columns["bin"] = np.concatenate([np.arange(count) for count in counts]) if counts else []
    for name in ("written", "read"):
        columns[name] = np.concatenate([part[name] for part in parts]) if parts else []
    return pd.DataFrame(columns)
