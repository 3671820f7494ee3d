"""Chooses at random the runs of the set `thresholds`, with which the rules' thresholds are chosen: bundled C workloads,
mostly ior, and `known.c`.
"""

from __future__ import annotations

import random

from groups import MIB, Row, group, storage


def draw(seed: int) -> list[Row]:
    """Returns all runs of a seed."""
    chance, rows = random.Random(seed), []
    for fault in (
        _slow_targets,
        _slow_hosts_and_ranks,
        _sizes,
        _small_rows,
        _narrow_stripes,
        _contended_stripes,
        _mpiio,
        _again,
        _libraries,
        _others,
        _some_syncs,
        _turns_of_groups,
        _seeks,
        _reopenings,
        _tiny_datasets,
        _uneven_ranks,
        _planes,
        _storms,
        _waiting,
        _targets,
        _caches,
    ):
        rows += fault(chance)
    chance.shuffle(rows)
    return rows


def _ior(chance: random.Random, ranks: int, times: float = 1) -> tuple[str, str]:
    """Returns ior's options for the bytes of a rank, and the storage's rate."""
    bytes_of_rank = int(times * chance.choice([9, 11, 16])) * 8 * MIB // ranks // (4 * MIB) * 4 * MIB
    return f"-b {bytes_of_rank} -k", f"rate={bytes_of_rank / chance.uniform(1.5, 3):.0f}"


def _read(words: str, own: bool = True) -> Row:
    """Returns the command that writes the input of a run that reads."""
    return {"input": f"ior -a POSIX -w {'-F' if own else ''} {words} -t 4m -o DIR/ior.out"}


def _slow_targets(chance: random.Random) -> list[Row]:
    """Returns runs in which one of four targets is slow."""
    words, rate = _ior(chance, 8)
    places = "@".join(f"DIR/t{k}/f" for k in range(4))
    return group(
        "slow-target-0",
        "straggler-target",
        "straggler-rank uneven-times",
        (1, 1.2, 1.6, 3, 6),
        8,
        lambda s: {
            "command": f"ior -a POSIX -w -F {words} -t 1m -o {places}",
            "slow": f"{rate},factor={s}",
            "slow_in": "/t1/",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {f"t{k}": (1, MIB, k) for k in range(4)},
        },
    )


def _slow_hosts_and_ranks(chance: random.Random) -> list[Row]:
    """Returns runs in which a host or a rank is slow, in files of single ranks or in a shared file."""
    words, rate = _ior(chance, 8)
    rows = group(
        "slow-host-0",
        "straggler-host",
        "straggler-rank uneven-times",
        (1, 1.2, 1.6, 3, 6),
        8,
        lambda s: {
            "command": f"on_host.sh 2 ior -a POSIX -r -F {words} -t 2m -o DIR/ior.out",
            **_read(words),
            "slow": f"{rate},factor={s},from=2,to=3",
        },
    )
    rows += group(
        "slow-rank-0",
        "straggler-rank uneven-times",
        "",
        (1, 1.2, 1.6, 3, 6),
        8,
        lambda s: {
            "command": f"ior -a POSIX -w -F {words} -t 2m -o DIR/ior.out",
            "slow": f"{rate},factor={s},from=6,to=6",
        },
    )
    words, rate = _ior(chance, 4)
    rows += group(
        "slow-rank-of-file-0",
        "slow-rank-of-file straggler-rank",
        "uneven-times",
        (1, 1.6, 3, 8),
        4,
        lambda s: {
            "command": f"ior -a POSIX -w {words} -t 2m -o DIR/ior.out",
            "slow": f"{rate},factor={s},from=1,to=1",
        },
    )
    return rows


