#!/usr/bin/env python3
"""Replays published measurements of stripes in the storage model, and prints how close the ratios of the model come.

    .venv/bin/python tests/bench/published.py

Nothing is fitted. A machine is storage/ost.yaml with the initial values of storage/README.md for the effects that limit
a client and the metadata server, and with the numbers of its site for targets and links. Where a site's numbers are not
known, a comment says which ones stand in. Volumes are smaller than in the measurements; a constant rate does not depend
on the volume. `near` means within a factor of 1.5.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "build/bin/ost-replay"
KIB, MIB, GIB = 2**10, 2**20, 2**30
NEAR = 1.5
# A lock conflict costs 1.5 to 2.2 ms on Gerty, as follows from its unaligned writes (T4); 1.85 ms is the middle.
CLIENT = {"lock_us": 1850, "client_file_mb_per_s": 1000, "client_mb_per_s": 6000, "service_threads": 32}
# Twenty threads at the saturated rates of Dell's second test (Lustre 2.7): 28,000 creates, 522,000 stats and 152,000
# removes per second, the middle of each published range. T11 is the first test (Lustre 2.5), on another machine.
METADATA = {"metadata_threads": 20, "create_us": 714, "create_object_us": 20, "stat_us": 38, "unlink_us": 132}

Settings = Mapping[str, float]
HEXAGON = CLIENT | {"targets": 36}  # Hexagon's speeds are not published; those of storage/ost.yaml stand in.
# A target of Pawsey took 467 MB/s, more than in storage/ost.yaml: the targets of Edison, another Cray XC, stand in.
PAWSEY = HEXAGON | {"ost_mb_per_s": 1550}
H5PY = CLIENT | {"targets": 32, "ost_mb_per_s": 2100, "link_mb_per_s": 12500, "ranks_per_client": 32}
CORI = CLIENT | {"targets": 248, "ost_mb_per_s": 3000, "link_mb_per_s": 10000}
GERTY = CORI | {"ranks_per_client": 16}  # Gerty's speeds are not known; those of Cori, at the same site, stand in.
EDISON = CLIENT | {"targets": 24, "ost_mb_per_s": 1550, "link_mb_per_s": 10000}
# The speeds of the targets of Blue Waters and Dell are not published; that of storage/ost.yaml stands in.
BLUE_WATERS = CLIENT | {"targets": 32, "link_mb_per_s": 10000, "ranks_per_client": 16}
DELL = CLIENT | METADATA | {"targets": 24, "link_mb_per_s": 6000}
# Clients since Lustre 2.12 keep up to 2000 MiB of dirty data for each target.
ARCHER2 = CLIENT | METADATA | {"targets": 12, "link_mb_per_s": 25000, "dirty_per_target": 2000 * MIB}
DISK, FLASH = 1000, 13100
"""Speeds of a target in MB/s. ARCHER2's flash has no published speed: that of Perlmutter stands in."""


@dataclass(frozen=True)
class PublishedRatio:
    """A published ratio of two rates, or the range in which it lies, and the function that returns the model's
    ratio.
    """

    name: str
    ratio: str
    least: float
    most: float
    model: Callable[[], float]


def seconds(machine: Settings, files: Sequence[tuple[int, int]], steps: Iterator[str]) -> float:
    """Returns the time at which the last rank has finished. `files` gives the stripe count and stripe size of each
    file; the files are placed on the targets in turn.
    """
    first, lines = 0, []
    targets = int(machine["targets"])
    for number, (count, size) in enumerate(files):
        lines.append(f"file,{number},{count},{size},{first % targets}")
        first += count
    base = yaml.safe_load((ROOT / "storage/ost.yaml").read_text(encoding="utf-8"))
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write("".join(f"{key}: {value}\n" for key, value in {**base, **machine}.items()))
        config.flush()
        text = "\n".join([*lines, *steps]) + "\n"
        done = subprocess.run([REPLAY, config.name], input=text, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1].split(",")[2])


def in_turn(ranks: int, pieces: int, size: int, first: int = 0) -> Iterator[str]:
    """Yields writes of ranks that take turns in one shared file, and their flushes."""
    for rank in range(ranks):
        for piece in range(pieces):
            yield f"w,{rank},0,{first + (piece * ranks + rank) * size},{size}"
        yield f"f,{rank},0"


def shared(machine: Settings, ranks: int, pieces: int, stripes: int, size: int = MIB, first: int = 0) -> float:
    """Returns the bandwidth (bytes per second) of one shared file in stripes of 1 MiB, written in pieces of `size`."""
    return ranks * pieces * size / seconds(machine, [(stripes, MIB)], in_turn(ranks, pieces, size, first))


