"""The rules about messages, collective operations and computing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups
from iolens.metrics.processor.sampled.groups import COMPUTE
from iolens.metrics.why.answers import bound_of, cores_bound
from iolens.metrics.why.what_if import BALANCED

CROWDED_PROCESSORS_REMEDY = """\
Give each rank its own processors, and check the result with
iolens table rank_places LOG:

  Open MPI  mpirun --map-by core --bind-to core --report-bindings ...
            with threads: --map-by slot:PE=$OMP_NUM_THREADS
  MPICH     mpiexec -bind-to core ...
  Slurm     srun --ntasks-per-node=N --cpus-per-task=C --cpu-bind=cores ...

or start as many ranks on a node as it has processors."""


def crowded_processors(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that waited longest for a processor, among ranks that share their processors with others."""
    if "rank_places" not in job.private:
        return None
    from iolens.metrics.processor.mpi.rank_places import CROWDED, OVERLAPS, rank_places
    from iolens.metrics.processor.sampled.largest import core_waits
    from iolens.metrics.processor.time import rank_time

    places, each = rank_places(job), rank_time(job)
    waits = None if each is None else core_waits(job, each)
    if places is None or each is None or waits is None:
        return None
    bad = places.where(np.isin(places["warning"], [CROWDED, OVERLAPS]))
    shares = np.isin(each["rank"], bad["rank"])
    waits = np.where(shares, waits, 0.0)
    longest = int(each["rank"][waits.argmax()])
    most = float(waits.max(initial=0.0))
    if most < limits["core_wait"] * job.run_time or not most:
        return None
    ((host, cpus, others, processors),) = bad.where(bad["rank"] == longest).rows(
        "host", "cpus", "shared_with", "cpu_count"
    )
    evidence = (
        f"Rank {longest} on {host} was ready to run and had no processor for {say.seconds(most)} of "
        f"{say.seconds(job.run_time)}, {say.count(len(bad), 'rank')} of {len(places):,} for "
        f"{say.seconds(float(waits[shares].mean()))} on average. Rank {longest} may use "
        f"{say.count(processors, 'processor')} ({cpus}), on some of which {say.count(others + 1, 'rank')} may run."
    )
    computed = float(each[COMPUTE].max())
    gain, whose = cores_bound(job), "on the job's critical path"
    if gain is None:
        gain = min(float(waits.sum()), job.run_time - computed)
        whose = f"on any rank ({say.seconds(float(waits.sum()))} together)"
    stays = f"; the run still takes as long as the rank that computes longest, {say.seconds(computed)}"
    bound = f"It assumes that no waiting for processors remains {whose}{stays if computed else ''}."
    return Seen(evidence, gain, bound, CROWDED_PROCESSORS_REMEDY)


CROWDED_PROCESSORS = Rule(
    id="crowded-processors",
    title="Ranks share processors",
    says="a rank that shares processors with others was ready to run but had none for `core_wait` of the run, mostly "
    "outside MPI and I/O; or all ranks waited for processors at once (needs `iolens run --trace mpi`)",
    limits=("core_wait",),
    why="Ranks on one processor take turns, and all others wait for them in MPI; a rank that polls for messages takes "
    "the turn of a rank that computes.",
    read_more="man mpirun (mapping and binding); man srun (--cpu-bind)",
    check=crowded_processors,
    exhibit="node_places",
    beside_io=True,
)


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

COLLECTIVE_ALGORITHM_REMEDY = """\
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


def collective_algorithm(job: Job, limits: Limits) -> Seen | None:
    """Returns the function whose transfers took most seconds, if these are many and each rank has its own processor."""
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions

    rows = mpi_rows(job) if "mpi_calls" in job.private else None
    library = str(job.info.get("mpi") or "")
    if rows is None or job.nprocs <= _FEW or not library or crowded_processors(job, limits):
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
    remedy = COLLECTIVE_ALGORITHM_REMEDY.format(
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


COLLECTIVE_ALGORITHM = Rule(
    id="collective-algorithm",
    title="A collective call takes long to transfer",
    says="a collective function in which all ranks need data of all others takes `collective_share` of the run or "
    "more, and waiting for late ranks is at most half of its time, measured by the timed barrier (`--mpi-sync`) "
    "or else by the rank with the least time in it; each rank has a processor (needs `iolens run --trace mpi`)",
    limits=("collective_share",),
    why="Libraries choose an algorithm by message size and number of ranks, from tables measured on other machines.",
    read_more="Open MPI: ompi_info --param coll tuned --level 9; MPICH: MPIR_CVAR_*_INTRA_ALGORITHM; Intel MPI: "
    "I_MPI_ADJUST family; Cray MPICH: man intro_mpi, MPICH_COLL_OPT_OFF",
    check=collective_algorithm,
    exhibit="mpi_calls",
    beside_io=True,
)


SENDS = ("MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Issend", "MPI_Sendrecv", "MPI_Start")
TIMED = (*SENDS, "MPI_Recv", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")

SMALL_MESSAGES_REMEDY = """\
Combine the data for a rank into one message:

  C        MPI_Pack_size / MPI_Pack into one buffer, then one MPI_Send; or
           MPI_Type_create_struct over all fields; or
           MPI_Neighbor_alltoallv on a graph communicator
  Fortran  buffer(1:n) = pack of all fields; call MPI_Send(buffer, n, ...)
  Python   comm.Send(numpy.concatenate(fields), dest)   # not comm.send each"""


