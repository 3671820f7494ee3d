"""Tests memory by NUMA node: the kernel's list of it, and what a log says on a machine with two nodes, which is
emulated.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.metrics.processor.io.ranks import memory_nodes
from iolens.pages.exhibits.ranks import MEMORY_NODES
from patience import PATIENCE

LISTED = r"""
55d0c5a00000 default file=/usr/bin/app mapped=20 active=0 N0=15 N1=5 kernelpagesize_kB=4
55d0c6b00000 default heap anon=3000 dirty=3000 N0=1000 N1=2000 kernelpagesize_kB=4
7f0000000000 bind:1 anon=8 dirty=8 huge N1=8 kernelpagesize_kB=2048
7f2a00000000 interleave:0-1 file=/data/N0=7\040N1=9\040x mapped=6 N0=2 N1=4 kernelpagesize_kB=64
7f2b00000000 default file=/NUMA/a\040long\040name\040kernelpagesize_kB=8\040N2=100 mapped=1 N17=1 kernelpagesize_kB=4
7ffc11100000 default stack anon=12 dirty=12 N8=12 kernelpagesize_kB=4
7ffc111f0000 default
""".lstrip()
"""A text in the form of proc_pid_numa_maps(5), with file names that look like counts."""

NODE_LIST, MAPS = "/sys/devices/system/node/has_memory", "/proc/$$/numa_maps"


def parsed(*words: object) -> dict[str, int]:
    program = harness.build_program("numa_maps_units")
    printed = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in map(str.split, printed.splitlines())}


def counted(text: str) -> dict[str, int]:
    """Returns the pages of each node, added up by another way of reading."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        for node, pages in re.findall(r" N(\d+)=(\d+)(?= )", line):
            found[node] = found.get(node, 0) + int(pages) * int(line.rpartition("=")[2]) * 1024
    return found


def test_a_listing_of_several_nodes(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text(LISTED)
    found = parsed(tmp_path / "maps")
    assert found == counted(LISTED)
    assert found == {
        "0": 1015 * 4096 + 2 * 65536,
        "1": 2005 * 4096 + 8 * 2097152 + 4 * 65536,
        "8": 12 * 4096,
        "17": 4096,
    }


def test_a_listing_longer_than_a_piece_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text(LISTED * 997)
    assert parsed(tmp_path / "maps") == counted(LISTED * 997)


def test_the_sum_is_the_resident_memory_that_the_kernel_tells() -> None:
    if not Path("/proc/self/numa_maps").exists():
        pytest.skip("this kernel does not list memory by node")
    found = parsed()
    assert found["all"] > 64 << 20
    assert abs(found["all"] - found["resident"]) < 1 << 20


@pytest.mark.parametrize("end", ["return", "kill"])
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may mount")
def test_a_process_on_two_nodes_tells_the_most_and_the_last(end: str, tmp_path: Path) -> None:
    """Two files take the place of the kernel's files. Half a gigabyte of node 1 is given back while the program
    runs.
    """
    harness.build_library()
    (tmp_path / "nodes").write_text("0-1\n")
    (tmp_path / "numa_maps").write_text("7f00 default anon=131200 N0=128 N1=131072 kernelpagesize_kB=4\n")
    (tmp_path / "later").write_text("7f00 default anon=256 N0=256 kernelpagesize_kB=4\n")
    preload = f"LD_PRELOAD={harness.PRELOAD} IOLENS_SPOOL={tmp_path}"
    mounts = f"mount --bind nodes {NODE_LIST} && mount --bind numa_maps {MAPS} || exit 99"
    program = harness.build_program("memory_looks")
    environment = {key: value for key, value in harness.environment(tmp_path).items() if key != "LD_PRELOAD"}
    command = ["unshare", "-m", "sh", "-c", f"{mounts}; exec env {preload} {program} {end}"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode in (1, 99):
        pytest.skip("this machine lets nobody mount over the kernel's files")
    if end == "kill":
        spools = sorted(tmp_path.glob("iolens-*/*.spool"))
        recover = [harness.BUILD / "bin/iolens-recover", "merge", "-w", "killed", *spools]
        subprocess.run(recover, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    jobs = [read_log(log) for log in harness.logs(tmp_path) if "memory_looks" in log.name]
    (rows,) = [found.frame().to_dict("records") for job in jobs if (found := memory_nodes(job))]
    kept = [(row["memory_node"], row["high_bytes"], row["bytes"], row["share"]) for row in rows]
    assert kept == [(0, 256 * 4096, 256 * 4096, 100.0), (1, 131072 * 4096, 0, 0.0)]
    (table,) = [found for job in jobs if (found := MEMORY_NODES.table(job))]
    assert table.rows[1] == ["0", "1", "512 MiB", "0 B", "0.0 %"]


def test_a_machine_with_one_node_has_no_table_and_the_reason(tmp_path: Path) -> None:
    harness.build_library()
    assert harness.run("/bin/sleep", "0.6", folder=tmp_path, IOLENS_LOGFILE=str(tmp_path / "log")).returncode == 0
    job = read_log(tmp_path / "log")
    if len(Path(NODE_LIST).read_text().strip()) > 1:
        pytest.skip("this machine has several nodes")
    assert memory_nodes(job) is None
    assert MEMORY_NODES.lack(job).endswith("on a machine where several NUMA nodes have memory")
