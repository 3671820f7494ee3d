"""A rank order as files: a rankfile for Open MPI, MPICH_RANK_ORDER for MPICH and Cray MPI."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.metrics.processor.mpi.rank_order import rank_list


def mpich_order(nodes: Sequence[int], remark: str) -> str:
    """Returns the ranks node by node (intro_mpi(3), MPICH_RANK_REORDER_METHOD=3), a line per node."""
    lines = [f"# {remark}"]
    ranks = rank_list(nodes)
    for node in range(1 + max(nodes)):
        lines.append(",".join(str(rank) for rank in ranks if nodes[rank] == node))
    return "\n".join(lines) + "\n"


def rankfile(nodes: Sequence[int], hosts: Sequence[str], cores: int, remark: str) -> str:
    """Returns host and core of each rank (mpirun(1), --rankfile). If a node has more ranks than `cores`, its ranks
    share cores.
    """
    lines, filled = [f"# {remark}"], [0] * len(hosts)
    for rank, node in enumerate(nodes):
        lines.append(f"rank {rank}={hosts[node]} slot={filled[node] % cores}")
        filled[node] += 1
    return "\n".join(lines) + "\n"
