"""The rules about aggregators and the exchange of data in collective calls."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared_evidence import useful_aggregators
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.ost import apart
from iolens.metrics.files.stripes.striping import block_size, file_stripes
from iolens.metrics.files.use import (
    among,
    by_file,
    collective_calls,
    joined_files,
    most_first,
    small_calls,
    under_mpiio,
)
from iolens.metrics.files.writers import posix_users, writer_counts
from iolens.metrics.job.about import one_client
from iolens.metrics.job.interfaces.mpiio import exchange_times
from iolens.metrics.job.spent import NONE, slowest_seconds


def few_aggregators(job: Job, limits: Limits) -> Seen | None:
    """Looks for collectively written files with fewer writing ranks than stripes, or than nodes."""
    pair, layout = under_mpiio(job), file_stripes(job)
    if pair is None:
        return None
    upper, lower = pair
    writers = writer_counts(job, lower, 0)
    wanted = np.minimum(upper["ranks"], useful_aggregators(job, lower["id"]))
    written = (upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0) & (lower["BYTES_WRITTEN"] >= limits["much_bytes"])
    chosen = written & (writers > 0) & (writers < wanted)
    if not chosen.any():
        return None
    rows = most_first(lower["BYTES_WRITTEN"], chosen)
    ids, at = lower["id"][rows], rows[0]
    has, wants = int(writers[at]), int(wanted[at])
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    whole = _whole(layout, lower["id"][at], wants)
    evidence = (
        f"{say.count(has, 'rank')} wrote {say.files(job, ids[:1])} for {say.count(float(upper['ranks'][at]), 'rank')} "
        f"over {whole}{say.and_others(len(ids) - 1)}; the writes took {say.seconds(spent)} of the slowest "
        f"({say.size(float(lower['BYTES_WRITTEN'][rows].sum()))}, "
        f"{say.rate(float(lower['BYTES_WRITTEN'][rows].sum()), spent)})."
    )
    # If there are few aggregators, the other ranks wait for the exchange of data as well as for the writes.
    whole_time = max(spent, slowest_seconds(job, "MPI-IO", ids, ("WRITE",)), key=lambda each: each.about)
    bound = (
        f"It assumes {wants} aggregators instead of {has} for the same writes, which saves 1 − {has}/{wants} of the "
        "time in MPI-IO."
    )
    hints = (f"cb_nodes {wants}", "cb_config_list *:*", "romio_cb_write enable")
    return Seen(evidence, whole_time * (1 - has / wants), bound, "{hints}", hints)


def _whole(layout: Records | None, key: int, wanted: int) -> str:
    """Returns the number that the aggregators are compared with, in words: the file's stripes or, if these are unknown,
    the nodes.
    """
    if layout is None or not (layout["id"] == key).any():
        return say.count(wanted, "node")
    stripes = int(layout["stripes"][layout["id"] == key][0])
    return say.count(stripes, "stripe")


FEW_AGGREGATORS = Rule(
    id="few-aggregators",
    title="Fewer aggregators than targets or nodes",
    says="a file with much data is written collectively by fewer ranks than it has stripes with data or, if its "
    "stripes are unknown, than the job has nodes",
    limits=("much_bytes",),
    why="Each aggregator is one client with one network link; targets without their own aggregator wait for their "
    "turn.",
    read_more="ROMIO hints cb_nodes and cb_config_list: man MPI_File_open; MPI 4.1, section 14.2.8",
    check=few_aggregators,
    exhibit="aggregators",
    gauges=("balance", "stripes"),
    bounds="few writers",
)


_NOT_AGGREGATED_REMEDY = """\
{hints}

