"""A traced run as the calls of each rank: the bytes requested, the time, and the file view."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iolens.errors import IolensError
from iolens.lab.predict.extents import NOTHING, Extents, FileView, piece, union
from iolens.lab.storage.layout import Layout
from iolens.lazy import pd
from iolens.log import Job

_ACCESS, COLLECTIVE, OPEN, CLOSE, FLUSH = "access", "collective", "open", "close", "flush"
_EVENTS = {
    "open": _ACCESS,
    "dup": _ACCESS,
    "fileno": _ACCESS,
    "sync": FLUSH,
    "data sync": FLUSH,
    "close": FLUSH,
    "MPI open": OPEN,
    "MPI sync": FLUSH,
    "MPI close": CLOSE,
}
"""The kind of each call in the table `traced_events` that a replay makes again; other events are ignored."""


@dataclass(frozen=True)
class Access:
    """One transfer of a rank below MPI-IO, or a wait until its written bytes are stored (`flush`): bytes, and seconds
    of the job.
    """

    start: float
    end: float
    writing: bool = False
    offset: int = 0
    length: int = 0
    flush: bool = False


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """A call of the program: `wanted` are the bytes that this rank moves (None if unknown), `inner` the accesses below
    the call. `number` counts the calls of this kind on the file and rank, which identifies the calls of all ranks that
    belong together.
    """

    rank: int
    kind: str
    file: int
    start: float
    end: float
    writing: bool = False
    number: int = 0
    wanted: Extents | None = NOTHING
    inner: tuple[Access, ...] = ()


@dataclass(frozen=True, eq=False)
class Recorded:
    """The calls of each rank on striped files in their order, and the log's facts about these files by record id.

    `hints` are the MPI-IO hints in effect, `asked` the hints that the program or the user gave. `remarks` are
    sentences.
    """

    ranks: Mapping[int, Sequence[RecordedCall]]
    layouts: Mapping[int, Layout]
    hints: Mapping[int, Mapping[str, str]]
    asked: Mapping[int, Mapping[str, str]]
    nprocs: int
    nodes: int
    run_time: float
    emulated: bool
    component: str
    remarks: tuple[str, ...] = ()

    @property
    def collectives(self) -> dict[tuple[int, int], list[RecordedCall]]:
        """Returns the collective calls by file and number, one call per rank."""
        found: dict[tuple[int, int], list[RecordedCall]] = defaultdict(list)
        for calls in self.ranks.values():
            for call in calls:
                if call.kind == COLLECTIVE:
                    found[call.file, call.number].append(call)
        return found


def largest_file(recorded: Recorded) -> int:
    """Returns the bytes of the largest striped file, up to the last one that an access reached; 0 without accesses."""
    calls = (call for each in recorded.ranks.values() for call in each)
    return max((access.offset + access.length for call in calls for access in call.inner), default=0)


def read_recorded(job: Job, layout: Layout | None = None) -> Recorded:
    """Returns the contents of a traced run's log that a replay needs; raises IolensError with the reason if they are
    insufficient. `layout` is used for all traced files if the log has no stripes of any file.
    """
    layouts = _read_layouts(job, layout)
    posix = _traced(job, "DXT_POSIX", layouts)
    mpiio = _traced(job, "DXT_MPIIO", layouts)
    if posix.empty and mpiio.empty:
        raise IolensError(f"{job.path}: this log has no single transfers of striped files; record the run with --dxt")
    if any(module.partial for module in job.modules if module.name.startswith("DXT")):
        raise IolensError(
            f"{job.path}: the traces in this log are incomplete; record the run with a larger IOLENS_DXT_MEMORY"
        )
    _refuse_unknown(job, layouts)
    events = _read_events(job, layouts)
    remarks = []
    if events is None:
        events = _closes(job, posix, mpiio)
        remarks.append(
            "The log does not record when files were closed. The prediction assumes that every rank closes each file "
            "once, at the end."
        )
    collective = _whether_collective(job, mpiio, events)
    if job.anonymized and collective.any():
        raise IolensError(f"{job.path}: n/a: its hints are pseudonyms, so collective calls cannot be planned anew")
    calls = {
        rank: _calls_of_rank(
            rank,
            posix[posix["rank"] == rank],
            mpiio[mpiio["rank"] == rank].assign(collective=collective[mpiio["rank"] == rank]),
            events[events["rank"] == rank],
            views_of(job, rank),
        )
        for rank in sorted({*posix["rank"], *mpiio["rank"], *events["rank"]})
    }
    return Recorded(
        ranks=calls,
        layouts=layouts,
        hints=_read_hints(job, "effective"),
        asked=_read_hints(job, "requested", "given"),
        nprocs=job.nprocs,
        nodes=max(1, len(job.hosts)),
        run_time=job.run_time,
        emulated=job.emulated,
        component=str(job.info.get("io_component_used") or ""),
        remarks=tuple(remarks),
    )


def _read_layouts(job: Job, layout: Layout | None) -> dict[int, Layout]:
    """Returns the layouts of the job's striped files; raises if no layout is known, or if one is not a plain sequence
    of stripes.
    """
    frame = job.frames.get("LUSTRE")
    if frame is None or frame.empty:
        if layout is not None:
            traces = [job.frames[name] for name in ("DXT_POSIX", "DXT_MPIIO") if name in job.frames]
            return {int(file): layout for trace in traces for file in trace["id"].unique()}
        if len(job.tables.get("ceph_layouts", ())):
            return _ceph_layouts(job)
        raise IolensError(
            f"{job.path}: the log has no stripes of any file, so other stripes cannot be predicted; "
            "record it on striped storage, or name the stripes that its files had with --recorded"
        )
    frame = frame.drop_duplicates(["id", "component"])
    several = frame["id"].duplicated(keep=False)
    if several.any():
        raise IolensError(f"{job.path}: files with composite layouts cannot be replayed")
    return {
        int(row.id): Layout(max(1, len(row.osts)), int(row.stripe_size), int(row.osts[0]), tuple(row.osts))
        for row in frame.itertuples()
        if row.osts
    }


def _ceph_layouts(job: Job) -> dict[int, Layout]:
    """Returns the layouts of files on CephFS, whose targets are unknown; raises if a file has more objects than
    stripes, because these may lie on further targets.
    """
    found = {}
    for file, count, unit, size in job.tables["ceph_layouts"].rows(
        "file", "stripe_count", "stripe_unit", "object_size"
    ):
        found[file] = Layout(count, unit, object_size=size)
    for trace in (job.frames[name] for name in ("DXT_POSIX", "DXT_MPIIO") if name in job.frames):
        for file, end in (trace["offset"] + trace["length"]).groupby(trace["id"]).max().items():
            layout = found.get(int(file))
            if layout and end > layout.stripe_count * (layout.object_size or end):
                raise IolensError(
                    f"{job.path}: n/a: {job.names.get(int(file), file)} has more objects than stripes, and the model "
                    "has one object for each stripe; set a larger object size on its folder and record again"
                )
    return found


def _traced(job: Job, module: str, layouts: Mapping[int, Layout]) -> pd.DataFrame:
    """Returns the traced transfers of striped files, in the order of time."""
    frame = job.frames.get(module)
    columns = ["id", "rank", "op", "offset", "length", "start", "end"]
    if frame is None:
        return pd.DataFrame({column: [] for column in columns}).astype({"id": "uint64", "rank": "int64"})
    return frame[frame["id"].isin(list(layouts))][columns].sort_values("start", kind="stable", ignore_index=True)


def _refuse_unknown(job: Job, layouts: Mapping[int, Layout]) -> None:
    """Raises if striped files were used in a way that traces do not show."""
    mpiio = job.frames.get("MPI-IO")
    if mpiio is not None:
        mine = mpiio[mpiio["id"].isin(list(layouts))]
        kinds = {"NB": "non-blocking", "SPLIT": "split collective"}
        for kind, words in kinds.items():
            if mine[[f"MPIIO_{kind}_READS", f"MPIIO_{kind}_WRITES"]].to_numpy().clip(0).sum():
                raise IolensError(f"{job.path}: n/a: {words} transfers through MPI-IO cannot be replayed")
    variables = job.frames.get("PNETCDF_VAR")
    if variables is not None and variables[["PNETCDF_VAR_NB_READS", "PNETCDF_VAR_NB_WRITES"]].to_numpy().clip(0).sum():
        raise IolensError(
            f"{job.path}: n/a: PnetCDF's non-blocking transfers, joined when it waits, cannot be replayed"
        )
    for module, counters in (("STDIO", ("STDIO_BYTES_READ", "STDIO_BYTES_WRITTEN")), ("POSIX", ("POSIX_MMAPS",))):
        frame = job.frames.get(module)
        mine = frame[frame["id"].isin(list(layouts))] if frame is not None else None
        if mine is not None and mine[list(counters)].to_numpy().clip(0).sum():
            what = "streams (stdio)" if module == "STDIO" else "memory mappings"
            raise IolensError(
                f"{job.path}: n/a: the transfers through {what} were not traced; record with iolens run --dxt"
            )


def _read_events(job: Job, layouts: Mapping[int, Layout]) -> pd.DataFrame | None:
    """Returns the events of striped files: id, rank, event, view, start, end; None if the log does not have them."""
    frame = job.private.get("traced_events")
    if frame is None or isinstance(frame, dict) or frame.empty:
        return None
    mine = frame[frame["file"].isin(list(layouts))].rename(columns={"file": "id"})
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in mine["event"]]
    return mine.assign(event=words).sort_values("start", kind="stable", ignore_index=True)


def _closes(job: Job, *traces: pd.DataFrame) -> pd.DataFrame:
    """Returns a substitute for missing events: after all transfers, each rank closes every file of which it
    moved bytes.
    """
    rows = [
        {"id": key, "rank": rank, "event": "close", "view": -1, "start": end, "end": end}
        for frame in (traces[:1] if len(traces[0]) else traces[1:])
        for (key, rank), end in frame.groupby(["id", "rank"])["end"].max().items()
    ]
    known = job.frames.get("POSIX")
    frame = pd.DataFrame(rows)
    if known is not None and len(frame):
        last = known.groupby("id")["POSIX_F_CLOSE_END_TIMESTAMP"].max()
        end = np.maximum(frame["end"], frame["id"].map(last).fillna(0))
        frame = frame.assign(end=end)
    return frame


def _whether_collective(job: Job, mpiio: pd.DataFrame, events: pd.DataFrame) -> np.ndarray:
    """Returns for each traced MPI-IO transfer whether it was collective; raises if the log mixes both kinds and does
    not mark them.
    """
    table = events[events["event"] == "collective"]
    if len(table):
        known = set(zip(table["id"], table["rank"], table["start"], strict=True))
        keys = zip(mpiio["id"], mpiio["rank"], mpiio["start"], strict=True)
        return np.array([key in known for key in keys], dtype=bool)
    counts = job.frames.get("MPI-IO")
    if counts is None or mpiio.empty:
        return np.zeros(len(mpiio), dtype=bool)
    mine = counts[counts["id"].isin(mpiio["id"])].groupby("id")
    together = mine[["MPIIO_COLL_READS", "MPIIO_COLL_WRITES"]].sum().sum(axis=1)
    alone = mine[["MPIIO_INDEP_READS", "MPIIO_INDEP_WRITES"]].sum().sum(axis=1)
    if ((together > 0) & (alone > 0)).any():
        raise IolensError(
            f"{job.path}: n/a: a file was used both by collective and by other calls, and the log does "
            f"not record their order"
        )
    found: np.ndarray = mpiio["id"].map(together > 0).to_numpy(dtype=bool)
    return found


def views_of(job: Job, rank: int) -> dict[int, FileView | None]:
    """Returns the views of a rank by number; None for a view that the log does not describe."""
    frame = job.private.get("mpiio_views")
    if frame is None or isinstance(frame, dict):
        return {}
    found: dict[int, FileView | None] = {}
    for number, rows in frame[frame["rank"] == rank].groupby("view"):
        first = rows.iloc[0]
        unknown = (rows["length"] < 0).any() or first["extent"] <= 0
        pieces = NOTHING if unknown else union([_expand(row) for row in rows.to_dict("records")])
        described = not unknown and pieces.bytes == first["bytes"]
        found[int(number)] = FileView(int(first["displacement"]), int(first["extent"]), pieces) if described else None
    return found


def _expand(row: Mapping[Any, Any]) -> Extents:
    """Returns a row of `mpiio_views` as pieces."""
    begin = np.array([row["offset"]], dtype=np.int64)
    for level in ("1", "2", "3"):
        begin = (begin[None, :] + (np.arange(row[f"count{level}"]) * row[f"stride{level}"])[:, None]).ravel()
    begin = np.sort(begin)
    return Extents(begin, np.full(len(begin), row["length"], dtype=np.int64))


def _calls_of_rank(
    rank: int, posix: pd.DataFrame, mpiio: pd.DataFrame, events: pd.DataFrame, views: Mapping[int, FileView | None]
) -> list[RecordedCall]:
    """Returns one rank's calls in their order. Accesses during an MPI-IO call are placed below it."""
    in_force = _views_in_force(events, views)
    tops = [
        RecordedCall(
            rank,
            COLLECTIVE if row.collective else _ACCESS,
            int(row.id),
            row.start,
            row.end,
            row.op == "write",
            wanted=_wanted_of(row, in_force),
        )
        for row in mpiio.itertuples()
    ]
    tops += [
        RecordedCall(rank, _EVENTS[row.event], int(row.id), row.start, row.end)
        for row in events.itertuples()
        if row.event.startswith("MPI ") and row.event in _EVENTS
    ]
    tops.sort(key=lambda call: (call.start, call.end))
    below = [
        (int(row.id), Access(row.start, row.end, row.op == "write", int(row.offset), int(row.length)))
        for row in posix.itertuples()
    ]
    below += [
        (int(row.id), Access(row.start, row.end, flush=_EVENTS[row.event] == FLUSH))
        for row in events.itertuples()
        if row.event in _EVENTS and not row.event.startswith("MPI ")
    ]
    below.sort(key=lambda pair: pair[1].start)
    return _with_numbers(_put_together(rank, tops, below))