def _sizes(chance: random.Random) -> list[Row]:
    """Returns runs with small transfers, with transfers in random order, or with many flushes."""
    rows = []
    for fault, way, key in (("small-writes", "-w", "write"), ("small-reads", "-r", "read")):
        words, rate = _ior(chance, 3)
        rows += group(
            f"{fault}-0",
            fault,
            "",
            (4 * MIB, 512 << 10, 128 << 10, 32 << 10, 4 << 10),
            3,
            lambda s: {
                "command": f"ior -a POSIX {way} -F {words} -t {int(s)} -o DIR/ior.out",
                **_read(words),
                "slow": f"{rate},{key}=0.0007",
            },
        )
    words, rate = _ior(chance, 3, 2)
    rows += group(
        "random-access-0",
        "random-access",
        "",
        (0, 1, 2, 4, 8),
        3,
        lambda s: {
            "command": f"ior -a POSIX -r -F {'-z' if s else ''} {words} -t 128k -o DIR/ior.out",
            **_read(words),
            "slow": f"{rate},jump={s / 1000}",
        },
    )
    words, rate = _ior(chance, 3)
    rows += group(
        "sync-each-0",
        "sync-each-write",
        "",
        (0, 1, 4, 16, 60),
        3,
        lambda s: {
            "command": f"ior -a POSIX -w {'-Y' if s else ''} -F {words} -t 512k -o DIR/ior.out",
            "slow": f"{rate},sync={s / 1000}",
        },
    )
    return rows


def _small_rows(chance: random.Random) -> list[Row]:
    """Returns runs with small transfers to a shared file."""
    words, rate = _ior(chance, 4)
    return group(
        "shared-small-0",
        "shared-small-writes",
        "",
        (4 * MIB, 512 << 10, 128 << 10, 32 << 10, 4 << 10),
        4,
        lambda s: {"command": f"ior -a POSIX -w {words} -t {int(s)} -o DIR/ior.out", "slow": f"{rate},write=0.0015"},
    )


def _narrow_stripes(chance: random.Random) -> list[Row]:
    """Returns runs whose shared file lies on too few targets."""
    rows = group(
        "narrow-0",
        "narrow-stripes",
        "shared-stripes stripe-size",
        (4, 2, 1),
        4,
        lambda s: {
            "command": "ior -a POSIX -w -k -b 80m -t 4m -o DIR/ior.out",
            "storage": storage(50),
            "layouts": {".": (int(s), 80 * MIB, -1)},
        },
    )
    rows += group(
        "narrow-of-8-0",
        "narrow-stripes",
        "shared-stripes stripe-size",
        (8, 4, 2, 1),
        8,
        lambda s: {
            "command": "ior -a POSIX -w -k -b 68m -t 4m -o DIR/ior.out",
            "storage": storage(50),
            "layouts": {".": (int(s), 68 * MIB, -1)},
        },
    )
    return rows


def _contended_stripes(chance: random.Random) -> list[Row]:
    """Returns runs in which several ranks write to the same stripes of a shared file."""
    rows = group(
        "contention-0",
        "shared-stripes unaligned-shared",
        "",
        (0, 1, 5, 20, 60),
        4,
        lambda s: {
            "command": f"ior -a POSIX -w -k {'-b 1m -s 20 -t 1m' if s else '-b 20m -t 1m'} -o DIR/ior.out",
            "storage": storage(40, lock_us=200 + 1000 * s),
            "layouts": {".": (4, 2 * MIB if s else 20 * MIB, -1)},
        },
    )
    rows += group(
        "unaligned-0",
        "unaligned-shared",
        "shared-stripes",
        (0, 1, 6, 15),
        4,
        lambda s: {
            "command": f"ior -a POSIX -w -k {'-b 950000 -t 950000' if s else '-b 1m -t 1m'} -s 22 -o DIR/ior.out",
            "storage": storage(50, lock_us=200 + 1000 * s),
            "layouts": {".": (4, MIB, -1)},
        },
    )
    return rows


def _mpiio(chance: random.Random) -> list[Row]:
    """Returns runs with faults of MPI-IO."""
    words, rate = _ior(chance, 4)
    rows = group(
        "independent-0",
        "independent-small",
        "",
        (4 * MIB, 512 << 10, 128 << 10, 32 << 10, 4 << 10),
        4,
        lambda s: {"command": f"ior -a MPIIO -w {words} -t {int(s)} -o DIR/ior.out", "slow": f"{rate},write=0.0015"},
    )
    rows += group(
        "not-gathered-0",
        "not-aggregated",
        "",
        (4 * MIB, 256 << 10, 64 << 10, 16 << 10),
        4,
        lambda s: {
            "command": f"ior -a MPIIO -c -w {words} -t {int(s)} -o DIR/ior.out",
            "slow": f"{rate},write=0.002",
            "hints": "*:romio_cb_write=disable",
        },
    )
    rows += group(
        "aggregators-0",
        "few-aggregators",
        "hints-ignored exchange unaligned-domains shared-stripes",
        (4, 3, 2, 1),
        4,
        lambda s: {
            "command": "ior -a MPIIO -c -w -k -b 4m -s 6 -t 4m -o DIR/ior.out",
            "slow": f"rate={14e6}",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {".": (4, 4 * MIB, -1)},
            "hints": f"*:cb_nodes={int(s)}:cb_config_list=*:*:romio_cb_write=enable",
        },
    )
    return rows


