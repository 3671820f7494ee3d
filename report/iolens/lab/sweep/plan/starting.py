"""The command that starts the ranks of a run: the launcher with the options that place the ranks as requested."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from iolens.errors import UsageError
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.placement import options_for
from iolens.lab.run.allocation import allocation
from iolens.lab.sweep.define.spec import PointSpec


def starter_words(spec: PointSpec, usual: str, launcher: Launcher) -> tuple[str, ...]:
    """Returns the words before the number of ranks; `usual` is used if the experiment names no starter. Raises
    UsageError for a mapping that the starter cannot do.
    """
    start = spec.options.get("start")
    words = shlex.split(start) if start else [usual]
    per_node = spec.options.get("ranks_per_node") if _places_by_itself(launcher) else None
    return (*words, *options_for(words[0], spec.mapping, per_node))


def _places_by_itself(launcher: Launcher) -> bool:
    """Returns True if the command must give the number of ranks per node: on several nodes that were not requested from
    a batch system.
    """
    return not launcher.elsewhere and len(allocation().nodes) > 1


def check_ranks_per_node(runs: Sequence[PointSpec], launcher: Launcher) -> None:
    """Raises if the nodes of a run, with this number of ranks on each, cannot hold its ranks."""
    for spec in runs:
        per_node = spec.options.get("ranks_per_node")
        nodes = launcher.nodes(spec.options) if launcher.elsewhere else len(allocation().nodes)
        if per_node and spec.ranks > nodes * per_node:
            where = "one node" if nodes == 1 else f"each of {nodes} nodes"
            more = "" if launcher.elsewhere else f"; the launcher {launcher.name} has no more nodes"
            raise UsageError(
                f"ranks_per_node: {per_node} on {where} are fewer than the {spec.ranks} ranks of run {spec.id}{more}"
            )


def placement_of(spec: PointSpec) -> Mapping[str, Any]:
    """Returns the requested placement of ranks under the names of run.json; empty if none was requested."""
    told = {"mapping": spec.mapping, "ranks_per_node": spec.options.get("ranks_per_node")}
    return {key: value for key, value in told.items() if value is not None}
