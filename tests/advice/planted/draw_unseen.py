"""Chooses at random the runs of the test half: programs in C++, Python and shell that the rules have never seen."""

from __future__ import annotations

import random

from groups import MIB, Row, group, storage

PYTHON = "python unseen.py"
ALONE = {"mpi": False}
"""A run with this setting is one process without MPI."""


def draw(seed: int) -> list[Row]:
    """Returns all runs of a seed; other seeds have other sizes, ranks and rates."""
    rows = []
    for number in range(2):
        chance = random.Random(seed * 1000 + number)
        for fault in (
            _slow_places,
            _slow_ranks,
            _few_ranks,
            _sizes,
            _calls,
            _sharing,
            _mpiio,
            _metadata,
            _again,
            _python,
            _elsewhere,
            _waiting,
            _searching,
            _targets,
            _caches,
        ):
            rows += fault(chance, number)
    chance.shuffle(rows)
    return rows


def _base(chance: random.Random, ranks: int, longest: float = 2.5, times: int = 1) -> tuple[int, str, str]:
    """Returns the bytes of each rank, the option with the storage's rate, and the options with these bytes and the
    seconds without I/O.
    """
    bytes_of_rank = times * chance.choice([10, 12, 14]) * 8 * MIB // ranks
    seconds = chance.uniform(1.2, longest)
    return (
        bytes_of_rank,
        f"rate={bytes_of_rank / seconds:.0f}",
        f"bytes={bytes_of_rank} work={chance.choice([0.5, 1, 2])}",
    )


def _slow_places(chance: random.Random, n: int) -> list[Row]:
    """Returns runs in which one of four targets or a host is slow."""
    ranks = chance.choice([8, 12])
    _, rate, words = _base(chance, ranks)
    rows = group(
        f"slow-target-{n}",
        "straggler-target",
        "straggler-rank uneven-times",
        (1, 1.3, 2, 4, 9),
        ranks,
        lambda s: {
            "command": f"unseen particles DIR {words} piece={MIB} targets=4",
            "slow": f"{rate},factor={s}",
            "slow_in": "/t2/",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {f"t{k}": (1, MIB, k) for k in range(4)},
        },
    )
    _, rate, words = _base(chance, 8)
    rows += group(
        f"slow-host-{n}",
        "straggler-host",
        "straggler-rank uneven-times",
        (1, 1.3, 2, 4, 9),
        8,
        lambda s: {
            "command": f"on_host.sh 2 unseen tracks DIR {words} piece={2 * MIB}",
            "input": f"unseen make-input DIR {words}",
            "slow": f"{rate},factor={s},from=4,to=5",
        },
    )
    return rows


def _slow_ranks(chance: random.Random, n: int) -> list[Row]:
    """Returns runs in which one rank is slow, in files of single ranks or in a shared file."""
    ranks = chance.choice([8, 10])
    _, rate, words = _base(chance, ranks)
    rows = group(
        f"slow-rank-{n}",
        "straggler-rank uneven-times",
        "",
        (1, 1.3, 2, 4, 9),
        ranks,
        lambda s: {"command": f"unseen particles DIR {words} piece={MIB}", "slow": f"{rate},factor={s},from=3,to=3"},
    )
    _, rate, words = _base(chance, 6)
    rows += group(
        f"slow-rank-of-file-{n}",
        "slow-rank-of-file straggler-rank",
        "uneven-times",
        (1, 2, 5, 10, 20),
        6,
        lambda s: {
            "command": f"unseen image DIR {words} piece={2 * MIB} blocks=1",
            "slow": f"{rate},factor={s},from=4,to=4",
        },
    )
    return rows


