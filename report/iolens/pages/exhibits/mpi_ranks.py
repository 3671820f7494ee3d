"""MPI: time in calls, messages by size and call site, who sent to whom, and the placement of ranks on nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.processor.mpi import calls, rank_order, rank_places
from iolens.metrics.processor.mpi import calls as mpi
from iolens.metrics.processor.mpi import rank_places as mpi_settings
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import IMBALANCE_PERCENT, NAME, guarded_seconds, share_columns
from iolens.pages.base.exhibit import Column, Exhibit

_SOURCE = "iolens run --trace mpi"
_BINS = ("< 16 B", "< 256 B", "< 4 KiB", "< 64 KiB", "< 1 MiB", "< 16 MiB", "larger")
_SIZES = [Column(head, name, words.guarded, optional=True) for head, name in zip(_BINS, mpi.SIZES, strict=True)]


def _message_columns(_: Job) -> Sequence[Column]:
    """Returns the columns share, bytes and messages, and one for each range of message sizes."""
    return [
        NAME,
        Column("Msg Bytes%", "share", words.points),
        Column("Msg Bytes", "bytes_sent", words.size),
        Column("Imb.%", "imbalance_percent", words.points),
        Column("Msg Count", "messages", words.guarded),
        *_SIZES,
    ]


def _size_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure of messages by size."""
    from iolens.figures.job_ranks import message_bars

    total = found.iloc[0]
    if total["messages"]:
        counts = dict(zip(_BINS, (float(total[name]) for name in mpi.SIZES), strict=True))
        caption = (
            "Values of an average rank. Look for many messages on the left: each message has a cost, even if it is "
            "small."
        )
        says = columns.largest(counts.items(), columns.count_text)
        yield FigureBlock(message_bars(counts), caption, title="Messages by size", says=says)


def _peer_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the matrix of bytes by sender and receiver."""
    from iolens.figures.job_ranks import peer_map

    matrix, group = calls.peer_matrix(job)
    caption = "" if group == 1 else f"A row and a column stand for {group} ranks. "
    caption += "Look for pairs of ranks with far more bytes than the others."
    pairs = ((f"rank {row * group} to rank {column * group}", moved) for (row, column), moved in np.ndenumerate(matrix))
    says = columns.largest(pairs, words.size)
    yield FigureBlock(peer_map(matrix, group), caption, title="Bytes by sender and receiver", says=says)


def _distance_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure of bytes by the distance of ranks."""
    from iolens.figures.job_ranks import distance_bars

    caption = "Distance: |receiver - sender|. Look for bytes that go far: such ranks often lie on different nodes."
    pairs = ((f"distance {distance}", moved) for distance, moved in zip(found["distance"], found["bytes"], strict=True))
    says = columns.largest(pairs, words.size)
    yield FigureBlock(distance_bars(found), caption, title="Bytes by distance of the ranks", says=says)


def _peer(number: int) -> str:
    """Returns the name of a peer rank; a negative number stands for several ranks."""
    return "others" if number < 0 else str(number)


_FEW_CALLS = 10
"""Mean number of calls below which digits after the decimal point are printed."""


def _mean_calls(number: float) -> str:
    """Returns the number of calls of an average rank."""
    return words.digits(number) if number < _FEW_CALLS else words.count(round(number))


MPI_CALLS: Exhibit[Job] = Exhibit(
    name="mpi_calls",
    title="MPI calls",
    metric=mpi.mpi_calls,
    columns=[
        NAME,
        *share_columns("Time", "time"),
        Column("barriers before calls, s", "sync_time", guarded_seconds, optional=True),
        Column("Calls", "calls", words.guarded),
        Column("shortest, s", "min_time", guarded_seconds),
        Column("longest, s", "max_time", guarded_seconds),
        Column("sent", "bytes_sent", words.size),
        Column("received", "bytes_received", words.size),
    ],
    note="Times of an average rank; shortest and longest single call of any rank. Imb. Time: slowest rank minus mean; "
    f"Imb. Time%: {IMBALANCE_PERCENT}.",
    asked=True,
    drilled=True,
    levels=mpi.CALLS.known,
    source=_SOURCE,
)

