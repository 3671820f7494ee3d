"""Reads `who pair key value` lines, in which `who` is `ours` or `theirs`. Computes for each pair the ratio theirs /
ours, as the geometric mean over the keys. Prints the median of these ratios with its 95 % interval by order statistics
(at least six pairs).
"""

from __future__ import annotations

import math
import statistics
import sys

from iolens.metrics.statistics.intervals import family


def main() -> None:
    values: dict[tuple[str, str, str], float] = {}
    for line in sys.stdin:
        who, pair, key, value = line.split()
        values[who, pair, key] = float(value)
    pairs = sorted({pair for _, pair, _ in values})
    keys = sorted({key for who, _, key in values if who == "ours"})
    logs = [
        statistics.mean(math.log(values["theirs", pair, key] / values["ours", pair, key]) for key in keys)
        for pair in pairs
    ]
    typical = family([[math.exp(value) for value in logs]]).typical(0)
    print(f"{sys.argv[1]:<12}{typical.value:6.3f}  [{typical.low:.3f}, {typical.high:.3f}]  {len(pairs)} pairs")


if __name__ == "__main__":
    main()
