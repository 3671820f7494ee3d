"""The command that starts the ranks of a run: the launcher with the options that place the ranks as requested."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from iolens.errors import UsageError
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.placement import options_for
from iolens.lab.run.allocation import allocation
from iolens.lab.sweep.define.asked import Asked


def starter_words(asked: Asked, usual: str, launcher: Launcher) -> tuple[str, ...]:
    """Returns the words before the number of ranks; `usual` is used if the experiment names no starter. Raises
    UsageError for a mapping that the starter cannot do.
    """
    start = asked.options.get("start")
    words = shlex.split(start) if start else [usual]
    per_node = asked.options.get("ranks_per_node") if _places_by_itself(launcher) else None
    return (*words, *options_for(words[0], asked.mapping, per_node))


def _places_by_itself(launcher: Launcher) -> bool:
    """Returns True if the command must give the number of ranks per node: on several nodes that were not requested from
    a batch system.
    """
    return not launcher.elsewhere and len(allocation().nodes) > 1


def check_ranks_per_node(runs: Sequence[Asked], launcher: Launcher) -> None:
    """Raises if the nodes of a run, with this number of ranks on each, cannot hold its ranks."""
    for asked in runs:
        per_node = asked.options.get("ranks_per_node")
        nodes = launcher.nodes(asked.options) if launcher.elsewhere else len(allocation().nodes)
        if per_node and asked.ranks > nodes * per_node:
            where = "one node" if nodes == 1 else f"each of {nodes} nodes"
            more = "" if launcher.elsewhere else f"; the launcher {launcher.name} has no more nodes"
            raise UsageError(
                f"ranks_per_node: {per_node} on {where} are fewer than the {asked.ranks} ranks of run {asked.id}{more}"
            )


def asked_placement(asked: Asked) -> Mapping[str, Any]:
    """Returns the requested placement of ranks under the names of run.json; empty if none was requested."""
    told = {"mapping": asked.mapping, "ranks_per_node": asked.options.get("ranks_per_node")}
    return {key: value for key, value in told.items() if value is not None}
