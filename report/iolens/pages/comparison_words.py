"""The comparison in sentences: the verdict, what the settings do together, and what to beware of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from iolens.lab.storage import backends
from iolens.lab.sweep.results import Results
from iolens.lab.tune.trail import TUNING
from iolens.metrics.audit.setup import HELD
from iolens.metrics.bound import known, stripes_of_a_link
from iolens.metrics.comparison import Comparison, base_level
from iolens.metrics.comparison_effects import Interaction
from iolens.metrics.drift import drift
from iolens.metrics.measure import Measure
from iolens.metrics.settings import describe_one, level_text, name_text
from iolens.metrics.statistics import Ratio, narrowing
from iolens.pages.comparison_driver import driver_names, driver_notes

if TYPE_CHECKING:
    import pandas as pd

BUSY = 1.5
"""Load average per rank above which other programs must have been running; a sweep's own runs stay below it."""


ENOUGH = 5
"""Repetitions from which another one narrows the intervals only little."""

SMALLEST, LARGEST = 1e-4, 1e6
"""The ends of an interval that are printed as numbers lie between these."""

LITTLE = 0.02
"""A drift below this is not told."""

MOST_NAMED = 4
"""Settings or reasons that a sentence lists."""


def number(value: float) -> str:
    """Three significant digits at least, never an exponent: 571, 57.1, 5.70, 0.0123."""
    if value <= 0:
        return f"{value:g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value) + 1e-4))}f}"


def said(measure: Measure, value: float) -> str:
    """A value with its unit."""
    return f"{number(value)} {measure.unit}"


def plural(word: str, count: int) -> str:
    """The word for one or for many."""
    return word if count == 1 else f"{word}s"


