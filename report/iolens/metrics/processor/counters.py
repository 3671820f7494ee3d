"""Hardware and software counters: their values and rates, and what follows from several of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iolens.log.records import Records
from iolens.metrics.grouping import Groups
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.imbalance import NOT_KNOWN, imbalance_percent
from iolens.metrics.processor.private import records
from iolens.metrics.processor.regions import SEVERAL, with_regions

if TYPE_CHECKING:
    from iolens.log import Job

WHOLE = "(whole run)"

ALIASES: Mapping[str, str] = {
    "instructions": "PAPI_TOT_INS",
    "cycles": "PAPI_TOT_CYC",
    "ref-cycles": "PAPI_REF_CYC",
    "branches": "PAPI_BR_INS",
    "branch-misses": "PAPI_BR_MSP",
    "stalled-cycles-backend": "PAPI_RES_STL",
    "L1-dcache-loads": "PAPI_L1_DCA",
    "L1-dcache-load-misses": "PAPI_L1_DCM",
    "dTLB-load-misses": "PAPI_TLB_DM",
    "cache-references": "PAPI_L2_DCA",
    "cache-misses": "PAPI_L2_DCM",
    "LLC-load-misses": "PAPI_L3_TCM",
}
"""perf's names to those that the formulas use."""

LINE, PAGE, WORD = 64, 4096, 8
"""Bytes of a cache line, of a page, of a double."""


@dataclass(frozen=True)
class Counts:
    """The counters of an average rank by PAPI's name; user and wall time in seconds, calls (0: not known), ranks, and
    the floating-point operations that a cycle can do at most (0: not known)."""

    events: Mapping[str, float]
    user: float
    wall: float
    calls: float = 0.0
    ranks: int = 1
    peak: float = 0.0

    def __getitem__(self, name: str) -> float:
        return self.events[name]


@dataclass(frozen=True)
class Derived:
    """A metric of several counters; `needs` are those without which it is left out."""

    name: str
    unit: str
    needs: tuple[str, ...]
    value: Callable[[Counts], float]


DERIVED: tuple[Derived, ...] = (
    Derived("HW FP Ops / user time", "M/s", ("PAPI_FP_OPS",), lambda c: c["PAPI_FP_OPS"] / c.user / 1e6),
    Derived("HW FP Ops / WCT", "M/s", ("PAPI_FP_OPS",), lambda c: c["PAPI_FP_OPS"] / c.wall / 1e6),
    Derived(
        "% of peak (DP)",
        "%",
        ("PAPI_FP_OPS", "PAPI_TOT_CYC"),
        lambda c: 100 * c["PAPI_FP_OPS"] / c["PAPI_TOT_CYC"] / c.peak if c.peak else NOT_KNOWN,
    ),
    Derived(
        "Computational intensity",
        "ops/cycle",
        ("PAPI_FP_OPS", "PAPI_TOT_CYC"),
        lambda c: c["PAPI_FP_OPS"] / c["PAPI_TOT_CYC"],
    ),
    Derived(
        "Computational intensity",
        "ops/ref",
        ("PAPI_FP_OPS", "PAPI_L1_DCA"),
        lambda c: c["PAPI_FP_OPS"] / c["PAPI_L1_DCA"],
    ),
    Derived("MFLOPS (aggregate)", "M/s", ("PAPI_FP_OPS",), lambda c: c.ranks * c["PAPI_FP_OPS"] / c.user / 1e6),
    Derived(
        "TLB utilization",
        "refs/miss",
        ("PAPI_L1_DCA", "PAPI_TLB_DM"),
        lambda c: c["PAPI_L1_DCA"] / c["PAPI_TLB_DM"],
    ),
    Derived(
        "TLB utilization",
        "avg uses",
        ("PAPI_L1_DCA", "PAPI_TLB_DM"),
        lambda c: c["PAPI_L1_DCA"] / c["PAPI_TLB_DM"] / (PAGE / WORD),
    ),
    Derived(
        "D1 cache hit ratio",
        "%",
        ("PAPI_L1_DCA", "PAPI_L1_DCM"),
        lambda c: 100 * (1 - c["PAPI_L1_DCM"] / c["PAPI_L1_DCA"]),
    ),
    Derived(
        "D1 cache miss ratio",
        "%",
        ("PAPI_L1_DCA", "PAPI_L1_DCM"),
        lambda c: 100 * c["PAPI_L1_DCM"] / c["PAPI_L1_DCA"],
    ),
    Derived(
        "D1 cache utilization",
        "refs/miss",
        ("PAPI_L1_DCA", "PAPI_L1_DCM"),
        lambda c: c["PAPI_L1_DCA"] / c["PAPI_L1_DCM"],
    ),
    Derived(
        "D1 cache utilization",
        "avg uses",
        ("PAPI_L1_DCA", "PAPI_L1_DCM"),
        lambda c: c["PAPI_L1_DCA"] / c["PAPI_L1_DCM"] / (LINE / WORD),
    ),
    Derived(
        "D2 cache hit ratio",
        "%",
        ("PAPI_L2_DCA", "PAPI_L2_DCM"),
        lambda c: 100 * (1 - c["PAPI_L2_DCM"] / c["PAPI_L2_DCA"]),
    ),
    Derived("Memory traffic", "GB/s", ("PAPI_L3_TCM",), lambda c: c["PAPI_L3_TCM"] * LINE / c.wall / 1e9),
    Derived(
        "Instructions per cycle",
        "",
        ("PAPI_TOT_INS", "PAPI_TOT_CYC"),
        lambda c: c["PAPI_TOT_INS"] / c["PAPI_TOT_CYC"],
    ),
    Derived("MIPS (aggregate)", "M/s", ("PAPI_TOT_INS",), lambda c: c.ranks * c["PAPI_TOT_INS"] / c.wall / 1e6),
    Derived("CPU clock", "GHz", ("PAPI_TOT_CYC",), lambda c: c["PAPI_TOT_CYC"] / c.user / 1e9),
    Derived("CPU boost", "X", ("PAPI_TOT_CYC", "PAPI_REF_CYC"), lambda c: c["PAPI_TOT_CYC"] / c["PAPI_REF_CYC"]),
    Derived(
        "Cycles stalled", "%", ("PAPI_RES_STL", "PAPI_TOT_CYC"), lambda c: 100 * c["PAPI_RES_STL"] / c["PAPI_TOT_CYC"]
    ),
    Derived(
        "Branches mispredicted",
        "%",
        ("PAPI_BR_MSP", "PAPI_BR_INS"),
        lambda c: 100 * c["PAPI_BR_MSP"] / c["PAPI_BR_INS"],
    ),
    Derived("User time", "%", (), lambda c: 100 * c.user / c.wall),
    Derived("Average Time per Call", "s", (), lambda c: c.wall / c.calls if c.calls else NOT_KNOWN),
)
"""As CrayPAT derives them (hwpc(5), and the block of `rhsf` that the tests reproduce)."""