MPI_FUNCTIONS: Exhibit[Job] = Exhibit(
    name="mpi_functions",
    title="MPI functions",
    metric=calls.mpi_functions,
    columns=[
        Column("function", "function"),
        Column("kind", "part"),
        Column("average rank, s", "seconds", words.seconds),
        Column("calls", "calls", _mean_calls),
        Column("least, s", "least", words.seconds),
        Column("rank", "least_rank", words.count),
        Column("most, s", "most", words.seconds),
        Column("rank", "most_rank", words.count),
    ],
    note="As Darshan's module APMPI timed them, with the calls by which an MPI-IO library exchanges data. Calls: of an "
    "average rank.",
    source="Darshan's module APMPI",
)

MPI_MESSAGES: Exhibit[Job] = Exhibit(
    name="mpi_messages",
    title="MPI messages by size",
    metric=mpi.mpi_messages,
    columns=_message_columns,
    needs="messages",
    note="Sent by an average rank, or fetched by its one-sided calls; a collective call counts the bytes that the "
    "rank itself contributes. Sizes are of single messages.",
    draw=_size_figure,
    asked=True,
    drilled=True,
    levels=mpi.CALLS.known,
    source=_SOURCE,
)

MPI_CALLERS: Exhibit[Job] = Exhibit(
    name="mpi_callers",
    title="MPI messages by call site",
    metric=mpi.mpi_callers,
    columns=_message_columns,
    needs="messages",
    note="Sent by an average rank, or fetched by its one-sided calls, and by the ranks with most, median and least.",
    asked=True,
    drilled=True,
    levels=mpi.SITES.known,
    source=_SOURCE,
    apart=True,
)

MPI_SITES: Exhibit[Job] = Exhibit(
    name="mpi_sites",
    title="Time in MPI by call site",
    metric=mpi.mpi_sites,
    columns=[NAME, *share_columns("Time", "time"), Column("Calls", "calls", words.guarded)],
    note="Values of an average rank, and of the ranks with the largest, median and smallest value.",
    asked=True,
    drilled=True,
    levels=mpi.SITES.known,
    source=_SOURCE,
    apart=True,
)

MPI_PEERS: Exhibit[Job] = Exhibit(
    name="mpi_peers",
    title="Pairs of ranks with the most bytes",
    metric=calls.mpi_peers,
    columns=[
        Column("sender", "rank", _peer),
        Column("receiver", "peer", _peer),
        Column("Msg Bytes%", "share", words.points),
        Column("Msg Bytes", "bytes", words.size),
        Column("Msg Count", "messages", words.count),
        Column("same node", ("on_node", "peer"), lambda same, peer: "" if peer < 0 else "yes" if same else "no"),
    ],
    note="Point-to-point and one-sided messages, without messages of collective calls.",
    draw=_peer_figure,
    asked=True,
    source=_SOURCE,
    apart=True,
)

MPI_DISTANCE: Exhibit[Job] = Exhibit(
    name="mpi_distance",
    title="Messages by distance of the ranks",
    metric=calls.mpi_distance,
    columns=[
        Column("distance", "distance", words.count),
        Column("Msg Bytes%", "share", words.points),
        Column("Msg Bytes", "bytes", words.size),
        Column("Msg Count", "messages", words.count),
    ],
    note="Distance: |receiver - sender|; of all ranks together.",
    draw=_distance_figure,
    source=_SOURCE,
    apart=True,
)

