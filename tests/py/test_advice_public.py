"""Tests that the advice blames nothing that the log rules out: jobs with the numbers of public logs that were labelled
from their counters (`tests/foreign/logs.yaml`).
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from iolens.advise import diagnosis
from iolens.log import Job
from job_example import MIB, frame, job_of
from processor_example import use
from test_advise_rules import layouts

GIB = 1024 * MIB


def ids(job: Job) -> list[str]:
    """Returns the ids of the findings that are worth a change, in their order."""
    return [one.id for one in diagnosis(job).worth]


def mpiio_writes(read: int, **below: Any) -> Job:
    """Returns a job in which each of 4 ranks writes its file through MPI-IO for 130 s, POSIX below for 0.2 s, and reads
    it; `read`: the bytes that POSIX read of each file.
    """
    moved = {"BYTES_WRITTEN": 256 * MIB, "F_READ_TIME": 4.1}
    upper = moved | {"BYTES_READ": 256 * MIB, "INDEP_WRITES": 32, "INDEP_READS": 32, "F_WRITE_TIME": 130.0}
    lower = moved | {"BYTES_READ": read, "WRITES": 32, "READS": 32, "SIZE_WRITE_4M_10M": 32, "F_WRITE_TIME": 0.2}
    tables = {"MPI-IO": upper, "POSIX": lower | below}
    frames = {name: frame(name, [{"id": at + 1, "rank": at} | row for at in range(4)]) for name, row in tables.items()}
    return job_of(140.0, frames=frames, names={at + 1: f"/scratch/part.{at}" for at in range(4)})


@pytest.mark.parametrize("read", [8 * MIB, 256 * MIB])
def test_slow_writes_of_mpiio_are_named_where_reads_met_the_end_of_the_file(read: int) -> None:
    found = diagnosis(mpiio_writes(read))
    assert found.findings[0].id == "mpiio-above-posix"
    assert "Independent MPI-IO writes of" in found.findings[0].evidence
    assert "took 2 min 10 s on the slowest rank, the POSIX writes below them 0.20 s" in found.findings[0].evidence


def test_reads_of_data_sieving_belong_to_the_writes() -> None:
    """POSIX reads more than the program asked for: the writes wait for these reads, not for the MPI library."""
    assert "mpiio-above-posix" not in ids(mpiio_writes(300 * MIB, F_READ_TIME=120.0))


def one_file_each(collective: int, shared: bool) -> Job:
    """Returns a job in which each of 64 ranks writes 1 GiB to its own file on one stripe, and another rank reads it, by
    MPI-IO with a communicator of one rank each; `shared`: both ranks write and read.
    """
    posix, upper = [], []
    for at in range(64):
        for way, shift in (("WRITE", 0), ("READ", 16)):
            ways = ("WRITE", "READ") if shared else (way,)
            moved = {f"BYTES_{'WRITTEN' if each == 'WRITE' else 'READ'}": GIB for each in ways}
            row = {"id": at + 1, "rank": (at + shift) % 64, "MAX_BYTE_WRITTEN": GIB - 1, **moved}
            times = {f"F_{each}_TIME": 9.0 for each in ways}
            posix.append(
                row | times | {f"{each}S": 64 for each in ways} | {f"SIZE_{each}_10M_100M": 64 for each in ways}
            )
            upper.append(row | times | {f"COLL_{each}S": collective for each in ways})
    frames = {"POSIX": frame("POSIX", posix), "MPI-IO": frame("MPI-IO", upper)}
    frames["LUSTRE"] = layouts({at + 1: [at % 16] for at in range(64)})
    return job_of(20.0, nprocs=64, frames=frames, names={at + 1: f"/scratch/{at}" for at in range(64)})


@pytest.mark.parametrize(("shared", "blamed"), [(False, False), (True, True)])
def test_collective_calls_of_one_rank_share_no_file(shared: bool, blamed: bool) -> None:
    assert ("narrow-stripes" in ids(one_file_each(64, shared))) is blamed


def uneven(slow: float) -> Job:
    """Returns a job with eight files of one rank each on five targets; target 0 holds four of them, each of which takes
    `slow` times as long as a file on another target.
    """
    targets = [0, 0, 0, 0, 1, 2, 3, 4]
    rows = [
        {"id": at + 1, "rank": at, "WRITES": 512, "SIZE_WRITE_1M_4M": 512, "BYTES_WRITTEN": GIB}
        | {"MAX_BYTE_WRITTEN": GIB - 1, "F_WRITE_TIME": 10.0 * (slow if target == 0 else 1.0)}
        for at, target in enumerate(targets)
    ]
    frames = {"POSIX": frame("POSIX", rows), "LUSTRE": layouts({at + 1: [each] for at, each in enumerate(targets)})}
    return job_of(50.0, nprocs=8, frames=frames, names={at + 1: f"/scratch/{at}" for at in range(8)})


def test_the_busiest_target_is_blamed_only_where_its_files_were_slower() -> None:
    assert "uneven-targets" not in ids(uneven(1.0))
    found = {one.id: one for one in diagnosis(uneven(2.0)).findings}
    assert found["uneven-targets"].gain == pytest.approx(10.0 / 50.0)


@pytest.mark.parametrize(("ended", "blamed"), [(4.1, False), (10.4, True)])
def test_seeks_take_no_longer_than_the_time_between_transfers(ended: float, blamed: bool) -> None:
    """The close that follows the last write took 6.3 s; where the writes lasted that long, the seeks can have."""
    row: dict[str, Any] = {
        "id": 1,
        "rank": 0,
        "OPENS": 2,
        "SEEKS": 8192,
        "READS": 4096,
        "WRITES": 4096,
        "BYTES_READ": GIB,
    }
    row |= {"BYTES_WRITTEN": GIB, "SIZE_READ_100K_1M": 4096, "SIZE_WRITE_100K_1M": 4096}
    row |= {"F_WRITE_START_TIMESTAMP": 0.01, "F_WRITE_END_TIMESTAMP": ended, "F_CLOSE_START_TIMESTAMP": ended}
    row |= {"F_READ_START_TIMESTAMP": 10.42, "F_READ_END_TIMESTAMP": 10.54, "F_CLOSE_END_TIMESTAMP": 10.54}
    row |= {"F_WRITE_TIME": 4.08, "F_READ_TIME": 0.11, "F_META_TIME": 6.3}
    job = job_of(12.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/data"})
    assert ("many-seeks" in ids(job)) is blamed


@pytest.mark.parametrize(("lost", "kind"), [("DXT_POSIX", "Nothing worth"), ("POSIX", "Recorded I/O took at most")])
def test_lost_traces_leave_the_counters_complete(lost: str, kind: str) -> None:
    row = {"id": 1, "rank": 0, "READS": 10, "BYTES_READ": 10 * MIB, "F_READ_TIME": 0.5}
    missing = (f"The log is damaged: a record of its {lost} region is truncated.",)
    frames = {"POSIX": frame("POSIX", [row])}
    found = diagnosis(job_of(250.0, nprocs=1, frames=frames, names={1: "/scratch/data"}, missing=missing))
    assert found.verdict.sentence.startswith(kind)


def test_a_bound_that_is_printed_says_more_than_the_whole_run() -> None:
    row = {"id": 1, "rank": 0, "WRITES": 9000, "SIZE_WRITE_0_100": 9000, "BYTES_WRITTEN": 9000, "F_WRITE_TIME": 9.94}
    for one in diagnosis(job_of(10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/a"})).findings:
        assert "at most 100 %" not in one.gain_words


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [(1.0, 7.0, "about 30 %, at most 60 % of the run"), (0.0, 10.0, "about 30 % of the run")],
)
def test_work_between_the_calls_of_one_process_may_go_with_them(first: float, last: float, words: str) -> None:
    """Lines that are no longer written one by one are no longer formatted one by one: a twin saved 85 % of a run whose
    writes took 58 % of it. The bound is the time from the first call of all files to the last.
    """
    row = {"rank": 0, "WRITES": 90_000, "SIZE_WRITE_0_100": 90_000, "BYTES_WRITTEN": 9_000_000, "F_WRITE_TIME": 1.5}
    row |= {"MAX_BYTE_WRITTEN": 8_999_999, "SEQ_WRITES": 90_000, "CONSEC_WRITES": 90_000}
    spans = [(first, first + 2.0), (last - 2.0, last)]
    rows = [
        row | {"id": at + 1, "F_WRITE_START_TIMESTAMP": begin, "F_WRITE_END_TIMESTAMP": end}
        for at, (begin, end) in enumerate(spans)
    ]
    frames = {"POSIX": frame("POSIX", rows)}
    found = diagnosis(job_of(10.0, nprocs=1, frames=frames, names={1: "/scratch/a", 2: "/scratch/b"}))
    assert {one.id: one.gain_words for one in found.findings}["small-writes"] == words


@pytest.mark.parametrize(("system", "named"), [(0.5, True), (8.0, False)])
def test_the_processor_outside_the_kernel_explains_text(system: float, named: bool) -> None:
    """A program that prints numbers one by one makes text; one without a buffer calls the kernel each time."""
    row = {"id": 1, "rank": 0, "WRITES": 90_000, "BYTES_WRITTEN": 1_600_000, "F_WRITE_TIME": 9.0}
    private = {"process": use(on_core=9.8, system=system)}
    fields = {"nprocs": 1, "frames": {"STDIO": frame("STDIO", [row])}, "names": {1: "/scratch/a"}, "private": private}
    sentence = diagnosis(job_of(10.0, **fields)).verdict.sentence
    assert sentence.startswith("Bound by text or small pieces in the C library") is named


@pytest.mark.parametrize(("seconds", "named"), [(7.0, True), (2.0, False)])
def test_a_cause_of_the_time_asleep_leads(seconds: float, named: bool) -> None:
    """A process is asleep for 9 s of 10 s: locks that took most of it are the first cause, others are not."""
    locks = {"rank": 0, "file": 1, "locks": 100, "exclusive": 100, "refused": 0, "waits": 100, "longest": 0.5}
    locks |= {"seconds": seconds, "unended": 0}
    private = {"process": use(on_core=0.7), "file_locks": pd.DataFrame([locks])}
    found = diagnosis(job_of(10.0, nprocs=1, frames=STARTED, names={1: "/scratch/a"}, private=private))
    assert found.verdict.kind == "asleep"
    assert found.verdict.sentence.startswith(
        "Bound by waiting (ranks wait for file locks):" if named else "Bound by waiting:"
    )


STARTED = {"POSIX": frame("POSIX", [{"id": 1, "rank": 0, "OPENS": 1, "F_META_TIME": 0.01}])}


def test_the_bound_of_metadata_is_not_their_time() -> None:
    """A program that opened a file for each line took 0.6 of its run in these calls; its twin saved 90 % of it."""
    row = {"id": 1, "rank": 0, "OPENS": 20_000, "WRITES": 20_000, "SIZE_WRITE_0_100": 20_000, "F_META_TIME": 6.0}
    row |= {"BYTES_WRITTEN": 400_000, "F_OPEN_START_TIMESTAMP": 0.1, "F_OPEN_END_TIMESTAMP": 9.6}
    found = diagnosis(job_of(10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/a"}))
    (storm,) = [one for one in found.findings if one.id == "metadata-storm"]
    assert storm.gain_words == "about 60 %, at most 95 % of the run"


@pytest.mark.parametrize(
    ("on_core", "runnable", "kind", "confidence"),
    [(9.6, 0.1, "compute", "high"), (5.6, 0.3, "compute", "medium"), (2.0, 7.9, "cores", "medium")],
)
def test_a_limit_that_another_run_may_replace_is_no_certain_one(
    on_core: float, runnable: float, kind: str, confidence: str
) -> None:
    """Verdicts on the largest part were "high" for a half of the time, and for cores that other programs used."""
    private = {"process": use(on_core=on_core, runnable=runnable)}
    found = diagnosis(job_of(10.0, nprocs=1, frames=STARTED, names={1: "/scratch/a"}, private=private))
    assert (found.verdict.kind, found.confidence) == (kind, confidence)
    assert bool(found.doubts) is (confidence == "medium")