def _targets(chance: random.Random) -> list[Row]:
    """Returns runs in which the files of many ranks lie on few of the targets."""
    bytes_of_rank = 2 * MIB
    return group(
        "few-targets-0",
        "few-targets",
        "",
        (16, 4, 2, 1),
        64,
        lambda s: {
            "command": f"known steps DIR bytes={bytes_of_rank} targets={int(s)} beside=1",
            "slow": f"rate={bytes_of_rank / 8 * s:.0f}",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {"beside": (1, MIB, 15)} | {f"t{k}": (1, MIB, k) for k in range(int(s))},
        },
    )


def _caches(chance: random.Random) -> list[Row]:
    """Returns runs that read an input a second time, from a warm cache."""
    bytes_read = 120 * MIB
    return group(
        "cold-0",
        "cold-then-warm",
        "",
        (1, 1.4, 3, 6),
        2,
        lambda s: {
            "command": f"known probe DIR bytes={bytes_read} piece={4 * MIB} checked=0.7",
            "input": f"known make-input DIR bytes={bytes_read}",
            "slow": f"rate={bytes_read / 1.2:.0f},cold={bytes_read / 1.2 / s:.0f}",
            "options": ["--dxt"],
        },
    )


def _again(chance: random.Random) -> list[Row]:
    """Returns runs that move the same bytes more than once."""
    words, rate = _ior(chance, 3, 0.6)
    rows = group(
        "read-again-0",
        "read-again",
        "",
        (1, 2, 3, 5),
        3,
        lambda s: {
            "command": f"ior -a POSIX -r -F {words} -i {int(s)} -t 2m -o DIR/ior.out",
            **_read(words),
            "slow": rate,
        },
    )
    rows += group(
        "rewriting-0",
        "rewriting",
        "",
        (1, 2, 3, 5),
        3,
        lambda s: {"command": f"ior -a POSIX -w -E -F {words} -i {int(s)} -t 2m -o DIR/ior.out", "slow": rate},
    )
    return rows


def _libraries(chance: random.Random) -> list[Row]:
    """Returns runs of ior through HDF5 and PnetCDF."""
    words, rate = _ior(chance, 4)
    rows = group(
        "hdf5-small-0",
        "hdf5-independent independent-small",
        "",
        (4 * MIB, 512 << 10, 64 << 10, 16 << 10),
        4,
        lambda s: {"command": f"ior -a HDF5 -w {words} -n -t {int(s)} -o DIR/ior.out", "slow": f"{rate},write=0.002"},
    )
    rows += group(
        "hdf5-fill-0",
        "write-amplification hdf5-fill-values",
        "rewriting",
        (0, 1),
        4,
        lambda s: {"command": f"ior -a HDF5 -w {words} {'' if s else '-n'} -t 2m -o DIR/ior.out", "slow": rate},
    )
    rows += group(
        "pnetcdf-small-0",
        "pnetcdf-independent independent-small",
        "",
        (4 * MIB, 512 << 10, 64 << 10, 16 << 10),
        4,
        lambda s: {"command": f"ior -a NCMPI -w {words} -t {int(s)} -o DIR/ior.out", "slow": f"{rate},write=0.002"},
    )
    return rows