def _few_ranks(chance: random.Random, n: int) -> list[Row]:
    """Returns runs in which one rank moves more bytes than the others, or few ranks write at the same time."""
    rows = []
    for program, rule in (("particles", "one-writer"), ("tracks", "one-reader")):
        ranks = chance.choice([4, 6])
        _, rate, words = _base(chance, ranks, 1.6)
        even = 1 / ranks
        rows += group(
            f"one-{program}-{n}",
            f"{rule} uneven-ranks",
            "uneven-targets",
            (even, 0.5, 0.7, 0.93, 1),
            ranks,
            lambda s: {
                "command": f"unseen {program} DIR {words} piece={2 * MIB} part={s}",
                "input": f"unseen make-input DIR {words} part=1",
                "slow": rate,
            },
        )
    ranks = chance.choice([4, 6])
    _, rate, words = _base(chance, ranks, 1.5)
    rows += group(
        f"turns-{n}",
        "turns",
        "",
        (ranks, ranks / 2, 2, 1),
        ranks,
        lambda s: {"command": f"unseen relay DIR {words} piece={2 * MIB} abreast={int(s)}", "slow": rate},
    )
    return rows


def _sizes(chance: random.Random, n: int) -> list[Row]:
    """Returns runs with transfers that are too small, in files of single ranks."""
    rows, call = [], chance.choice([5e-4, 1e-3])
    for fault, program, key in (("small-writes", "particles", "write"), ("small-reads", "tracks", "read")):
        ranks = chance.choice([2, 4, 5])
        _, rate, words = _base(chance, ranks)
        rows += group(
            f"{fault}-{n}",
            fault,
            "",
            (4 * MIB, 256 << 10, 64 << 10, 20000, 6000),
            ranks,
            lambda s: {
                "command": f"unseen {program} DIR {words} piece={int(s)}",
                "input": f"unseen make-input DIR {words}",
                "slow": f"{rate},{key}={call}",
            },
        )
    ranks = chance.choice([2, 4])
    _, rate, words = _base(chance, ranks, times=2)
    rows += group(
        f"random-access-{n}",
        "random-access",
        "",
        (0, 0.1, 0.4, 0.7, 1),
        ranks,
        lambda s: {
            "command": f"unseen tracks DIR {words} piece=103000 mixed={s}",
            "input": f"unseen make-input DIR {words}",
            "slow": f"{rate},jump=0.004",
        },
    )
    return rows


def _calls(chance: random.Random, n: int) -> list[Row]:
    """Returns runs with calls that cost time but move no new bytes: syncs, seeks, repeated accesses to one place."""
    ranks = chance.choice([2, 4, 6])
    _, rate, words = _base(chance, ranks)
    cost = chance.choice([0.02, 0.04])
    rows = group(
        f"sync-each-{n}",
        "sync-each-write",
        "",
        (0, 16, 4, 2, 1),
        ranks,
        lambda s: {
            "command": f"unseen particles DIR {words} piece={256 << 10} sync={int(s)}",
            "slow": f"{rate},sync={cost}",
        },
    )
    _, rate, words = _base(chance, 4, times=2)
    rows += group(
        f"seeks-{n}",
        "many-seeks",
        "metadata-storm",
        (0, 1, 3, 8),
        4,
        lambda s: {
            "command": f"unseen tracks DIR {words} piece=103000 seeks={int(s)}",
            "input": f"unseen make-input DIR {words}",
            "slow": f"{rate},seek=0.002",
        },
    )
    _, rate, words = _base(chance, 3)
    rows += group(
        f"one-place-{n}",
        "one-place",
        "small-writes rewriting",
        (0, 300, 1500, 4000, 9000),
        3,
        lambda s: {
            "command": f"unseen status DIR {words} piece={2 * MIB} count={int(s)}",
            "slow": f"{rate},write=0.0006",
        },
    )
    return rows


def _sharing(chance: random.Random, n: int) -> list[Row]:
    """Returns runs with shared files: small rows, too few stripes, stripes that several ranks write."""
    rows = _small_rows(chance, n)
    mine = chance.choice([64, 72]) * MIB
    return [*rows, *_narrow_stripes(mine, n), *_contended_stripes(chance, mine, n)]


