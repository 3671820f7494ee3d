"""Random jobs whose counters agree with each other: any version, modules, ranks, layouts, times and hints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from iolens.log import Job, Mount
from iolens.log.format.layouts import MODULES
from job_example import MIB, frame, job_of
from processor_example import USE

BUCKETS = (100, 1 << 10, 10 << 10, 100 << 10, MIB, 4 * MIB, 10 * MIB, 100 * MIB, 1 << 30)
NAMES = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
PLACES = {True: ("lustre", "ost", "overlay"), False: ("lustre", "nfs4", "ext4", "gpfs", "beegfs", "ceph")}
"""Types of file systems whose logs have stripe layouts (True) and of others (False); `ost` is emulated storage,
`overlay` a container.
"""
VERSIONS = ("3.00", "3.10", "3.20", "3.21", "3.40")
"""Versions of Darshan's format in which the job's times are whole seconds."""
KEPT = 0.85
"""Probability that the records of a module stay in a log; the others are left out."""
MPI_CALLS = (
    "function region calls time min_time max_time sync_time bytes_sent bytes_received messages size_0 size_1 size_2 "
    "size_3 size_4 size_5 size_6"
)
Row = dict[str, Any]


def random_job(seed: int) -> Job:
    """Returns the job of a seed, which is the same each time."""
    draw = np.random.default_rng(seed)
    nprocs = int(draw.choice([1, 2, 4, 7, 8, 32, 512]))
    files = [_use(draw, key, nprocs) for key in range(1, int(draw.choice([2, 3, 4, 8, 150])))]
    posix = [row for use in files for row in _rows(draw, use, nprocs, "POSIX")]
    frames = _frames(draw, files, nprocs, posix)
    slowest = sum(max(row.get(f"F_{kind}_TIME", 0.0) for row in posix) for kind in ("READ", "WRITE", "META"))
    run_time = max(0.01, float(slowest * draw.choice([1.0, 1.3, 3.0, 18.0, 25.0, 200.0])))
    version, private = "3.41", _private(draw, nprocs, files, run_time, "MPI-IO" in frames)
    if draw.random() < 0.3:
        version, private, run_time = str(draw.choice(VERSIONS)), {}, float(np.ceil(run_time))
        frames = {name: _of_older_records(draw, name, table) for name, table in frames.items()}
    kind = str(draw.choice(PLACES["LUSTRE" in frames]))
    if kind == "ost":
        private["job"] = private.get("job", {}) | {"storage": "emulated"}
    return job_of(
        run_time,
        nprocs=nprocs,
        frames=frames,
        private=private,
        regions=tuple(private),
        names={key: f"/scratch/file.{key}" for key in range(8600)},
        mounts=(Mount(kind, "/scratch"),),
        version=version,
        missing=("The file is cut short: some records are missing.",) if draw.random() < 0.05 else (),
    )


def _frames(draw: np.random.Generator, files: list[Row], nprocs: int, posix: list[Row]) -> dict[str, pd.DataFrame]:
    """Returns the records of some modules, drawn at random, for these files."""
    frames: dict[str, pd.DataFrame] = {"POSIX": frame("POSIX", posix)}
    if nprocs > 1 and draw.random() < 0.5:
        mpiio = [row for use in files if use["shared"] for row in _rows(draw, use, nprocs, "MPI-IO")]
        if mpiio:
            frames["MPI-IO"] = frame("MPI-IO", mpiio)
    for module, first, likely in (("STDIO", 5000, 0.4), ("DFS", 5500, 0.1)):
        if draw.random() < likely:
            rows = [row for use in files[:3] for row in _rows(draw, use | {"id": use["id"] + first}, nprocs, module)]
            frames[module] = frame(module, rows)
    if draw.random() < 0.2:
        frames |= _hdf5(draw, nprocs)
    if draw.random() < 0.1:
        frames |= _pnetcdf(draw, nprocs)
    if draw.random() < 0.1:
        frames["DXT_POSIX"] = _traces(draw, files)
    if draw.random() < 0.7:
        frames["LUSTRE"] = _layouts(draw, files)
    return {name: table for name, table in frames.items() if draw.random() < KEPT}


def _of_older_records(draw: np.random.Generator, name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Returns the records of a module as the reader would give them for a random older version of the record: -1 in the
    counters that this version lacks.
    """
    if name not in MODULES:
        return table
    versions = MODULES[name].versions
    lacking = versions[int(draw.choice(list(versions)))]
    return table.assign(**{f"{MODULES[name].prefix}_{counter}": -1 for counter in lacking})


def _use(draw: np.random.Generator, key: int, nprocs: int) -> Row:
    """Returns a random use of a file: whether all ranks share it, its calls and their size, and the time that they
    take.
    """
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
    """Returns a list with the record that a module has of a file: of all ranks together, or of the only rank that used
    it.
    """
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
    """Returns records of HDF5 datasets in the first file."""
    calls, size = int(draw.choice([8, 4000])), int(draw.choice([64, 4096, 4 * MIB]))
    row = {"rank": -1 if nprocs > 1 else 0, "WRITES": calls, "BYTES_WRITTEN": calls * size, "OPENS": nprocs}
    row |= {"F_WRITE_TIME": 2.0, "F_META_TIME": float(draw.choice([0.1, 9.0])), "F_SLOWEST_RANK_TIME": 2.0}
    row |= {"DATATYPE_SIZE": 8, "CHUNK_SIZE_D1": int(draw.choice([0, 1 << 20]))}
    rows = [row | {"id": 7000 + number} for number in range(int(draw.choice([1, 20, 1500])))]
    return {"H5D": frame("H5D", rows), "H5F": frame("H5F", [{"id": 1, "rank": row["rank"], "USE_MPIIO": 1}])}