def _put_together(rank: int, tops: Sequence[RecordedCall], below: Iterable[tuple[int, Access]]) -> list[RecordedCall]:
    """Joins each call with the accesses below it; an access outside all calls becomes a call of its own."""
    from dataclasses import replace

    begins = [call.start for call in tops]
    inner: dict[int, list[Access]] = defaultdict(list)
    own = []
    for file, access in below:
        at = int(np.searchsorted(begins, access.start, side="right")) - 1
        if at >= 0 and access.end <= tops[at].end and tops[at].file == file:
            inner[at].append(access)
        else:
            kind = FLUSH if access.flush else _ACCESS
            own.append(RecordedCall(rank, kind, file, access.start, access.end, access.writing, inner=(access,)))
    whole = [replace(call, inner=tuple(inner[at])) for at, call in enumerate(tops)]
    return sorted([*whole, *own], key=lambda call: (call.start, call.end))


def _with_numbers(calls: Iterable[RecordedCall]) -> list[RecordedCall]:
    """Returns the calls with their numbers; the calls of each kind and file are counted from 0."""
    from dataclasses import replace

    counts: dict[tuple[int, str], int] = defaultdict(int)
    found = []
    for call in calls:
        key = call.file, call.kind
        found.append(replace(call, number=counts[key]))
        counts[key] += 1
    return found


