"""The placement of ranks on nodes."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.processor.mpi import rank_order
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

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
