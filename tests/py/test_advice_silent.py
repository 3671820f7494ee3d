"""Tests each rule that no sample log triggers on made-up jobs: one in which the rule must find something, and a similar
one in which it must not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from iolens.log import Job, Mount
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.wording.subject_words import cold_caches
from job_example import MIB, frame, job_of
from test_advise_rules import layouts, own_files, said

Rows = list[dict[str, Any]]
SHARED = {"rank": -1, "SLOWEST_RANK": 3, "SLOWEST_RANK_BYTES": 16 * MIB}


@dataclass(frozen=True)
class RuleTwin:
    """A rule, the function that makes a job in which it must find something, and the arguments that change this job so
    that it must not.
    """

    rule: str
    make: Callable[..., Job]
    twin: Mapping[str, Any]


def made(frames: dict[str, pd.DataFrame], nprocs: int = 8, names: dict[int, str] | None = None) -> Job:
    return job_of(100.0, nprocs=nprocs, frames=frames, names=names or {key: f"/scratch/f.{key}" for key in range(9000)})


def slow_rank(slowest: float = 40.0, rank: int = 3, own: int = 16) -> Job:
    """Returns a job in which eight ranks write 16 MiB each into one file in 0.5 s; only `rank` takes `slowest` seconds
    and writes `own` MiB.
    """
    row = SHARED | {"id": 1, "WRITES": 256, "BYTES_WRITTEN": 128 * MIB, "MAX_BYTE_WRITTEN": 128 * MIB - 1}
    row |= {"F_WRITE_TIME": 3.5 + slowest, "F_SLOWEST_RANK_TIME": slowest, "SIZE_WRITE_100K_1M": 256}
    return made({"POSIX": frame("POSIX", [row | {"SLOWEST_RANK": rank, "SLOWEST_RANK_BYTES": own * MIB}])})


def mpiio_time(above: float = 40.0, collective: bool = False) -> Job:
    """Returns a job in which four ranks write large pieces with independent calls: POSIX takes 5 s, and MPI-IO `above`
    seconds.
    """
    bytes_moved = {"BYTES_WRITTEN": 512 * MIB}
    call = "COLL_WRITES" if collective else "INDEP_WRITES"
    upper = bytes_moved | {"id": 1, "rank": -1, call: 64, "F_WRITE_TIME": 4 * above, "F_SLOWEST_RANK_TIME": above}
    lower = bytes_moved | {"id": 1, "rank": -1, "WRITES": 64, "F_WRITE_TIME": 20.0, "F_SLOWEST_RANK_TIME": 5.0}
    frames = {
        "MPI-IO": frame("MPI-IO", [upper]),
        "POSIX": frame("POSIX", [lower | {"MAX_BYTE_WRITTEN": 512 * MIB - 1}]),
    }
    return made(frames, nprocs=4)


def one_place(place: int = 64, calls: int = 50000) -> Job:
    """Returns a job in which a rank writes 64 bytes many times, all within the same `place` bytes of the file."""
    row = {"id": 1, "rank": 0, "WRITES": calls, "BYTES_WRITTEN": 64 * calls, "MAX_BYTE_WRITTEN": place - 1}
    return made({"POSIX": frame("POSIX", [row | {"F_WRITE_TIME": 30.0, "SIZE_WRITE_0_100": calls}])}, nprocs=1)


def seeks(each: float = 3.0, opens: int = 1) -> Job:
    """Returns a job in which a rank reads 5000 times and seeks `each` times before each read."""
    row = {"id": 1, "rank": 0, "READS": 5000, "BYTES_READ": 5000 * 8192, "MAX_BYTE_READ": 5000 * 8192 - 1}
    row |= {"OPENS": opens, "SEEKS": int(5000 * each), "SEQ_READS": 4999, "F_META_TIME": 20.0, "F_READ_TIME": 1.0}
    return made({"POSIX": frame("POSIX", [row | {"SIZE_READ_1K_10K": 5000}])}, nprocs=1)


def synced(seconds: float = 20.0, calls: int = 40) -> Job:
    """Returns a job in which a rank writes 640 times and calls fsync `calls` times, which takes `seconds` seconds in
    all.
    """
    row = {"id": 1, "rank": 0, "WRITES": 640, "BYTES_WRITTEN": 640 * MIB, "MAX_BYTE_WRITTEN": 640 * MIB - 1}
    row |= {"FSYNCS": calls, "F_WRITE_TIME": 10.0 + seconds, "SIZE_WRITE_1M_4M": 640}
    extra = pd.DataFrame({"file": [1], "rank": [0], "seconds": [0.0], "sync_seconds": [seconds]})
    return job_of(
        100.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/d/f"}, private={"posix_extra": extra}
    )


def common_input(readers: int = 6, name: str = "/scratch/table") -> Job:
    """Returns a job of eight ranks, of which the first `readers` read the same 8 MiB."""
    row = {"id": 1, "READS": 8, "BYTES_READ": 8 * MIB, "MAX_BYTE_READ": 8 * MIB - 1, "F_READ_TIME": 20.0}
    rows = [row | {"rank": rank} for rank in range(readers)]
    return made({"POSIX": frame("POSIX", rows)}, names={1: name})


def search(files: int = 400, path: str = "/usr/lib/python3/site-packages/m.{}", read: int = 0) -> Job:
    """Returns a job in which each of two ranks calls stat on `files` files."""
    rows = [
        {"id": 1000 * rank + number, "rank": rank, "STATS": 2, "F_META_TIME": 0.05, "BYTES_READ": read, "READS": read}
        for rank in range(2)
        for number in range(files)
    ]
    return made({"POSIX": frame("POSIX", rows)}, nprocs=2, names={key: path.format(key) for key in range(3000)})


def inside_stripes(unaligned: int = 16, stripes: int = 4) -> Job:
    """Returns a job in which each of eight ranks writes 16 pieces of one stripe's size to its own file; `unaligned` of
    them do not begin at a stripe's edge.
    """
    own = own_files([20.0] * 8, FILE_ALIGNMENT=4 * MIB, FILE_NOT_ALIGNED=unaligned)
    layout = layouts({rank: [(rank + each) % 8 for each in range(stripes)] for rank in range(8)}, 4 * MIB)
    return made({"POSIX": own, "LUSTRE": layout})


def wide(stripes: int = 16, size: int = MIB // 4) -> Job:
    """Returns a job in which a rank reads four files of `stripes` stripes of 1 MiB each, in pieces of `size` bytes."""
    row = {"rank": 0, "READS": 400, "BYTES_READ": 400 * size, "MAX_BYTE_READ": 400 * size - 1, "SEQ_READS": 399}
    rows = [row | {"id": key, "F_META_TIME": 4.0, "F_READ_TIME": 1.0} for key in range(1, 5)]
    layout = layouts({key: list(range(stripes)) for key in range(1, 5)})
    return made({"POSIX": frame("POSIX", rows), "LUSTRE": layout}, nprocs=1)


def crowded(targets: int = 4, highest: int = 63, step: int = 1) -> Job:
    """Returns a job in which each of 1024 ranks writes its own file on this many targets; one more file lies on the
    target with the highest number. The layouts stand in the order of the ranks, or backwards for a step of -1.
    """
    own = own_files([20.0] * 1024)
    places = {rank: [rank % targets] for rank in range(1024)[::step]}
    return made({"POSIX": own, "LUSTRE": layouts(places | {5000: [highest]})}, nprocs=1024)


def unequal(spread: float = 60.0) -> Job:
    """Returns a job in which twelve ranks write equal amounts. Five take three times as long as the others, and one
    takes the given seconds.
    """
    return made({"POSIX": own_files([8.0] * 6 + [24.0] * 5 + [spread])}, nprocs=12)


def locks(name: str = "/scratch/run.lock", opens: int = 400) -> Job:
    row = {"id": 1, "rank": 0, "OPENS": opens, "F_META_TIME": 0.01}
    return made({"POSIX": frame("POSIX", [row])}, names={1: name})


def hdf5(
    datasets: int = 2, calls: int = 8000, size: int = 4096, meta: float = 1.0, opens: int = 8, **fields: Any
) -> Job:
    """Returns a job in which eight ranks access datasets of one file; POSIX moves `below` times the bytes that HDF5
    moves.
    """
    below = fields.pop("below", 1)
    row = SHARED | {"WRITES": calls // datasets, "BYTES_WRITTEN": calls // datasets * size, "OPENS": opens}
    row |= {"F_WRITE_TIME": 160.0 / datasets, "F_META_TIME": 8 * meta / datasets, "DATATYPE_SIZE": 8}
    row |= {"F_SLOWEST_RANK_TIME": (20.0 + meta) / datasets, "SLOWEST_RANK": 0} | fields
    rows = [row | {"id": 100 + number} for number in range(datasets)]
    posix = {"id": 1, "rank": -1, "WRITES": 200, "BYTES_WRITTEN": calls * size * below, "F_WRITE_TIME": 160.0}
    posix |= {"F_SLOWEST_RANK_TIME": 20.0, "MAX_BYTE_WRITTEN": calls * size * below - 1}
    files = frame("H5F", [{"id": 1, "rank": -1, "OPENS": 8, "USE_MPIIO": 1}])
    return made({"H5D": frame("H5D", rows), "H5F": files, "POSIX": frame("POSIX", [posix])})


def filled(more: float = 1.0, read: float = 0.0, each: int = 16 * MIB) -> Job:
    """Returns a job in which one process writes HDF5 datasets of `each` bytes, 4 of them or 64 MiB; POSIX writes 1 +
    `more` times as many bytes, and reads `read` times as many.
    """
    datasets, given = max(4, 64 * MIB // each), max(4 * each, 64 * MIB)
    row = {"rank": 0, "WRITES": 1, "BYTES_WRITTEN": each, "DATASPACE_NPOINTS": each // 8, "DATATYPE_SIZE": 8}
    rows = [row | {"id": 100 + number, "F_WRITE_TIME": 0.1} for number in range(datasets)]
    posix = {"id": 1, "rank": 0, "WRITES": 200, "BYTES_WRITTEN": int(given * (1 + more)), "F_WRITE_TIME": 40.0}
    posix |= {"BYTES_READ": int(given * read), "READS": 9, "MAX_BYTE_WRITTEN": given - 1}
    files = frame("H5F", [{"id": 1, "rank": 0, "OPENS": 1}])
    return made({"H5D": frame("H5D", rows), "H5F": files, "POSIX": frame("POSIX", [posix])}, nprocs=1)


def objects(unaligned: int = 64, opened: int = 1, stripes: int = 4) -> Job:
    """Returns a job in which one process writes 64 pieces of 4 MiB into a striped HDF5 file; this many begin inside a
    stripe.
    """
    posix = {"id": 1, "rank": 0, "WRITES": 64, "BYTES_WRITTEN": 256 * MIB, "MAX_BYTE_WRITTEN": 256 * MIB - 1}
    posix |= {"FILE_NOT_ALIGNED": unaligned, "FILE_ALIGNMENT": MIB, "F_WRITE_TIME": 40.0}
    posix |= {"SIZE_WRITE_1M_4M": 64}
    files = frame("H5F", [{"id": opened, "rank": 0, "OPENS": 1}])
    places = layouts({1: list(range(stripes))}, MIB)
    return made({"H5F": files, "POSIX": frame("POSIX", [posix]), "LUSTRE": places}, nprocs=1)


def pnetcdf(independent: int = 8000, collective: int = 0, redefs: int = 0, below: int = 1) -> Job:
    """Returns a job in which eight ranks write variables of one file in 4 KiB pieces; POSIX moves `below` times as
    much.
    """
    moved = (independent + collective) * 4096
    row = {"id": 100, "rank": -1, "INDEP_WRITES": independent, "COLL_WRITES": collective, "BYTES_WRITTEN": moved}
    row |= {"F_WRITE_TIME": 160.0, "F_SLOWEST_RANK_TIME": 20.0}
    posix = {"id": 1, "rank": -1, "WRITES": 200, "BYTES_WRITTEN": moved * below, "MAX_BYTE_WRITTEN": moved * below - 1}
    posix |= {"F_WRITE_TIME": 160.0, "F_SLOWEST_RANK_TIME": 20.0}
    files = frame("PNETCDF_FILE", [{"id": 1, "rank": -1, "CREATES": 8, "REDEFS": redefs}])
    return made({"PNETCDF_VAR": frame("PNETCDF_VAR", [row]), "PNETCDF_FILE": files, "POSIX": frame("POSIX", [posix])})


CHUNK = {"CHUNK_SIZE_D1": 1 << 20, "USE_MPIIO_COLLECTIVE": 1}
CASES = [
    RuleTwin("slow-rank-of-file", slow_rank, {"slowest": 0.9}),
    RuleTwin("slow-rank-of-file", slow_rank, {"own": 128}),
    RuleTwin("mpiio-above-posix", mpiio_time, {"above": 10.0}),
    RuleTwin("mpiio-above-posix", mpiio_time, {"collective": True}),
    RuleTwin("one-place", one_place, {"place": 64 * 50000}),
    RuleTwin("one-place", one_place, {"calls": 500}),
    RuleTwin("many-seeks", seeks, {"each": 0.5}),
    RuleTwin("many-seeks", seeks, {"opens": 5000}),
    RuleTwin("sync-each-write", synced, {"seconds": 0.5}),
    RuleTwin("sync-each-write", synced, {"calls": 4}),
    RuleTwin("all-read-one", common_input, {"readers": 3}),
    RuleTwin("all-read-one", common_input, {"name": "/opt/lib/python3/site-packages/table.pyc"}),
    RuleTwin("never-read", search, {"files": 60}),
    RuleTwin("never-read", search, {"read": 10}),
    RuleTwin("never-read", search, {"path": "/scratch/items/{}"}),
    RuleTwin("unaligned-own", inside_stripes, {"unaligned": 8}),
    RuleTwin("unaligned-own", inside_stripes, {"stripes": 1}),
    RuleTwin("wide-for-one", wide, {"stripes": 4}),
    RuleTwin("wide-for-one", wide, {"size": 2 * MIB}),
    RuleTwin("few-targets", crowded, {"targets": 72, "highest": 200}),
    RuleTwin("few-targets", crowded, {"highest": 4}),
    RuleTwin("uneven-times", unequal, {"spread": 26.0}),
    RuleTwin("lock-files", locks, {"name": "/scratch/run.dat"}),
    RuleTwin("lock-files", locks, {"opens": 3}),
    RuleTwin("hdf5-independent", hdf5, {"USE_MPIIO_COLLECTIVE": 1}),
    RuleTwin("hdf5-independent", hdf5, {"size": 2 * MIB}),
    RuleTwin("hdf5-metadata", lambda **changes: hdf5(**{"opens": 4000, "meta": 40.0} | changes), {"meta": 4.0}),
    RuleTwin("hdf5-metadata", lambda **changes: hdf5(**{"opens": 4000, "meta": 40.0} | changes), {"opens": 8}),
    RuleTwin("hdf5-chunks", lambda **changes: hdf5(**{"below": 4, **CHUNK} | changes), {"below": 1}),
    RuleTwin("hdf5-chunks", lambda **changes: hdf5(**{"below": 4, **CHUNK} | changes), {"CHUNK_SIZE_D1": 512}),
    RuleTwin(
        "hdf5-tiny-datasets", lambda **changes: hdf5(**{"datasets": 2000, "calls": 8000} | changes), {"datasets": 20}
    ),
    RuleTwin(
        "hdf5-tiny-datasets", lambda **changes: hdf5(**{"datasets": 2000, "calls": 8000} | changes), {"size": MIB}
    ),
    RuleTwin("hdf5-fill-values", filled, {"more": 0.05}),
    RuleTwin("hdf5-fill-values", filled, {"read": 1.0}),
    RuleTwin("hdf5-fill-values", filled, {"more": 3.0}),
    RuleTwin("hdf5-fill-values", filled, {"each": MIB // 32}),
    RuleTwin("hdf5-unaligned", objects, {"unaligned": 4}),
    RuleTwin("hdf5-unaligned", objects, {"opened": 2}),
    RuleTwin("hdf5-unaligned", objects, {"stripes": 1}),
    RuleTwin("pnetcdf-independent", pnetcdf, {"independent": 0, "collective": 8000}),
    RuleTwin("pnetcdf-redefine", lambda **changes: pnetcdf(**{"redefs": 3, "below": 8} | changes), {"redefs": 0}),
    RuleTwin("pnetcdf-redefine", lambda **changes: pnetcdf(**{"redefs": 3, "below": 8} | changes), {"below": 1}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{'-'.join(case.twin)}")
def test_a_fault_is_found_and_its_near_twin_is_not(case: RuleTwin) -> None:
    found = said(case.make())
    assert case.rule in found
    assert found[case.rule].evidence
    assert case.rule not in said(case.make(**case.twin))


def test_a_slow_rank_of_a_shared_file_is_named_with_its_bytes_and_times() -> None:
    """In this job one rank takes eighty times as long as the mean of the others."""
    found = said(slow_rank())["slow-rank-of-file"]
    assert found.evidence == (
        "Rank 3 took 40 s in f.1, 80.0 times the mean of the 7 other ranks, and moved 16 MiB of 128 MiB."
    )
    assert found.gain == pytest.approx(0.395)
    assert found.severity == "high"


def test_mpiio_on_nfs_is_noted_of_short_jobs_too() -> None:
    upper = {"id": 1, "rank": -1, "INDEP_WRITES": 4, "BYTES_WRITTEN": 4096, "F_WRITE_TIME": 0.01}
    for kind, noted in (("nfs4", True), ("lustre", False)):
        short = job_of(
            2.0, frames={"MPI-IO": frame("MPI-IO", [upper])}, mounts=(Mount(kind, "/scratch"),), names={1: "/scratch/f"}
        )
        found = said(short)
        assert ("nfs-mpiio" in found) is noted
        assert not noted or found["nfs-mpiio"].severity == "note"


@pytest.mark.parametrize(("seconds", "written", "noted"), [(0.4, 0, True), (2.0, 0, False), (0.4, 1, False)])
def test_the_same_reads_far_slower_than_in_another_run_are_noted(seconds: float, written: int, noted: bool) -> None:
    def run(spent: float) -> Subject:
        row = {"id": 1, "rank": 0, "READS": 512, "BYTES_READ": 512 * MIB, "MAX_BYTE_READ": 512 * MIB - 1}
        posix = frame("POSIX", [row | {"F_READ_TIME": spent, "BYTES_WRITTEN": written}])
        return Subject("run", Path("run"), (Trial(Path("run"), job=made({"POSIX": posix}, nprocs=1)),))

    found = cold_caches(Subjects((run(6.0), run(seconds))))
    assert found.startswith("B read 512 MiB of /scratch/f.1 in 0.4") is noted
    assert ("was it in a cache for B?" in found) is noted


def test_fill_values_and_unaligned_objects_are_said_once() -> None:
    """Rules that find the same fault in files of other kinds leave HDF5 files to the rules about HDF5."""
    assert set(said(filled())) == {"hdf5-fill-values", "rewriting"}
    assert next(iter(said(filled()))) == "hdf5-fill-values"
    assert set(said(objects())) == {"hdf5-unaligned"}
    assert "write-amplification" in said(filled(more=3.0))
    assert "unaligned-own" in said(objects(opened=2))


def test_one_place_is_not_called_random_access() -> None:
    """In this job each write begins before the end of the previous one, at nearly the same place of the file."""
    assert "random-access" not in said(one_place())


def test_a_slow_rank_is_bounded_by_the_files_in_which_it_is_the_slowest() -> None:
    row = SHARED | {"WRITES": 256, "BYTES_WRITTEN": 128 * MIB, "MAX_BYTE_WRITTEN": 128 * MIB - 1}
    row |= {"F_WRITE_TIME": 43.5, "F_SLOWEST_RANK_TIME": 40.0, "SLOWEST_RANK_BYTES": 16 * MIB}
    rows = [row | {"id": key, "SLOWEST_RANK": rank} for key, rank in ((1, 3), (2, 3), (3, 5))]
    assert said(made({"POSIX": frame("POSIX", rows[:1])}))["slow-rank-of-file"].gain == pytest.approx(0.395)
    assert said(made({"POSIX": frame("POSIX", rows)}))["slow-rank-of-file"].gain == pytest.approx(0.79)


def test_tiny_datasets_cost_what_is_written_when_their_file_is_closed() -> None:
    """Most bytes of small datasets reach the file only after H5Dwrite, when the file is closed."""
    found = said(hdf5(datasets=2000, calls=8000, F_WRITE_TIME=1e-5, F_SLOWEST_RANK_TIME=1e-5, meta=0.0))
    assert found["hdf5-tiny-datasets"].gain == pytest.approx(0.2)


def test_layouts_of_files_are_found_in_any_order() -> None:
    """Regression: most files had no layout if the log had the files in another order than the layouts."""
    assert said(crowded())["few-targets"] == said(crowded(step=-1))["few-targets"]


def test_sixteen_ranks_crowd_a_target() -> None:
    assert "few-targets" in said(crowded(targets=64, highest=200))
