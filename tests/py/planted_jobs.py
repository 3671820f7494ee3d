"""Makes jobs by a simple model of storage, with a fault of any strength, and the gain of removing the fault.

The model does not use the rules. In it a rank waits for the latency of each call, and moves its bytes at the bandwidth
of its client or at its share of a target's bandwidth. A fault changes the model; the same job without the fault tells
what removing it gains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from iolens.log import Job
from job_example import MIB, frame, job_of
from random_jobs import BUCKETS, NAMES
from test_advise_rules import layouts

TARGET, CLIENT = 400.0 * MIB, 1200.0 * MIB
"""Bandwidth of a target and of a client, in bytes per second."""


@dataclass(frozen=True)
class JobModel:
    """The model of a job: its ranks, the bytes that each reads or writes, and the storage. `slow` multiplies a rank's
    times.
    """

    ranks: int
    kind: str
    calls: int
    size: int
    targets: int
    compute: float
    latency: float = 4e-4
    opens: int = 1
    open_latency: float = 1e-3
    sync: float = 0.0
    again: int = 1
    stripes: int = 0
    turns: bool = False
    share: float = 0.0
    slow_ranks: tuple[int, ...] = ()
    slow: float = 1.0
    hosts: int = 0

    @property
    def shared(self) -> bool:
        """Returns whether all ranks use one file."""
        return self.stripes > 0

    def parts(self) -> np.ndarray:
        """Returns the share of all bytes that each rank moves: equal shares, unless rank 0 moves the share `share`."""
        parts = np.full(self.ranks, 1.0 / self.ranks)
        if self.share:
            parts[:] = (1 - self.share) / (self.ranks - 1)
            parts[0] = self.share
        return parts

    def seconds(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the seconds of each rank in transfers, and in metadata calls."""
        calls = self.calls * self.ranks * self.parts()
        moved = calls * self.size * self.again
        if self.shared:
            rate = min(CLIENT, self.stripes * TARGET / self.ranks)
        else:
            rate = min(CLIENT, TARGET * self.targets / self.ranks)
        if self.share > 1.5 / self.ranks:
            rate = min(CLIENT, TARGET)
        spent = calls * self.again * (self.latency + self.sync) + moved / rate
        spent[list(self.slow_ranks)] *= self.slow
        return spent, np.full(self.ranks, self.opens * self.open_latency)

    def run_time(self) -> float:
        """Returns the run time in seconds: computing plus the I/O of the slowest rank, or of all ranks one after the
        other.
        """
        spent, meta = self.seconds()
        return self.compute + (float((spent + meta).sum()) if self.turns else float((spent + meta).max()))


