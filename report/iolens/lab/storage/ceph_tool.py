"""Runs Ceph's own tool `ceph` for information about data pools, object storage daemons, and the places of objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iolens.errors import IolensError, UsageError
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.targets import StorageTarget
from iolens.lab.storage.tool import run_tool

_CLIENT = "Debian's package ceph-common contains it"

_MOST_OBJECTS = 256
"""Maximum number of objects of a file whose targets the tool is asked for."""


def data_pools() -> tuple[str, ...]:
    """Returns the pools that hold data of a CephFS; raises IolensError if there are none."""
    found = tuple(str(pool) for one in _answer_of_tool("fs", "ls") for pool in one.get("data_pools") or ())
    if not found:
        raise IolensError("`ceph fs ls` lists no file system; is CEPH_CONF that of another cluster?")
    return found


def check_ceph_pool(path: Path, pool: str) -> None:
    """Raises UsageError if a pool holds no data of a CephFS."""
    known = data_pools()
    if pool not in known:
        raise UsageError(
            f"{path}: {pool} is not a data pool of a CephFS here; use one of {', '.join(known)}, or add it first: "
            f"ceph fs add_data_pool FILE-SYSTEM {pool}"
        )


def pool_targets(pool: str) -> tuple[StorageTarget, ...]:
    """Returns the object storage daemons that hold placement groups of a pool, in the order of their numbers.

    The manager knows the daemons of a group of a new pool only after they have reported to it; until then the map of
    the monitors tells them.
    """
    groups = _answer_of_tool("pg", "ls-by-pool", pool).get("pg_stats") or ()
    known = [group for group in groups if group.get("acting")]
    mapped = _answers_of_tool([f"pg map {group['pgid']}" for group in groups if not group.get("acting")])
    holders = {osd for group in (*known, *mapped) for osd in group.get("acting") or ()}
    nodes = sorted(_answer_of_tool("osd", "df").get("nodes") or (), key=lambda node: int(node["id"]))
    return tuple(_target(node) for node in nodes if node["id"] in holders)


def _target(node: dict[str, Any]) -> StorageTarget:
    """Returns a target from its row of `ceph osd df`, whose sizes are in KiB."""
    size, used, free = (int(node[key]) * 1024 for key in ("kb", "kb_used", "kb_avail"))
    status = str(node.get("status", "up"))
    up = status == "up"
    return StorageTarget(int(node["id"]), str(node["name"]), up, "" if up else status, size, used, free)


def object_names(inode: int, size: int, layout: Layout) -> list[str]:
    """Returns the names of the objects that hold a file of `size` bytes, in their order, at most `_MOST_OBJECTS`.

    Objects come in sets of `stripe_count`, and a full set holds stripe_count x object_size bytes. A short file fills
    only the first objects of the last set (https://docs.ceph.com/en/reef/dev/file-striping/).
    """
    each = layout.object_size or layout.stripe_size
    whole = layout.stripe_count * each
    rest = -(-(size % whole) // layout.stripe_size)
    count = size // whole * layout.stripe_count + min(rest, layout.stripe_count)
    return [f"{inode:x}.{number:08x}" for number in range(min(count, _MOST_OBJECTS))]


def targets_of_objects(pool: str, names: Sequence[str]) -> tuple[int, ...]:
    """Returns the number of the daemon that each object is read from and written to."""
    found = _answers_of_tool([f"osd map {pool} {name}" for name in names])
    return tuple(int(one["acting_primary"]) for one in found)


def _answer_of_tool(*words: str) -> Any:
    """Returns the JSON that a command of the tool prints."""
    return _parsed_json(run_tool(("ceph", *words, "--format", "json"), _CLIENT))


def _answers_of_tool(commands: Sequence[str]) -> list[Any]:
    """Returns the JSON object that each command prints; one call of the tool reads and answers all of them."""
    if not commands:
        return []
    lines = run_tool(("ceph", "--format", "json"), _CLIENT, given="".join(f"{one}\n" for one in commands)).splitlines()
    answers = [_parsed_json(line) for line in lines if line.startswith("{")]
    if len(answers) != len(commands):
        raise IolensError(f"`ceph` answered {len(answers)} of {len(commands)} commands such as `{commands[0]}`")
    return answers


def _parsed_json(text: str) -> Any:
    """Returns a line of the tool as parsed JSON; raises IolensError for anything other than JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise IolensError(f"`ceph` printed no JSON: {text.strip()[:200]!r}") from error