def user_time(cycles: float, clock: float) -> float:
    """CrayPAT's `User time (approx)`: cycles over the clock's frequency in Hz."""
    return cycles / clock


def derive(counts: Counts) -> list[tuple[str, str, float]]:
    """Name, unit and value of each metric whose counters are there and whose divisors are not 0."""
    found = []
    for one in DERIVED:
        if not set(one.needs) <= counts.events.keys():
            continue
        try:
            value = one.value(counts)
        except ZeroDivisionError:
            continue
        if value == value:
            found.append((one.name, one.unit, value))
    return found


SCALES = {"task-clock": (1e-9, "s"), "peak-memory": (2.0**-20, "MiB")}
"""Events that are no plain counts: what to multiply them with, and the unit; they have no rate."""

SEVERAL_REGIONS = 0xFFFFFFFE
"""The number of rows of this table that are of several regions."""


@once_per_job
def counters(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Counters by region and event, and below them what follows from them.

    Columns: region, event, value (mean of a rank, scaled up where the kernel took turns with it), unit, rate (per
    second of the run, or in the region and those inside it), imbalance_percent, ran (per cent of the time that it
    counted), unavailable (why there is no value; said of the whole run alone). None where nothing was counted.
    """
    rows = records(job, "counters")
    if rows is None:
        return None
    numbers = rows["region"]
    names = with_regions(job, rows)["region"]
    names[numbers == SEVERAL], names[numbers == SEVERAL_REGIONS] = WHOLE, "(several)"
    rows = kept(rows.beside({"region": names}), ask.where)
    found = [one for region, part in parts_by(rows, "region") for one in of_region(job, region, part)]
    columns = ["region", "event", "value", "unit", "rate", "imbalance_percent", "ran", "unavailable"]
    return Records.of(columns, found) if found else None


def parts_by(rows: Records, name: str) -> Iterator[tuple[str, Records]]:
    """The rows of each value of a column."""
    same = Groups(rows[name])
    for place, part in zip(same.first, same.parts(np.arange(len(rows))), strict=True):
        yield str(rows[name][place]), rows.where(part)


Row = tuple[str, str, float, str, float, float, float, str]


def of_region(job: Job, region: str, rows: Records) -> list[Row]:
    """The rows of one region, and what follows from them."""
    seconds, calls = region_time(region, job)
    found: list[Row] = []
    means: dict[str, float] = {}
    for event, part in parts_by(rows, "event"):
        there = part.where((part["unavailable"] == "") & (part["value"] >= 0) & (part["time_running"] > 0))
        if len(there):
            row = counted(region, event, there, seconds)
            found.append(row)
            means[ALIASES.get(event, event)] = row[2]
        elif region == WHOLE:
            why = str(part["unavailable"][0]) or "it never ran"
            found.append((region, event, NOT_KNOWN, "", NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, why))
    counts = Counts(means, means.get("task-clock", 0.0) or seconds, seconds, calls, max(1, job.nprocs))
    derived = derive(counts) if seconds > 0 and means.keys() & set(ALIASES.values()) else []
    return found + [(region, name, value, unit, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "") for name, unit, value in derived]


def counted(region: str, event: str, rows: Records, seconds: float) -> Row:
    """The row of one event that was counted."""
    factor, unit = SCALES.get(event, (1.0, ""))
    values = Groups(rows["rank"]).sum(rows["value"] * factor * rows["time_enabled"] / rows["time_running"])
    mean, ran = float(values.mean()), 100 * float(rows["time_running"].sum() / rows["time_enabled"].sum())
    uneven = imbalance_percent(float(values.max()), mean, len(values)) if (rows["rank"] >= 0).all() else NOT_KNOWN
    rate = mean / seconds if seconds > 0 and not unit else NOT_KNOWN
    return region, event, mean, unit, rate, uneven, ran, ""


def region_time(region: str, job: Job) -> tuple[float, float]:
    """Seconds of an average rank in a region with those inside it, and its visits; of the whole run, its time and 0."""
    rows = records(job, "regions")
    if region == WHOLE or rows is None:
        return (job.run_time if region == WHOLE else 0.0), 0.0
    mine = rows.where(with_regions(job, rows)["region"] == region)
    ranks = max(1, job.nprocs)
    return float(mine["time"].sum()) / ranks, float(mine["calls"].sum()) / ranks
