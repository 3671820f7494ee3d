"""Reads `who pair key value` lines of `ours` and `theirs`; prints theirs over ours: of the geometric mean over the keys
the median over the pairs, with its 95 % interval by order statistics (six pairs at least).
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
