"""Counters: what CrayPAT derived for `rhsf` on 2048 processors, from the same raw counts; values that are missing."""

from __future__ import annotations

import pandas as pd
import pytest
from iolens.metrics.processor.counters import WHOLE, Counts, counters, derive, user_time
from iolens.metrics.processor.regions import SEVERAL
from iolens.pages.exhibits.counters import COUNTERS
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
        ("% of peak (DP)", "%", "10.4"),
        ("Computational intensity", "ops/cycle", "0.42"),
        ("Computational intensity", "ops/ref", "0.95"),
        ("TLB utilization", "refs/miss", "4104.61"),
        ("TLB utilization", "avg uses", "8.017"),
        ("D1 cache hit ratio", "%", "98.4"),
        ("D1 cache miss ratio", "%", "1.6"),
        ("D1 cache utilization", "refs/miss", "63.98"),
        ("D1 cache utilization", "avg uses", "7.998"),
        ("User time", "%", "94.4"),
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


def counted() -> pd.DataFrame:
    """Cycles that were counted half of the time, instructions in a region, and an event that this machine lacks."""
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
    rows = found.frame().set_index(["region", "event"])
    assert rows.loc[(WHOLE, "cycles"), ["value", "rate", "ran"]].tolist() == [5000.0, 500.0, 50.0]
    assert rows.loc[(WHOLE, "cycles"), "imbalance_percent"] == pytest.approx(100 * 3000 / 8000 * 4 / 3)
    assert rows.loc[(WHOLE, "Instructions per cycle"), "value"] == pytest.approx(0.8)
    assert rows.loc[("solve", "instructions"), "rate"] == pytest.approx(900 / 5.5)
    assert rows.loc[(WHOLE, "task-clock"), ["value", "unit"]].tolist() == [2.0, "s"]
    assert ("solve", "L1-dcache-loads") not in rows.index
    table = COUNTERS.table(made)
    assert table is not None
    assert ["(whole run)", "L1-dcache-loads", "n/a (no PMU: a virtual machine)", "", "--", "--"] in table.rows
