"""The samples of a log as counted call chains, in the formats of flame graphs, Hatchet and speedscope."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from iolens import __version__
from iolens.errors import IolensError
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.samples import held_samples
from iolens.symbols.chains import Frame, call_chains, of_a_wait
from iolens.symbols.resolve import resolve

Threads = frozenset[tuple[int, int]]
"""Ranks, each with the number of one of its threads."""

_UNKNOWN = Frame("(not known)", "", 0, "")


@dataclass(frozen=True)
class Stack:
    """A chain of calls, outermost first, and how often it was sampled: periods of the timer, and seconds of its clock.

    `rank` and `thread` are -1 for several ranks or threads that the log does not distinguish. `waited` is True if the
    thread was not running.
    """

    rank: int
    thread: int
    waited: bool
    periods: int
    seconds: float
    frames: tuple[Frame, ...]


def stacks(job: Job, search: Sequence[Path] = (), running: bool = False, without: Threads = frozenset()) -> list[Stack]:
    """Returns all samples of a log, by rank and thread; only the running ones when `running`.

    Running samples beyond the processor time count as waiting (`held_samples`), as in `iolens profile`. `search`:
    folders with programs, libraries or their debug files; `without`: threads to leave out. Raises IolensError for a log
    without samples.
    """
    samples = held_samples(job)
    if samples is None:
        raise IolensError(f"{job.path} has no samples; record the program with iolens run --sample")
    chains = chains_of(job, search)
    period = 1.0 / samples_per_second(job)
    found = []
    columns = ("rank", "thread", "kind", "waits", "count", "node")
    ordered = samples[samples["count"] > 0].sort_values(["rank", "thread", "node", "kind", "waits"])
    for rank, thread, kind, waits, count, node in zip(*(ordered[name].tolist() for name in columns), strict=True):
        if (running and waits) or (rank, thread) in without:
            continue
        chain = chains.get((rank, node), ()) or (_UNKNOWN,)
        frames = of_a_wait(chain) if kind else chain
        found.append(Stack(rank, thread, waits, count, count * period, frames))
    return found


def chains_of(job: Job, search: Sequence[Path]) -> Mapping[tuple[int, int], tuple[Frame, ...]]:
    """Returns the call chains of a log by rank and node."""
    nodes, objects = job.private.get("call_nodes"), job.private.get("objects")
    if nodes is None or objects is None or nodes.empty:
        return {}
    return call_chains(resolve(nodes, objects, search, job.private.get("generated_code")))


def samples_per_second(job: Job) -> float:
    """Returns the requested number of samples per second; raises IolensError if the log does not have it."""
    threads: pd.DataFrame | None = job.private.get("sampling")
    if threads is None or threads.empty or not threads["asked_hz"].max() > 0:
        raise IolensError(f"{job.path}: the sampling rate is missing in this log; record the run again with iolens")
    return float(threads["asked_hz"].max())


def who(rank: int, thread: int) -> tuple[str, str]:
    """Returns a rank and a thread in words."""
    return (f"rank {rank}" if rank >= 0 else "other ranks", f"thread {thread}" if thread >= 0 else "other threads")


def collapsed(stacks: Sequence[Stack]) -> str:
    """Returns lines such as `rank 0;thread 0;main;work 123`: functions from the outermost to the innermost, and periods
    of the timer.
    """
    lines: Counter[str] = Counter()
    for stack in stacks:
        words = (*who(stack.rank, stack.thread), *(frame.function for frame in stack.frames))
        lines[";".join(word.replace(";", ":").replace("\n", " ") for word in words)] += stack.periods
    return "".join(f"{line} {count}\n" for line, count in lines.items())


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


_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(stacks: Sequence[Stack], name: str) -> str:
    """Returns the file's text; `name` is the title. Threads are the outermost frames of their rank, weights
    are seconds.
    """
    index: dict[Frame, int] = {}
    profiles = []
    for rank, group in groupby(stacks, lambda stack: stack.rank):
        samples, weights = [], []
        for stack in group:
            root = Frame(who(rank, stack.thread)[1], "", 0, "")
            samples.append([index.setdefault(frame, len(index)) for frame in (root, *stack.frames)])
            weights.append(stack.seconds)
        profiles.append(
            {
                "type": "sampled",
                "name": who(rank, 0)[0],
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    frames = [_described_frame(frame) for frame in index]
    return json.dumps(
        {
            "$schema": _SCHEMA,
            "name": name,
            "exporter": f"iolens {__version__}",
            "activeProfileIndex": 0,
            "shared": {"frames": frames},
            "profiles": profiles,
        }
    )


def _described_frame(frame: Frame) -> dict[str, str | int]:
    """Returns a frame with the known facts about its place."""
    known: dict[str, str | int] = {"name": frame.function}
    if frame.source or frame.object:
        known["file"] = frame.source or frame.object
    if frame.line:
        known["line"] = frame.line
    return known