def interval(low: float | None, high: float | None) -> str:
    """' [low, high]', or nothing when there is no interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f" [{bound(low)}, {bound(high)}]"


def bound(value: float) -> str:
    """An end of an interval. With two runs it can be so far off that its digits say nothing."""
    return "< 0.0001" if 0 < value < SMALLEST else "> 1000000" if value > LARGEST else number(value)


def times(found: Ratio) -> str:
    """A ratio with its interval: '4.03× [3.92, 4.14]'."""
    return f"{found.value:.2f}×{interval(found.low, found.high)}"


def verdict(comparison: Comparison) -> str:
    """The answer in a few sentences.

    The best setting's ratio has an interval that holds although it was picked as the best; its value has none here,
    because that in the table of points holds for a setting picked beforehand.
    """
    if comparison.best is None:
        return "No point of this sweep can be compared. " + " ".join(left_out(comparison))
    best = comparison.points.loc[comparison.best]
    measure = comparison.measure
    head = f"Best: {best['name']}, {said(measure, best['value'])}"
    if comparison.baseline == comparison.best:
        more = "was faster" if measure.less_is_better else "gave more"
        text = head + f"; this is the baseline, no other setting that can be compared {more}."
    elif comparison.baseline is None:
        worst = comparison.points.loc[comparison.worst]
        text = head + f"; the worst, {worst['name']}, gave {said(measure, worst['value'])}."
    else:
        base = comparison.points.loc[comparison.baseline]
        gain = f"{best['ratio']:.2f} times{interval(best['ratio_low'], best['ratio_high'])}"
        gain += " as fast as" if measure.less_is_better else ""
        text = head + f", {gain} the baseline ({base['name']}: {said(measure, base['value'])})."
        text += confirmed(comparison)
        if not comparison.proven:
            text += " The runs do not prove that it is better than the baseline."
    return text + rivals(comparison) + outside(comparison)


def confirmed(comparison: Comparison) -> str:
    """What fresh runs of the best setting and of the baseline say; empty without any."""
    fresh = comparison.fresh
    if fresh is None:
        return ""
    if fresh.best is None or fresh.base is None or fresh.ratio is None:
        return f" Fresh runs to confirm this cannot be used ({fresh.problem})."
    counts = (fresh.best.count, fresh.base.count)
    runs = f"{counts[0]} each" if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"
    speeds = f"{number(fresh.best.value)} against {number(fresh.base.value)} {comparison.measure.unit}"
    return f" Fresh runs of both, {runs}, made after it was picked: {times(fresh.ratio)} ({speeds})."


def rivals(comparison: Comparison) -> str:
    """Whether other settings may be as good as the best."""
    if comparison.points.loc[comparison.best, "count"] < 2:
        return ""
    others = int(comparison.points["tied"].sum()) - 1
    if others == 0:
        return ""
    text = f" {others} other {plural('setting', others)} cannot be told from it with these repetitions."
    compared = comparison.points.loc[comparison.points["left_out"] == "", "count"]
    fewest = int(compared.min())
    if fewest < ENOUGH:
        width = narrowing(fewest, ENOUGH, len(compared) - 1)
        text += f" {ENOUGH} of each would make the intervals {width:.2f} times as wide."
    return text


def outside(comparison: Comparison) -> str:
    """The setting that gave more than the best but cannot be compared; empty without one."""
    points = comparison.points
    measure, others = comparison.measure, points.loc[points["left_out"] != "", "value"].dropna()
    if others.empty:
        return ""
    top = points.loc[others.idxmin() if measure.less_is_better else others.idxmax()]
    if not measure.better(top["value"], points.loc[comparison.best, "value"]):
        return ""
    return f" {top['label']} gave {said(measure, top['value'])} but cannot be compared ({top['left_out']})."


def interaction_sentence(found: Interaction) -> str:
    """What each of two settings gives alone and what both give."""
    (a, b), (a0, b0), (a1, b1) = found.names, found.base, found.target
    steps = [
        f"{name_text(name)} {level_text(name, low)} → {level_text(name, high)} alone {times(gain)}"
        for name, low, high, gain in ((a, a0, a1, found.first), (b, b0, b1, found.second))
    ]
    if found.synergy.is_clear and found.synergy.value > 1:
        moral = f"together they give {number(found.synergy.value)} times the product of their single gains"
    elif found.synergy.is_clear:
        moral = f"together they give only {number(found.synergy.value)} times the product of their single gains"
    else:
        moral = "these runs do not show that they depend on each other"
    first = steps[0][0].upper() + steps[0][1:]
    return f"{first}; {steps[1]}; both {times(found.both)}: {moral}."


def cautions(results: Results, comparison: Comparison) -> list[str]:
    """What a reader must know before believing the numbers; most important first."""
    runs, points = comparison.runs, comparison.points
    words = storage_notes(results) if comparison.measure.of_storage else compute_notes()
    compared = points.loc[points["left_out"] == "", "count"]
    fewest = int(compared.min()) if len(compared) else 0
    if fewest == 1 and (results.directory / TUNING).exists():
        words.append(
            "The search runs a setting once: the map and the effects have no intervals, and only the fresh runs tell "
            "by how much the best is better than the baseline."
        )
    elif 0 < fewest < 3:
        words.append(
            f"Too few repetitions: the least repeated point has {fewest} usable {plural('run', fewest)}. "
            "One run has no interval, two have a very wide one: repeat each point at least 3 times."
        )
    load, ranks = runs["load_before"].dropna().astype(float), runs["nprocs"].dropna().astype(float)
    if len(load) and len(ranks) and load.median() > BUSY * ranks.median():
        words.append(
            f"The machine was busy with something else: before half of the runs its load average was above "
            f"{load.median():.0f}, with {ranks.median():.0f} {plural('rank', int(ranks.median()))} a run. Repeat the "
            "sweep when it is quiet."
        )
    words += drifted(comparison)
    places = {tuple(sorted(hosts)) for hosts in runs["hosts"] if hosts}
    if len(places) > 1:
        named = listed([", ".join(place) for place in sorted(places)])
        words.append(
            f"Not all runs had the same hosts ({named}): what differs between hosts may look like a setting's."
        )
    words += moved_baseline(comparison) + lost_runs(comparison) + retried(results)
    words += [f"Left out of the comparison: {text}" for text in left_out(comparison)]
    asked = not comparison.measure.less_is_better
    unconfirmed = asked * int((runs["usable"] & ~runs["confirmed"] & (runs["ignored"].map(len) == 0)).sum())
    if unconfirmed:
        words.append(
            f"In {unconfirmed} of {len(runs)} runs no trustworthy source confirms every requested setting: "
            "compare requested with observed in the table of runs."
        )
    words += [f"Not read: {skip.path} ({skip.reason})." for skip in results.skipped]
    return words


def moved_baseline(comparison: Comparison) -> list[str]:
    """That the baseline is not the usual one, by each setting whose usual level no run that can be compared has."""
    if comparison.baseline is None:
        return []
    points = comparison.points
    levels = {
        name: (base_level(name, list(points[name])), points.loc[comparison.baseline, name])
        for name in comparison.factors
    }
    return [
        f"No run with {describe_one(name, usual)} can be compared: the baseline has {describe_one(name, taken)}."
        for name, (usual, taken) in levels.items()
        if usual != taken
    ]


def storage_notes(results: Results) -> list[str]:
    """What the storage and the MPI-IO driver mean for the numbers."""
    runs = results.runs
    words = backends.cautions(set(runs["storage"])) + driver_notes(runs)
    if "tmpfs" in set(runs["below"].dropna()):
        words.append("The data of the runs lay in memory (tmpfs): the storage's model gives the times, not a disk.")
    return words + reads_came_from(results)


def compute_notes() -> list[str]:
    """What compute time is."""
    return [
        "Compute time is the run time of the log less the I/O time of an average process: computing, messages between "
        "the processes, waiting for them, and the start of MPI. It says nothing of the storage."
    ]


def answer_sentences(comparison: Comparison) -> list[str]:
    """Whether all builds of the program computed the same, by name where one did not; empty where there is one build
    only. Those that differ are named where they are left out."""
    runs = comparison.runs
    if "answer.said" not in runs or runs["answer.said"].isna().all():
        return []
    known = runs[runs["answer.same"].notna()]
    if known.empty:
        return [f"Answer: n/a: {untold(runs)}."]
    wrong = known[~known["answer.same"].astype(bool)]
    most = float(known.loc[known["answer.same"].astype(bool), "answer.difference"].astype(float).max())
    text = f"Answer: the baseline's in {len(known) - len(wrong)} of {len(known)} runs"
    text += f" (greatest relative difference {difference(most)})" if len(wrong) < len(known) else ""
    text += "" if wrong.empty else f", another one in {len(wrong)}: {listed(named(comparison, wrong))}"
    rest = runs[runs["answer.same"].isna()]
    return [text + (f"; n/a of {len(rest)}: {untold(rest)}." if len(rest) else ".")]


def untold(runs: pd.DataFrame) -> str:
    """Why these runs have no answer that can be compared, and how many for each reason."""
    counts = runs["answer.said"].str.removeprefix("n/a: ").value_counts(sort=False)
    if len(counts) == 1:
        return str(counts.index[0])
    return "; ".join(f"{said} ({count} {plural('run', count)})" for said, count in counts.items())


def difference(value: float) -> str:
    """A relative difference: '6.0e-08', '0' of equal numbers, n/a where nobody can tell."""
    if value != value:
        return "n/a"
    return f"{value:.1e}" if value else "0"


def named(comparison: Comparison, runs: pd.DataFrame) -> list[str]:
    """The settings of these runs."""
    return [str(comparison.points.loc[index, "label"]) for index in dict.fromkeys(runs["point"])]


def drifted(comparison: Comparison) -> list[str]:
    """By how much runs became faster or slower while the sweep went on; nothing where that cannot be told from
    scatter, or is too little to care for."""
    found = drift(comparison.runs, comparison.measure)
    if found is None or not found.is_clear or abs(math.log(found.value)) < math.log1p(LITTLE):
        return []
    way = "faster" if found.value > 1 else "slower"
    return [
        f"The machine drifted: whatever the setting, the last runs were {way} than the first, {times(found)}. The "
        "order was mixed, so that all settings met it alike, but it widens their intervals; look for what changed "
        "meanwhile."
    ]


def reads_came_from(results: Results) -> list[str]:
    """Whether what a comparison of reads measured was read from storage; nothing where no reads are compared."""
    runs = results.runs[results.runs["usable"]]
    if results.measure.operation != "read" or runs.empty:
        return []
    if runs["below"].notna().all():
        return ["Reads are as from cold caches: the storage's model of time keeps no page cache for them."]
    held = runs["storage.cached_before_read"]
    if held.isna().any():
        return [
            "Reads may have come from the nodes' page caches: nobody knows how much of the data they held. With "
            "--cold-read (btio, ior, restart_simulator) they forget it first, and the runs tell what was left."
        ]
    most = float(held.astype(float).max())
    kind = "cold" if most <= HELD else "not cold"
    return [
        f"Reads were {kind}: after they were told to forget it, nodes held at most {most:.0%} of what was read back; "
        "of the servers' caches nobody tells."
    ]


def bound_sentences(comparison: Comparison) -> list[str]:
    """From which stripes on aggregators can pay, by the storage's model; empty without one."""
    limits = comparison.limits
    if not known(limits) or comparison.points["bound"].isna().all():
        return []
    share = stripes_of_a_link(limits)
    fed = math.floor(share)
    return [
        f"Bound: a target takes {limits['ost_mb_per_s']:g} MB/s, and a client's link carries "
        f"{limits['link_mb_per_s']:g} MB/s, as much as {share:g} targets. One aggregator can feed up to {fed} stripes; "
        f"from {fed + 1} on more aggregators can pay. The bars of the next page show the bound of each setting."
    ]


