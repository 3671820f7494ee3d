"""Hardware and software counters: their values and rates, and metrics that follow from several counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, NOT_KNOWN, PE, Ask, imbalance_percent, kept, matching_ranks
from iolens.metrics.processor.regions import SEVERAL, with_regions
from iolens.metrics.processor.sampled.call_chains import table_records
from iolens.missing import is_nan

WHOLE = "(whole run)"

_ALIASES: Mapping[str, str] = {
    "instructions": "PAPI_TOT_INS",
    "cycles": "PAPI_TOT_CYC",
    "ref-cycles": "PAPI_REF_CYC",
    "branches": "PAPI_BR_INS",
    "branch-misses": "PAPI_BR_MSP",
    "stalled-cycles-backend": "PAPI_RES_STL",
    "L1-dcache-loads": "PAPI_L1_DCA",
    "L1-dcache-load-misses": "PAPI_L1_DCM",
    "dTLB-load-misses": "PAPI_TLB_DM",
    "cache-references": "PAPI_L3_TCA",
    "cache-misses": "PAPI_L3_TCM",
    "LLC-loads": "LLC_LOADS",
    "LLC-load-misses": "LLC_LOAD_MISSES",
    "LLC-stores": "LLC_STORES",
    "LLC-store-misses": "LLC_STORE_MISSES",
}
"""The events by the name that perf gives them, with the names that the formulas in this file use."""

_LINE, _PAGE, _WORD = 64, 4096, 8
"""Bytes of a cache line, of a page, of a double."""


@dataclass(frozen=True)
class Counts:
    """The counters of an average rank by PAPI's name; user and wall time in seconds (NaN: not known), calls (0: not
    known), the number of ranks, and the most floating-point operations that a core can do in a cycle (0: not known).
    """

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
    """A metric computed from several counters; it is left out if any counter in `needs` is missing."""

    name: str
    unit: str
    needs: tuple[str, ...]
    value: Callable[[Counts], float]


def _ratio_metric(name: str, unit: str, above: str, below: str, factor: float = 1.0) -> Derived:
    """Returns the metric that divides one counter by another."""
    return Derived(name, unit, (above, below), lambda c: factor * c[above] / c[below])


def _cache_line_metrics(name: str, *counted: str) -> tuple[Derived, Derived]:
    """Returns two metrics of a counter of cache lines: bytes, and bytes per second."""

    def moved(c: Counts) -> float:
        return _LINE * sum(c[one] for one in counted) / 1e9

    return (Derived(name, "GB", counted, moved), Derived(name, "GB/s", counted, lambda c: moved(c) / c.wall))


_DERIVED: tuple[Derived, ...] = (
    Derived("User time (approx)", "s", (), lambda c: c.user),
    Derived("User time (approx)", "%", (), lambda c: 100 * c.user / c.wall),
    Derived("Average Time per Call", "s", (), lambda c: c.wall / c.calls if c.calls else NOT_KNOWN),
    Derived("HW FP Ops / user time", "M/s", ("PAPI_FP_OPS",), lambda c: c["PAPI_FP_OPS"] / c.user / 1e6),
    Derived(
        "HW FP Ops / user time",
        "% of nominal peak (DP)",
        ("PAPI_FP_OPS", "PAPI_TOT_CYC"),
        lambda c: 100 * c["PAPI_FP_OPS"] / c["PAPI_TOT_CYC"] / c.peak if c.peak else NOT_KNOWN,
    ),
    Derived("HW FP Ops / WCT", "M/s", ("PAPI_FP_OPS",), lambda c: c["PAPI_FP_OPS"] / c.wall / 1e6),
    _ratio_metric("Computational intensity", "ops/cycle", "PAPI_FP_OPS", "PAPI_TOT_CYC"),
    _ratio_metric("Computational intensity", "ops/ref", "PAPI_FP_OPS", "PAPI_L1_DCA"),
    _ratio_metric("Computational intensity", "ops/byte", "PAPI_FP_OPS", "PAPI_L3_TCM", 1 / _LINE),
    Derived("MFLOPS (aggregate)", "M/s", ("PAPI_FP_OPS",), lambda c: c.ranks * c["PAPI_FP_OPS"] / c.user / 1e6),
    _ratio_metric("TLB utilization", "refs/miss", "PAPI_L1_DCA", "PAPI_TLB_DM"),
    _ratio_metric("TLB utilization", "avg uses", "PAPI_L1_DCA", "PAPI_TLB_DM", _WORD / _PAGE),
    Derived(
        "D1 cache hit ratio",
        "%",
        ("PAPI_L1_DCA", "PAPI_L1_DCM"),
        lambda c: 100 * (1 - c["PAPI_L1_DCM"] / c["PAPI_L1_DCA"]),
    ),
    _ratio_metric("D1 cache miss ratio", "%", "PAPI_L1_DCM", "PAPI_L1_DCA", 100),
    _ratio_metric("D1 cache utilization", "refs/miss", "PAPI_L1_DCA", "PAPI_L1_DCM"),
    _ratio_metric("D1 cache utilization", "avg uses", "PAPI_L1_DCA", "PAPI_L1_DCM", _WORD / _LINE),
    Derived(
        "D2 cache hit ratio",
        "%",
        ("PAPI_L2_DCA", "PAPI_L2_DCM"),
        lambda c: 100 * (1 - c["PAPI_L2_DCM"] / c["PAPI_L2_DCA"]),
    ),
    _ratio_metric("D2 cache miss ratio", "%", "PAPI_L2_DCM", "PAPI_L2_DCA", 100),
    Derived(
        "D2 to D1 bandwidth",
        "MiB/s",
        ("PAPI_L2_DCA", "PAPI_L2_DCM"),
        lambda c: (c["PAPI_L2_DCA"] - c["PAPI_L2_DCM"]) * _LINE / c.wall / 2**20,
    ),
    _ratio_metric("L3 cache miss ratio", "%", "PAPI_L3_TCM", "PAPI_L3_TCA", 100),
    _ratio_metric("L3 cache miss ratio of loads", "%", "LLC_LOAD_MISSES", "LLC_LOADS", 100),
    *_cache_line_metrics("L3 traffic", "PAPI_L3_TCA"),
    *_cache_line_metrics("Memory traffic", "PAPI_L3_TCM"),
    *_cache_line_metrics("Memory traffic of loads and stores", "LLC_LOAD_MISSES", "LLC_STORE_MISSES"),
    _ratio_metric("Loads from other nodes' memory", "%", "NODE_LOAD_MISSES", "NODE_LOADS", 100),
    _ratio_metric("Instructions per cycle", "", "PAPI_TOT_INS", "PAPI_TOT_CYC"),
    _ratio_metric("Cycles per instruction", "", "PAPI_TOT_CYC", "PAPI_TOT_INS"),
    Derived("MIPS (aggregate)", "M/s", ("PAPI_TOT_INS",), lambda c: c.ranks * c["PAPI_TOT_INS"] / c.wall / 1e6),
    _ratio_metric("D1 cache references", "per instruction", "PAPI_L1_DCA", "PAPI_TOT_INS"),
    _ratio_metric("D1 cache misses", "per instruction", "PAPI_L1_DCM", "PAPI_TOT_INS"),
    _ratio_metric("I1 cache miss ratio", "%", "PAPI_L1_ICM", "PAPI_L1_ICA", 100),
    Derived("CPU clock", "GHz", ("PAPI_TOT_CYC",), lambda c: c["PAPI_TOT_CYC"] / c.user / 1e9),
    _ratio_metric("CPU boost", "X", "PAPI_TOT_CYC", "PAPI_REF_CYC"),
    _ratio_metric("Cycles stalled", "%", "PAPI_RES_STL", "PAPI_TOT_CYC", 100),
    _ratio_metric("Cycles without an instruction issued", "%", "PAPI_STL_ICY", "PAPI_TOT_CYC", 100),
    _ratio_metric("Branches mispredicted", "%", "PAPI_BR_MSP", "PAPI_BR_INS", 100),
    _ratio_metric("Branches mispredicted", "per instruction", "PAPI_BR_MSP", "PAPI_TOT_INS"),
    _ratio_metric("Instructions per branch", "", "PAPI_TOT_INS", "PAPI_BR_INS"),
    _ratio_metric("Prefetches that missed", "%", "L1_DCACHE_PREFETCH_MISSES", "L1_DCACHE_PREFETCHES", 100),
)
"""Derived values after CrayPAT (hwpc(5), and the block of `rhsf` that the tests reproduce); traffic, branches and
cycles per instruction after LIKWID's groups MEM, L3, BRANCH, CACHE and CPI.
"""


def user_time(cycles: float, clock: float) -> float:
    """Returns CrayPAT's `User time (approx)`: cycles over the clock's frequency in Hz."""
    return cycles / clock


def derive(counts: Counts) -> list[tuple[str, str, float]]:
    """Returns name, unit and value of each metric whose counters exist and whose divisors are not 0. Counters that took
    turns on the hardware may show more misses than references; a metric below 0 is therefore left out.
    """
    found = []
    for one in _DERIVED:
        if not set(one.needs) <= counts.events.keys():
            continue
        try:
            value = one.value(counts)
        except ZeroDivisionError:
            continue
        if value >= 0:
            found.append((one.name, one.unit, value))
    return found


SCALES = {"task-clock": (1e-9, "s"), "peak-memory": (2.0**-20, "MiB")}
"""Events whose values are not plain counts: the factor to multiply them with, and the unit. These events have no rate.
"""

_SOFTWARE = frozenset(
    {"task-clock", "minor-faults", "major-faults", "voluntary-switches", "involuntary-switches", "peak-memory"}
    | {"cpu-migrations"}
)
"""Events that the kernel counts; all others are the processor's."""

