"""Tests counters: the values that CrayPAT derived for `rhsf` on 2048 processors follow from the same raw counts; some
values are missing.
"""

from __future__ import annotations

import pandas as pd
import pytest
from iolens.metrics.processor.counters import NO_PEAK, WHOLE, Counts, counters, derive, user_time
from iolens.metrics.processor.regions import SEVERAL
from iolens.pages.exhibits.counted import COUNTERS
from processor_example import every_rank, job, tables

FP_OPS, CYCLES = 458_044_890_200, 1_103_418_882_813
REFERENCES = FP_OPS / 0.95
RHSF = Counts(
    events={
        "PAPI_FP_OPS": FP_OPS,
        "PAPI_TOT_CYC": CYCLES,
        "PAPI_L1_DCA": REFERENCES,
        "PAPI_L1_DCM": REFERENCES / 63.984,
        "PAPI_TLB_DM": REFERENCES / 4104.61,
    },
    user=user_time(CYCLES, 2.1e9),
    wall=556.742885,
    calls=1200,
    ranks=2048,
    peak=4,
)


@pytest.mark.parametrize(
    ("name", "unit", "said"),
    [
        ("HW FP Ops / user time", "M/s", "871.740"),
        ("HW FP Ops / WCT", "M/s", "822.722"),
        ("HW FP Ops / user time", "% of nominal peak (DP)", "10.4"),
        ("Computational intensity", "ops/cycle", "0.42"),
        ("Computational intensity", "ops/ref", "0.95"),
        ("TLB utilization", "refs/miss", "4104.61"),
        ("TLB utilization", "avg uses", "8.017"),
        ("D1 cache hit ratio", "%", "98.4"),
        ("D1 cache miss ratio", "%", "1.6"),
        ("D1 cache utilization", "refs/miss", "63.98"),
        ("D1 cache utilization", "avg uses", "7.998"),
        ("User time (approx)", "s", "525.438"),
        ("User time (approx)", "%", "94.4"),
        ("Average Time per Call", "s", "0.463952"),
    ],
)
def test_the_block_of_rhsf(name: str, unit: str, said: str) -> None:
    found = {(one, of): value for one, of, value in derive(RHSF)}
    assert f"{found[name, unit]:.{len(said.partition('.')[2])}f}" == said


def test_sums_over_all_ranks_of_rhsf() -> None:
    assert RHSF.user == pytest.approx(525.438, abs=5e-4)
    found = {(one, of): value for one, of, value in derive(RHSF)}
    assert found["MFLOPS (aggregate)", "M/s"] == pytest.approx(1785323.32, rel=1e-5)


def test_what_lacks_a_counter_or_divides_by_nothing_is_left_out() -> None:
    names = {name for name, _, _ in derive(Counts({"PAPI_TOT_INS": 5.0, "PAPI_TOT_CYC": 0.0}, 1.0, 1.0))}
    assert "Instructions per cycle" not in names
    assert "D1 cache hit ratio" not in names
    assert "MIPS (aggregate)" in names
    turns = {name for name, _, _ in derive(Counts({"PAPI_L2_DCA": 5.0, "PAPI_L2_DCM": 6.0}, 1.0, 1.0))}
    assert not turns & {"D2 cache hit ratio", "D2 to D1 bandwidth"}


def counted() -> pd.DataFrame:
    """Returns the table `counters` with cycles that were counted half of the time, instructions in a region, and an
    event that this machine lacks.
    """
    rows = [
        (SEVERAL, "cycles", lambda rank: 1000 * (rank + 1), 2.0, 1.0, ""),
        (SEVERAL, "instructions", 4000, 2.0, 2.0, ""),
        (SEVERAL, "L1-dcache-loads", 0, 0.0, 0.0, "no PMU: a virtual machine"),
        (SEVERAL, "task-clock", 2_000_000_000, 2.0, 2.0, ""),
        (1, "instructions", 900, 1.0, 1.0, ""),
        (1, "L1-dcache-loads", -1, 0.0, 0.0, "no PMU: a virtual machine"),
    ]
    return every_rank(rows, "region event value time_enabled time_running unavailable")


def test_values_rates_and_reasons() -> None:
    made = job(**tables(), counters=counted())
    found = counters(made)
    assert found is not None
    rows = found.frame().drop_duplicates(["region", "event"]).set_index(["region", "event"])
    assert rows.loc[(WHOLE, "cycles"), ["value", "rate", "ran"]].tolist() == [5000.0, 2500.0, 50.0], "2 s of user time"
    assert rows.loc[(WHOLE, "cycles"), "imbalance_percent"] == pytest.approx(100 * 3000 / 8000 * 4 / 3)
    assert rows.loc[(WHOLE, "Instructions per cycle"), "value"] == pytest.approx(0.8)
    assert rows.loc[("solve", "instructions"), "rate"] == pytest.approx(900 / 5.5)
    assert rows.loc[(WHOLE, "task-clock"), ["value", "unit"]].tolist() == [2.0, "s"]
    assert ("solve", "L1-dcache-loads") not in rows.index
    table = COUNTERS.table(made)
    assert table is not None
    assert ["(whole run)", "L1-dcache-loads", "n/a (no PMU: a virtual machine)", "", "--", "--"] in table.rows