def private(machine: Settings, ranks: int, pieces: int, stripes: int = 1, stripe: int = MIB) -> float:
    """Returns the bandwidth (bytes per second) of all ranks together, each of which writes a file of its own in pieces
    of 1 MiB.
    """
    writes = (f"w,{rank},{rank},{piece * MIB},{MIB}" for rank in range(ranks) for piece in range(pieces))
    flushes = (f"f,{rank},{rank}" for rank in range(ranks))
    return ranks * pieces * MIB / seconds(machine, [(stripes, stripe)] * ranks, iter([*writes, *flushes]))


def gathered(stripes: int) -> float:
    """Returns the bandwidth (bytes per second) of Blue Waters' collective writes: each stripe of 1 MiB belongs to one
    aggregator.
    """
    return shared(BLUE_WATERS | {"ranks_per_client": 1}, min(stripes, 64), 1024 // min(stripes, 64), stripes)


def scattered(stripes: int) -> float:
    """Returns the bandwidth (bytes per second) of Blue Waters' independent writes of 4 KiB by 1024 ranks."""
    return shared(BLUE_WATERS, 1024, 8, stripes, 4 * KIB)


def requests(kind: str, stripes: int) -> float:
    """Returns the rate (requests per second) of metadata calls by 240 threads."""
    steps = (f"{kind},{rank},{rank}" for _ in range(50) for rank in range(240))
    return 240 * 50 / seconds(DELL, [(stripes, MIB)] * 240, steps)


def strided(writers: int, ahead: int) -> float:
    """Returns the bandwidth (bytes per second) of aggregators that take turns in one object."""
    return shared(CORI | {"targets": 1, "lock_ahead": ahead}, writers, 512 // writers, 1)


def archer2_own(target_mb_per_s: float) -> float:
    """Returns the bandwidth (bytes per second) of 2048 ranks on 16 nodes, each of which creates a file of its own and
    writes 32 MiB. Nothing is flushed: benchio had no flush when ARCHER2 published its rates in October 2023.
    """
    ranks = range(2048)
    steps = [f"c,{rank},{rank}" for rank in ranks] + [f"w,{rank},{rank},0,{32 * MIB}" for rank in ranks]
    machine = ARCHER2 | {"ost_mb_per_s": target_mb_per_s, "ranks_per_client": 128}
    return 2048 * 32 * MIB / seconds(machine, [(1, MIB)] * 2048, iter(steps))


def archer2_shared(target_mb_per_s: float) -> float:
    """Returns the bandwidth (bytes per second) of collective writes of the same 64 GiB on 12 stripes, not flushed
    either. The published hints ask for four aggregators a stripe, which have their locks ahead: three on each node.
    """
    machine = ARCHER2 | {"ost_mb_per_s": target_mb_per_s, "ranks_per_client": 3, "lock_ahead": 1}
    writes = (step for step in in_turn(48, 65536 // 48, MIB) if step.startswith("w"))
    return 65536 // 48 * 48 * MIB / seconds(machine, [(12, MIB)], writes)


def cori(nodes: int) -> tuple[float, float]:
    """Returns the bandwidths (bytes per second) of collective writes to a shared file on all targets, and of a file for
    each node.

    Each aggregator owns whole stripes: 31 aggregators on 32 nodes, or 248 on 256 nodes, share the 248 stripes evenly.
    """
    aggregators = 31 if nodes == 32 else 248
    return shared(CORI, aggregators, 8192 // aggregators, 248), private(CORI, nodes, 256)


CASES = (
    PublishedRatio(
        "T1 Hexagon, one writer",
        "36 stripes : 4",
        0,
        1,
        lambda: private(HEXAGON, 1, 1024, 36) / private(HEXAGON, 1, 1024, 4),
    ),
    PublishedRatio(
        "T2 Pawsey, one thread",
        "8 stripes of 1 GiB : 1",
        0.93,
        0.96,
        lambda: private(PAWSEY, 1, 8192, 8, GIB) / private(PAWSEY, 1, 8192, 1, GIB),
    ),
    PublishedRatio(
        "T3 one node, one writer",
        "2 stripes : 1",
        0.995,
        0.995,
        lambda: shared(H5PY, 1, 1024, 2) / shared(H5PY, 1, 1024, 1),
    ),
    PublishedRatio(
        "T3 one node, 2 writers",
        "2 stripes : 1 writer, 1 stripe",
        1.35,
        1.35,
        lambda: shared(H5PY, 2, 512, 2) / shared(H5PY, 1, 1024, 1),
    ),
    PublishedRatio(
        "T3 one node, 32 writers",
        "32 stripes : 1 writer, 1 stripe",
        0.94,
        0.94,
        lambda: shared(H5PY, 32, 64, 32) / shared(H5PY, 1, 1024, 1),
    ),
    PublishedRatio(
        "T3 one node, 32 writers",
        "own files : one writer",
        9,
        9,
        lambda: private(H5PY, 32, 64) / shared(H5PY, 1, 1024, 1),
    ),
    PublishedRatio(
        "T4 Gerty, 8 nodes",
        "not aligned : aligned, 1 stripe",
        0.51,
        0.51,
        lambda: shared(GERTY, 128, 64, 1, MIB, 2048) / shared(GERTY, 128, 64, 1),
    ),
    PublishedRatio(
        "T4 Gerty, 8 nodes",
        "not aligned : aligned, 4 stripes",
        0.59,
        0.59,
        lambda: shared(GERTY, 128, 64, 4, MIB, 2048) / shared(GERTY, 128, 64, 4),
    ),
    PublishedRatio(
        "T4 Gerty, aligned", "4 stripes : 1", 2.0, 2.0, lambda: shared(GERTY, 128, 64, 4) / shared(GERTY, 128, 64, 1)
    ),
    PublishedRatio("T5 Blue Waters, collective", "16 stripes : 1", 4.3, 4.3, lambda: gathered(16) / gathered(1)),
    PublishedRatio("T5 Blue Waters, collective", "32 stripes : 1", 16, 16, lambda: gathered(32) / gathered(1)),
    PublishedRatio("T5 Blue Waters, independent", "16 stripes : 1", 4.1, 4.1, lambda: scattered(16) / scattered(1)),
    PublishedRatio(
        "T5 Blue Waters, 16 stripes", "collective : independent", 145, 145, lambda: gathered(16) / scattered(16)
    ),
    PublishedRatio(
        "T6 Dell, 24 stripes", "24 writers : 1", 6.5, 6.5, lambda: shared(DELL, 24, 64, 24) / shared(DELL, 1, 1024, 24)
    ),
    PublishedRatio(
        "T6 Dell, 24 stripes", "240 writers : 24", 1, 1, lambda: shared(DELL, 240, 16, 24) / shared(DELL, 24, 160, 24)
    ),
    PublishedRatio("T8 Cori, 32 nodes", "shared on 248 : own files", 0.88, 0.88, lambda: cori(32)[0] / cori(32)[1]),
    PublishedRatio("T8 Cori, 256 nodes", "shared on 248 : own files", 0.11, 0.11, lambda: cori(256)[0] / cori(256)[1]),
    PublishedRatio(
        "T9 Edison, 86 nodes",
        "shared on 24 : own files",
        0.49,
        0.59,
        lambda: shared(EDISON, 86, 64, 24, 4 * MIB) / private(EDISON, 86, 256),
    ),
    PublishedRatio(
        "T10 ARCHER2, 16 nodes",
        "own files : shared on 12",
        9,
        15,
        lambda: archer2_own(DISK) / archer2_shared(DISK),
    ),
    PublishedRatio(
        "T10 ARCHER2, shared on 12", "flash : disk", 1, 1, lambda: archer2_shared(FLASH) / archer2_shared(DISK)
    ),
    PublishedRatio(
        "T11 mdtest, 240 threads", "create, 24 stripes : 1", 0, 1, lambda: requests("c", 24) / requests("c", 1)
    ),
    PublishedRatio("T11 mdtest, 1 stripe", "remove : create", 6.7, 6.7, lambda: requests("u", 1) / requests("c", 1)),
    PublishedRatio("T11 mdtest, 1 stripe", "stat : create", 26.7, 26.7, lambda: requests("s", 1) / requests("c", 1)),
    PublishedRatio(
        "T12 two aggregators a target", "2 : 1, locks grow", 0.1, 0.6, lambda: strided(2, 0) / strided(1, 0)
    ),
    PublishedRatio("T12 two aggregators a target", "2 : 1, lock-ahead", 1, 2, lambda: strided(2, 1) / strided(1, 1)),
)


def row_of(case: PublishedRatio) -> str:
    """Returns a line of the table. A range that begins at 0 has no published number, only a direction."""
    value = case.model()
    only = case.least == 0
    middle = (case.least + case.most) / 2
    right = value < 1 if only else (value - 1) * (middle - 1) > 0 or abs(value - middle) < 0.05
    near = "" if only else "yes" if case.least / NEAR <= value <= case.most * NEAR else "no"
    published = "< 1" if only else f"{case.least:g}" if case.least == case.most else f"{case.least:g} to {case.most:g}"
    return f"| {case.name} | {case.ratio} | {published} | {value:.2f} | {'yes' if right else 'no'} | {near} |"


def main() -> int:
    """Prints the table as it stands in storage/README.md."""
    print("| measured on | ratio of rates | published | model | direction | near |\n|---|---|---|---|---|---|")
    for case in CASES:
        print(row_of(case), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