NO_PEAK = "the number of operations per cycle of this processor is unknown"

_SEVERAL_REGIONS = 0xFFFFFFFE
_TOGETHER = "(several)"
"""Name of the region in rows that add up several regions."""


@dataclass(frozen=True)
class Asked:
    """The requested part of a job: the number of ranks, the rows of the table `counters`, and those of `regions` (None:
    the log has no regions).
    """

    job: Job
    ranks: int
    rows: Records
    visits: Records | None


@dataclass(frozen=True)
class Across:
    """A counter over the ranks: `values` has the sum of each rank in `who`, and a mean divides by `ranks`. `who` is -1
    for ranks that the log has in one common row.
    """

    who: np.ndarray
    values: np.ndarray
    ranks: int

    @property
    def apart(self) -> bool:
        """Returns True if each rank has rows of its own."""
        return bool((self.who >= 0).all())

    @property
    def mean(self) -> float:
        """Returns the mean over the ranks that counted."""
        return float(self.values.sum()) / self.ranks

    @property
    def uneven(self) -> float:
        """Returns the imbalance among the ranks, in per cent."""
        return imbalance_percent(float(self.values.max()), self.mean, self.ranks) if self.apart else NOT_KNOWN


@once_per_job
def counters(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the counters by region and event, each region followed by the metrics that are computed from them.

    Columns: region, event, value (mean over the ranks that counted the event, with 0 for ranks that were never in the
    region; scaled up if the kernel multiplexed the event), unit, rate (per second; for events of the processor, per
    second of user time), imbalance_percent, ran (per cent of the time in which it counted), unavailable (why there is
    no value; given for the whole run only). None if nothing was counted.
    """
    rows, visits = table_records(job, "counters"), table_records(job, "regions")
    if rows is None:
        return None
    numbers = rows["region"]
    names = with_regions(job, rows)["region"]
    names[numbers == SEVERAL], names[numbers == _SEVERAL_REGIONS] = WHOLE, _TOGETHER
    of_ranks = tuple(one for one in ask.where if one.name == PE)
    rows = kept(rows.beside({"region": names}), of_ranks)
    visits = None if visits is None else kept(with_regions(job, visits), of_ranks)
    asked = Asked(job, matching_ranks(of_ranks, max(1, job.nprocs)), rows, visits)
    wanted = _parts_by(kept(rows, ask.where), "region")
    found = [one for region, part in wanted for one in _of_region(asked, region, part)]
    columns = ["region", "event", "value", "unit", "rate", "imbalance_percent", "ran", "unavailable"]
    return Records.of(columns, found) if found else None


def _parts_by(rows: Records, name: str) -> Iterator[tuple[str, Records]]:
    """Yields, for each value of a column, the rows that have it."""
    same = Groups(rows[name])
    for place, part in zip(same.first, same.parts(np.arange(len(rows))), strict=True):
        yield str(rows[name][place]), rows.where(part)


Row = tuple[str, str, float, str, float, float, float, str]


def _of_region(asked: Asked, region: str, rows: Records) -> list[Row]:
    """Returns the rows of one region, and the metrics derived from them."""
    found: list[Row] = []
    counted: dict[str, Across] = {}
    for event, part in _parts_by(rows, "event"):
        there = part.where(_was_counted(part))
        if len(there):
            counted[event] = _across(asked, region, event, there)
            found.append(_event_row(asked, region, event, there, counted[event]))
        elif region == WHOLE:
            why = str(part["unavailable"][0]) or "it never ran"
            found.append((region, event, NOT_KNOWN, "", NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, why))
    means = {_ALIASES.get(event, event): each.mean for event, each in counted.items()}
    if counted.keys() <= _SOFTWARE:
        return found
    all_of_them = max(counted.values(), key=lambda each: each.ranks)
    wall, calls = _visited(asked, region, all_of_them)
    user = _user_seconds(asked, region, all_of_them)
    there_were = len(all_of_them.who) if all_of_them.apart else asked.ranks
    derived = derive(Counts(means, user, wall, calls, there_were, _peak(asked.job)))
    found += [(region, name, value, unit, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "") for name, unit, value in derived]
    if region == WHOLE and {"PAPI_FP_OPS", "PAPI_TOT_CYC"} <= means.keys() and not _peak(asked.job):
        found.append((region, "HW FP Ops of nominal peak", NOT_KNOWN, "", NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NO_PEAK))
    return found


def _was_counted(rows: Records) -> np.ndarray:
    """Returns a mask of the rows that have a count."""
    return np.asarray((rows["unavailable"] == "") & (rows["value"] >= 0) & (rows["time_running"] > 0))


def _across(asked: Asked, region: str, event: str, there: Records) -> Across:
    """Returns the rows of an event in a region by rank. A rank without a row in the region gets 0 if it counted the
    event in the whole run, unless the log has some of its regions in one common row.
    """
    factor, _ = SCALES.get(event, (1.0, ""))
    same = Groups(there["rank"])
    who = there["rank"][same.first]
    values = same.sum(there["value"] * factor * there["time_enabled"] / there["time_running"])
    of_event = asked.rows.where((asked.rows["event"] == event) & _was_counted(asked.rows))
    others = of_event["rank"][of_event["region"] == WHOLE]
    if (who < 0).any() or (others < 0).any():
        return Across(who, values, asked.ranks)
    zeros = 0 if (of_event["region"] == _TOGETHER).any() else len(np.setdiff1d(others, who))
    return Across(who, np.append(values, [0.0] * min(zeros, 1)), len(who) + zeros)


def _event_row(asked: Asked, region: str, event: str, there: Records, each: Across) -> Row:
    """Returns the row of one event that was counted."""
    _, unit = SCALES.get(event, (1.0, ""))
    ran = 100 * float(there["time_running"].sum() / there["time_enabled"].sum())
    seconds = _visited(asked, region, each)[0]
    if event not in _SOFTWARE:
        user = _user_seconds(asked, region, each)
        seconds = user if not is_nan(user) else seconds
    rate = each.mean / seconds if seconds > 0 and not unit else NOT_KNOWN
    return region, event, each.mean, unit, rate, each.uneven, ran, ""


def _visited(asked: Asked, region: str, each: Across) -> tuple[float, float]:
    """Returns the average seconds of these ranks in a region, nested regions included, and the average number of visits
    (0: not known); for the whole run, the run time. NaN if the log does not have both for the same ranks, or was
    recovered: its counts end some time before the run does.
    """
    if region == WHOLE:
        return NOT_KNOWN if asked.job.is_recovered else asked.job.run_time, 0.0
    if asked.visits is None or region == _TOGETHER:
        return NOT_KNOWN, 0.0
    mine = _of_same_ranks(asked.visits.where(asked.visits["region"] == region), each)
    if mine is None:
        return NOT_KNOWN, 0.0
    return float(mine["time"].sum()) / each.ranks, float(mine["calls"].sum()) / each.ranks


def _user_seconds(asked: Asked, region: str, each: Across) -> float:
    """Returns the average processor time of these ranks in a region; NaN if it was not counted."""
    rows = asked.rows.where((asked.rows["region"] == region) & (asked.rows["event"] == "task-clock"))
    mine = _of_same_ranks(rows.where(_was_counted(rows)), each)
    return NOT_KNOWN if mine is None else float(mine["value"].sum()) * SCALES["task-clock"][0] / each.ranks


def _of_same_ranks(rows: Records, each: Across) -> Records | None:
    """Returns the rows of exactly these ranks; None if `rows` has other ranks, or one row for several ranks that `each`
    has separately.
    """
    mine = rows if not each.apart else rows.where(np.isin(rows["rank"], each.who))
    return mine if set(mine["rank"].tolist()) == set(each.who.tolist()) else None


def _peak(job: Job) -> float:
    """Returns the nominal number of floating-point operations (double precision) that a core can perform in a cycle; 0
    if the log does not know it.
    """
    return float(job.info.get("processor", {}).get("peak", 0))