Pieces that lie apart cannot be combined. Make a rank's part contiguous in
the file (chunks of HDF5 as large as a part; H5Pset_alignment only where a
part fills the unit), or write all variables of a step in one call."""

_HINTS = ("romio_cb_write enable", "romio_cb_read enable", "cb_buffer_size 16777216")


def not_aggregated(job: Job, limits: Limits) -> Seen | None:
    """Looks for files whose collective calls lead to about as many POSIX calls or more. On average these POSIX calls
    are hardly larger than the pieces that the ranks passed in.
    """
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    said, spent, least = [], NONE, max(1.0, limits["few_calls"])
    for kind, counter in (("WRITE", "BYTES_WRITTEN"), ("READ", "BYTES_READ")):
        together = upper[f"COLL_{kind}S"] + upper[f"SPLIT_{kind}S"]
        single = upper[f"INDEP_{kind}S"] + upper[f"NB_{kind}S"]
        calls = lower[f"{kind}S"]
        chosen = (
            (together > 0)
            & (single <= 0.1 * together)
            & (upper["ranks"] > 1)
            & (calls >= 0.9 * together)
            & (lower[counter] < limits["large_transfer"] * calls)
            & (lower[counter] * together <= 1.5 * upper[counter] * calls)
        )
        if float(calls[chosen].sum()) >= least:
            # Few ranks that move pieces as large as a rank's part are aggregators with a small buffer.
            tiny = small_calls(lower, kind, limits["small_transfer"]) >= limits["small_share"] * calls
            tiny &= _TINY * lower[counter] * together <= upper[counter] * calls
            chosen &= tiny | (2 * _users_of(job, lower, kind) >= upper["ranks"])
        if float(calls[chosen].sum()) < least:
            continue
        rows = most_first(calls, chosen)
        ids = upper["id"][rows]
        spent += slowest_seconds(job, "MPI-IO", ids, (kind,))
        size = say.size(float(lower[counter][rows].sum() / calls[rows].sum()))
        said.append(
            f"{say.count(float(together[rows].sum()), f'collective {kind.lower()}')} of {say.files(job, ids)} became "
            f"{say.count(float(calls[rows].sum()), f'POSIX {kind.lower()}')} of "
            f"{size} on average{_apart(lower, rows, counter)}"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}, in {say.seconds(spent)} on the slowest rank."
    return Seen(evidence, spent, "It assumes that these collective calls take no time.", _NOT_AGGREGATED_REMEDY, _HINTS)


def _apart(table: Records, rows: np.ndarray, counter: str) -> str:
    """Returns a clause on pieces that lie far apart in their file; empty if they do not."""
    moved, end = float(table[counter][rows[0]]), float(table[f"MAX_{counter.replace('BYTES', 'BYTE')}"][rows[0]] + 1)
    return f" that lie apart ({say.size(moved)} on {say.size(end)} of file)" if end >= _SPREAD * moved > 0 else ""


_TINY = 4
"""Few aggregators count as not combining if their pieces are at least this many times smaller than a rank's part."""

_SPREAD = 4
"""Pieces lie apart if they cover at most one part in this many of the file up to the last of them."""


def _users_of(job: Job, table: Records, kind: str) -> np.ndarray:
    """Returns the number of ranks that read or wrote (`kind` READ or WRITE) each file through POSIX; all ranks, if the
    log does not tell.
    """
    known = posix_users(job, "read" if kind == "READ" else "written")
    return np.array([known.get(key, job.nprocs) for key in table["id"].tolist()], dtype=np.int64)


NOT_AGGREGATED = Rule(
    id="not-aggregated",
    title="Collective calls did not combine small transfers",
    says="many collective calls on a file cause about as many POSIX calls or more, and these are neither large nor "
    "larger than the data of a rank; they come from at least half of the ranks, or most are small and far smaller than "
    "the data of a rank",
    limits=("large_transfer", "few_calls", "small_transfer", "small_share"),
    why="The program pays for collective calls, but the file system still receives small pieces.",
    read_more="ROMIO hints romio_cb_write, romio_cb_read; MPI 4.1, section 14.2.8",
    check=not_aggregated,
    exhibit="aggregators",
    gauges=("size",),
    bounds="small transfers",
)


_BUFFER = "cb_buffer_size 67108864"


