"""Makes jobs for tests: a test gives some values, and everything else that a job needs gets defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from iolens.log import Job, Mount
from iolens.log.format.layouts import MODULES

MIB = 1 << 20


def frame(module: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Makes the records of a module; missing counters are 0."""
    prefix = f"{MODULES[module].prefix}_"
    columns = ["id", "rank", *MODULES[module].names]
    full = [{name: row.get(name.removeprefix(prefix), 0) for name in columns} for row in rows]
    made = pd.DataFrame(full, columns=columns)
    return made.astype({name: float for name in columns if "_F_" in name})


def job_of(run_time: float = 10.0, **fields: Any) -> Job:
    """Makes a job of 4 processes; arguments replace its fields."""
    least: dict[str, Any] = {
        "path": Path("made.darshan"),
        "version": "3.41",
        "byte_order": "little",
        "compression": "zlib",
        "exe": "/bin/app",
        "command": "/bin/app -x",
        "uid": 1,
        "jobid": 7,
        "start": 0.0,
        "end": run_time,
        "nprocs": 4,
        "metadata": {},
        "mounts": (Mount("lustre", "/scratch"),),
        "names": {},
        "modules": (),
        "frames": {},
    }
    return Job(run_time=run_time, **{**least, **fields})


def job(frames: dict[str, pd.DataFrame], names: dict[int, str] | None = None, **private: Any) -> Job:
    """Returns a job of 4 processes that ran for 10 s and used three file systems."""
    mounts = (Mount("ext4", "/"), Mount("lustre", "/scratch"), Mount("nfs", "/scratch/home"))
    return job_of(frames=frames, names=names or {}, mounts=mounts, private=private)


SHARED = {
    "id": 1,
    "rank": -1,
    "WRITES": 8,
    "SEQ_WRITES": 6,
    "CONSEC_WRITES": 4,
    "BYTES_WRITTEN": 8 * MIB,
    "MAX_BYTE_WRITTEN": 8 * MIB - 1,
    "F_WRITE_TIME": 4.0,
    "F_META_TIME": 0.4,
    "F_SLOWEST_RANK_TIME": 2.0,
    "FASTEST_RANK": 3,
    "SLOWEST_RANK": 1,
    "SLOWEST_RANK_BYTES": 4 * MIB,
    "F_FASTEST_RANK_TIME": 0.5,
    "F_VARIANCE_RANK_TIME": 0.25,
    "F_VARIANCE_RANK_BYTES": 16.0,
    "SIZE_WRITE_100K_1M": 8,
    "ACCESS1_ACCESS": MIB,
    "ACCESS1_COUNT": 8,
    "F_WRITE_START_TIMESTAMP": 1.0,
    "F_WRITE_END_TIMESTAMP": 9.0,
}
OWN = {
    "id": 2,
    "rank": 0,
    "READS": 2,
    "BYTES_READ": 200,
    "MAX_BYTE_READ": 199,
    "F_READ_TIME": 1.0,
    "ACCESS1_ACCESS": 100,
    "ACCESS1_COUNT": 2,
    "SIZE_READ_0_100": 2,
    "STATS": -1,
    "F_READ_START_TIMESTAMP": 0.5,
    "F_READ_END_TIMESTAMP": 0.75,
}


def small_job() -> Job:
    """Returns a job with records of one file that all ranks wrote, of two files that only rank 0 read, and of standard
    input, which only rank 2 read.
    """
    names = {1: "/scratch/shared.dat", 2: "/scratch/home/a", 3: "/etc/b", 4: "<STDIN>"}
    also, other = {**OWN, "id": 3, "F_READ_TIME": 2.0, "rank": 0}, {**OWN, "id": 4, "F_READ_TIME": 2.5, "rank": 2}
    return job({"POSIX": frame("POSIX", [SHARED, OWN, also, other])}, names)
