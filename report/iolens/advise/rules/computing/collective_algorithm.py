"""The rule about a collective operation whose transfer, rather than waiting for late ranks, takes much of the run."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.computing import crowded_processors
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups

_FEW = 2
"""Largest number of ranks for which the choice of the algorithm makes no difference."""

_LARGE = 64 << 10
"""Minimum size of a contribution, in bytes, for which the algorithm for large messages is named first."""

Choice = tuple[str, str]


@dataclass(frozen=True)
class Operation:
    """The names that each library has for an algorithm for small messages and one for large messages."""

    openmpi: Choice
    mpich: Choice
    intel: Choice


_OPERATIONS = {
    "MPI_Allreduce": Operation(("3", "6"), ("recursive_doubling", "reduce_scatter_allgather"), ("1", "2")),
    "MPI_Allgather": Operation(("2", "4"), ("brucks", "ring"), ("2", "3")),
    "MPI_Allgatherv": Operation(("2", "3"), ("brucks", "ring"), ("2", "3")),
    "MPI_Alltoall": Operation(("3", "2"), ("brucks", "pairwise"), ("1", "3")),
    "MPI_Reduce_scatter": Operation(("2", "3"), ("recursive_halving", "pairwise"), ("1", "2")),
}
"""Collective calls in which every rank needs data of every other rank. No rank can leave before the last one has
arrived, so the rank with the least time in the call waited least. Numbers: `ompi_info --param coll tuned --level 9`,
I_MPI_ADJUST_*.
"""

REMEDY = """\
Try another algorithm, and keep it only if it shortens the run by more than
runs differ from each other:

  {commands}

The library chooses by the number of ranks and bytes, and its choice is
often the best. Fewer and larger calls, or {immediate} with work before its
wait, help with every algorithm."""


def _commands(function: str, library: str, large: bool) -> tuple[str, str]:
    """Returns the lines to paste: the algorithm that fits messages of this size, then the other one."""
    short, operation = function.removeprefix("MPI_"), _OPERATIONS[function]
    if "Intel" in library:
        pair = tuple(f"export I_MPI_ADJUST_{short.upper()}={value}" for value in operation.intel)
    elif "Open MPI" in library:
        rules = "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n      --mca coll_tuned_"
        pair = tuple(f"{rules}{short.lower()}_algorithm {value} ..." for value in operation.openmpi)
    else:
        pair = tuple(f"export MPIR_CVAR_{short.upper()}_INTRA_ALGORITHM={value}" for value in operation.mpich)
    return (pair[1], pair[0]) if large else (pair[0], pair[1])


def _transfer(rows: Records, ranks: int) -> tuple[float, str] | None:
    """Returns an upper bound on the seconds that one function takes without waiting for late ranks, and the derivation
    of the bound. Returns None if waiting takes more than half of the time, or if a rank never calls the function.
    `rows` are those of mpi_calls.
    """
    own = rows.where(rows["rank"] >= 0)
    each = Groups(own["rank"])
    if len(each) < ranks:
        return None
    time, sync_time = each.sum(own["time"]), each.sum(own["sync_time"])
    if sync_time.any():
        seconds, waited = float(time.max()), float(sync_time.mean())
        said = f"waiting in the timed barrier before the call took {say.seconds(waited)} on average"
        return None if waited > time.mean() else (seconds, said)
    least, most = float(time.min()), float(time.max())
    said = f"{say.seconds(least)} on the rank that waited least, {say.seconds(most)} on the rank that waited longest"
    return None if least < most / 2 else (least, said)


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the function whose transfers took most seconds, if these are many and each rank has its own processor."""
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions

    rows = mpi_rows(job) if "mpi_calls" in job.private else None
    library = str(job.info.get("mpi") or "")
    if rows is None or job.nprocs <= _FEW or not library or crowded_processors.check(job, limits):
        return None
    parts = {name: of_functions(rows, [name]) for name in sorted({*rows["function"].tolist()} & {*_OPERATIONS})}
    found = [(name, part, _transfer(part, job.nprocs)) for name, part in parts.items()]
    known = [(kept[0], kept[1], name, part) for name, part, kept in found if kept]
    seconds, said, function, part = max(known, key=lambda row: row[0], default=(0.0, "", "", rows))
    if not function or seconds < limits["collective_share"] * job.run_time:
        return None
    messages = float(part["messages"].sum())
    mean = float(part["bytes_sent"].sum()) / max(1.0, messages)
    evidence = (
        f"{function} took {say.seconds(seconds)} of {say.seconds(job.run_time)} ({said}): "
        f"{say.count(float(part['calls'].sum()), 'call')} that give {say.size(int(mean))} each on average. "
        f"The communicators have {_communicators(job)} ranks; the MPI library is {library.split(',')[0]}."
    )
    remedy = REMEDY.format(
        commands="\n  # or\n  ".join(_commands(function, library, mean >= _LARGE)),
        immediate=f"MPI_I{function.removeprefix('MPI_').lower()}",
    )
    bound = "It assumes that only the wait for late ranks remains; the time of another algorithm is not known."
    return Seen(evidence, seconds, bound, remedy)


def _communicators(job: Job) -> str:
    """Returns the sizes of the communicators in words; the size of the job if the log does not know them."""
    table = job.private.get("mpi_communicators")
    sizes = sorted({job.nprocs, *([] if table is None else map(int, table["size"]))}, reverse=True)
    return ", ".join(map(str, (size for size in sizes[:4] if size > 1)))


RULE = Rule(
    id="collective-algorithm",
    title="A collective call takes long to transfer",
    says="a collective function in which all ranks need data of all others takes `collective_share` of the run or "
    "more, and waiting for late ranks is at most half of its time, measured by the timed barrier (`--mpi-sync`) "
    "or else by the rank with the least time in it; each rank has a processor (needs `iolens run --trace mpi`)",
    limits=("collective_share",),
    why="Libraries choose an algorithm by message size and number of ranks, from tables measured on other machines.",
    read_more="Open MPI: ompi_info --param coll tuned --level 9; MPICH: MPIR_CVAR_*_INTRA_ALGORITHM; Intel MPI: "
    "I_MPI_ADJUST family; Cray MPICH: man intro_mpi, MPICH_COLL_OPT_OFF",
    check=check,
    beside_io=True,
)