def exchange(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of scattered or small parts whose aggregators exchange longer than they access."""
    seen = dominated(job, limits, contiguous=False)
    return seen if seen or exchange_times(job) is not None else _beyond_posix(job, limits)


def dominated(job: Job, limits: Limits, contiguous: bool) -> Seen | None:
    """Looks for files whose aggregators exchange longer than they access, for ranks with large contiguous parts, or
    without such parts.
    """
    times, table = exchange_times(job), by_file(job, "MPI-IO")
    if times is None or table is None:
        return None
    times = joined_files(table, times)
    each = _part_of_a_call(times)
    whole = (times["VIEWS"] == 0) & (each >= limits["large_transfer"])
    chosen = (times["exchange"] > times["access"]) & (whole == contiguous) & (times["exchange"] > 0)
    if not chosen.any():
        return None
    rows = most_first(times["exchange"], chosen)
    ids, spent, access = times["id"][rows], *(float(times[name][rows].sum()) for name in ("exchange", "access"))
    evidence = (
        f"In collective calls on {say.files(job, ids)}, aggregators spent {say.seconds(spent)} exchanging data and "
        f"{say.seconds(access)} accessing the file ({say.size(float(each[rows[0]]))} per rank and call)."
    )
    if contiguous:
        return Seen(evidence, spent, _BOUND, INDEPENDENT, ("romio_cb_write disable", "romio_cb_read disable"))
    return Seen(evidence, spent, _BOUND, EXCHANGE_REMEDY, _more_aggregators(job, ids[:1]))


def _beyond_posix(job: Job, limits: Limits) -> Seen | None:
    """Looks, in a log without times of exchange, for collectively used files whose MPI-IO takes at least twice their
    POSIX time.
    """
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper = pair[0]
    moved, below = (table["BYTES_READ"] + table["BYTES_WRITTEN"] for table in pair)
    single = upper["INDEP_READS"] + upper["INDEP_WRITES"] + upper["NB_READS"] + upper["NB_WRITES"]
    chosen = (upper["ranks"] > 1) & (single <= 0.1 * collective_calls(upper)) & (below >= moved) & (moved > 0)
    if not chosen.any():
        return None
    rows = most_first(moved, chosen)
    ids = upper["id"][rows]
    above, access = (slowest_seconds(job, name, ids, ("READ", "WRITE")) for name in ("MPI-IO", "POSIX"))
    if above.about < 2 * access.about:
        return None
    evidence = (
        f"Collective calls on {say.files(job, ids)} took {say.seconds(above)} on the slowest rank, POSIX below them "
        f"{say.seconds(access)}: the rest is exchange of data and waiting for other ranks "
        f"({say.size(float(_part_of_a_call(upper)[rows[0]]))} per rank and call)."
    )
    bound = "It assumes that exchange and waiting take no time: MPI-IO's time minus POSIX's, each on its slowest rank."
    return Seen(evidence, above - access, bound, EXCHANGE_REMEDY, _more_aggregators(job, ids[:1]))


def _part_of_a_call(table: Records) -> np.ndarray:
    """Returns, for each file, the average number of bytes that a rank passes to a collective call."""
    return np.asarray((table["BYTES_READ"] + table["BYTES_WRITTEN"]) / np.maximum(collective_calls(table), 1))


def _more_aggregators(job: Job, ids: np.ndarray) -> tuple[str, ...]:
    """Returns hints for a larger buffer and, if a file can use more aggregators than it has, for more aggregators."""
    useful = int(useful_aggregators(job, ids)[0])
    writing, reading = (posix_users(job, way).get(int(ids[0]), 0) for way in ("written", "read"))
    active = max(writing, reading)
    return (f"cb_nodes {useful}", "cb_config_list *:*", _BUFFER) if 0 < active < useful else (_BUFFER,)


_BOUND = (
    "Assumes that the exchange takes no time: mean time of the aggregators in collective calls, without waiting and "
    "POSIX."
)

EXCHANGE_REMEDY = """\
{hints}

Or exchange less: make fewer and larger calls (all variables of a step in
one), use a decomposition whose parts are contiguous in the file, or write a
file for each group of ranks (MPI_Comm_split). For arrays in blocks, put
rows together by MPI_Alltoallv once, and write them by MPI_File_write_at."""

INDEPENDENT = """\
Each rank's part is large and contiguous, so no exchange is needed.

  C        MPI_File_write_at(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_write_at(file, offset, buffer, n, type, status)
  Python   file.Write_at(offset, array)

or keep the collective calls, and switch collective buffering off for this
file.

{hints}"""

EXCHANGE = Rule(
    id="exchange",
    title="Collective calls take far longer than the file access in them",
    says="in collective calls on a file the aggregators exchange data for longer than they access the file, and the "
    "parts of ranks are not large and contiguous; in logs without these times, MPI-IO takes twice as long as "
    "POSIX below it",
    limits=("large_transfer",),
    why="Exchange between ranks, or waiting for late ranks, limits this part of the I/O. A faster file system shortens "
    "only the waits for the aggregator that is the slowest in its round.",
    read_more="https://github.com/pmodels/mpich/issues/7935 (arrays in blocks); ROMIO hint cb_nodes",
    check=exchange,
    exhibit="collectives",
)


def collective_slower(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of large contiguous parts whose aggregators exchange longer than they access."""
    return None if few_aggregators(job, limits) else dominated(job, limits, contiguous=True)


COLLECTIVE_SLOWER = Rule(
    id="collective-slower",
    title="Collective calls slower than independent ones",
    says="in collective calls on a file the aggregators exchange data for longer than they access the file, although "
    "each rank gives a large contiguous part and sets no view, and `few-aggregators` is not reported",
    limits=("large_transfer",),
    why="Collective buffering helps with many small pieces; large contiguous parts only travel twice.",
    read_more="https://github.com/pmodels/mpich/issues/7935; ROMIO hints romio_cb_write, romio_cb_read",
    check=collective_slower,
    exhibit="collectives",
)


def unaligned_domains(job: Job, limits: Limits) -> Seen | None:
    """Looks for collectively written files of several aggregators whose large POSIX writes mostly begin inside
    a block.
    """
    pair = under_mpiio(job)
    if pair is None or one_client(job):
        return None
    upper, lower = pair
    writers, units = writer_counts(job, lower, 1), block_size(job, lower)
    chosen = (
        (upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0)
        & (writers > 1)
        & (units >= limits["least_alignment"])
        & (lower["BYTES_WRITTEN"] > limits["small_transfer"] * lower["WRITES"])
        & (lower["BYTES_WRITTEN"] >= 0.75 * units * lower["WRITES"])
        & ~among(lower["id"], apart(job))
        & (lower["FILE_NOT_ALIGNED"] >= limits["unaligned_share"] * (lower["READS"] + lower["WRITES"]))
    )
    if not chosen.any():
        return None
    rows = most_first(lower["BYTES_WRITTEN"], chosen)
    ids = lower["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    unit = int(units[rows[0]])
    share = float(lower["FILE_NOT_ALIGNED"][rows].sum() / (lower["READS"] + lower["WRITES"])[rows].sum())
    evidence = (
        f"{say.percent(share)} of the aggregators' transfers of {say.files(job, ids)} do not begin at a multiple of "
        f"{say.size(unit)}; {say.count(int(writers[rows[0]]), 'rank')} write, the slowest for {say.seconds(spent)}."
    )
    hints = (f"striping_unit {unit}", "romio_cb_write enable", f"cb_buffer_size {max(unit, 16 << 20) // unit * unit}")
    return Seen(evidence, spent, "It assumes that the writes of the slowest aggregator take no time.", "{hints}", hints)


UNALIGNED_DOMAINS = Rule(
    id="unaligned-domains",
    title="File domains of aggregators begin inside stripes",
    says="several aggregators write a file in transfers that are not small, have at least three quarters of a block "
    "or stripe, and mostly begin inside a block or stripe",
    limits=("least_alignment", "unaligned_share", "small_transfer"),
    why="Two aggregators that share a stripe take its lock from each other in every collective call.",
    read_more="W. Liao, A. Choudhary, SC08, doi 10.1109/SC.2008.5222722",
    check=unaligned_domains,
    exhibit="aggregators",
    before=("shared-stripes",),
)
