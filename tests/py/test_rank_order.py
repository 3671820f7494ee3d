"""Tests rank orders: bytes that stay on a node, counted again by hand, and files that mpirun takes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.cli.read.rank_order import cores_of
from iolens.lab.run.mpi_launch import mpi, openmpi
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.mpi import rank_order
from iolens.metrics.processor.mpi.rank_order import Order
from iolens.pages.job.placement import mpich_order, rankfile
from patience import PATIENCE
from processor_example import job, tables

Pairs = dict[tuple[int, int], int]


def job_of(pairs: Pairs, ranks: int, **private: object) -> Job:
    """Returns a job whose ranks sent these bytes."""
    rows = [(rank, peer, 1, moved, 1) for (rank, peer), moved in pairs.items()]
    return job(ranks, mpi_peers=pd.DataFrame(rows, columns=["rank", "peer", "messages", "bytes", "on_node"]), **private)


def ring(ranks: int, seed: int) -> Pairs:
    """Returns the messages of neighbours in a ring whose positions are shuffled."""
    places = list(range(ranks))
    random.Random(seed).shuffle(places)
    return {(places[n], places[(n + 1) % ranks]): 1000 for n in range(ranks)}


def grid(side: int) -> Pairs:
    """Returns the messages of a square's neighbours, row by row."""
    found = {}
    for rank in range(side * side):
        for step in (1, side):
            peer = rank + step
            if peer < side * side and (step == side or peer % side):
                found |= {(rank, peer): 100, (peer, rank): 100}
    return found


def test_the_usual_orders() -> None:
    placed = {order.name: order.nodes for order in rank_order.orders(job_of(ring(6, 1), 6), 2)}
    assert placed["SMP"] == (0, 0, 1, 1, 2, 2)
    assert placed["round-robin"] == (0, 1, 2, 0, 1, 2)
    assert placed["folded"] == (0, 1, 2, 2, 1, 0)
    uneven = {order.name: order.nodes for order in rank_order.orders(job_of(ring(5, 1), 5), 2)}
    assert uneven["folded"] == (0, 1, 2, 1, 0)


@pytest.mark.parametrize(
    ("pairs", "ranks", "each", "best"),
    [
        (ring(12, 3), 12, 4, 9000),  # In a ring, three of four links of each node stay on the node.
        (ring(64, 4), 64, 16, 60000),
        (grid(8), 64, 16, 200 * 4 * 24),  # The best order has four squares of 4 x 4 ranks.
    ],
)
def test_the_custom_order_keeps_what_can_be_kept(pairs: Pairs, ranks: int, each: int, best: int) -> None:
    made = job_of(pairs, ranks)
    found = {order.name: order.nodes for order in rank_order.orders(made, each)}
    stays = {
        name: sum(moved for (rank, peer), moved in pairs.items() if nodes[rank] == nodes[peer])
        for name, nodes in found.items()
    }
    table = rank_order.rank_orders(made, each).frame()
    assert table is not None
    assert dict(zip(table["order"], table["on_node"] * ranks, strict=True)) == pytest.approx(stays)
    assert stays["custom"] >= max(stays.values())
    assert stays["custom"] >= 0.9 * best
    custom = found["custom"]
    assert sorted(custom.count(node) for node in set(custom)) == [each] * (ranks // each)


def test_as_it_ran_and_with_collectives() -> None:
    private = tables()
    info = {"hosts": ["a", "b"], "rank_host": [0, 1, 0, 1]}
    table = rank_order.rank_orders(
        job_of({(0, 1): 300, (2, 3): 100}, 4, job=info, mpi_calls=private["mpi_calls"])
    ).frame()
    assert table is not None
    share = table.set_index("order")["share"]
    assert (share["as it ran"], share["SMP"], share["custom"]) == (0.0, 100.0, 100.0)
    together = table.set_index("order")["with_collectives"]
    # In this order a third of the pairs share a node.
    assert together["SMP"] == pytest.approx(100 * (400 + 320 / 3) / (400 + 320))


def test_files() -> None:
    assert mpich_order((1, 0, 1, 0), "remark") == "# remark\n1,3\n0,2\n"
    assert rankfile((1, 0, 1, 0), ["a", "b"], 1, "remark").splitlines() == [
        *("# remark", "rank 0=b slot=0", "rank 1=a slot=0", "rank 2=b slot=0", "rank 3=a slot=0"),
    ]


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("ompi_info") is None, reason="Open MPI is not installed")
def test_mpirun_takes_the_rankfile(tmp_path: Path) -> None:
    text = rankfile((0, 0, 0, 0), ["localhost"], min(2, os.cpu_count() or 1), "four ranks of one node")
    (tmp_path / "rankfile").write_text(text)
    environment = {**os.environ, **openmpi.openmpi_variables(["as root"], None)}
    named = ["--map-by", "rankfile:file=rankfile:oversubscribe"]
    if not mpi.has_romio_of_5("mpirun"):
        named = ["--oversubscribe", "--rankfile", "rankfile"]
    command = ["mpirun", *named, "-np", "4"]
    command += ["sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "rank 0", "rank 1", "rank 2", "rank 3"]


def test_the_command_writes_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iolens.log.read_log", lambda path: job_of({(0, 2): 100, (1, 3): 100}, 4))
    options = ["rank-order", "any.darshan", "--ranks-per-node", "2", "-o", str(tmp_path / "order")]
    assert main([*options, "--hosts", "n1,n2"]) == 0
    assert "custom" in capsys.readouterr().out
    assert (tmp_path / "order" / "MPICH_RANK_ORDER").read_text().splitlines()[1:] == ["0,2", "1,3"]
    assert "rank 2=n1 slot=1" in (tmp_path / "order" / "rankfile").read_text()
    alone = tmp_path / "alone"
    assert main([*options[:-1], str(alone)]) == 0
    assert [path.name for path in alone.iterdir()] == ["MPICH_RANK_ORDER"], "which names no host"
    assert (
        "no rankfile was written: 2 nodes need as many hosts, but 0 are known; give --hosts" in capsys.readouterr().out
    )
    refused = tmp_path / "refused"
    assert main([*options[:-1], str(refused), "--hosts", "n1"]) == 2
    assert not refused.exists()


def test_the_rankfile_names_no_core_that_the_nodes_do_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 ranks took turns on a node with two cores: the rankfile may not name slot 2, which mpirun would refuse."""
    places = Records({"cpu_count": np.array([2, 4])})
    monkeypatch.setattr("iolens.metrics.processor.mpi.rank_places.node_places", lambda job: places)
    made = job_of({(0, 1): 1}, 16)
    assert cores_of(made, Order("SMP", 1, (0,) * 16)) == 2
    monkeypatch.setattr("iolens.metrics.processor.mpi.rank_places.node_places", lambda job: None)
    assert cores_of(made, Order("SMP", 1, (0,) * 16)) == 16


def test_a_log_without_messages(capsys: pytest.CaptureFixture[str]) -> None:
    log = Path(__file__).parents[1] / "data" / "iolens" / "mpi_calls.darshan"
    assert main(["rank-order", str(log)]) == 1
    assert "does not record which rank sent to which; record it with iolens run --trace mpi" in capsys.readouterr().err


def test_a_job_with_collective_calls_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    calls = {key: value for key, value in tables().items() if key in ("mpi_calls", "region_names")}
    monkeypatch.setattr("iolens.log.read_log", lambda path: job_of({}, 2, **calls))
    assert main(["rank-order", "any.darshan"]) == 1
    assert "no rank sent a message to another" in capsys.readouterr().err
