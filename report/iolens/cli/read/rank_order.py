"""`iolens rank-order LOG`: how many bytes stay on a node under each rank order, and the best order as files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.numbers import positive
from iolens.errors import IolensError, UsageError
from iolens.foreign import print_line
from iolens.log import Job

if TYPE_CHECKING:
    from iolens.metrics.processor.mpi.rank_order import Order


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "Use the files with: mpirun --rankfile DIR/rankfile … (Open MPI 5: mpirun --map-by "
        "rankfile:file=DIR/rankfile …), or, for MPICH and Cray MPI, MPICH_RANK_REORDER_METHOD=3 "
        "and DIR/MPICH_RANK_ORDER in the folder that the job starts in. Measure before and after: bytes are not time."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --trace mpi")
    parser.add_argument(
        "--ranks-per-node",
        type=positive,
        metavar="N",
        default=0,
        help="ranks on a node (default: as in the recorded job)",
    )
    parser.add_argument(
        "--order", default="custom", help="the order to write: custom (default), SMP, round-robin or folded"
    )
    parser.add_argument(
        "--hosts", metavar="HOST,...", default="", help="hosts for the rankfile (default: the hosts in the log)"
    )
    parser.add_argument(
        "--cores",
        type=positive,
        metavar="N",
        default=0,
        help="cores of a node for the rankfile (default: one core per rank, if the job's nodes had enough)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write the files rankfile and MPICH_RANK_ORDER into DIR"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the table, and writes the files that the options ask for."""
    from iolens.log import read_log
    from iolens.metrics.processor.mpi.calls import mpi_rows, sent
    from iolens.metrics.processor.mpi.rank_order import orders, rank_orders
    from iolens.pages.exhibits.mpi_ranks import RANK_ORDERS
    from iolens.pages.text.tabular import plain_table

    job = read_log(args.log)
    table = replace(RANK_ORDERS, metric=lambda one: rank_orders(one, args.ranks_per_node)).table(job)
    if table is None and sent(job) is None and mpi_rows(job) is not None:
        raise IolensError(
            f"{args.log}: no rank sent a message to another; if there are only collective calls, no order is better"
        )
    if table is None:
        raise IolensError(
            f"{args.log}: the log does not record which rank sent to which; record it with {RANK_ORDERS.source}"
        )
    known = {order.name: order for order in orders(job, args.ranks_per_node)}
    if args.order not in known:
        raise UsageError(f"{args.order} is not a rank order; choose from {', '.join(known)}")
    print(plain_table(table))
    if max(known["SMP"].nodes) == 0:
        print(
            "\nAll ranks are on one node, where the order makes no difference; --ranks-per-node N shows several nodes."
        )
    if args.output:
        write_order(job, known[args.order], args)
    return 0


def cores_of(job: Job, order: Order) -> int:
    """Returns how many cores of a node the rankfile names: one for each rank of the fullest node, but no more than the
    smallest node had processors, because mpirun refuses a rankfile with cores that a node lacks.
    """
    from iolens.metrics.processor.mpi.rank_places import node_places

    places = node_places(job)
    wanted = max(order.nodes.count(node) for node in set(order.nodes))
    return wanted if places is None else max(1, min(wanted, int(places["cpu_count"].min())))


def write_order(job: Job, order: Order, args: argparse.Namespace) -> None:
    """Writes MPICH_RANK_ORDER and, if enough hosts are known, the rankfile; otherwise says why it is missing. Raises
    UsageError before any file is written if hosts were given but are too few.
    """
    from iolens.pages.job.placement import mpich_order, rankfile
    from iolens.pages.output.document import make_folder, written_aside

    nodes = 1 + max(order.nodes)
    hosts = [host.strip() for host in args.hosts.split(",") if host.strip()]
    hosts = hosts or job.hosts
    if args.hosts and len(hosts) < nodes:
        raise UsageError(f"--hosts: {nodes} nodes need as many hosts, but {len(hosts)} are given")
    remark = f"order {order.name} for {len(order.nodes)} ranks, from {job.log_name}"
    files = {"MPICH_RANK_ORDER": mpich_order(order.nodes, remark)}
    if len(hosts) >= nodes:
        files["rankfile"] = rankfile(order.nodes, hosts, args.cores or cores_of(job, order), remark)
    make_folder(args.output)
    for name, text in files.items():
        with written_aside(args.output / name) as aside:
            aside.write_text(text, encoding="utf-8")
        print_line(f"rank-order: {args.output / name}")
    if "rankfile" not in files:
        print(
            f"rank-order: no rankfile was written: {nodes} nodes need as many hosts, but {len(hosts)} are known; "
            f"give --hosts"
        )