def made(rows: list[tuple[object, ...]], **others: pd.DataFrame) -> pd.DataFrame:
    """Returns the metric of a made-up job. Each row has rank, region, event, value, time switched on, time really
    counted.
    """
    columns = "rank region event value time_enabled time_running".split()
    found = counters(
        job(**{**tables(), "counters": pd.DataFrame(rows, columns=columns).assign(unavailable=""), **others})
    )
    assert found is not None
    return found.frame().set_index(["region", "event"])


def test_a_region_that_one_rank_was_in() -> None:
    """Checks that ranks which counted nothing count as 0 in the mean, and are not among the ranks of an aggregate."""
    visits = [(0, 0, 1, 10, 0, 2.0, 2.0, 0.1, 0.3)]
    columns = "rank thread region calls unended time exclusive_time min_time max_time".split()
    counts = [(rank, SEVERAL, "PAPI_TOT_INS", 1000, 1.0, 1.0) for rank in range(4)]
    found = made([*counts, (0, 1, "PAPI_TOT_INS", 800, 2.0, 2.0)], regions=pd.DataFrame(visits, columns=columns))
    row = found.loc[("solve", "PAPI_TOT_INS")]
    assert row[["value", "rate", "imbalance_percent"]].tolist() == [200.0, 400.0, 100.0]
    assert found.loc[("solve", "MIPS (aggregate)"), "value"] == pytest.approx(400e-6)
    assert ("solve", "User time (approx)") not in found.index, "the processor's time is not known"


def test_ranks_that_the_log_holds_together_are_as_many_as_they_are() -> None:
    found = made(
        [(rank, SEVERAL, "PAPI_TOT_INS", value, 1.0, 1.0) for rank, value in ((0, 5000), (1, 3000), (-1, 8000))]
    )
    row = found.loc[(WHOLE, "PAPI_TOT_INS")]
    assert row["value"] == 4000.0
    assert row["imbalance_percent"] != row["imbalance_percent"]


def test_the_block_of_rhsf_as_a_log_prints_it() -> None:
    """Checks each line of the talk's example, from counts and times by rank to the printed words."""
    clock = round(CYCLES / 2.1)
    names = [*RHSF.events, "task-clock"]
    values = [round(value) for value in RHSF.events.values()] + [clock]
    counts = [
        (rank, 1, name, value, 1.0, 1.0, "") for rank in range(4) for name, value in zip(names, values, strict=True)
    ]
    columns = "rank region event value time_enabled time_running unavailable".split()
    visits = every_rank(
        [(0, 1, 1200, 0, lambda rank: RHSF.wall + (14.817686 if rank == 3 else -14.817686 / 3), RHSF.wall, 0.1, 0.6)],
        "thread region calls unended time exclusive_time min_time max_time",
    )
    private = {"counters": pd.DataFrame(counts, columns=columns), "regions": visits}
    table = COUNTERS.table(job(**{**tables(), **private, "job": {"processor": {"name": "K10", "peak": 4}}}))
    assert table is not None
    said = [f"{row[1]} {row[2]}" for row in table.rows if row[0] == "solve"]
    rates = {row[1]: row[3] for row in table.rows if row[0] == "solve"}
    assert rates["PAPI_FP_OPS"] == "871.740 M/s"
    for line in (
        "User time (approx) 525.437563 s",
        "User time (approx) 94.4 %",
        "Average Time per Call 0.463952 s",
        "HW FP Ops / user time 871.740 M/s",
        "HW FP Ops / user time 10.4 % of nominal peak (DP)",
        "HW FP Ops / WCT 822.722 M/s",
        "Computational intensity 0.42 ops/cycle",
        "Computational intensity 0.95 ops/ref",
        "TLB utilization 4,104.61 refs/miss",
        "TLB utilization 8.017 avg uses",
        "D1 cache hit ratio 98.4 %",
        "D1 cache miss ratio 1.6 %",
        "D1 cache utilization 63.98 refs/miss",
        "D1 cache utilization 7.998 avg uses",
    ):
        assert line in said


def test_a_share_of_a_peak_that_is_not_known_is_not_available() -> None:
    counts = [(0, SEVERAL, name, 1000, 1.0, 1.0) for name in ("PAPI_FP_OPS", "PAPI_TOT_CYC")]
    found = made(counts).loc[WHOLE]
    assert found.loc["HW FP Ops of nominal peak", "unavailable"] == NO_PEAK
    assert "% of nominal peak (DP)" not in found["unit"].tolist()
