"""Decides which bytes each rank writes or reads in a collective call, by ROMIO's two-phase method and the rules of its
drivers.

`generic` is ADIOI_GEN_WriteStridedColl: the range of a call is divided evenly among the aggregators, and each part is
moved in pieces of `cb_buffer_size`. `lustre` is ADIOI_LUSTRE_WriteStridedColl: stripe k belongs to aggregator k mod n,
and a round has one stripe for each aggregator; its reads are the generic ones with parts that end at stripe boundaries.
The transfers of the bundled writer, which tests compare with the real driver, follow the same rules in C
(workloads/common/file_domain.h).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from iolens.lab.predict.extents import Extents

GENERIC, LUSTRE = "generic", "lustre"
_DRIVERS = (LUSTRE, GENERIC)


@dataclass(frozen=True)
class Collective:
    """The way in which collective calls are carried out: sizes in bytes; `aggregators` are ranks, in the order of their
    parts.
    """

    driver: str
    aggregators: tuple[int, ...]
    buffer: int
    stripe_size: int


@dataclass(frozen=True)
class Move:
    """The access of an aggregator in a round, to the bytes [begin, end) at once; `holes` is True if it contains bytes
    that no rank moves.
    """

    rank: int
    begin: int
    end: int
    holes: bool


@dataclass(frozen=True)
class Round:
    """Accesses that happen at the same time, and the bytes that ranks exchange for them."""

    bytes: int
    moves: tuple[Move, ...]


def aggregators_in_use(driver: str, wanted: int, stripes: int, per_stripe: int = 1) -> int:
    """Returns how many of the `wanted` aggregators get work. ROMIO's Lustre driver uses a number that divides the
    number of stripes, or up to `per_stripe` (`romio_lustre_co_ratio`) times the number of stripes.
    """
    if driver != LUSTRE or stripes < 1:
        return wanted
    if wanted >= stripes:
        return stripes * min(wanted // stripes, max(per_stripe, 1))
    return max(count for count in range(1, wanted + 1) if stripes % count == 0)


def places(driver: str, candidates: int, ranks: int) -> tuple[int, ...]:
    """Returns the ranks of one node that ROMIO selects as candidates: the first ones or, in the newer ROMIO with the
    Lustre driver, the first of even blocks of ranks, larger blocks first.
    """
    if driver != LUSTRE:
        return tuple(range(min(candidates, ranks)))
    size, larger = divmod(ranks, candidates)
    return tuple(number * size + min(number, larger) for number in range(candidates))


def rounds(plan: Collective, wanted: Extents, writing: bool) -> Iterator[Round]:
    """Yields the rounds of a call in which all ranks together move `wanted`."""
    if not len(wanted.begin):
        return
    by_stripes = plan.driver == LUSTRE and writing
    parts = _stripes_of(plan, wanted) if by_stripes else _buffers_of(plan, wanted)
    for spans in parts:
        moves, moved = [], 0
        for rank, begin, end in spans:
            inside = wanted.clip(begin, end)
            if not len(inside.begin):
                continue
            begin, end = (int(inside.begin[0]), int(inside.end[-1])) if by_stripes else (begin, end)
            moves.append(Move(rank, begin, end, inside.bytes < end - begin))
            moved += inside.bytes
        if moves:
            yield Round(moved, tuple(moves))


Span = tuple[int, int, int]
"""A tuple of rank, begin and end."""


def _stripes_of(plan: Collective, wanted: Extents) -> Iterator[list[Span]]:
    """Yields, for each round, one stripe per aggregator: rank, begin and end."""
    size, count = plan.stripe_size, len(plan.aggregators)
    first, last = int(wanted.begin[0]) // size // count, (int(wanted.end[-1]) - 1) // size // count
    for row in range(first, last + 1):
        stripe = row * count
        yield [(rank, (stripe + i) * size, (stripe + i + 1) * size) for i, rank in enumerate(plan.aggregators)]


def _buffers_of(plan: Collective, wanted: Extents) -> Iterator[list[Span]]:
    """Yields, for each round, one buffer of each aggregator's part, beginning at the first wanted byte there."""
    parts = []
    for rank, begin, end in _domains(plan, int(wanted.begin[0]), int(wanted.end[-1])):
        inside = wanted.clip(begin, end)
        if len(inside.begin):
            parts.append((rank, int(inside.begin[0]), int(inside.end[-1])))
    most = max(-(-(end - begin) // plan.buffer) for _, begin, end in parts)
    for number in range(most):
        shift = number * plan.buffer
        yield [
            (rank, begin + shift, min(begin + shift + plan.buffer, end))
            for rank, begin, end in parts
            if begin + shift < end
        ]


def _domains(plan: Collective, begin: int, end: int) -> list[Span]:
    """Returns the range divided evenly; with the Lustre driver the inner boundaries move to the nearest stripe
    boundary.
    """
    count = len(plan.aggregators)
    share = -(-(end - begin) // count)
    edges = [min(begin + share * i, end) for i in range(count + 1)]
    if plan.driver == LUSTRE:
        size = plan.stripe_size
        inner = [max(begin, min((edge + size // 2) // size * size, end)) for edge in edges[1:-1]]
        edges = [begin, *inner, end]
    return [(rank, edges[i], edges[i + 1]) for i, rank in enumerate(plan.aggregators) if edges[i] < edges[i + 1]]


def is_interleaved(ranges: list[tuple[int, int]]) -> bool:
    """Returns True if the [first, last] bytes of a rank begin before those of the previous rank end. ROMIO uses two
    phases only then, unless hints say otherwise (`romio_cb_write: automatic`). Ranks without bytes are ignored.
    """
    return any(later[0] <= earlier[1] for earlier, later in pairwise(ranges))
