"""Reads `BLOCK number on|off seconds` lines of runs (sampling_blocks.c). Prints the median ratio of a block's time
without samples to the time of the neighbouring block with samples, and its 95 % interval by order statistics.
"""

from __future__ import annotations

import sys

from iolens.metrics.statistics.intervals import family


def main() -> None:
    runs: list[list[tuple[bool, float]]] = []
    for line in sys.stdin:
        _, number, state, seconds = line.split()
        if int(number) == 1:
            runs.append([])
        runs[-1].append((state == "on", float(seconds)))
    ratios = [
        second / first if on else first / second
        for run in runs
        for (on, first), (_, second) in zip(run[::2], run[1::2], strict=False)
    ]
    typical = family([ratios]).typical(0)
    print(f"{sys.argv[1]:<12}{typical.value:6.4f}  [{typical.low:.4f}, {typical.high:.4f}]  {len(ratios)} pairs")


if __name__ == "__main__":
    main()
