"""Random jobs whose counters agree with each other: any modules, ranks, layouts, times and hints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from iolens.log import Job, Mount
from job_example import MIB, frame, job_of

BUCKETS = (100, 1 << 10, 10 << 10, 100 << 10, MIB, 4 * MIB, 10 * MIB, 100 * MIB, 1 << 30)
NAMES = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
PLACES = {True: ("lustre", "ost", "overlay"), False: ("lustre", "nfs4", "ext4", "gpfs", "beegfs", "ceph")}
"""Types of file systems, with and without layouts in the log; `ost` is emulated storage, `overlay` a container."""
Row = dict[str, Any]


def random_job(seed: int) -> Job:
    """Returns the job of a seed, which is the same each time."""
    draw = np.random.default_rng(seed)
    nprocs = int(draw.choice([1, 2, 4, 7, 8, 32, 512]))
    files = [_use(draw, key, nprocs) for key in range(1, int(draw.choice([2, 3, 4, 8, 150])))]
    frames: dict[str, pd.DataFrame] = {}
    posix = [row for use in files for row in _rows(draw, use, nprocs, "POSIX")]
    if draw.random() < 0.9:
        frames["POSIX"] = frame("POSIX", posix)
    if nprocs > 1 and draw.random() < 0.5:
        mpiio = [row for use in files if use["shared"] for row in _rows(draw, use, nprocs, "MPI-IO")]
        if mpiio:
            frames["MPI-IO"] = frame("MPI-IO", mpiio)
    if draw.random() < 0.4:
        stdio = [row for use in files[:3] for row in _rows(draw, use | {"id": use["id"] + 5000}, nprocs, "STDIO")]
        frames["STDIO"] = frame("STDIO", stdio)
    if draw.random() < 0.2:
        frames |= _hdf5(draw, nprocs)
    if draw.random() < 0.6:
        frames["LUSTRE"] = _layouts(draw, files)
    slowest = sum(max(row.get(f"F_{kind}_TIME", 0.0) for row in posix) for kind in ("READ", "WRITE", "META"))
    run_time = max(0.01, float(slowest * draw.choice([1.0, 1.3, 3.0, 18.0, 25.0, 200.0])))
    version = str(draw.choice(["3.41", "3.41", "3.41", "3.21"]))
    if version == "3.21":
        run_time = float(np.ceil(run_time))
    private = _private(draw, nprocs, files, "MPI-IO" in frames)
    names = {key: f"/scratch/file.{key}" for key in range(6000)}
    kind = str(draw.choice(PLACES["LUSTRE" in frames]))
    mounts = (Mount(kind, "/scratch"),)
    if kind == "ost":
        private["job"] = private.get("job", {}) | {"storage": "emulated"}
    return job_of(run_time, nprocs=nprocs, frames=frames, private=private, names=names, mounts=mounts, version=version)


def _use(draw: np.random.Generator, key: int, nprocs: int) -> Row:
    """Returns how a file is used: by whom, in which calls, and how long."""
    size = int(draw.choice([8, 512, 4096, 65536, MIB, 4 * MIB + 17, 64 * MIB]))
    return {
        "id": key,
        "shared": nprocs > 1 and bool(draw.random() < 0.5),
        "owner": int(draw.integers(nprocs)),
        "calls": int(draw.choice([1, 16, 400, 5000])),
        "size": size,
        "writes": bool(draw.random() < 0.6),
        "seconds": float(draw.choice([1e-5, 0.01, 0.4, 3.0, 40.0])),
        "meta": float(draw.choice([0.0, 0.001, 0.5, 20.0])),
        "skew": float(draw.choice([1.0, 1.1, 2.0, 80.0])),
        "again": int(draw.choice([1, 1, 1, 7])),
        "order": float(draw.choice([0.0, 0.5, 1.0])),
        "aligned": bool(draw.random() < 0.5),
        "collective": bool(draw.random() < 0.5),
    }


def _rows(draw: np.random.Generator, use: Row, nprocs: int, module: str) -> list[Row]:
    """Returns the record of a file at a layer."""
    kind, moved = ("WRITE", "WRITTEN") if use["writes"] else ("READ", "READ")
    users = nprocs if use["shared"] else 1
    calls, bytes_moved = use["calls"] * users, use["calls"] * users * use["size"]
    seconds = use["seconds"] * users
    slowest = min(seconds + use["meta"], (use["seconds"] + use["meta"]) * use["skew"])
    row = {
        "id": use["id"],
        "rank": -1 if use["shared"] else use["owner"],
        "OPENS": users,
        f"BYTES_{moved}": bytes_moved,
        f"MAX_BYTE_{moved}": max(0, bytes_moved // use["again"] - 1),
        f"F_{kind}_TIME": seconds,
        "F_META_TIME": use["meta"] * users,
        "F_SLOWEST_RANK_TIME": slowest if use["shared"] else 0.0,
        "F_FASTEST_RANK_TIME": slowest / use["skew"] / 2 if use["shared"] else 0.0,
        "SLOWEST_RANK": use["owner"],
        "SLOWEST_RANK_BYTES": bytes_moved // users,
        f"F_{kind}_START_TIMESTAMP": 0.001,
        f"F_{kind}_END_TIMESTAMP": 0.001 + use["seconds"],
    }
    bucket = NAMES[int(np.searchsorted(BUCKETS, use["size"]))]
    if module == "MPI-IO":
        way = "COLL" if use["collective"] else "INDEP"
        above = float(draw.choice([1.0, 1.0, 4.0]))
        times = {
            name: value * above for name, value in row.items() if name.startswith("F_") and "TIMESTAMP" not in name
        }
        opens = {f"{way}_OPENS": users, f"{way}_{kind}S": calls, f"SIZE_{kind}_AGG_{bucket}": calls}
        return [row | times | opens]
    forward = int(calls * use["order"])
    more = {f"{kind}S": calls, f"SIZE_{kind}_{bucket}": calls, f"SEQ_{kind}S": forward, f"CONSEC_{kind}S": forward}
    more |= {"FILE_ALIGNMENT": MIB, "FILE_NOT_ALIGNED": 0 if use["aligned"] else calls, "SEEKS": calls - forward}
    return [row | more]


def _hdf5(draw: np.random.Generator, nprocs: int) -> dict[str, pd.DataFrame]:
    """Returns datasets of the first file."""
    calls, size = int(draw.choice([8, 4000])), int(draw.choice([64, 4096, 4 * MIB]))
    row = {"rank": -1 if nprocs > 1 else 0, "WRITES": calls, "BYTES_WRITTEN": calls * size, "OPENS": nprocs}
    row |= {"F_WRITE_TIME": 2.0, "F_META_TIME": float(draw.choice([0.1, 9.0])), "F_SLOWEST_RANK_TIME": 2.0}
    row |= {"DATATYPE_SIZE": 8, "CHUNK_SIZE_D1": int(draw.choice([0, 1 << 20]))}
    rows = [row | {"id": 7000 + number} for number in range(int(draw.choice([1, 20, 1500])))]
    return {"H5D": frame("H5D", rows), "H5F": frame("H5F", [{"id": 1, "rank": row["rank"], "USE_MPIIO": 1}])}


def _layouts(draw: np.random.Generator, files: list[Row]) -> pd.DataFrame:
    """Returns a layout of each file."""
    rows = []
    for use in files:
        count = int(draw.choice([1, 1, 2, 4, 8, 32]))
        first, unit = int(draw.integers(40)), int(draw.choice([65536, MIB, 64 * MIB, 1 << 30]))
        rows.append(
            {"id": use["id"], "rank": -1, "component": 0, "stripe_size": unit, "stripe_count": count, "pattern": 0}
            | {"flags": 0, "extent_start": 0, "extent_end": -1, "mirror": 0, "pool": ""}
            | {"osts": tuple((first + number) % 40 for number in range(count))}
        )
    return pd.DataFrame(rows)


def _private(draw: np.random.Generator, nprocs: int, files: list[Row], mpiio: bool) -> dict[str, Any]:
    """Returns regions that iolens alone writes."""
    found: dict[str, Any] = {}
    shared = [use["id"] for use in files if use["shared"]]
    if nprocs > 1 and draw.random() < 0.4:
        nodes = int(draw.choice([2, 4]))
        places = [rank * nodes // nprocs for rank in range(nprocs)]
        found["job"] = {"hosts": [f"n{node}" for node in range(nodes)], "rank_host": places}
    if mpiio and shared and nprocs <= 32 and draw.random() < 0.6:
        rows = [
            {"file": np.uint64(key), "rank": rank, "calls": 4, "missed": 0, "seconds": 3.0, "waiting": 0.1}
            | {"access": 0.5 if rank < 2 else 0.0, "exchange": float(draw.choice([0.1, 2.0]))}
            for key in shared
            for rank in range(nprocs)
        ]
        found["mpiio_collectives"] = pd.DataFrame(rows)
    return found
