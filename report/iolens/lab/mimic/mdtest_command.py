"""Find the command line of mdtest that makes the calls of a traced run, if it has a pattern of mdtest."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls, Trace

_KINDS = (
    CallKind.OPEN,
    CallKind.CLOSE,
    CallKind.WRITE,
    CallKind.READ,
    CallKind.FSYNC,
    CallKind.SEEK,
    CallKind.STAT,
    CallKind.UNLINK,
    CallKind.MAKE_FOLDER,
    CallKind.REMOVE_FOLDER,
)
"""Kinds of calls that mdtest makes."""

_SHIFTS = {"-T": 1, "-E": 2, "-r": 3}
"""mdtest's options for the phases that follow the creation of the files. In these phases a rank uses the files of
another rank, whose distance is `-N` times this number.
"""


def mdtest_command(trace: Trace) -> str | None:
    """Returns the arguments of mdtest for the calls of a run; None if the pattern is not one of mdtest's: every rank
    creates equally many files, and as many folders or none; each file is written, looked at, read and removed once at
    most.
    """
    calls = trace.calls[trace.calls.kind < CallKind.BARRIER]
    opens = calls[calls.kind == CallKind.OPEN]
    if not len(opens) or not np.isin(calls.kind, _KINDS).all():
        return None
    opens = opens[np.argsort(opens.start, kind="stable")]
    files, first, times = np.unique(opens.file, return_index=True, return_counts=True)
    creators = opens.rank[first]
    second = np.setdiff1d(np.arange(len(opens)), first)
    stats = calls[(calls.kind == CallKind.STAT) & np.isin(calls.file, files)]
    later = {"-T": stats, "-E": opens[second], "-r": calls[calls.kind == CallKind.UNLINK]}
    phases = {option: found for option, found in later.items() if len(found)}
    each = np.bincount(creators, minlength=trace.nprocs)
    lengths = [_bytes_of(calls[calls.kind == kind], files) for kind in (CallKind.WRITE, CallKind.READ)]
    syncs = calls[calls.kind == CallKind.FSYNC]
    shift = _shift(phases, files, creators, trace.nprocs)
    folders = _own_folders(trace, files, creators)
    made = _folders_made(trace, files)
    if (
        each[0] < 2
        or (each != each[0]).any()
        or (times != times[0]).any()
        or shift is None
        or folders is None
        or ((made != 0).any() and (made != each).any())
        or -1 in lengths
        or (len(syncs) and not np.array_equal(np.sort(syncs.file), files))
    ):
        return None
    options = [*(() if made.any() else ("-F",)), f"-n {each[0]}"]
    options += [f"{word} {length}" for word, length in zip(("-w", "-e"), lengths, strict=True) if length]
    options += [word for word, there in (("-y", len(syncs)), ("-u", folders)) if there]
    options += [f"-N {shift}"] if shift else []
    options += [] if len(phases) == len(_SHIFTS) else ["-C", *phases]
    return " ".join(options)


def _bytes_of(transfers: Calls, files: np.ndarray) -> int:
    """Returns the bytes that one transfer moves in each of the files; 0 without transfers, -1 if files differ."""
    if not len(transfers):
        return 0
    same = (transfers.length == transfers.length[0]).all() and not transfers.offset.any()
    return int(transfers.length[0]) if same and np.array_equal(np.sort(transfers.file), files) else -1


def _shift(phases: dict[str, Calls], files: np.ndarray, creators: np.ndarray, ranks: int) -> int | None:
    """Returns the smallest `-N` for which mdtest's ranks would use, in every phase, the files of the same ranks as in
    the recorded run. Returns None if no number fits, or if a phase does not use each file once.
    """
    possible = np.arange(ranks)
    for option, calls in phases.items():
        order = np.argsort(calls.file, kind="stable")
        if not np.array_equal(calls.file[order], files):
            return None
        away = (creators - calls.rank[order]) % ranks
        possible = possible[(_SHIFTS[option] * possible % ranks == away[0]) & (away == away[0]).all()]
    return int(possible[0]) if len(possible) else None


def _own_folders(trace: Trace, files: np.ndarray, creators: np.ndarray) -> bool | None:
    """Returns True if each creating rank has a folder of its own, False if all share one, None otherwise."""
    folders = [str(PurePosixPath(trace.files[file].name).parent) for file in files]
    pairs = {*zip(creators.tolist(), folders, strict=True)}
    distinct = len({folder for _, folder in pairs})
    if len(pairs) != trace.nprocs or distinct not in (1, trace.nprocs):
        return None
    return distinct > 1


def _folders_made(trace: Trace, files: np.ndarray) -> np.ndarray:
    """Returns the number of folders that each rank made, without the folders in which the files lie."""
    around = {str(folder) for file in files for folder in PurePosixPath(trace.files[file].name).parents}
    calls = trace.calls[trace.calls.kind == CallKind.MAKE_FOLDER]
    beside = np.array([trace.files[file].name not in around for file in calls.file], bool)
    return np.bincount(calls.rank[beside], minlength=trace.nprocs)