def _small_rows(chance: random.Random, n: int) -> list[Row]:
    """Returns runs with small transfers to a shared file."""
    ranks = chance.choice([4, 6])
    _, rate, words = _base(chance, ranks)
    return group(
        f"shared-small-{n}",
        "shared-small-writes",
        "",
        (2 * MIB, 512 << 10, 64 << 10, 16 << 10, 6000),
        ranks,
        lambda s: {"command": f"unseen image DIR {words} piece={int(s)} blocks=1", "slow": f"{rate},write=0.001"},
    )


def _narrow_stripes(mine: int, n: int) -> list[Row]:
    """Returns runs whose shared file lies on too few targets; each rank writes `mine` bytes."""
    rows = group(
        f"narrow-{n}",
        "narrow-stripes",
        "shared-stripes stripe-size",
        (4, 2, 1),
        4,
        lambda s: {
            "command": f"unseen image DIR bytes={mine} work=1 piece={4 * MIB} blocks=1",
            "storage": storage(40),
            "layouts": {".": (int(s), mine, -1)},
        },
    )
    rows += group(
        f"narrow-of-8-{n}",
        "narrow-stripes",
        "shared-stripes stripe-size",
        (8, 4, 2, 1),
        8,
        lambda s: {
            "command": f"unseen image DIR bytes={mine} work=1 piece={8 * MIB} blocks=1",
            "storage": storage(60),
            "layouts": {".": (int(s), mine, -1)},
        },
    )
    return rows


