"""Tests `iolens diff` of logs with the events of waits: causes of waits, critical path, and possible savings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from iolens.log import Job
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.metrics.why.answers import waits_by_cause
from iolens.pages.exhibits.subjects import differences
from iolens.pages.wording.subject_words import headline, notes
from test_why import job_with
from why_programs import RankLine

WAITS, PATH, SAVED = "Waits of all ranks, by cause", "The critical path, by work", "What if: time saved"


def job(write: float, compute: float) -> Job:
    """Returns a job in which rank 0 writes and rank 1 computes, each for the given seconds, and both meet at 8 s."""
    meet = max(write, compute)
    late = RankLine().file(0, write).together("MPI_Barrier", write, meet, 2)
    return job_with(late, RankLine().together("MPI_Barrier", compute, meet, 2))


def subjects(*jobs: Job) -> Subjects:
    """Returns one subject for each job, in folders of their own."""
    trials = [(Trial(Path(f"{place}/log"), one),) for place, one in enumerate(jobs)]
    return Subjects(tuple(Subject(f"run {place}", Path(f"{place}"), trial) for place, trial in enumerate(trials)))


def rows(compared: Subjects, group: str) -> list[tuple[str, float, float]]:
    """Returns the rows of a group of the comparison: name, and the values of both logs."""
    found = differences(compared)
    mine = found[found["group"] == group]
    return list(zip(mine["name"], mine["value A"].round(6), mine["value B"].round(6), strict=True))


def test_the_largest_changes_come_first() -> None:
    compared = subjects(job(write=7, compute=1), job(write=2, compute=4))
    assert rows(compared, WAITS) == [("rank 0: write of mesh", 6.0, 0.0), ("rank 1: computing", 0.0, 2.0)]
    path = rows(compared, PATH)
    assert path[0] == ("write of mesh", 7.0, 0.0)
    changes = [abs(one - other) for _, one, other in path]
    assert changes == sorted(changes, reverse=True)
    saved = {name: (one, other) for name, one, other in rows(compared, SAVED)}
    assert saved["storage infinitely fast"] == (6.0, 0.0)
    assert saved["I/O of this rank takes no time, rank 0"] == (6.0, 0.0)
    assert saved["I/O on this file takes no time, mesh"] == (6.0, 0.0)
    (said,) = headline(compared)
    assert "waits for rank 0: write of mesh 6 s → 0 s; waits for rank 1: computing 0 s → 2 s" in said
    assert notes(compared) == []


def test_files_of_one_name_in_several_folders_are_one_piece_of_work() -> None:
    """Rank 0 writes 3 s and 1 s to two files that are both called mesh; rank 1 waits for both, and for no others."""
    late = RankLine().file(0, 3, 1).file(3, 4, 2).together("MPI_Barrier", 4, 4.1, 2)
    one = job_with(late, RankLine().together("MPI_Barrier", 0, 4.1, 2))
    compared = subjects(replace(one, names={1: "/a/mesh", 2: "/b/mesh"}), job(write=0, compute=1))
    assert ("rank 0: write of mesh", 4.0, 0.0) in rows(compared, WAITS)
    saved = {name: value for name, value, _ in rows(compared, SAVED)}
    files = {name: value for name, value in saved.items() if "file" in name}
    assert files == {"I/O on this file takes no time, a/mesh": 3.0, "I/O on this file takes no time, b/mesh": 1.0}


def test_rounding_errors_are_no_waits() -> None:
    """Both ranks wait equally long for a core; the difference of the sums is some 1e-16 s."""
    late, other = RankLine(), RankLine()
    for begin in (0.7 * step for step in range(12)):
        late.held(begin, begin + 0.1).file(begin + 0.1, begin + 0.4)
        late.together("MPI_Barrier", begin + 0.4, begin + 0.5, 2)
        other.held(begin + 0.05, begin + 0.15).together("MPI_Barrier", begin + 0.15, begin + 0.5, 2)
    found = waits_by_cause(job_with(late, other))
    assert found is not None
    assert min(found["seconds"].tolist()) > 1e-9


@pytest.mark.parametrize("place", [0, 1])
def test_a_log_without_events_has_no_numbers_and_a_reason(place: int) -> None:
    jobs = [job(write=7, compute=1), job(write=7, compute=1)]
    jobs[place] = replace(jobs[place], private={})
    compared = subjects(*jobs)
    (row,) = rows(compared, WAITS)
    assert row[1 + place] != row[1 + place]
    assert row[2 - place] == 6.0
    letter = "AB"[place]
    assert notes(compared) == [
        f"Waits by cause, critical path and replays of {letter} are n/a: none of its logs has the events of iolens run "
        "--why."
    ]
    assert "waits for" not in headline(compared)[0]


def test_logs_without_events_are_told_nothing_of_them() -> None:
    jobs = [replace(job(write=write, compute=1), private={}) for write in (7, 2)]
    assert notes(subjects(*jobs)) == []
    assert rows(subjects(*jobs), WAITS) == []