def job_of_model(model: JobModel) -> Job:
    """Returns the job in the form in which it is read from a log."""
    spent, meta = model.seconds()
    ends = np.cumsum(spent + meta) if model.turns else spent + meta
    calls = np.maximum(0, np.round(model.calls * model.ranks * model.parts())).astype(int) * model.again
    rows = [_row(model, rank, int(calls[rank]), float(spent[rank]), float(meta[rank])) for rank in range(model.ranks)]
    for row, end, each in zip(rows, ends.tolist(), (spent + meta).tolist(), strict=True):
        row |= {f"F_{model.kind}_START_TIMESTAMP": 0.5 + end - each, f"F_{model.kind}_END_TIMESTAMP": 0.5 + end}
    if model.shared:
        osts: dict[int, list[int]] = {1: list(range(model.stripes))}
        rows = [_merged(model, rows)]
    else:
        osts = {rank + 1: [rank % model.targets] for rank in range(model.ranks)}
    private: dict[str, Any] = {}
    if model.hosts:
        places = [rank * model.hosts // model.ranks for rank in range(model.ranks)]
        private["job"] = {"hosts": [f"n{host}" for host in range(model.hosts)], "rank_host": places}
    frames = {"POSIX": frame("POSIX", rows), "LUSTRE": layouts(osts, 4 * MIB)}
    names = {key: f"/scratch/out.{key}" for key in range(model.ranks + 1)}
    return job_of(model.run_time(), nprocs=model.ranks, frames=frames, names=names, private=private)


def _row(model: JobModel, rank: int, calls: int, spent: float, meta: float) -> dict[str, Any]:
    """Returns the record of a file that one rank used."""
    kind, moved = model.kind, "WRITTEN" if model.kind == "WRITE" else "READ"
    whole = calls * model.size
    bucket = NAMES[int(np.searchsorted(BUCKETS, model.size))]
    return {
        "id": rank + 1,
        "rank": rank,
        "OPENS": model.opens,
        f"{kind}S": calls,
        f"SEQ_{kind}S": max(0, calls - model.again),
        f"CONSEC_{kind}S": max(0, calls - model.again),
        f"SIZE_{kind}_{bucket}": calls,
        f"BYTES_{moved}": whole,
        f"MAX_BYTE_{moved}": max(0, whole // model.again - 1),
        "FSYNCS": calls if model.sync else 0,
        f"F_{kind}_TIME": spent,
        "F_META_TIME": meta,
        "FILE_ALIGNMENT": 4 * MIB,
    }


def _merged(model: JobModel, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the record of a file that all ranks share, as a reduction writes it."""
    summed = {name: sum(row[name] for row in rows) for name in rows[0] if name not in ("id", "rank", "FILE_ALIGNMENT")}
    kind, moved = model.kind, "WRITTEN" if model.kind == "WRITE" else "READ"
    times = [row[f"F_{kind}_TIME"] + row["F_META_TIME"] for row in rows]
    slowest = int(np.argmax(times))
    return summed | {
        "id": 1,
        "rank": -1,
        "FILE_ALIGNMENT": 4 * MIB,
        f"MAX_BYTE_{moved}": summed[f"BYTES_{moved}"] // model.again - 1,
        f"F_{kind}_START_TIMESTAMP": min(row[f"F_{kind}_START_TIMESTAMP"] for row in rows),
        f"F_{kind}_END_TIMESTAMP": max(row[f"F_{kind}_END_TIMESTAMP"] for row in rows),
        "SLOWEST_RANK": slowest,
        "SLOWEST_RANK_BYTES": rows[slowest][f"BYTES_{moved}"],
        "F_SLOWEST_RANK_TIME": times[slowest],
        "F_FASTEST_RANK_TIME": min(times),
    }


@dataclass(frozen=True)
class Planted:
    """A job with a planted fault: the rules that name the fault, other rules that may report something, its strength,
    and the seconds that its removal saves.
    """

    fault: str
    expected: frozenset[str]
    allowed: frozenset[str]
    strength: float
    gain: float
    job: Job


SLOW = frozenset({"straggler-rank", "straggler-host", "straggler-target", "uneven-times"})
FAULTS: dict[str, tuple[set[str], set[str], tuple[float, ...]]] = {
    "slow target": ({"straggler-target"}, set(SLOW), (1, 1.2, 1.7, 3, 10)),
    "slow host": ({"straggler-host"}, set(SLOW), (1, 1.2, 1.7, 3, 10)),
    "slow rank": ({"straggler-rank", "uneven-times"}, set(SLOW), (1, 1.2, 1.7, 3, 10)),
    "slow rank of a file": ({"slow-rank-of-file"}, {"narrow-stripes"}, (1, 2, 6, 20, 80)),
    "small writes": ({"small-writes"}, set(), (1, 4, 64, 256)),
    "small reads": ({"small-reads"}, set(), (1, 4, 64, 256)),
    "one writer": ({"one-writer", "uneven-ranks"}, {"uneven-targets", "straggler-rank"}, (0, 0.5, 0.8, 0.95, 1.0)),
    "narrow stripes": ({"narrow-stripes"}, set(), (1, 2, 4, 8)),
    "synced writes": ({"sync-each-write"}, {"small-writes"}, (0, 1, 5, 50)),
    "many opens": ({"reopened", "metadata-storm"}, {"file-per-process"}, (1, 30, 500, 20000)),
    "read again": ({"read-again"}, set(), (1, 2, 4, 16)),
    "turns": ({"turns"}, {"uneven-ranks"}, (0, 1)),
}
"""For each fault the rules that name it, other rules that may report something as well, and the fault's strengths.
Strength 0 comes first and means no fault.
"""


def planted(fault: str, strength: float, seed: int) -> Planted:
    """Returns a job with this fault, of a size and shape that the seed draws."""
    draw = np.random.default_rng([seed, sum(fault.encode())])
    ranks, targets = int(draw.choice([16, 32, 64])), 8
    kind = "READ" if "read" in fault else "WRITE"
    calls = int(draw.choice([24, 48, 96]))
    sound = JobModel(ranks, kind, calls, int(draw.choice([4, 8])) * MIB, targets, 0.0)
    if fault in ("narrow stripes", "slow rank of a file"):
        sound = replace(sound, stripes=8)
    if fault == "slow host":
        sound = replace(sound, hosts=8)
    spent = sound.run_time()
    sound = replace(sound, compute=spent * float(draw.choice([0.5, 2.0, 5.0])))
    faulty, none = _with_fault(sound, fault, strength), FAULTS[fault][2][0]
    before = _with_fault(sound, fault, none).run_time()
    gain = max(0.0, 1 - before / faulty.run_time())
    expected, allowed, _ = FAULTS[fault]
    return Planted(fault, frozenset(expected), frozenset(expected | allowed), strength, gain, job_of_model(faulty))


def _with_fault(model: JobModel, fault: str, strength: float) -> JobModel:
    """Returns the model with the fault added."""
    if fault == "slow target":
        return replace(model, slow=strength, slow_ranks=tuple(range(3, model.ranks, model.targets)))
    if fault == "slow host":
        each = model.ranks // model.hosts
        return replace(model, slow=strength, slow_ranks=tuple(range(each, 2 * each)))
    if fault in ("slow rank", "slow rank of a file"):
        return replace(model, slow=strength, slow_ranks=(5,))
    if fault in ("small writes", "small reads"):
        return replace(model, size=int(model.size / strength), calls=int(model.calls * strength))
    changed: dict[str, dict[str, Any]] = {
        "one writer": {"share": strength},
        "narrow stripes": {"stripes": int(model.stripes / strength) if model.stripes else 0},
        "synced writes": {"sync": strength * 2e-2},
        "many opens": {"opens": int(strength)},
        "read again": {"again": int(strength)},
        "turns": {"turns": bool(strength)},
    }
    return replace(model, **changed[fault])
