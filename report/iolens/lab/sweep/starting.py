"""What starts the ranks of a run: the launcher's command, with the options that place the ranks as was asked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from iolens.errors import UsageError
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.placement import options_for
from iolens.lab.run.allocation import allocation
from iolens.lab.sweep.asked import Asked


def starter_words(asked: Asked, usual: str, launcher: Launcher) -> tuple[str, ...]:
    """The words before the number of ranks; `usual` starts them where the experiment names nothing else. Raises
    UsageError for a mapping that it cannot do."""
    start = asked.options.get("start")
    words = shlex.split(start) if start else [usual]
    per_node = asked.options.get("ranks_per_node") if places_by_itself(launcher) else None
    return (*words, *options_for(words[0], asked.mapping, per_node))


def places_by_itself(launcher: Launcher) -> bool:
    """Whether the command must be told how many ranks a node takes: on several nodes that no job was asked for."""
    return not launcher.elsewhere and len(allocation().nodes) > 1


def check_ranks_per_node(runs: Sequence[Asked], launcher: Launcher) -> None:
    """Raise where the nodes of a run, with so many ranks on each, do not hold its ranks."""
    for asked in runs:
        per_node = asked.options.get("ranks_per_node")
        nodes = launcher.nodes(asked.options) if launcher.elsewhere else len(allocation().nodes)
        if per_node and asked.ranks > nodes * per_node:
            where = "one node" if nodes == 1 else f"each of {nodes} nodes"
            more = "" if launcher.elsewhere else f"; the launcher {launcher.name} has no more nodes here"
            raise UsageError(
                f"ranks_per_node: {per_node} on {where} are fewer than the {asked.ranks} ranks of run {asked.id}{more}"
            )


def asked_placement(asked: Asked) -> Mapping[str, Any]:
    """What was asked of the places of ranks, under the names of run.json; empty where nothing was."""
    told = {"mapping": asked.mapping, "ranks_per_node": asked.options.get("ranks_per_node")}
    return {key: value for key, value in told.items() if value is not None}