MPI_NODES: Exhibit[Job] = Exhibit(
    name="mpi_nodes",
    title="Messages within and between nodes",
    metric=calls.mpi_nodes,
    columns=[
        Column("", "where"),
        Column("Msg Bytes%", "share", words.points),
        Column("Msg Bytes", "bytes", words.size),
        Column("Msg Count", "messages", words.count),
    ],
    note="Point-to-point and one-sided messages of all ranks; messages of collective calls are not included.",
    source=_SOURCE,
)

LATE_RECEIVES: Exhibit[Job] = Exhibit(
    name="late_receives",
    title="Receives that were posted late",
    metric=mpi.late_receives,
    columns=[
        Column("", "function"),
        Column("Calls", "calls", words.count),
        Column("late", "late", words.count),
        Column("late, %", "share", words.points),
    ],
    note="Receives of all ranks that began after their message had arrived.",
    source="iolens run --trace mpi --late-receives, and a receive that was late",
)

MPI_COMMUNICATORS: Exhibit[Job] = Exhibit(
    name="mpi_communicators",
    title="Communicators by size",
    metric=rank_places.communicators,
    columns=[
        Column("ranks in it", "size", words.count),
        Column("ranks of the other group", "remote_size", words.count, optional=True),
        Column("used by ranks", "ranks", words.guarded),
        Column("most on one rank", "communicators", words.count),
    ],
    note="Communicators that messages or collective calls used.",
    source=_SOURCE,
    apart=True,
)

RANK_PLACES: Exhibit[Job] = Exhibit(
    name="rank_places",
    title="Where ranks ran",
    metric=rank_places.rank_places,
    columns=[
        Column("PE", "rank", words.count),
        Column("node", "host"),
        Column("processors", "cpus"),
        Column("how many", "cpu_count", words.count),
        Column("ranks that share them", "shared_with", words.count),
        Column("threads", "thread_level"),
        Column("warning", "warning", optional=True),
    ],
    note="Threads: the level that MPI gave the program.",
    source=_SOURCE,
    apart=True,
)

NODE_PLACES: Exhibit[Job] = Exhibit(
    name="node_places",
    title="Ranks and processors of the nodes",
    metric=rank_places.node_places,
    columns=[
        Column("nodes", "nodes", words.count),
        Column("such as", "host"),
        Column("ranks on each", "ranks", words.count),
        Column("processors they may use", "cpu_count", words.count),
        Column("ranks that share some", "shared", words.count),
        Column("warning", "warning", optional=True),
    ],
    note="Processors as the kernel numbers them, when MPI_Init had ended; each hardware thread of a core counts.",
    source=_SOURCE,
)

MPI_SETTINGS: Exhibit[Job] = Exhibit(
    name="mpi_settings",
    title="The MPI library, and how it was set",
    metric=mpi_settings.mpi_settings,
    columns=[
        Column("", "kind"),
        Column("name", "name"),
        Column("value", "value"),
        Column("set by", "source"),
        Column("ranks", "ranks", words.count),
        Column("from rank", "first", words.count, optional=True),
    ],
    note="Components that were open, with their eager limits in bytes, headers included, and parameters that differ "
    "from the library's defaults. Values that mpirun sets are in the environment.",
    source=_SOURCE,
)


RANK_ORDERS: Exhibit[Job] = Exhibit(
    name="rank_orders",
    title="Bytes that stay on a node, by rank order",
    metric=rank_order.rank_orders,
    columns=[
        Column("order", "order"),
        Column("nodes", "nodes", words.count),
        Column("on-node bytes of a rank", "on_node", words.size),
        Column("of point-to-point", "share", words.points),
        Column("with collectives", "with_collectives", words.points),
        Column("MPICH_RANK_ REORDER_METHOD", "method", lambda method: words.GUARD if method < 0 else str(method)),
    ],
    note="Point-to-point and one-sided messages; bytes of collective calls count as spread evenly over all pairs. "
    "Custom: found "
    "from the messages; iolens rank-order writes it as files for Open MPI and MPICH, and looks at other numbers of "
    "ranks per node.",
    source="iolens run --trace mpi",
)
