"""Finds the nodes of a job, from its batch system or a hostfile; without either, this machine is the only node."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_CPUS = Path("/sys/devices/system/cpu")


class Node(NamedTuple):
    """A node: the ranks that a launcher puts there by default (`slots`), and its cores."""

    name: str
    slots: int
    cores: int


class Allocation(NamedTuple):
    """The nodes of a job, in the order in which a launcher fills them."""

    nodes: tuple[Node, ...]

    @property
    def slots(self) -> int:
        """Returns the ranks that a launcher starts by default."""
        return sum(node.slots for node in self.nodes)

    def ranks(self, count: int) -> list[int]:
        """Returns how many of `count` ranks each node gets: slots are filled node by node, and the remaining ranks go
        to the nodes in turn.
        """
        placed: list[int] = []
        for node in self.nodes:
            placed.append(min(node.slots, count - sum(placed)))
        for i in range(count - sum(placed)):
            placed[i % len(placed)] += 1
        return placed

    def is_crowded(self, count: int) -> bool:
        """Returns True when some node gets more of `count` ranks than it has cores."""
        return any(ranks > node.cores for ranks, node in zip(self.ranks(count), self.nodes, strict=True))

    def hosts(self, count: int) -> list[str]:
        """Returns the nodes that get any of `count` ranks."""
        return [node.name for ranks, node in zip(self.ranks(count), self.nodes, strict=True) if ranks]


def allocation(environment: Mapping[str, str] = os.environ) -> Allocation:
    """Returns the nodes of the batch system's job that this process belongs to; outside of a job, this node alone."""
    for source in _SOURCES:
        nodes = source(environment)
        if nodes:
            return Allocation(tuple(nodes))
    cores = own_cores()
    return Allocation((Node(os.uname().nodename, cores, cores),))


def _slurm(environment: Mapping[str, str]) -> list[Node]:
    """Returns the nodes in Slurm's list. A node has as many cores as Slurm counts processors on it, and as many slots
    as tasks per node were requested (sbatch(1)).
    """
    names = expand_hosts(environment.get("SLURM_JOB_NODELIST", ""))
    cores = repeated(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))
    slots = repeated(environment.get("SLURM_TASKS_PER_NODE", "")) or cores
    if not names or len(cores) != len(names) or len(slots) != len(names):
        return []
    return [Node(*row) for row in zip(names, slots, cores, strict=True)]


def _hostfile(environment: Mapping[str, str]) -> list[Node]:
    """Returns the nodes in a file with one line per slot (PBS) or `name slots=N` (Open MPI); every slot counts as a
    core.
    """
    for variable in _HOSTFILES:
        path = environment.get(variable)
        if path and Path(path).is_file():
            return _nodes_of_lines(Path(path).read_text(encoding="utf-8").splitlines())
    return []


_HOSTFILES = ("PBS_NODEFILE", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile")
"""Variables that name a hostfile: of PBS, and of Open MPI up to version 4 and from 5 on."""

_SOURCES: tuple[Callable[[Mapping[str, str]], Sequence[Node]], ...] = (_slurm, _hostfile)


def _nodes_of_lines(lines: Sequence[str]) -> list[Node]:
    """Returns the nodes of a hostfile in order; a node without a number has as many slots as lines."""
    slots: dict[str, int] = {}
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            number = re.search(r"\bslots\s*=\s*(\d+)", line)
            slots[words[0]] = slots.get(words[0], 0) + (int(number[1]) if number else 1)
    return [Node(name, count, count) for name, count in slots.items()]


def expand_hosts(nodelist: str) -> list[str]:
    """Expands Slurm's short list of nodes: 'n[01-03,7],gpu1' -> n01 n02 n03 n7 gpu1; several brackets multiply."""
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodelist):
        found = [""]
        for text, inside in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", part):
            ends = _expanded_range(inside) if inside else [text]
            found = [head + end for head in found for end in ends]
        names += found
    return names


def _expanded_range(ranges: str) -> list[str]:
    """Expands '01-03,7' -> 01 02 03 7, with leading zeros kept; empty for anything else."""
    found: list[str] = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            return []
        found += [f"{i:0{len(first)}d}" for i in range(int(first), int(last or first) + 1)]
    return found


def repeated(counts: str) -> list[int]:
    """Expands Slurm's counts per node: '36(x2),18' -> 36 36 18."""
    found: list[int] = []
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", counts):
        found += [int(count)] * int(times or 1)
    return found


def own_cores() -> int:
    """Returns the number of cores that this process may use; two threads of one core count once, as launchers count
    them.
    """
    allowed = os.sched_getaffinity(0)
    cores = set()
    for cpu in allowed:
        path = _CPUS / f"cpu{cpu}" / "topology" / "thread_siblings_list"
        try:
            cores.add(path.read_text(encoding="ascii"))
        except OSError:
            return len(allowed)
    return len(cores)