def complete_run(results: Results) -> str | None:
    """The complete run that went before the sweep, in a sentence; None when there was none."""
    first = results.first
    if first is None:
        return None
    if first["status"] != "ok":
        return f"The complete run before the sweep {first['status']}: {first['reason'] or 'no reason given'}."
    measure = results.measure
    value = first[measure.column]
    gave = "" if value is None else f", {measure.name} {said(measure, value)}"
    return f"The complete run before the sweep: verification {first['verification'] or 'n/a'}{gave}."


def lost_runs(comparison: Comparison) -> list[str]:
    """How many runs were thrown away, why, and what that does to the numbers; empty when none was."""
    runs, lost = comparison.runs, int(comparison.points["lost"].sum())
    if not lost:
        return []
    attempts = [reason for reasons in runs["lost_attempts"] for reason in reasons]
    final = runs.loc[~runs["usable"], "reason"].fillna("no reason given")
    reasons = Counter(
        [*attempts, *final, *[f"no {comparison.measure.name} reported"] * (lost - len(attempts) - len(final))]
    )
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(MOST_NAMED))
    more = f", {len(attempts)} of them repeated" if attempts else ""
    return [
        f"{lost} of {len(runs) + len(attempts)} runs were lost{more}: {why}. A slow run is lost more easily than a "
        "fast one, so the runs that remain may look faster than their setting is; every setting that lost some says so."
    ]


