"""Measures replays of made-up calls without a log: processor time, and memory including the arrays of the calls.

Ranks compute, exchange messages with their neighbours, write now and then, and meet in a collective call every tenth
step, as in why_scale.py. The calls are made rank by rank in the arrays that the replay reads, without a log.

python tests/bench/why_replay.py CALLS [--ranks N] [--replays N]
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import replace

import numpy as np
from iolens.metrics.why.calls.program import Program, program_of
from iolens.metrics.why.replay import Graph, Lists, Pairs, replayed_run_time
from why_scale import events

_STEP = 21
"""Number of calls of a rank in a step: ten pairs of calls (a send or write, then a receive or write), then a collective
call.
"""
_SENDS = np.array([at for at in range(0, 20, 2) if at != 8])
_WAITS = np.append(_SENDS + 1, 20)


def calls_of(count: int, ranks: int) -> tuple[Program, Graph]:
    """Returns about `count` calls of ranks, of which each step ends with a collective call of all."""
    steps = count // ranks // _STEP
    calls = steps * _STEP
    lists = [np.empty(ranks * steps * width, np.int32) for width in (9, 9, 10, 1, 1, 1)]
    edge_from, edge_to, waiter, part_call, part_of, frees = lists
    gap, cost = np.empty(ranks * calls), np.empty(ranks * calls)
    rng = np.random.default_rng(1)
    step, waiters = np.arange(steps)[:, None], steps * 10
    for rank in range(ranks):
        mine, sends = slice(rank * calls, (rank + 1) * calls), slice(rank * steps * 9, (rank + 1) * steps * 9)
        gap[mine], cost[mine] = rng.uniform(0, 3e-4, calls), 1e-4
        edge_from[sends] = (rank * calls + step * _STEP + _SENDS).reshape(-1)
        edge_to[sends] = ((rank + 1) % ranks * waiters + step * 10 + np.arange(9)).reshape(-1)
        waiter[rank * waiters : (rank + 1) * waiters] = (rank * calls + step * _STEP + _WAITS).reshape(-1)
        part_call[rank * steps : (rank + 1) * steps] = (rank * calls + step * _STEP + 20).reshape(-1)
        part_of[rank * steps : (rank + 1) * steps] = step[:, 0]
        frees[rank::ranks] = rank * waiters + step[:, 0] * 10 + 9
    groups = Lists(np.arange(steps + 1, dtype=np.int32) * ranks, frees)
    graph = Graph(waiter, Pairs(edge_from, edge_to), Pairs(part_call, part_of), groups, gap, cost)
    return replace(program_of(events(0, ranks), ranks), first=np.arange(ranks + 1) * calls), graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=float)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--replays", type=int, default=11)
    args = parser.parse_args()
    program, graph = calls_of(int(args.calls), args.ranks)
    before, seconds = time.process_time(), []
    for each in range(args.replays):
        changed = graph.cost if each == 0 else graph.cost * (1 - each / args.replays)
        seconds.append(replayed_run_time(program, graph, graph.gap, changed))
        del changed
    spent, peak = time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(graph.gap):,} calls, {args.replays} replays: {spent:.1f} s of a processor, {peak:.2f} GB at most")
    print(f"run times from {seconds[0]:.3f} s down to {seconds[-1]:.3f} s")


if __name__ == "__main__":
    main()
