"""How the page cache stood in a run, as far as its result, its log and its storage tell.

A sweep never drops a node's pages, which takes privileges; each run has fresh files, so that what an earlier run left
is of no use to it. What was just written is another matter, for writes and for reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SYNCED = ("fsync", "fsyncPerWrite", "sync")
"""Parameters of the bundled workloads that have written data flushed before their clock stops."""

FORGOTTEN = ("cold_read", "coldRead")
"""Parameters that have the nodes forget the data before it is read."""

DIRECT = "useO_DIRECT"


def page_cache(result: Mapping[str, Any], seen: Mapping[str, Any], modelled: bool) -> dict[str, str]:
    """How it stood for what the program did (`written`, `read`; both where no result tells): a word of report/RUN.md,
    or 'n/a: ' and why. `seen` is what the log showed, `modelled` storage whose speed is that of a model."""
    parameters = result.get("parameters") or {}
    did = {str(phase.get("operation")) for phase in result.get("phases") or ()}
    told = {"write": ("written", written(parameters, seen.get("syncs"))), "read": ("read", read(parameters, result))}
    found = dict(word for operation, word in told.items() if not did or operation in did)
    whole = "modelled" if modelled else "bypassed" if parameters.get(DIRECT) is True else None
    return dict.fromkeys(found, whole) if whole else found


def written(parameters: Mapping[str, Any], syncs: int | None) -> str:
    """Whether written data were synced inside the timed part."""
    asked = [parameters[key] is True for key in SYNCED if key in parameters]
    if any(asked):
        return "n/a: a flush was asked for, but the log has no call of one" if syncs == 0 else "synced"
    if syncs == 0 or (asked and syncs is None):
        return "not synced"
    if syncs is None:
        return "n/a: no log tells whether data were synced"
    return "n/a: data were synced, but nobody tells whether before the clock stopped"


def read(parameters: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Whether the nodes had forgotten the data before they were read."""
    asked = [parameters[key] is True for key in FORGOTTEN if key in parameters]
    if any(asked):
        known = isinstance((result.get("extra") or {}).get("cached_before_read"), int | float)
        return (
            "dropped" if known else "n/a: nobody tells what the nodes still held when they had been told to forget it"
        )
    return "not dropped" if asked else "n/a: the program does not tell whether pages were dropped before it read"
