"""Tests that the sentences about a job do not contradict each other, on random jobs and on all sample logs.

ADVICE_JOBS sets how many random jobs there are, ADVICE_SEED the first one (`make advice-hunt N=10000 SEED=1`).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from advice_invariants import contradictions
from iolens.advise import diagnosis
from iolens.log import LogError, read_log
from random_jobs import random_job

TESTS = Path(__file__).parents[1]
LOGS = sorted(
    [
        *(TESTS / "data").rglob("*.darshan"),
        *(TESTS / "advice/logs").glob("*.darshan"),
        *(TESTS / "fuzz/logs").glob("*.darshan"),
    ]
)
JOBS, FIRST = int(os.environ.get("ADVICE_JOBS", "40")), int(os.environ.get("ADVICE_SEED", "1"))


def test_random_jobs_are_judged_without_contradiction() -> None:
    said: set[str] = set()
    broken = []
    for seed in range(FIRST, FIRST + JOBS):
        job = random_job(seed)
        found = diagnosis(job)
        said |= {one.id for one in found.findings}
        broken += [f"seed {seed}: {each}" for each in contradictions(job, found)]
    assert broken == [], "\n".join(broken)
    assert len(said) >= 15  # If fewer rules find something, the random jobs are too much alike.


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem[:40])
def test_logs_are_judged_without_contradiction(path: Path) -> None:
    try:
        job = read_log(path)
    except LogError:
        pytest.skip("this log is damaged on purpose")
    assert contradictions(job, diagnosis(job)) == []