def _views_in_force(
    events: pd.DataFrame, views: Mapping[int, FileView | None]
) -> dict[int, list[tuple[float, bool, FileView | None]]]:
    """Returns for each file, in the order of time, when a view begins, whether it differs from plain bytes,
    and the view.
    """
    found: dict[int, list[tuple[float, bool, FileView | None]]] = defaultdict(list)
    for row in events[events["event"].isin(["MPI open", "MPI view"])].itertuples():
        seen = row.event == "MPI view"
        found[int(row.id)].append((row.start, seen, views.get(int(row.view)) if seen else None))
    return found


def _wanted_of(row: Any, views: Mapping[int, list[tuple[float, bool, FileView | None]]]) -> Extents | None:
    """Returns the bytes that a traced MPI-IO transfer moves; None if its place or its view is unknown."""
    if row.length <= 0:
        return NOTHING
    if row.offset < 0:
        return None
    known = views.get(int(row.id), [])
    at = bisect_right(known, row.start, key=lambda entry: entry[0]) - 1
    if at < 0 or not known[at][1]:
        return piece(int(row.offset), int(row.length))
    view = known[at][2]
    return view.extents(int(row.offset), int(row.length)) if view else None


def _read_hints(job: Job, *columns: str) -> dict[int, dict[str, str]]:
    """Returns the hints by file, each from the last of these columns that has a value for it."""
    frame = job.private.get("mpiio_hints")
    if frame is None or isinstance(frame, dict):
        return {}
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for row in frame.to_dict("records"):
        texts = [row[column].decode() if isinstance(row[column], bytes) else str(row[column]) for column in columns]
        value = next((text for text in reversed(texts) if text), "")
        if value:
            key = row["key"].decode() if isinstance(row["key"], bytes) else str(row["key"])
            found[int(row["file"])][key] = value.strip()
    return dict(found)
