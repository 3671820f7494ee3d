"""Measures the analysis of `iolens run --why` on made-up events: processor time and memory of each step.

Ranks compute, exchange messages with their neighbours, write now and then, and meet in a barrier every tenth step.

python tests/bench/why_scale.py EVENTS [--ranks N]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from iolens.log.records import Records
from iolens.metrics.why.calls.joins import joins_of
from iolens.metrics.why.calls.program import program_of
from iolens.metrics.why.causes import causes_of
from iolens.metrics.why.path import activities_of, critical_path
from iolens.metrics.why.replay import graph_of, replayed_run_time
from iolens.metrics.why.waits import waits_of

_KINDS = np.array(["send", "recv", "file", "all"], object)
_FUNCTIONS = np.array(["MPI_Send", "MPI_Recv", "write", "MPI_Allreduce"], object)


def events(count: int, ranks: int) -> Records:
    """Returns about `count` rows of the table `why_events`."""
    steps = max(count // ranks // 21, 1)
    one = np.tile(np.array([0, 1] * 10, np.int64), steps).reshape(steps, 20)
    one[:, 8] = 2
    one[:, 9] = 2
    kind = np.concatenate([one, np.full((steps, 1), 3)], axis=1)
    rng = np.random.default_rng(1)
    width = kind.size
    parts = []
    # Each call lies in its own slot of time, so that no event contradicts another.
    slot = np.arange(width) * 1e-3
    for rank in range(ranks):
        start = slot + rng.uniform(0, 3e-4, width)
        end = start + np.where(kind.reshape(-1) == 1, 6e-4, 1e-4)
        parts.append((np.full(width, rank), kind.reshape(-1), start, end))
    rank, which, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    end = np.where(which == 3, np.ceil(start * 1e3) * 1e-3 - 1e-5, end)
    peer = np.where(which == 0, (rank + 1) % ranks, np.where(which == 1, (rank - 1) % ranks, -1))
    collective = which == 3
    zeros = np.zeros(len(rank), np.int64)
    return Records(
        {
            "rank": rank.astype(np.int32),
            "thread": zeros.astype(np.int32),
            "kind": _KINDS[which],
            "function": _FUNCTIONS[which],
            "start": start,
            "end": end,
            "communicator": np.where(which == 2, 0, 7),
            "peer": peer,
            "tag": zeros,
            "size": np.where(collective, ranks, 0),
            "request": zeros - 1,
            "bytes": zeros + 8,
            "file": np.where(which == 2, 5, 0).astype(np.uint64),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", type=float)
    parser.add_argument("--ranks", type=int, default=16)
    args = parser.parse_args()
    table = events(int(args.events), args.ranks)
    before = [time.process_time()]

    def said(step: str) -> None:
        now = time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{step:<12}{now - before[0]:>9.2f} s{peak:>9.0f} MiB at most", flush=True)
        before[0] = now

    said("made")
    program = program_of(table, args.ranks)
    said("program")
    joins = joins_of(program)
    said("joins")
    waits = waits_of(program, joins)
    said("waits")
    activities = activities_of(program, waits)
    said("activities")
    causes_of(program, joins, waits, activities)
    said("causes")
    critical_path(program, waits)
    said("path")
    graph = graph_of(program, joins)
    said("graph")
    for _ in range(11):
        replayed_run_time(program, graph, graph.gap, graph.cost)
    said("11 replays")
    print(
        f"{len(table):,} events, {len(waits.call):,} waits, {joins.not_joined} without partner, {graph.broken} broken"
    )


if __name__ == "__main__":
    main()