def small_messages(job: Job, limits: Limits) -> Seen | None:
    """Returns point-to-point messages below 256 bytes among all, and the time in sends, receives and waits."""
    if "mpi_calls" not in job.private:
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows = mpi_rows(job)
    if rows is None:
        return None
    sends = of_functions(rows, SENDS)
    few, messages = float(sends["size_0"].sum() + sends["size_1"].sum()), float(sends["messages"].sum())
    if few < max(1.0, limits["many_messages"]) or few < limits["small_share"] * messages:
        return None
    spent = slowest(of_functions(rows, TIMED))
    evidence = (
        f"{say.percent(few / messages)} of {say.count(messages, 'message')} are below 256 bytes; sends, receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent,
        "It assumes that sends, receives and waits take no time on the slowest rank.",
        SMALL_MESSAGES_REMEDY,
    )


SMALL_MESSAGES = Rule(
    id="small-messages",
    title="Very many small messages",
    says="`small_share` or more of the point-to-point messages are below 256 bytes, and these are `many_messages` or "
    "more (needs `iolens run --trace mpi`)",
    limits=("small_share", "many_messages"),
    why="Each message costs its latency, whatever its size.",
    read_more="MPI 4.1, sections 4.2 (packing) and 8.6 (neighbourhood collectives)",
    check=small_messages,
    exhibit="mpi_messages",
    beside_io=True,
)


