"""The placement of ranks on nodes: the bytes that stay on a node under the usual orders, and an order that
keeps more.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, sent

_COLLECTIVE = r"MPI_(I?(all(gather|reduce|toall)|gather|scatter|reduce|bcast|scan|exscan)\w*|I?neighbor_\w+)"
_PASSES = 4
"""Maximum number of rounds in which ranks are exchanged between nodes."""


@dataclass(frozen=True)
class Traffic:
    """Bytes between ranks, both directions together: `weight[a][b]` = `weight[b][a]`; `total`: over all pairs."""

    weight: Mapping[int, Mapping[int, float]]
    total: float


@dataclass(frozen=True)
class Order:
    """An order of ranks: its name and the node of each rank. `method` is its value of MPICH_RANK_REORDER_METHOD, or -1
    for the order in which the job ran.
    """

    name: str
    method: int
    nodes: tuple[int, ...]


@once_per_job
def rank_orders(job: Job, ranks_per_node: int = 0) -> Records | None:
    """Returns bytes that stay on a node under each order, the most first.

    Columns: order, method, on_node (bytes of an average rank that stay on its node), share (per cent of the bytes sent
    point-to-point and one-sided), with_collectives (per cent; with collectives assumed to be spread evenly over all
    pairs of ranks, which no order can change much), nodes. `ranks_per_node` 0 means as many as in the job. None if
    pairs are not known; bytes of pairs of which the log has only the sum are left out.
    """
    traffic = traffic_of(job)
    if traffic is None:
        return None
    extra = _collective_bytes(job)
    rows = []
    for order in orders(job, ranks_per_node):
        stays, even = _on_node_bytes(traffic, order.nodes), _even_share(order.nodes)
        rows.append(
            (
                order.name,
                order.method,
                stays / len(order.nodes),
                100 * stays / traffic.total,
                100 * (stays + even * extra) / (traffic.total + extra),
                1 + max(order.nodes),
            )
        )
    return ordered(Records.of(["order", "method", "on_node", "share", "with_collectives", "nodes"], rows), "-on_node")


@once_per_job
def orders(job: Job, ranks_per_node: int = 0) -> tuple[Order, ...]:
    """Returns the orders that are compared: as the job ran, SMP, round-robin, folded, and the custom one."""
    ranks, ran = max(job.nprocs, 1), _placement(job)
    each = ranks_per_node or (max(np.bincount(ran)) if ran else ranks)
    room = _capacities(ranks, int(each))
    usual = [Order(name, method, tuple(place(ranks, room))) for name, method, place in _USUAL]
    traffic = traffic_of(job)
    if traffic is not None:
        best = max(usual, key=lambda order: _on_node_bytes(traffic, order.nodes))
        refined = [_exchanged(traffic, nodes) for nodes in (best.nodes, _grown(traffic, ranks, room))]
        usual.append(Order("custom", 3, max(refined, key=lambda nodes: _on_node_bytes(traffic, nodes))))
    return (*((Order("as it ran", -1, ran),) if ran and not ranks_per_node else ()), *usual)


def _placement(job: Job) -> tuple[int, ...]:
    """Returns the node of each rank in this job; empty if the log does not know it."""
    found = job.info.get("rank_host", [])
    return tuple(int(node) for node in found) if len(found) == job.nprocs else ()


def _capacities(ranks: int, each: int) -> list[int]:
    """Returns the number of ranks on each node: `each`, and the rest on the last node."""
    return [min(each, ranks - first) for first in range(0, ranks, each)]


def _smp(ranks: int, room: Sequence[int]) -> list[int]:
    """Returns the node of each rank if one node after the other is filled; `room` has the number of ranks that each
    node takes.
    """
    return [node for node, size in enumerate(room) for _ in range(size)]


def _dealt(ranks: int, room: Sequence[int], cycle: Callable[[int], Sequence[int]]) -> list[int]:
    """Returns the node of each rank if the nodes get one rank each in every round, in the order that `cycle` returns
    for the round; full nodes are skipped.
    """
    left, turn = list(room), 0
    found: list[int] = []
    while len(found) < ranks:
        for node in cycle(turn):
            if left[node]:
                left[node] -= 1
                found.append(node)
        turn += 1
    return found


def _round_robin(ranks: int, room: Sequence[int]) -> list[int]:
    """Returns rank 0 on the first node, rank 1 on the second, and so on."""
    return _dealt(ranks, room, lambda _: range(len(room)))


def _back_and_forth(ranks: int, room: Sequence[int]) -> list[int]:
    """Returns the node of each rank as `_round_robin` does, except that every second round goes from the last node to
    the first.
    """
    return _dealt(ranks, room, lambda turn: range(len(room)) if turn % 2 == 0 else range(len(room) - 1, -1, -1))


_USUAL = (("SMP", 1, _smp), ("round-robin", 0, _round_robin), ("folded", 2, _back_and_forth))


@once_per_job
def traffic_of(job: Job) -> Traffic | None:
    """Returns the bytes between pairs of different ranks; None if the log does not list pairs."""
    rows = sent(job)
    if rows is None:
        return None
    pairs = rows.where((rows["rank"] >= 0) & (rows["peer"] >= 0) & (rows["rank"] != rows["peer"]) & (rows["bytes"] > 0))
    weight: dict[int, dict[int, float]] = {}
    for rank, peer, moved in pairs.rows("rank", "peer", "bytes"):
        for one, other in ((rank, peer), (peer, rank)):
            row = weight.setdefault(one, {})
            row[other] = row.get(other, 0.0) + moved
    return Traffic(weight, float(pairs["bytes"].sum())) if weight else None


@once_per_job
def _collective_bytes(job: Job) -> float:
    """Returns bytes that ranks contributed to collectives; 0 if MPI calls were not traced."""
    rows = mpi_rows(job)
    if rows is None:
        return 0.0
    collective = {name for name in set(rows["function"].tolist()) if re.fullmatch(_COLLECTIVE, name, re.IGNORECASE)}
    return float(of_functions(rows, collective)["bytes_sent"].sum())


def _on_node_bytes(traffic: Traffic, nodes: Sequence[int]) -> float:
    """Returns the bytes between ranks on the same node, counting each message once; `nodes` has the node of
    each rank.
    """
    both = sum(
        moved for rank, row in traffic.weight.items() for peer, moved in row.items() if nodes[rank] == nodes[peer]
    )
    return both / 2


def _even_share(nodes: Sequence[int]) -> float:
    """Returns the share of ordered pairs of different ranks that are on the same node; 0 for one rank."""
    sizes, ranks = np.bincount(nodes), len(nodes)
    return float((sizes * (sizes - 1)).sum()) / (ranks * (ranks - 1)) if ranks > 1 else 0.0


def _grown(traffic: Traffic, ranks: int, room: Sequence[int]) -> tuple[int, ...]:
    """Returns the node of each rank, filling one node after the other.

    The first rank of a node is the one with the least traffic to ranks without a node, because it lies at the edge of
    those. The next is always the rank with the most traffic to the node's ranks. Of ranks with equal traffic, the one
    that was reached first is taken, so that a node's ranks lie close together.
    """
    free = set(range(ranks))
    left = [sum(traffic.weight.get(rank, {}).values()) for rank in range(ranks)]
    found = [0] * ranks
    for node, size in enumerate(room):
        tie: dict[int, float] = {}
        reached: dict[int, int] = {}
        heap: list[tuple[float, int, int]] = []
        members: list[int] = []
        for _ in range(size):
            rank = nearest_ranks(heap, tie, free)
            if rank < 0:
                rank = min(free, key=lambda one: (left[one], one))
            free.discard(rank)
            members.append(rank)
            for peer, moved in traffic.weight.get(rank, {}).items():
                if peer in free:
                    tie[peer] = tie.get(peer, 0.0) + moved
                    heapq.heappush(heap, (-tie[peer], reached.setdefault(peer, len(reached)), peer))
        for rank in members:
            found[rank] = node
            for peer, moved in traffic.weight.get(rank, {}).items():
                left[peer] -= moved
    return tuple(found)


def nearest_ranks(heap: list[tuple[float, int, int]], tie: Mapping[int, float], free: set[int]) -> int:
    """Returns the unplaced rank that exchanges most bytes with the ranks of the node being filled; -1 if none exchanges
    any. Outdated entries are dropped from the heap.
    """
    while heap:
        weight, _, rank = heapq.heappop(heap)
        if rank in free and -weight == tie[rank]:
            return rank
    return -1


def _exchanged(traffic: Traffic, nodes: Sequence[int]) -> tuple[int, ...]:
    """Returns the nodes after exchanging pairs of ranks for as long as this keeps more bytes within nodes (Kernighan
    and Lin, 1970).
    """
    found = list(nodes)
    members: dict[int, set[int]] = {}
    for rank, node in enumerate(found):
        members.setdefault(node, set()).add(rank)
    for _ in range(_PASSES):
        before = list(found)
        for rank in range(len(found)):
            _exchange(traffic, found, members, rank)
        if found == before:
            break
    return tuple(found)


def _exchange(traffic: Traffic, nodes: list[int], members: Mapping[int, set[int]], rank: int) -> None:
    """Exchanges `rank` with a rank on the node with which it exchanges most bytes. The partner is the one that keeps
    most bytes within nodes; there is no exchange if none keeps more than before.
    """
    row = traffic.weight.get(rank, {})
    ties = _tied(row, nodes)
    here = nodes[rank]
    there = max(ties, key=lambda node: (ties[node], -node), default=here)
    if there == here:
        return

    def gain(other: int) -> float:
        """Returns how many more bytes stay within nodes after an exchange with the rank `other`."""
        theirs = _tied(traffic.weight.get(other, {}), nodes)
        mine = ties[there] - ties.get(here, 0.0)
        return mine + theirs.get(here, 0.0) - theirs.get(there, 0.0) - 2 * row.get(other, 0.0)

    other = max(sorted(members[there]), key=gain)
    if gain(other) <= 0:
        return
    nodes[rank], nodes[other] = there, here
    members[here].symmetric_difference_update((rank, other))
    members[there].symmetric_difference_update((rank, other))


def _tied(row: Mapping[int, float], nodes: Sequence[int]) -> dict[int, float]:
    """Returns, by node, the bytes that a rank exchanges with the node's ranks; `row` has its bytes with each peer."""
    found: dict[int, float] = {}
    for peer, moved in row.items():
        found[nodes[peer]] = found.get(nodes[peer], 0.0) + moved
    return found


def rank_list(nodes: Sequence[int]) -> list[int]:
    """Returns the ranks node by node, as MPICH_RANK_ORDER lists them."""
    return sorted(range(len(nodes)), key=lambda rank: (nodes[rank], rank))
