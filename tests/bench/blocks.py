"""Reads `BLOCK number on|off seconds` lines of runs (sampling_blocks.c); prints the time without samples over that with
them: of each block with samples beside both neighbours, the median and its 95 % interval by order statistics."""

from __future__ import annotations

import math
import sys

from iolens.metrics.statistics import family


def main() -> None:
    runs: list[list[tuple[bool, float]]] = []
    for line in sys.stdin:
        _, number, state, seconds = line.split()
        if int(number) == 1:
            runs.append([])
        runs[-1].append((state == "on", float(seconds)))
    ratios = [
        math.sqrt(before * after) / seconds
        for run in runs
        for (_, before), (on, seconds), (_, after) in zip(run, run[1:], run[2:], strict=False)
        if on
    ]
    typical = family([ratios]).typical(0)
    print(f"{sys.argv[1]:<12}{typical.value:6.4f}  [{typical.low:.4f}, {typical.high:.4f}]  {len(ratios)} blocks")


if __name__ == "__main__":
    main()
