"""A hand-made job whose private tables hold calls, samples and counters (profiler/TABLES.md)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from iolens.log import Job
from job_example import job_of

RANKS = 4
FRAMES = [
    # Columns: node, parent, object, offset, leaf, function, source file, line.
    (0, -1, 0, 0x100, 0, "main", "/src/app.c", 10),
    (1, 0, 0, 0x200, 0, "step", "/src/app.c", 20),
    (2, 1, 0, 0x300, 1, "solve", "/src/solve.c", 31),
    (3, 1, 0, 0x308, 1, "solve", "/src/solve.c", 32),
    (4, 1, 1, 0x400, 0, "PMPI_Allreduce", "", 0),
    (5, 4, 1, 0x500, 1, "opal_progress", "", 0),
    (6, 0, 1, 0x600, 0, "MPI_File_write_all", "", 0),
    (7, 6, 2, 0x700, 1, "pwrite64", "", 0),
    (8, 1, 3, 0x800, 1, "sin", "", 0),
    (9, 0, 4, 0x900, 0, "H5Dwrite", "", 0),
    (10, 9, 1, 0x650, 0, "MPI_File_write_at", "", 0),
    (11, 0, 0, 0x120, 0, "exchange", "/src/app.c", 40),
]
OBJECTS = [
    "/home/me/app",
    "/usr/lib/libmpi.so.40",
    "/usr/lib/libc.so.6",
    "/usr/lib/libm.so.6",
    "/usr/lib/libhdf5.so.103",
]


def job(nprocs: int = RANKS, frames: dict[str, pd.DataFrame] | None = None, **private: Any) -> Job:
    """Returns a job of this many processes that ran for 10 s."""
    return job_of(nprocs=nprocs, exe="/home/me/app", mounts=(), frames=frames or {}, private=private)


def every_rank(rows: list[tuple[Any, ...]], columns: str) -> pd.DataFrame:
    """Returns the same rows for each rank; a value that is a function is called with the rank."""
    made = [
        (rank, *(value(rank) if callable(value) else value for value in row)) for rank in range(RANKS) for row in rows
    ]
    return pd.DataFrame(made, columns=["rank", *columns.split()])


def resolved(nodes: pd.DataFrame, objects: pd.DataFrame, **_: Any) -> pd.DataFrame:
    """Stands in for symbols.resolve.resolve: returns its result on a machine that has the files of OBJECTS."""
    names = {row[0]: row[5:] for row in FRAMES}
    found = nodes.assign(
        object=[OBJECTS[number] for number in nodes["object"]],
        address=nodes["offset"],
        function=[names[node][0] for node in nodes["node"]],
        source=[names[node][1] for node in nodes["node"]],
        line=[names[node][2] for node in nodes["node"]],
        symbol=[names[node][0] for node in nodes["node"]],
        is_split=False,
    )
    return found.assign(inlined=pd.Series([() for _ in range(len(nodes))], index=nodes.index, dtype=object))


USE = (
    "ranks max_rss minor_faults major_faults voluntary_switches involuntary_switches storage_read storage_written "
    "user_time system_time earlier_user earlier_system seconds first_on_core first_runnable init_seconds init_on_core "
    "init_runnable children_time"
)


def use(
    on_core: float = 10.0,
    runnable: float = 0.0,
    init: float = 0.0,
    system: float = 0.0,
    children: float = 0.0,
    seconds: float = 10.0,
) -> pd.DataFrame:
    """Makes the table `process` of ranks with one thread, recorded for `seconds` seconds; `init` seconds of them were
    in MPI_Init on a core.
    """
    times = (on_core - system, system, 0.0, 0.0, seconds, on_core, runnable, init, init, 0.0, children)
    return every_rank([(1, 10**6, 0, 0, 7, 0, 0, 0, *times)], USE)


def tables() -> dict[str, pd.DataFrame]:
    """Returns every table of a job in which four ranks exchange messages in a ring; higher ranks compute more and wait
    less.
    """
    sizes = " ".join(f"size_{number}" for number in range(7))
    return {
        "process": use(init=0.25),
        "objects": every_rank([(n, "ab" * 20, path) for n, path in enumerate(OBJECTS)], "object build_id path"),
        "call_nodes": every_rank([row[:5] for row in FRAMES], "node parent object offset leaf"),
        "samples": every_rank(
            [
                (0, 1, 2, lambda rank: 300 + 100 * rank, 0),
                (0, 1, 3, 100, 0),
                (0, 1, 5, lambda rank: 300 - 100 * rank, 0),
                (0, 0, 7, 100, 1),
                (0, 0, 8, 50, 0),
                (0, 0, 10, 50, 1),
            ],
            "thread region node count kind",
        ),
        "region_names": every_rank([(1, 0, 1, "solve"), (2, 1, 7, "")], "region parent id label")[:2],
        "regions": every_rank(
            [
                (0, 1, 10, 0, lambda rank: 4.0 + rank, lambda rank: 3.0 + rank, 0.1, 1.0),
                (0, 2, 20, 0, 1.0, 1.0, 0.01, 0.2),
            ],
            "thread region calls unended time exclusive_time min_time max_time",
        ),
        "mpi_calls": every_rank(
            [
                ("MPI_Send", 1, 100, 0.5, 0.001, 0.01, 0.0, 100 * 8192, 0, 100, 0, 0, 0, 100, 0, 0, 0),
                ("MPI_Recv", 1, 100, 0.5, 0.001, 0.02, 0.0, 0, 100 * 8192, 0, 0, 0, 0, 0, 0, 0, 0),
                ("MPI_Allreduce", 0, 10, lambda rank: 3.0 - rank, 0.1, 1.0, 0.0, 80, 80, 10, 10, 0, 0, 0, 0, 0, 0),
                ("MPI_Barrier", 0, 1, 0.25, 0.25, 0.25, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                ("MPI_Init", 0, 1, 0.25, 0.25, 0.25, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            ],
            f"function region calls time min_time max_time sync_time bytes_sent bytes_received messages {sizes}",
        ),
        "mpi_sites": every_rank(
            [
                ("MPI_Send", 1, 11, 100, 0.5, lambda rank: 8192 * 100 * (1 + rank), 0, 100, 0, 0, 0, 100, 0, 0, 0),
                ("MPI_Allreduce", 0, 1, 10, lambda rank: 3.0 - rank, 80, 80, 10, 10, 0, 0, 0, 0, 0, 0),
            ],
            f"function region node calls time bytes_sent bytes_received messages {sizes}",
        ),
        "mpi_peers": every_rank(
            [(lambda rank: (rank + 1) % RANKS, 100, 8192 * 100, 100, 8192 * 100, lambda rank: int(rank % 2 == 0))],
            "peer messages bytes received_messages received_bytes on_node",
        ),
    }