def retried(results: Results) -> list[str]:
    """Runs that failed and were done again on request; empty without any."""
    reasons = Counter(reason for reasons in results.runs["failed_attempts"] for reason in reasons)
    if not reasons:
        return []
    total = sum(reasons.values())
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(MOST_NAMED))
    return [
        f"{total} failed {plural('run', total)} {'was' if total == 1 else 'were'} done again on request ({why}); "
        "what they left lies beside the runs, in folders that end in .attempt-N."
    ]


def left_out(comparison: Comparison) -> list[str]:
    """The points left out of the comparison, by reason."""
    named: dict[str, list[str]] = {}
    for _, point in comparison.points.iterrows():
        if point["left_out"]:
            value = f" ({said(comparison.measure, point['value'])})" if point["value"] == point["value"] else ""
            named.setdefault(point["left_out"], []).append(f"{point['label']}{value}")
    return [f"{listed(names)}: {reason}." for reason, names in named.items()]


def listed(names: Sequence[str]) -> str:
    """Some names, the first few in full: 'a; b; c; d; and 3 more'."""
    more = len(names) - MOST_NAMED
    return "; ".join([*names[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def ranks_text(ranks: pd.Series[Any]) -> str:
    """The ranks of the runs: '4 ranks', '1 to 8 ranks', or nothing where no run tells."""
    if ranks.empty:
        return ""
    least, most = int(ranks.min()), int(ranks.max())
    return f"{most} {plural('rank', most)}" if least == most else f"{least} to {most} ranks"


def subtitle(results: Results, comparison: Comparison) -> str:
    """What was run: workload, ranks, runs, and the settings that are the same at every point."""
    runs = comparison.runs
    ranks = runs["nprocs"].dropna()
    parts = [
        results.program,
        ranks_text(ranks),
        f"{hosts} hosts" if (hosts := runs["hosts"].map(len).max()) > 1 else "",
        f"{len(comparison.points)} {plural('point', len(comparison.points))}, {len(runs)} runs",
        driver_names(runs),
    ]
    same = [name for name in comparison.settings if len(set(runs[name])) == 1]
    parts += [describe_one(name, runs[name].iloc[0]) for name in same]
    return ", ".join(part for part in parts if part)