def _others(chance: random.Random) -> list[Row]:
    """Returns runs of the other programs with a planted fault, and runs of ior without one."""
    rows = group(
        "metadata-0",
        "metadata-storm",
        "small-writes reopened",
        (0, 1, 4, 16),
        3,
        lambda s: {
            "command": f"metadata -n {400 if s else 1} -u -C -T -d DIR",
            "slow": f"open={s / 2000},stat={s / 4000}",
        },
    )
    rows += group(
        "checkpoint-0",
        "one-writer uneven-ranks",
        "uneven-targets",
        (6, 3, 2, 1),
        6,
        lambda s: {
            "command": f"checkpoint_simulator --nx 1 --ny 1 --im_world 90 --lm 40 --num_arrays 4 --ntrials 3 "
            f"--write_binary --split_file --static_data --gather_3d --num_writers {int(s)} --directory DIR",
            "slow": "rate=12000000",
        },
    )
    for number in range(6):
        ranks = chance.choice([1, 2, 4, 8])
        words, rate = _ior(chance, ranks)
        rows += group(
            f"healthy-{number}",
            "",
            "",
            (0,),
            ranks,
            lambda s: {
                "command": f"ior -a {chance.choice(['POSIX', 'MPIIO'])} -w {chance.choice(['-F', ''])} {words} "
                f"-t {chance.choice([1, 2, 4])}m -o DIR/ior.out",
                "slow": rate,
            },
        )
    return rows


def _known(chance: random.Random, ranks: int, seconds: float = 2.0) -> str:
    """Returns options of the program `known`: the bytes of each rank, and the rate of storage at which a rank moves
    them in about `seconds` seconds.
    """
    bytes_of_rank = chance.choice([9, 11, 16]) * 8 * MIB // ranks
    return f"{bytes_of_rank} rate={bytes_of_rank / chance.uniform(0.8, 1.2) / seconds:.0f}"


def _amount(cost: str, strength: float) -> float:
    """Returns the value of the option that plants a fault of this strength: for a costly seek one seek before each read
    (the strength is its cost), else the share of reads that go back.
    """
    return min(1.0, 1000 * strength) if cost == "seek" else strength


def _some_syncs(chance: random.Random) -> list[Row]:
    """Returns runs that flush the file after some of their writes."""
    bytes_of_rank, rate = _known(chance, 3).split()
    return group(
        "sync-some-0",
        "sync-each-write",
        "",
        (0, 32, 16, 8, 4),
        3,
        lambda s: {
            "command": f"known steps DIR bytes={bytes_of_rank} piece=200000 sync={int(s)}",
            "slow": f"{rate},sync=0.035",
        },
    )


def _turns_of_groups(chance: random.Random) -> list[Row]:
    """Returns runs in which groups of ranks write in turn."""
    ranks = 6
    bytes_of_rank, rate = _known(chance, ranks, 1.3).split()
    return group(
        "turns-of-groups-0",
        "turns",
        "",
        (6, 5, 3, 2, 1),
        ranks,
        lambda s: {
            "command": f"known steps DIR bytes={bytes_of_rank} piece={MIB} abreast={int(s)}",
            "slow": rate,
        },
    )


def _seeks(chance: random.Random) -> list[Row]:
    """Returns runs that seek before each read, or that go back in the file for some reads."""
    rows, bytes_read = [], 48 * MIB
    for fault, expected, key, strengths, cost in (
        ("seek-each", "many-seeks", "seeks", (0, 0.001, 0.002, 0.004), "seek"),
        ("partly-back", "random-access", "back", (0, 0.05, 0.12, 0.25, 0.5), "jump"),
    ):
        rows += group(
            f"{fault}-0",
            expected,
            "metadata-storm",
            strengths,
            3,
            lambda s, key=key, cost=cost: {
                "command": f"known probe DIR bytes={bytes_read} piece=130000 {key}={_amount(cost, s):g}",
                "input": f"known make-input DIR bytes={bytes_read}",
                "slow": f"rate={bytes_read / 2.5},{cost}={s if cost == 'seek' else 0.005}",
            },
        )
    return rows


def _reopenings(chance: random.Random) -> list[Row]:
    """Returns runs that open their file again and again."""
    bytes_of_rank, rate = _known(chance, 3).split()
    return group(
        "journal-0",
        "reopened metadata-storm",
        "",
        (0, 40, 10, 3, 1),
        3,
        lambda s: {
            "command": f"known journal DIR bytes={bytes_of_rank} {f'keep={int(s)}' if s else ''}",
            "slow": f"{rate},open=0.02",
        },
    )


