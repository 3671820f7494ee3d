"""Hatchet's literal form: trees of calls as nested lists, for `hatchet.GraphFrame.from_literal`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from iolens.exports.stacks import Stack


@dataclass
class HatchetNode:
    """A function at one place of the tree, and the seconds in the function itself, without the functions that it
    calls.
    """

    name: str
    file: str
    seconds: float = 0.0
    children: dict[str, HatchetNode] = field(default_factory=dict)


def hatchet(stacks: Sequence[Stack]) -> str:
    """Returns the file's text: JSON of the list that `from_literal` takes.

    Metrics are seconds over all ranks and threads: `time` is spent in a function itself, `time (inc)` also in the
    functions that it called.
    """
    root = HatchetNode("", "")
    for stack in stacks:
        node = root
        for frame in stack.frames:
            place = frame.source or frame.object
            node = node.children.setdefault(frame.function, HatchetNode(frame.function, place))
        node.seconds += stack.seconds
    return f"[{', '.join(_literal(child) for child in root.children.values())}]"


def _literal(top: HatchetNode) -> str:
    """Returns the JSON of one tree. Works without recursion, because chains may be deeper than Python's own stack."""
    order, found = [top], dict[int, tuple[float, str]]()
    for node in order:
        order.extend(node.children.values())
    for node in reversed(order):
        children = [found.pop(id(child)) for child in node.children.values()]
        inclusive = node.seconds + sum(seconds for seconds, _ in children)
        frame = json.dumps({"name": node.name, "file": node.file, "type": "function"})
        metrics = json.dumps({"time": node.seconds, "time (inc)": inclusive})
        below = ", ".join(text for _, text in children)
        found[id(node)] = (inclusive, f'{{"frame": {frame}, "metrics": {metrics}, "children": [{below}]}}')
    return found[id(top)][1]
