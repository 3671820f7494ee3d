"""Bursts of I/O that repeat at even intervals, as checkpoints do. Bytes and seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.job.cost import moved_once
from iolens.metrics.job.share import highest_records, kind_seconds
from iolens.metrics.once import once_per_job
from iolens.metrics.times.timespans import activity, has_heatmap, mapped

_FEWEST_BURSTS = 4
"""Minimum number of bursts: fewer bursts have too few intervals to show that these are even."""

CHANCE = 0.01
"""Probability with which a period is reported although a job's bursts come at random moments."""

_DRAWS = 999
_ENOUGH = 20
_MOST_UNEVEN = 0.5
_MERGED = 0.25
_EVEN = 1e-3
_BINS = 4096


@dataclass(frozen=True)
class Bursts:
    """Bursts as positions in an array of bins: the first bin of each, and the bin after its last one."""

    begin: np.ndarray
    end: np.ndarray

    @property
    def unevenness(self) -> float:
        """Returns the standard deviation of the intervals between beginnings over their mean; infinite if there are too
        few bursts.
        """
        intervals = np.diff(self.begin)
        return float(intervals.std() / intervals.mean()) if len(intervals) + 1 >= _FEWEST_BURSTS else math.inf

    @property
    def surprise(self) -> float:
        """Returns a measure of how unlikely intervals as even as these are by chance; a larger number means less
        likely. Among n random intervals, the probability of an unevenness of u or less is about proportional to
        u^(n-1).
        """
        return -(len(self.begin) - 2) * math.log(max(self.unevenness, _EVEN))


@once_per_job
def periods(job: Job) -> Records:
    """Returns a row for each kind of transfer whose bursts come at even intervals in the heat map of the layer that
    moved most.

    Columns: kind (`written`, `read`), module, bursts, period (mean from one beginning to the next) and period_spread
    (its standard deviation), burst (mean length, at most the mean time that the counters of all ranks allow; whole bins
    of the heat map may be far longer), share (of the run in bursts), bytes (in bursts, of all ranks), chance
    (the share of maps with pauses of random lengths that look as even as this one: at most half of CHANCE). A burst is
    time in which more bytes move than on average over the run; pauses shorter than a quarter of the longest one do not
    end it. The first burst is left out if the others are more even without it.
    """
    names = ["kind", "module", "bursts", "period", "period_spread", "burst", "share", "bytes", "chance"]
    moved = moved_once(job)
    known = [name for name in mapped(job) if has_heatmap(job, name)]
    layers = sorted(known, key=lambda name: -moved.get(name, 0))[:1]
    rows = []
    for module in layers:
        grids = activity(job, module, 1, _BINS)
        for kind, grid in zip(("written", "read"), grids[:2] if grids else (), strict=False):
            width = grids[2] if grids else 0.0
            found, chance = bursts_of(grid.sum(axis=0))
            if chance > CHANCE / 2:
                continue
            intervals, lengths = np.diff(found.begin) * width, (found.end - found.begin) * width
            inside = sum(float(grid[:, a:b].sum()) for a, b in zip(found.begin, found.end, strict=True))
            spent = min(float(lengths.sum()), _longest(job, kind))
            times = (intervals.mean(), intervals.std(), spent / len(lengths), spent / max(job.run_time, width))
            rows.append((kind, module, len(lengths), *map(float, times), inside, chance))
    return Records.of(names, rows)


def _longest(job: Job, kind: str) -> float:
    """Returns the most seconds in which any rank can have been writing or reading: those of all ranks, one after
    another, with the metadata calls that belong to them; infinite for a log without counters.
    """
    if not highest_records(job):
        return math.inf
    spent = kind_seconds(job)
    return spent["WRITE" if kind == "written" else "READ"] + spent["META"]


def bursts_of(moved: np.ndarray) -> tuple[Bursts, float]:
    """Returns the bursts among the bytes of some bins, and the share of random maps that look as even as this one; 1 if
    the bursts are uneven.

    In a random map the stretches with bytes keep their lengths, and the sum of the pauses is split at random; its first
    burst is left out by the same rule. This is a
    Monte Carlo test that stops when enough maps look as even (J. Besag and P. Clifford, Biometrika 78, 1991).
    """
    active = moved > moved.mean() if moved.any() else np.zeros(len(moved), bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], active.astype(np.int8), [0]])))
    begin, end = edges[::2], edges[1::2]
    found = _without_start(_merged(begin, end))
    if found.unevenness > _MOST_UNEVEN:
        return found, 1.0
    lengths, total = end - begin, int((begin[1:] - end[:-1]).sum())
    rng = np.random.default_rng(0)
    as_even = 0
    for drawn in range(1, _DRAWS + 1):
        cuts = np.sort(rng.choice(total - 1, len(lengths) - 2, replace=False)) + 1
        pauses = np.diff(np.concatenate([[0], cuts, [total]]))
        starts = np.concatenate([[0], np.cumsum(lengths[:-1] + pauses)])
        as_even += _without_start(_merged(starts, starts + lengths)).surprise >= found.surprise
        if as_even == _ENOUGH:
            return found, as_even / drawn
    return found, (1 + as_even) / (1 + _DRAWS)


def _merged(begin: np.ndarray, end: np.ndarray) -> Bursts:
    """Returns the bursts after those with only a short pause between them were merged."""
    pauses = begin[1:] - end[:-1]
    kept = np.flatnonzero(pauses >= _MERGED * pauses.max(initial=0))
    return (
        Bursts(begin[np.concatenate([[0], kept + 1])], end[np.append(kept, -1)]) if len(begin) else Bursts(begin, end)
    )


def _without_start(found: Bursts) -> Bursts:
    """Returns the bursts, without the first one if the others are more even: many programs begin with a longer one."""
    others = Bursts(found.begin[1:], found.end[1:])
    return others if others.surprise > found.surprise else found


def best_interval(checkpoint: float, failures: float) -> float:
    """Returns the time of computing between two checkpoints, in seconds, that loses the least time.

    `checkpoint` (d) is how long one checkpoint takes, `failures` (M) the mean time between failures. The result is
    sqrt(2 d M) - d (J. T. Daly, Future Generation Computer Systems 22, 2006, eq. 17; J. W. Young, CACM 17, 1974). It is
    M if M is 2 d or less, since the program then makes no progress with any interval.
    """
    return math.sqrt(2 * checkpoint * failures) - checkpoint if 2 * checkpoint < failures else failures


def lost_share(interval: float, checkpoint: float, failures: float) -> float:
    """Returns the share of the time that is lost to checkpoints and to work repeated after failures. With `interval` t,
    `checkpoint` d and `failures` M it is, to first order, d / (t + d) + (t + d) / 2 M, at most 1.
    """
    return min(1.0, checkpoint / (interval + checkpoint) + (interval + checkpoint) / (2 * failures))