def _tiny_datasets(chance: random.Random) -> list[Row]:
    """Returns runs that write many small datasets of HDF5."""
    return group(
        "tiny-0",
        "hdf5-tiny-datasets",
        "small-writes metadata-storm hdf5-metadata",
        (4 * MIB, 80000, 40000, 10000),
        1,
        lambda s: {
            "mpi": False,
            "command": f"python fields.py DIR {int(s)}",
            "slow": "rate=24000000,write=0.001",
        },
    )


def _uneven_ranks(chance: random.Random) -> list[Row]:
    """Returns runs in which one rank moves more bytes than the others, or moves its bytes more slowly."""
    rows = group(
        "share-0",
        "uneven-ranks one-writer",
        "",
        (1 / 6, 0.3, 0.45, 0.7, 0.97),
        6,
        lambda s: {
            "command": f"known steps DIR bytes={80e6 * s:.0f} others={80e6 * (1 - s) / 5:.0f} piece=400000",
            "slow": "rate=20000000",
        },
    )
    rows += group(
        "slow-rank-of-file-1",
        "slow-rank-of-file",
        "uneven-times straggler-rank",
        (1, 1.8, 2.4, 3.5),
        5,
        lambda s: {
            "command": f"ior -a POSIX -w -b {12 * MIB} -k -t 1m -o DIR/ior.out",
            "slow": f"rate=6000000,factor={s},from=3,to=3",
        },
    )
    return rows


def _planes(chance: random.Random) -> list[Row]:
    """Returns runs that write a dataset of HDF5 plane by plane, in chunks of one or more planes."""
    return group(
        "planes-0",
        "hdf5-fill-values hdf5-chunks write-amplification",
        "rewriting",
        (1, 2, 3, 6),
        1,
        lambda s: {
            "mpi": False,
            "command": f"python planes.py DIR {int(s)}",
            "slow": "rate=90000000",
        },
    )


def _storms(chance: random.Random) -> list[Row]:
    """Returns runs that search for files that do not exist, and healthy starts of Python."""
    bytes_of_rank, rate = _known(chance, 4).split()
    rows = group(
        "search-0",
        "missing-paths",
        "metadata-storm",
        (0, 12, 40, 120),
        4,
        lambda s: {
            "command": f"known look DIR bytes={bytes_of_rank} items={int(s)}",
            "slow": f"{rate},stat=0.002",
        },
    )
    rows += group(
        "imports-0",
        "never-read missing-paths metadata-storm",
        "all-read-one",
        (0, 2, 6, 15),
        4,
        lambda s: {
            "command": f"python imports.py DIR modules={10 * s:g} folders={s:g}",
            "input": f"python imports.py DIR make={10 * s:g} folders={s:g}",
            "slow": "rate=24000000,open=0.001,stat=0.001",
        },
    )
    for number in range(3):
        rows += group(
            f"python-{number}",
            "",
            "",
            (0,),
            1,
            lambda s: {"mpi": False, "command": "python contiguous.py DIR", "slow": "rate=120000000"},
        )
    return rows


def _waiting(chance: random.Random) -> list[Row]:
    """Returns runs whose ranks wait in turn for a lock, and runs with more ranks or threads than cores."""
    rows = group(
        "file-lock-0",
        "lock-waits",
        "",
        (1, 2, 4, 8),
        8,
        lambda s: {"command": f"known locks DIR count=15 hold=0.015 sharing={s}", "slow": "rate=24000000"},
    )
    rows += group(
        "convoy-0",
        "bound-by-asleep",
        "",
        (0, 0.001, 0.01, 0.03),
        1,
        lambda s: {"command": f"known convoy DIR idle=0 threads=4 count=60 work=2 hold={s}"},
    )
    rows += group(
        "crowded-ranks-0",
        "crowded-processors",
        "",
        (2, 3, 4, 8),
        2,
        lambda s: {
            "ranks": int(s),
            "command": "known crowd DIR idle=0 work=700",
            "options": ["--trace", "mpi"],
        },
    )
    rows += group(
        "crowded-threads-0",
        "crowded-processors bound-by-cores",
        "",
        (1, 2, 4, 8),
        1,
        lambda s: {
            "command": f"taskset 1 known crowd DIR idle=0 work=700 threads={int(s)}",
            "options": ["--trace", "mpi"],
        },
    )
    return rows
