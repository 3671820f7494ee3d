"""The rules of IO500 that apply to any measurement of storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from iolens.metrics.audit.evidence import BROKEN, KEPT, UNKNOWN, Evidence, Finding, list_text
from iolens.metrics.comparison.settings import seconds_text

_WRITING = 300.0
"""Minimum duration of a write phase in seconds, by the rules of IO500."""

_REDUCING = ("zfs", "btrfs")
"""Types of file systems that may compress or deduplicate."""


def _writing(evidence: Evidence) -> Finding:
    """Checks whether writing took long enough to make caches negligible."""
    known = [float(value) for value in evidence.known("write_seconds")]
    if not known:
        return UNKNOWN, "No run reports how long it wrote."
    return (
        KEPT if min(known) >= _WRITING else BROKEN
    ), f"The shortest write phase took {seconds_text(min(known))}; the rule requires {_WRITING:.0f} s."


def _other_client(evidence: Evidence) -> Finding:
    """Checks whether data was read on a different node from the one that wrote it."""
    reads = [float(value) for value in evidence.known("bytes_read")]
    if reads and max(reads) == 0:
        return KEPT, "The measured phases contain no reads."
    counts = [len(hosts) for hosts in evidence.known("hosts")]
    if counts and max(counts) == 1:
        return BROKEN, "All ranks ran on one host, which reads back its own data, perhaps from its page cache."
    return UNKNOWN, "The records do not show if the node that read data was another than the node that wrote it."


def _persistent(evidence: Evidence) -> Finding:
    """Checks whether data was sent to the storage before the clock stopped."""
    known = [int(value) for value in evidence.known("syncs")]
    if not known:
        return UNKNOWN, "No run reports if it called fsync."
    without = sum(value == 0 for value in known)
    if without:
        return BROKEN, f"{without} of {len(known)} runs did not call fsync or MPI_File_sync."
    return KEPT, f"All {len(known)} runs that record syncs called fsync or MPI_File_sync."


def _beforehand(evidence: Evidence) -> Finding:
    """Checks whether files were made before the clock started."""
    if evidence.swept:
        return KEPT, "Each run began in its own empty folder, which the sweep made and removed."
    return UNKNOWN, "The records do not show if the folder already had files."


def _one_storage(evidence: Evidence) -> Finding:
    """Checks whether all runs used the same storage."""
    known = evidence.known("file_system")
    if not known:
        return UNKNOWN, "No run reports its file system."
    if len(set(known)) > 1:
        return BROKEN, f"{len(set(known))} file systems: {list_text(known)}."
    missing = evidence.unknown("file_system")
    return (UNKNOWN if missing else KEPT), f"{list_text(known)} in all runs" + (
        f"; {missing} do not tell." if missing else "."
    )


def _same_code(evidence: Evidence) -> Finding:
    """Checks whether all runs used the same program."""
    known = evidence.known("program")
    if len(set(known)) > 1:
        return BROKEN, f"{len(set(known))} programs: {list_text(known)}."
    if evidence.swept:
        return KEPT, "A sweep repeats a run if its program or libraries have changed."
    return UNKNOWN, f"{list_text(known) or 'The program'}: the name is recorded, but not the content."


def _reduction(evidence: Evidence) -> Finding:
    """Checks whether the storage may have stored fewer bytes than it received, by compression or deduplication."""
    known = set(evidence.known("file_system"))
    kinds = {kind for each in known for kind in str(each).split(", ")}
    if kinds & set(_REDUCING):
        return (
            UNKNOWN,
            f"{list_text(sorted(kinds & set(_REDUCING)))} can compress; no run reports if compression was on.",
        )
    if kinds and kinds <= {"tmpfs", "ext4", "xfs", "ost"}:
        return KEPT, f"{list_text(sorted(kinds))} stores data without compression."
    return UNKNOWN, "The records do not show if the storage compresses or deduplicates."


CHECKS: Mapping[str, Callable[[Evidence], Finding]] = {
    "At least 300 s of writing": _writing,
    "Data is read by another client than the one that wrote it": _other_client,
    "Data reaches the storage before the clock stops": _persistent,
    "No files are made before the clock starts": _beforehand,
    "One storage system": _one_storage,
    "No changes to the code": _same_code,
    "No data reduction that depends on the content": _reduction,
}
"""The checks of this file, by the text of their rule."""
