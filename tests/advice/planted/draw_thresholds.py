"""Draws the runs of the half that thresholds are chosen with: the bundled C workloads, mostly ior."""

from __future__ import annotations

import random

from groups import MIB, Row, group, storage


def draw(seed: int) -> list[Row]:
    """Returns all runs of a seed."""
    chance, rows = random.Random(seed), []
    for fault in (_uneven_times, _sizes, _shared, _mpiio, _again, _libraries, _others):
        rows += fault(chance)
    chance.shuffle(rows)
    return rows


def _ior(chance: random.Random, ranks: int, times: float = 1) -> tuple[str, str]:
    """Returns ior's options for the bytes of a rank, and the storage's rate."""
    bytes_of_rank = int(times * chance.choice([9, 11, 16])) * 8 * MIB // ranks // (4 * MIB) * 4 * MIB
    return f"-b {bytes_of_rank} -k", f"rate={bytes_of_rank / chance.uniform(1.5, 3):.0f}"


def _read(words: str, own: bool = True) -> Row:
    """Returns the input of a run that reads."""
    return {"input": f"ior -a POSIX -w {'-F' if own else ''} {words} -t 4m -o DIR/ior.out"}


def _uneven_times(chance: random.Random) -> list[Row]:
    """Returns slow targets, hosts and ranks."""
    words, rate = _ior(chance, 8)
    places = "@".join(f"DIR/t{k}/f" for k in range(4))
    rows = group(
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
    words, rate = _ior(chance, 8)
    rows += group(
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
    """Returns small transfers, transfers in no order, and flushes."""
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


def _shared(chance: random.Random) -> list[Row]:
    """Returns shared files."""
    words, rate = _ior(chance, 4)
    rows = group(
        "shared-small-0",
        "shared-small-writes",
        "",
        (4 * MIB, 512 << 10, 128 << 10, 32 << 10, 4 << 10),
        4,
        lambda s: {"command": f"ior -a POSIX -w {words} -t {int(s)} -o DIR/ior.out", "slow": f"{rate},write=0.0015"},
    )
    rows += group(
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
    rows += group(
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
    """Returns MPI-IO."""
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


def _again(chance: random.Random) -> list[Row]:
    """Returns bytes that move more than once."""
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
    """Returns HDF5 and PnetCDF through ior."""
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
    """Returns other workloads."""
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
