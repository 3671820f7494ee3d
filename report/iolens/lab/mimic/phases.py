"""Find phases: ranks with the same calls, and loops in their calls. Pure functions over arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls

VALUES = ("file", "offset", "length", "detail")
"""The columns that change in equal steps from call to call of a loop, and from rank to rank."""

_CANDIDATES = 48
_ROUNDS = 400
_WEIGHTS = np.random.default_rng(26).integers(1, 2**63, 4, dtype=np.uint64) | np.uint64(1)


@dataclass(frozen=True, eq=False)
class RankGroup:
    """Ranks with the same kinds of calls in the same order: `place` has, for each call (row) and each of these ranks
    (column), its position among the calls of the run; `waits` the seconds between the previous call and this one.
    """

    ranks: np.ndarray
    place: np.ndarray
    waits: np.ndarray


@dataclass(frozen=True, eq=False)
class MimicStep:
    """A call of a program, or a loop over the `body` steps that follow. `count`: iterations of the loop, 1 for a call.

    `values` has the numbers by rank for each of VALUES; `strides` has, for each enclosing loop, the outermost first,
    the increment of these numbers in one iteration: arrays (4, ranks). `wait` is the mean waiting before the call in
    seconds, by rank.
    """

    kind: CallKind
    count: int
    body: int
    values: np.ndarray
    strides: tuple[np.ndarray, ...]
    wait: np.ndarray


def step_waits(calls: Calls, begins: np.ndarray) -> np.ndarray:
    """Returns the waiting time before each call: the seconds since the previous call of its rank ended or, for a rank's
    first call, since the rank's time in `begins`.
    """
    fresh = np.r_[True, calls.rank[1:] != calls.rank[:-1]] if len(calls) else np.zeros(0, bool)
    before = np.where(fresh, begins[calls.rank], np.r_[0.0, calls.end[:-1]])
    found: np.ndarray = np.maximum(calls.start - before, 0.0)
    return found


def rank_groups(calls: Calls, waits: np.ndarray) -> list[RankGroup]:
    """Returns the groups of ranks, those with the lowest rank first; the calls must be in order."""
    ranks, starts = np.unique(calls.rank, return_index=True)
    ends = np.r_[starts[1:], len(calls)]
    known: dict[bytes, list[int]] = {}
    for member, (start, end) in enumerate(zip(starts, ends, strict=True)):
        known.setdefault(calls.kind[start:end].astype(np.uint8).tobytes(), []).append(member)
    found = []
    for members in known.values():
        size = int(ends[members[0]] - starts[members[0]])
        place = starts[members][None, :] + np.arange(size)[:, None]
        found.append(RankGroup(ranks[members], place, waits[place]))
    return found


def pauses(group: RankGroup, threshold: float) -> np.ndarray:
    """Returns a class for each call by its mean wait: 0 for waits below `threshold` seconds. Two longer waits share a
    class if a chain of waits leads from the shorter to the longer one in which each wait is less than twice the
    previous one.
    """
    mean = group.waits.mean(axis=1)
    found = np.zeros(len(mean), np.int64)
    long = np.flatnonzero(mean >= threshold)
    order = long[np.argsort(mean[long], kind="stable")]
    if len(order):
        found[order] = 1 + np.cumsum(np.r_[False, mean[order][1:] > 2 * mean[order][:-1]])
    return found


@dataclass(frozen=True, eq=False)
class _Tokens:
    """The calls of ranks while loops are being found in them. A token is a call or a loop; each field is an array with
    one value per token. Tokens with equal `shape` make the same calls, apart from their values. `sums` has a weighted
    sum of each token's values: if all values change in equal steps, the sums do, too. `first` is the row of a token's
    first call, `second` the row of that call in the next iteration of each enclosing loop (innermost first, -1: none).
    """

    shape: np.ndarray
    sums: np.ndarray
    first: np.ndarray
    second: np.ndarray
    depth: np.ndarray
    count: np.ndarray
    body: np.ndarray
    times: np.ndarray
    wait: np.ndarray

    def __len__(self) -> int:
        return len(self.shape)


def fold(calls: Calls, group: RankGroup, classes: np.ndarray) -> list[MimicStep]:
    """Returns the calls of a group as steps, with loops where calls repeat in equal steps of their values.

    A call whose class is not 0 gets a pause before it; pauses of different classes do not share a step.
    """
    tokens = _tokens_of(calls, group, classes)
    for _ in range(_ROUNDS):
        before = len(tokens)
        tokens = _fold_once(tokens)
        if before == len(tokens) or (before > 20_000 and before - len(tokens) < before // 500):
            break
    return _steps_of(tokens, calls, group)


def _tokens_of(calls: Calls, group: RankGroup, classes: np.ndarray) -> _Tokens:
    size, members = group.place.shape
    each = np.random.default_rng(members).integers(1, 2**63, members, dtype=np.uint64) | np.uint64(1)
    mixed = np.zeros(len(calls), np.uint64)
    for weight, name in zip(_WEIGHTS, VALUES, strict=True):
        mixed += getattr(calls, name).astype(np.uint64) * weight
    shape = _mix(calls.kind[group.place[:, 0]].astype(np.uint64))
    long = np.flatnonzero(classes)
    wait = group.waits.copy()
    wait[long] = 0
    total = size + len(long)
    return _Tokens(
        shape=np.insert(shape, long, _mix(classes[long].astype(np.uint64) << np.uint64(8))),
        sums=np.insert((mixed[group.place] * each).sum(axis=1, dtype=np.uint64), long, np.uint64(0)),
        first=np.insert(np.arange(size), long, -1),
        second=np.full((total, 0), -1, np.int64),
        depth=np.zeros(total, np.int64),
        count=np.ones(total, np.int64),
        body=np.zeros(total, np.int64),
        times=np.ones(total, np.int64),
        wait=np.insert(wait, long, group.waits[long], axis=0),
    )


def _mix(words: np.ndarray) -> np.ndarray:
    """Returns hashes of words: each bit depends on all bits of the given word (the finalizer of SplitMix64)."""
    words = (words + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: np.ndarray = words ^ (words >> np.uint64(31))
    return found


def _periods(shape: np.ndarray) -> list[int]:
    """Returns the distances at which equal tokens often follow each other, the shortest first."""
    order = np.argsort(shape, kind="stable")
    same = shape[order][1:] == shape[order][:-1]
    distances = (order[1:] - order[:-1])[same]
    distances = distances[distances <= len(shape) // 3]
    if not len(distances):
        return []
    known, counts = np.unique(distances, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:_CANDIDATES]
    return sorted(known[often].tolist())


def _fold_once(tokens: _Tokens) -> _Tokens:
    """Finds the shortest distance at which tokens repeat; returns the tokens with all repeats at this distance turned
    into loops.
    """
    for period in _periods(tokens.shape):
        starts, turns = _repeats(tokens, period)
        saved = int((turns * period - period - 1).sum())
        if saved > 0:
            return _with_loops(tokens, period, starts, turns)
    return tokens


def _repeats(tokens: _Tokens, period: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns where repeats begin, and how many iterations each has. Repeats do not overlap, and have at least three
    iterations with equal steps.
    """
    size = len(tokens)
    none = np.zeros(0, np.int64)
    if size < 3 * period:
        return none, none
    same = tokens.shape[period:] == tokens.shape[:-period]
    step = tokens.sums[period:] - tokens.sums[:-period]
    steady = same[period:] & same[:-period] & (step[period:] == step[:-period])
    edges = np.flatnonzero(np.diff(np.r_[False, steady, False].astype(np.int8)))
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    begins, lengths = begins[lengths >= period], lengths[lengths >= period]
    outer = np.r_[np.where(tokens.depth == 0, np.arange(size), size), size]
    next_outer = np.minimum.accumulate(outer[::-1])[::-1]
    found, reach = [], 0
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        start = int(next_outer[max(begin, reach)])
        turns = (begin + length + 2 * period - start) // period
        if turns >= 3:
            found.append((start, turns))
            reach = start + turns * period
    table = np.array(found, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _with_loops(tokens: _Tokens, period: int, starts: np.ndarray, turns: np.ndarray) -> _Tokens:
    """Returns the tokens with each repeat replaced by a token for the loop and one iteration of its body."""
    size = len(tokens)
    covered = _ranges(starts, turns * period)
    target = np.arange(size)
    target[covered] = np.repeat(starts, turns * period) + (covered - np.repeat(starts, turns * period)) % period
    body = _ranges(starts, np.full(len(starts), period))
    depth, shape, sums = tokens.depth.copy(), tokens.shape.copy(), tokens.sums
    levels = int(depth[body].max()) + 1
    second = np.full((size, max(levels, tokens.second.shape[1])), -1, np.int64)
    second[:, : tokens.second.shape[1]] = tokens.second
    second[body, depth[body]] = tokens.first[body + period]
    step = sums[body + period] - sums[body]
    shape[body] = _mix(shape[body] ^ _mix(step + (depth[body].astype(np.uint64) << np.uint64(56)) + np.uint64(1)))
    depth[body] += 1
    times = np.bincount(target, tokens.times, size).astype(np.int64)
    wait = np.zeros_like(tokens.wait)
    np.add.at(wait, target, tokens.wait)
    kept = np.flatnonzero(target == np.arange(size))
    at = np.searchsorted(kept, starts)

    def put(column: np.ndarray, loops: np.ndarray | int | float) -> np.ndarray:
        found: np.ndarray = np.insert(column[kept], at, loops, axis=0)
        return found

    loop_shape = _mix(turns.astype(np.uint64) * np.uint64(0x10001) + np.uint64(period << 1) + np.uint64(2**40))
    return _Tokens(
        shape=put(shape, loop_shape),
        sums=put(sums, 0),
        first=put(tokens.first, -1),
        second=put(second, -1),
        depth=put(depth, 0),
        count=put(tokens.count, turns),
        body=put(tokens.body, period),
        times=put(times, 1),
        wait=put(wait, 0),
    )


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Returns all positions of some ranges, one range after the other."""
    total = int(lengths.sum())
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    found: np.ndarray = np.repeat(starts, lengths) + np.arange(total) - before
    return found


def _steps_of(tokens: _Tokens, calls: Calls, group: RankGroup) -> list[MimicStep]:
    members = group.place.shape[1]
    columns = [getattr(calls, name) for name in VALUES]

    def values(row: int) -> np.ndarray:
        return np.stack([column[group.place[row]] for column in columns])

    found = []
    for place in range(len(tokens)):
        first, depth = int(tokens.first[place]), int(tokens.depth[place])
        if first < 0:
            empty = np.zeros((len(VALUES), members), np.int64)
            count, body = int(tokens.count[place]), int(tokens.body[place])
            kind, strides = CallKind.LOOP if body else CallKind.PAUSE, (() if body else (empty,) * depth)
            found.append(MimicStep(kind, count, body, empty, strides, tokens.wait[place] / tokens.times[place]))
            continue
        base = values(first)
        strides = tuple(values(int(tokens.second[place, level])) - base for level in reversed(range(depth)))
        kind = CallKind(int(calls.kind[group.place[first, 0]]))
        wait = tokens.wait[place] / tokens.times[place]
        found.append(MimicStep(kind, 1, 0, base, strides, wait))
    return found


def expand_steps(steps: list[MimicStep]) -> tuple[list[CallKind], np.ndarray]:
    """Returns the calls that the C program makes for these steps, without pauses: the kind of each, and an array
    (calls, 4, ranks) with its `VALUES` on each rank.
    """
    kinds: list[CallKind] = []
    rows: list[np.ndarray] = []

    def play(first: int, last: int, turns: tuple[int, ...]) -> None:
        at = first
        while at < last:
            step = steps[at]
            if step.kind == CallKind.PAUSE:
                at += 1
                continue
            if step.kind == CallKind.LOOP:
                for turn in range(step.count):
                    play(at + 1, at + 1 + step.body, (*turns, turn))
                at += step.body
            else:
                kinds.append(step.kind)
                rows.append(step.values + sum(turn * stride for turn, stride in zip(turns, step.strides, strict=True)))
            at += 1

    play(0, len(steps), ())
    return kinds, np.array(rows)