def _pnetcdf(draw: np.random.Generator, nprocs: int) -> dict[str, pd.DataFrame]:
    """Returns records of PnetCDF variables in the first file."""
    calls, size = int(draw.choice([8, 9000])), int(draw.choice([64, 4096, 4 * MIB]))
    way = "INDEP_WRITES" if draw.random() < 0.5 else "COLL_WRITES"
    row = {"id": 7000, "rank": -1 if nprocs > 1 else 0, way: calls, "BYTES_WRITTEN": calls * size}
    row |= {"F_WRITE_TIME": 4.0, "F_SLOWEST_RANK_TIME": 2.0}
    file = {"id": 1, "rank": row["rank"], "CREATES": nprocs, "REDEFS": int(draw.choice([0, 3]))}
    return {"PNETCDF_VAR": frame("PNETCDF_VAR", [row]), "PNETCDF_FILE": frame("PNETCDF_FILE", [file])}


def _traces(draw: np.random.Generator, files: list[Row]) -> pd.DataFrame:
    """Returns a trace of reads of the first file in two passes, of which the second may be faster."""
    count, first = int(draw.choice([2, 64])), float(draw.choice([0.01, 0.2]))
    each = [first] * count + [first / float(draw.choice([1.0, 8.0]))] * count
    end = np.cumsum(each)
    return pd.DataFrame(
        {
            "id": np.uint64(files[0]["id"]),
            "rank": files[0]["owner"],
            "host": pd.Categorical(["n0"] * len(each)),
            "op": pd.Categorical(["read"] * len(each), ["write", "read"]),
            "offset": [place * 4 * MIB for place in range(count)] * 2,
            "length": 4 * MIB,
            "start": end - each,
            "end": end,
        }
    )


def _times(draw: np.random.Generator, nprocs: int, run_time: float) -> dict[str, pd.DataFrame]:
    """Returns the tables of processor time and of calls of MPI; their sum is at most the run time on every rank."""
    # Shares of each rank's time: on a core, waiting for a core, asleep, in MPI.
    part = draw.dirichlet([0.5] * 4, nprocs) * run_time
    used = dict.fromkeys(USE.split(), 0.0) | {"rank": np.arange(nprocs), "ranks": 1, "seconds": run_time}
    used |= {"user_time": part[:, 0], "first_on_core": part[:, 0], "first_runnable": part[:, 1]}
    found = {"process": pd.DataFrame(used)}
    if draw.random() < 0.5:
        calls = dict.fromkeys(MPI_CALLS.split(), 0) | {"rank": np.arange(nprocs), "function": "MPI_Allreduce"}
        calls |= {"calls": 100, "time": part[:, 3], "min_time": 0.0, "max_time": part[:, 3], "messages": 100}
        calls |= {"sync_time": part[:, 3] / 2, "bytes_sent": 800, "bytes_received": 800, "size_0": 100}
        found["mpi_calls"] = pd.DataFrame(calls)
    return found


def _layouts(draw: np.random.Generator, files: list[Row]) -> pd.DataFrame:
    """Returns a layout of each file, on a file system of 4 or 40 targets."""
    rows = []
    targets = int(draw.choice([4, 40, 40]))
    for use in files:
        count = min(targets, int(draw.choice([1, 1, 2, 4, 8, 32])))
        first, unit = int(draw.integers(targets)), int(draw.choice([65536, MIB, 64 * MIB, 1 << 30]))
        rows.append(
            {"id": use["id"], "rank": -1, "component": 0, "stripe_size": unit, "stripe_count": count, "pattern": 0}
            | {"flags": 0, "extent_start": 0, "extent_end": -1, "mirror": 0, "pool": ""}
            | {"osts": tuple((first + number) % targets for number in range(count))}
        )
    return pd.DataFrame(rows)


def _private(draw: np.random.Generator, nprocs: int, files: list[Row], run_time: float, mpiio: bool) -> dict[str, Any]:
    """Returns random values for the private regions, which logs of Darshan do not have."""
    found: dict[str, Any] = _times(draw, nprocs, run_time) if draw.random() < 0.2 else {}
    if draw.random() < 0.1:
        row = {"file": np.uint64(files[0]["id"]), "rank": files[0]["owner"], "seconds": run_time * draw.random() / 10}
        found["posix_extra"] = pd.DataFrame([row | {"sync_seconds": 0.0}])
    if draw.random() < 0.1:
        row = {"file": np.uint64(files[0]["id"]), "rank": files[0]["owner"], "locks": 50, "exclusive": 50, "refused": 0}
        row |= {"waits": 50, "seconds": run_time * draw.random(), "longest": run_time / 50}
        found["file_locks"] = pd.DataFrame([row])
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