def _contended_stripes(chance: random.Random, mine: int, n: int) -> list[Row]:
    """Returns runs in which several ranks write to the same stripes of a shared file. Each rank writes a quarter of
    `mine` bytes, or 20 MiB in transfers of odd size.
    """
    lock = chance.choice([20000, 40000])
    rows = group(
        f"contention-{n}",
        "shared-stripes unaligned-shared",
        "",
        (0, 2, 8, 24, 99),
        4,
        lambda s: {
            "command": f"unseen image DIR bytes={(mine // 4)} work=1 piece={MIB} {'blocks=1' if not s else ''}",
            "storage": storage(40, lock_us=200 if not s else lock * s / 24),
            "layouts": {".": (4, 2 * MIB if s else mine // 4, -1)},
        },
    )
    piece = chance.choice([900_000, 1_000_000])
    rows += group(
        f"unaligned-{n}",
        "unaligned-shared",
        "shared-stripes",
        (0, 1, 8, 20),
        4,
        lambda s: {
            "command": f"unseen image DIR bytes={20 * MIB} work=1 piece={piece if s else MIB}",
            "storage": storage(60, lock_us=200 + 1000 * s),
            "layouts": {".": (4, MIB, -1)},
        },
    )
    return rows


def _mpiio(chance: random.Random, n: int) -> list[Row]:
    """Returns runs with MPI-IO: independent small calls, collective calls without gathering, too few aggregators."""
    ranks = chance.choice([4, 5])
    _, rate, words = _base(chance, ranks)
    rows = group(
        f"independent-{n}",
        "independent-small",
        "",
        (2 * MIB, 512 << 10, 64 << 10, 16 << 10, 8000),
        ranks,
        lambda s: {"command": f"unseen field DIR {words} piece={int(s)} blocks=1", "slow": f"{rate},write=0.001"},
    )
    rows += group(
        f"not-gathered-{n}",
        "not-aggregated",
        "",
        (4 * MIB, 256 << 10, 64 << 10, 24 << 10),
        4,
        lambda s: {
            "command": f"unseen field DIR {words} piece={int(s)} together=1",
            "slow": f"{rate},write=0.002",
            "hints": "*:romio_cb_write=disable",
        },
    )
    mine = chance.choice([20, 24]) * MIB
    rows += group(
        f"aggregators-{n}",
        "few-aggregators",
        "hints-ignored exchange unaligned-domains shared-stripes",
        (4, 3, 2, 1),
        4,
        lambda s: {
            "command": f"unseen field DIR bytes={mine} work=1 piece={4 * MIB} together=1",
            "slow": f"rate={12e6}",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {".": (4, 4 * MIB, -1)},
            "hints": f"*:cb_nodes={int(s)}:cb_config_list=*:*:romio_cb_write=enable",
        },
    )
    return rows


def _metadata(chance: random.Random, n: int) -> list[Row]:
    """Returns runs that open, close and query very many files."""
    ranks = chance.choice([2, 4])
    _, rate, words = _base(chance, ranks)
    rows = group(
        f"catalog-{n}",
        "metadata-storm",
        "small-writes reopened",
        (0, 30, 100, 400),
        ranks,
        lambda s: {
            "command": f"unseen catalog DIR {words} piece={2 * MIB} items={int(s)} looks=6",
            "slow": f"{rate},open=0.003,stat=0.001",
        },
    )
    _, rate, words = _base(chance, ranks)
    rows += group(
        f"diary-{n}",
        "reopened metadata-storm",
        "small-writes",
        (0, 64, 16, 4, 1),
        ranks,
        lambda s: {
            "command": f"unseen diary DIR {words} piece=103000 {f'keep={int(s)}' if s else ''}",
            "slow": f"{rate},open=0.004",
        },
    )
    _, rate, words = _base(chance, 3)
    rows += group(
        f"start-up-{n}",
        "missing-paths never-read metadata-storm",
        "reopened",
        (0, 20, 60, 200),
        3,
        lambda s: {
            "command": f"unseen search DIR {words} piece={2 * MIB} items={int(s)} folders=8",
            "slow": f"{rate},open=0.002",
        },
    )
    return rows


def _again(chance: random.Random, n: int) -> list[Row]:
    """Returns runs that read or write the same bytes more than once."""
    rows = []
    for fault, program in (("read-again", "tracks"), ("rewriting", "particles")):
        ranks = chance.choice([2, 4, 6])
        _, rate, words = _base(chance, ranks, 1.5)
        rows += group(
            f"{fault}-{n}",
            fault,
            "",
            (1, 1.0001, 2, 3, 5),
            ranks,
            lambda s: {
                "command": f"unseen {program} DIR {words} piece={2 * MIB} passes={int(s)}",
                "input": f"unseen make-input DIR {words}",
                "slow": rate,
            },
        )
    mine = chance.choice([10, 24]) * MIB
    rows += group(
        f"all-read-{n}",
        "all-read-one",
        "narrow-stripes",
        (1, 2, 4, 8),
        8,
        lambda s: {
            "command": f"unseen table DIR bytes={mine} work=1 readers={int(s)}",
            "input": f"unseen make-input DIR bytes={mine}",
            "storage": storage(40),
            "layouts": {".": (1, MIB, -1)},
        },
    )
    return rows


def _python(chance: random.Random, n: int) -> list[Row]:
    """Returns runs of programs in Python and shell."""
    rate = f"rate={chance.choice([60e6, 80e6]):.0f}"
    whole = chance.choice([128, 160]) * MIB
    return [
        *_pieces(whole, rate, n),
        *_datasets(whole, rate, n),
        *_ranks_in_python(whole, rate, n),
        *_dd(whole, rate, n),
    ]


def _pieces(whole: int, rate: str, n: int) -> list[Row]:
    """Returns runs of one process in Python that writes small pieces of text, or reads pieces in random order."""
    rows = group(
        f"lines-{n}",
        "small-writes",
        "",
        (4 * MIB, 64 << 10, 16 << 10, 8000),
        1,
        lambda s: (
            ALONE
            | {"command": f"{PYTHON} lines DIR bytes={whole} work=1 piece={int(s)}", "slow": f"{rate},write=0.0008"}
        ),
    )
    rows += group(
        f"pick-{n}",
        "random-access",
        "",
        (0, 0.3, 0.8, 1),
        1,
        lambda s: (
            ALONE
            | {
                "command": f"{PYTHON} pick DIR bytes={whole} work=1 piece=103000 mixed={s}",
                "slow": f"{rate},jump=0.004",
                "input": f"unseen make-input DIR bytes={whole}",
            }
        ),
    )
    return rows


def _datasets(whole: int, rate: str, n: int) -> list[Row]:
    """Returns runs of one process in Python that writes datasets of HDF5: small ones, parts of chunks, or datasets
    with fill values.
    """
    rows = group(
        f"datasets-{n}",
        "hdf5-tiny-datasets",
        "small-writes metadata-storm random-access many-seeks",
        (8 * MIB, 64 << 10, 24 << 10, 8000),
        1,
        lambda s: (
            ALONE
            | {
                "command": f"{PYTHON} datasets DIR bytes={whole // 4} work=1 piece={int(s)}",
                "slow": f"{rate},write=0.001",
            }
        ),
    )
    rows += group(
        f"chunks-{n}",
        "hdf5-chunks write-amplification hdf5-fill-values",
        "rewriting read-again small-writes small-reads",
        (1, 2, 4, 16),
        1,
        lambda s: (
            ALONE
            | {
                "command": f"{PYTHON} chunks DIR work=1 columns=16384 count=1200 rows={int(s)}",
                "slow": "rate=80000000,write=0.0003,read=0.0003",
            }
        ),
    )
    rows += group(
        f"fill-{n}",
        "write-amplification hdf5-fill-values",
        "rewriting",
        (0, 0.25, 0.5, 1),
        1,
        lambda s: ALONE | {"command": f"{PYTHON} filled DIR bytes={whole} work=1 late={s}", "slow": rate},
    )
    return rows


def _ranks_in_python(whole: int, rate: str, n: int) -> list[Row]:
    """Returns runs of several ranks in Python: with small calls of MPI-IO, or with few ranks that write."""
    rows = group(
        f"slabs-{n}",
        "independent-small",
        "unaligned-shared",
        (MIB, 64 << 10, 24 << 10, 10000),
        3,
        lambda s: {
            "command": f"{PYTHON} slabs DIR bytes={whole // 3} work=1 piece={int(s)}",
            "slow": f"{rate},write=0.002",
        },
    )
    rows += group(
        f"saved-{n}",
        "one-writer uneven-ranks",
        "uneven-targets",
        (4, 2, 1),
        4,
        lambda s: {"command": f"{PYTHON} saved DIR bytes={whole // 4} work=1 savers={int(s)}", "slow": rate},
    )
    return rows


def _dd(whole: int, rate: str, n: int) -> list[Row]:
    """Returns runs of the program dd with small blocks."""
    return group(
        f"dd-{n}",
        "small-writes",
        "sync-each-write",
        (4 * MIB, 64 << 10, 32 << 10, 16 << 10),
        1,
        lambda s: (
            ALONE
            | {
                "command": f"dd if=/dev/zero of=DIR/zeros bs={int(s)} count={whole // int(s)}",
                "slow": f"{rate},write=0.001",
            }
        ),
    )


def _elsewhere(chance: random.Random, n: int) -> list[Row]:
    """Returns runs that mostly sleep, and healthy runs with I/O of several kinds."""
    rows = group(
        f"asleep-{n}",
        "",
        "",
        (0, 2, 4, 6),
        2,
        lambda s: {"command": f"unseen particles DIR bytes={2 * MIB} work={s} piece={MIB}", "slow": "rate=50000000"},
    )
    for number in range(3):
        ranks = chance.choice([1, 2, 4, 6, 8])
        _, rate, words = _base(chance, ranks)
        piece = chance.choice([1, 2, 4]) * MIB
        program = chance.choice(["particles", "tracks", "image", "field"])
        more = "blocks=1" if program in ("image", "field") else ""
        rows += group(
            f"healthy-{3 * n + number}",
            "",
            "",
            (0,),
            ranks,
            lambda s: {
                "command": f"unseen {program} DIR {words} piece={piece} {more}",
                "slow": rate,
                "input": f"unseen make-input DIR {words}",
            },
        )
    return rows


def _waiting(chance: random.Random, n: int) -> list[Row]:
    """Returns runs whose ranks wait in turn for a lock, and runs with more ranks or threads than cores."""
    ranks, rate, hold = chance.choice([4, 6]), chance.choice([2e7, 3e7]), chance.choice([0.01, 0.02, 0.03])
    rows = group(
        f"ledger-{n}",
        "lock-waits",
        "",
        (1, 2, 3, ranks),
        ranks,
        lambda s: {"command": f"unseen ledger DIR work=1 hold={hold} sharing={s}", "slow": f"rate={rate}"},
    )
    workers, keep = chance.choice([3, 6]), chance.choice([0.005, 0.01])
    rows += group(
        f"queue-{n}",
        "bound-by-asleep",
        "",
        (0, 1, 3, 6),
        1,
        lambda s: {"command": f"unseen queue DIR workers={workers} count=200 keep={keep * s}"},
    )
    millions = chance.choice([30, 40])
    rows += group(
        f"crunch-ranks-{n}",
        "crowded-processors",
        "",
        (2, 3, 5, 7),
        2,
        lambda s: {
            "ranks": int(s),
            "command": f"unseen crunch DIR millions={millions}",
            "options": ["--trace", "mpi"],
        },
    )
    rows += group(
        f"crunch-threads-{n}",
        "crowded-processors bound-by-cores",
        "",
        (1, 2, 3, 6),
        1,
        lambda s: {"command": f"taskset 2 unseen crunch DIR millions={millions} workers={int(s)}"},
    )
    return rows


def _searching(chance: random.Random, n: int) -> list[Row]:
    """Returns runs that search for modules in many folders at their start, and runs with too many stripes for one
    rank's file.
    """
    ranks = chance.choice([2, 3])
    plugins, mine = chance.choice([40, 60]), chance.choice([40, 48]) * MIB
    rows = group(
        f"plugins-{n}",
        "missing-paths never-read metadata-storm",
        "all-read-one",
        (1, 4, 12, 30),
        ranks,
        lambda s: {
            "command": f"python unseen.py plugins DIR bytes={mine} work=0.5 plugins={plugins} folders={int(s)}",
            "input": f"python unseen.py make_plugins DIR plugins={plugins} folders={int(s)}",
            "slow": "rate=20000000,stat=0.002,open=0.0005",
        },
    )
    _, rate, words = _base(chance, 2)
    items = chance.choice([120, 160])
    rows += group(
        f"wide-{n}",
        "wide-stripes wide-for-one",
        "metadata-storm",
        (1, 4, 8, 16),
        2,
        lambda s: {
            "command": f"unseen catalog DIR {words} piece={2 * MIB} items={items} looks=1",
            "slow": f"{rate},open={0.0008 * s},stat={0.0004 * s}",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {".": (int(s), MIB, -1)},
        },
    )
    return rows


def _targets(chance: random.Random, n: int) -> list[Row]:
    """Returns runs in which the files of many ranks lie on few of the targets."""
    ranks, mine = chance.choice([64, 72]), chance.choice([2, 3]) * MIB
    busiest = chance.uniform(4, 8)
    return group(
        f"few-targets-{n}",
        "few-targets",
        "",
        (12, 3, 2, 1),
        ranks,
        lambda s: {
            "command": f"unseen particles DIR bytes={mine} work=1 piece={MIB} targets={int(s)} beside=1",
            "slow": f"rate={mine * s / busiest:.0f}",
            "storage": storage(100000, ost_rpc_us=0),
            "layouts": {"beside": (1, MIB, 11)} | {f"t{k}": (1, MIB, k) for k in range(int(s))},
        },
    )


def _caches(chance: random.Random, n: int) -> list[Row]:
    """Returns runs that read an input a second time, from a warm cache."""
    mine, warm = chance.choice([104, 120]) * MIB, chance.uniform(0.8, 1.5)
    return group(
        f"cold-{n}",
        "cold-then-warm",
        "",
        (1, 1.3, 3, 8),
        chance.choice([1, 2]),
        lambda s: {
            "command": f"unseen tracks DIR bytes={mine} work=1 piece={2 * MIB} checked=0.75",
            "input": f"unseen make-input DIR bytes={mine}",
            "slow": f"rate={mine / warm:.0f},cold={mine / warm / s:.0f}",
            "options": ["--dxt"],
        },
    )
