"""The state of the page cache in a run, as far as its result, its log and its storage tell.

A sweep never drops a node's pages, which takes privileges. Each run has new files, so pages of an earlier run are of no
use to it. Pages that the run itself has just written do affect its writes and reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SYNCED = ("fsync", "fsyncPerWrite", "sync")
"""Parameters of the bundled workloads that flush written data before the clock stops."""

_FORGOTTEN = ("cold_read", "coldRead")
"""Parameters that make the nodes drop the data before it is read."""

_DIRECT = "useO_DIRECT"


def page_cache(result: Mapping[str, Any], seen: Mapping[str, Any], modelled: bool) -> dict[str, str]:
    """Returns the state for the operations of the program (`written`, `read`; both if no result tells): a word of
    report/RUN.md, or 'n/a: ' and the reason. `seen` is what the log shows, `modelled` is True for storage with modelled
    speed.
    """
    parameters = result.get("parameters") or {}
    did = {str(phase.get("operation")) for phase in result.get("phases") or ()}
    told = {"write": ("written", _written(parameters, seen.get("syncs"))), "read": ("read", read(parameters, result))}
    found = dict(word for operation, word in told.items() if not did or operation in did)
    whole = "modelled" if modelled else "bypassed" if parameters.get(_DIRECT) is True else None
    return dict.fromkeys(found, whole) if whole else found


def _written(parameters: Mapping[str, Any], syncs: int | None) -> str:
    """Returns whether written data was flushed inside the timed part."""
    asked = [parameters[key] is True for key in _SYNCED if key in parameters]
    if any(asked):
        return "n/a: a flush was requested, but the log has no such call" if syncs == 0 else "synced"
    if syncs == 0 or (asked and syncs is None):
        return "not synced"
    if syncs is None:
        return "n/a: no log shows if data were synced"
    return "n/a: data were synced, but it is unknown if this happened before the clock stopped"


def read(parameters: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Returns whether the nodes had dropped the data before it was read."""
    asked = [parameters[key] is True for key in _FORGOTTEN if key in parameters]
    if any(asked):
        known = isinstance((result.get("extra") or {}).get("cached_before_read"), int | float)
        return "dropped" if known else "n/a: pages were to be dropped, but it is unknown how many stayed in memory"
    return "not dropped" if asked else "n/a: the program does not report if pages were dropped before it read"