SMALLEST = (0, 16, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
"""Smallest message, in bytes, of each size class: size_0, size_1 ... of the table mpi_calls (profiler/TABLES.md)."""

_NEAR = 4
"""Maximum factor by which a class of sizes may begin above the limit and still count as just above it."""

_WITHIN_NODE = ("btl_vader_", "btl_sm_")
_NOT_BETWEEN = ("btl_self_", "btl_uct_", *_WITHIN_NODE)

EAGER_LIMIT_REMEDY = """\
Try a limit above these messages, and keep it only if the run gets shorter:

  {command}

It costs a buffer for each message under way, and one more copy of the
message: where large messages are copied straight from process to process
(CMA, XPMEM, RDMA) a larger limit can be slower. Receives that are posted
early (MPI_Irecv before the work) help at any limit."""


def _limit_in_use(job: Job) -> tuple[str, int] | None:
    """Returns the parameter and the bytes of the limit that applies to most messages: within nodes, or between
    nodes.
    """
    from iolens.metrics.processor.mpi.rank_places import eager_limits

    peers = job.tables.get("mpi_peers")
    if peers is None or not peers["messages"].sum():
        return None
    inside = peers["messages"][peers["on_node"] > 0].sum() * 2 >= peers["messages"].sum()
    limits = eager_limits(job)
    if inside:
        found = {name: value for name, value in limits.items() if name.startswith(_WITHIN_NODE)}
    else:
        found = {name: value for name, value in limits.items() if not name.startswith(_NOT_BETWEEN)}
    return next(iter(found.items())) if len(found) == 1 else None


def eager_limit(job: Job, limits: Limits) -> Seen | None:
    """Returns the number of messages whose size is at the eager limit or not far above it, and the time of sends and
    waits.
    """
    if not {"mpi_calls", "mpi_settings"} <= set(job.private):
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows, limit = mpi_rows(job), _limit_in_use(job)
    if rows is None or limit is None:
        return None
    name, size = limit
    above = next((number for number, least in enumerate(SMALLEST[:-1]) if size <= least <= _NEAR * size), None)
    sends = of_functions(rows, SENDS)
    messages = float(sends["messages"].sum())
    near = 0.0 if above is None else float(sends[f"size_{above}"].sum())
    if above is None or near < max(1.0, limits["many_messages"]) or near < limits["eager_share"] * messages:
        return None
    spent = slowest(of_functions(rows, TIMED))
    evidence = (
        f"{say.percent(near / messages)} of {say.count(messages, 'message')} have {say.size(SMALLEST[above])} or more, "
        f"up to {say.size(SMALLEST[above + 1])}; {name} is {say.size(size)}, header included. Sends, receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    bound = (
        "It assumes that sends, receives and waits take no time on the slowest rank; what a larger limit costs is not "
        "known."
    )
    larger = 2 * SMALLEST[above]
    command = f"mpirun --mca {name} {larger} ..." if name.startswith("btl_") else f"export {name}={larger}"
    return Seen(evidence, spent, bound, EAGER_LIMIT_REMEDY.format(command=command))


EAGER_LIMIT = Rule(
    id="eager-limit",
    title="Messages just above the eager limit",
    says="`eager_share` or more of the point-to-point messages have sizes in the range that begins between the eager "
    "limit and four times this limit, and these are `many_messages` or more (needs `iolens run --trace mpi`)",
    limits=("eager_share", "many_messages"),
    why="A message above the limit is sent only after its receiver has answered: this costs one more round trip, and "
    "a wait if the receive is posted late.",
    read_more="Open MPI FAQ, tuning of the run-time parameters (btl_*_eager_limit); MPICH: MPIR_CVAR_*_EAGER_*",
    check=eager_limit,
    exhibit="mpi_messages",
    beside_io=True,
)


_RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Sendrecv_replace")
_TIMED = (*_RECEIVES, "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")

LATE_RECEIVES_REMEDY = """\
Post receives before the computation that they can overlap with:

  C        MPI_Irecv(halo, n, MPI_DOUBLE, neighbour, tag, comm, &request);
           compute_inner_cells();
           MPI_Wait(&request, MPI_STATUS_IGNORE);
  Fortran  call MPI_Irecv(halo, n, MPI_DOUBLE_PRECISION, neighbour, tag, &
                comm, request)
           call compute_inner_cells()
           call MPI_Wait(request, MPI_STATUS_IGNORE)
  Python   request = comm.Irecv(halo, source=neighbour)
           compute_inner_cells(); request.Wait()"""


def late_receives(job: Job, limits: Limits) -> Seen | None:
    """Returns the share of receives that were posted after their message had arrived, and the time in receives and
    waits.
    """
    if "mpi_calls" not in job.private:
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows = mpi_rows(job)
    if rows is None or "late_receives" not in rows:
        return None
    receives = of_functions(rows, _RECEIVES)
    late, calls = float(receives["late_receives"].sum()), float(receives["calls"].sum())
    if late < max(1.0, limits["few_calls"]) or late < limits["late_share"] * calls:
        return None
    spent = slowest(of_functions(rows, _TIMED))
    evidence = (
        f"{say.percent(late / calls)} of {say.count(calls, 'receive')} began after their message had arrived; "
        f"receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence, spent, "It assumes that receives and waits take no time on the slowest rank.", LATE_RECEIVES_REMEDY
    )


LATE_RECEIVES = Rule(
    id="late-receives",
    title="Receives are posted late",
    says="`late_share` of the receives or more began after their message had arrived, and these are many (needs "
    "`IOLENS_LATE_RECEIVES=1` with `--trace mpi`)",
    limits=("late_share", "few_calls"),
    why="An unexpected message is copied twice, and a large message is not sent until its receive is posted.",
    read_more="MPI 4.1, section 3.5; man MPI_Irecv",
    check=late_receives,
    exhibit="mpi_calls",
    beside_io=True,
)


UNEVEN_COMPUTING_REMEDY = """\
Find the ranks, and their functions (iolens run --sample):

  iolens table load_balance LOG
  iolens table load_balance LOG --by group,function,pe

then give each rank the same amount of work: parts of equal cost instead of
equal size (METIS or Zoltan with weights), tasks handed out on demand, or
fewer ranks with threads that share the work."""


def uneven_computing(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that computed longest, compared with the mean; for the mean, time that may have been computing
    counts as computing.
    """
    if not {"mpi_calls", "samples"} & set(job.private):
        return None
    from iolens.metrics.processor.sampled.groups import COMPUTE, MPI_PARTS, UNKNOWN
    from iolens.metrics.processor.time import in_parts, rank_time

    times = rank_time(job)
    if times is None or len(times) < 2:
        return None
    most = float(times[COMPUTE].max())
    mean = float(np.minimum(most, times[COMPUTE] + times[UNKNOWN]).mean())
    if not most or most - mean < limits["imbalance"] * most:
        return None
    longest = int(times["rank"][times[COMPUTE].argmax()])
    inside = float(in_parts(times, MPI_PARTS).mean())
    evidence = (
        f"Rank {longest} computed for {say.seconds(most)}, {say.count(len(times), 'rank')} for "
        f"{say.seconds(mean)} on average (load balance {mean / most:.2f}); ranks spent {say.seconds(inside)} on "
        f"average in MPI."
    )
    gain, left = bound_of(job, BALANCED), "by a replay of the job's calls"
    if gain is None:
        gain, left = most - mean, "the time of the longest rank beyond the mean"
    return Seen(
        evidence, gain, f"It assumes that all ranks compute as long as the mean: {left}.", UNEVEN_COMPUTING_REMEDY
    )


UNEVEN_COMPUTING = Rule(
    id="uneven-computing",
    title="Ranks compute unequally",
    says="the rank that computes longest computes longer than the mean by `imbalance` of its time (needs `iolens run "
    "--trace mpi` or `--sample`)",
    limits=("imbalance",),
    why="The others wait for this rank in their next MPI call.",
    read_more="POP: load balance, https://pop-coe.eu/node/69",
    check=uneven_computing,
    exhibit="time_parts",
    beside_io=True,
)
