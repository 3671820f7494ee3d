"""Cautions to read before the numbers of a comparison: storage, drift, discarded runs, points that were left out."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

from iolens.foreign import printable_text
from iolens.lab.storage import backends
from iolens.lab.sweep.read.results import Results
from iolens.lab.tune.trail import TUNING
from iolens.lazy import pd
from iolens.metrics.audit.evidence import HELD
from iolens.metrics.comparison.effects import drift
from iolens.metrics.comparison.points import measured, split_runs, usual_range
from iolens.metrics.comparison.results import Comparison, base_level
from iolens.metrics.comparison.settings import crowded, describe, describe_one, three_digits, volume_text
from iolens.metrics.files.stripes.bound import MODEL_BOUNDS
from iolens.missing import is_nan
from iolens.pages.base.words import MOST_NAMED, name_list, plural, ratio_text, value_with_unit
from iolens.pages.wording.sweep_remedy import driver_notes

_BUSY = 1.5
"""Load average per rank above which other programs must have been running; a sweep's own runs stay below it. It serves
for runs that did not record which cores were busy.
"""

_FAR_BELOW = 0.4
"""Share of a model's bound below which the storage was not the limit: on a quiet machine points reach half or more."""

_ROUNDED = 0.01
"""Largest part by which numbers of bytes differ because a benchmark printed rounded speeds and times."""

_SEES_TWO_SPEEDS = 6
"""Number of runs in which a setting that has two equally likely speeds shows both with a probability of 97 %."""

_LITTLE = 0.02
"""Minimum drift that is mentioned, as a relative change of the speed (0.02: 2 %)."""


def origins(results: Results, comparison: Comparison) -> list[str]:
    """Returns the sources of the numbers: storage, driver, caches, repeated runs, files that were not read."""
    words = [results.chosen.source] if results.chosen and results.chosen.source else []
    words += _storage_notes(results) if comparison.measure.of_storage else _compute_notes()
    return [*words, *_unseen_speeds(comparison), *retried(results), *not_read(results)]


def _unseen_speeds(comparison: Comparison) -> list[str]:
    """Returns what too few repetitions cannot show; empty if every setting has enough of them."""
    points = comparison.points
    counts = points.loc[(points["left_out"] == "") & (points["count"] > 1), "count"]
    if counts.empty or counts.min() >= _SEES_TWO_SPEEDS:
        return []
    fewest = int(counts.min())
    return [
        f"{fewest} runs of a setting that has two speeds, each in half of its runs, all show the same one in "
        f"{100 * 0.5 ** (fewest - 1):.0f} % of cases: its interval then misses its typical value. {_SEES_TWO_SPEEDS} "
        "runs show both in 97 %."
    ]


def not_read(results: Results) -> list[str]:
    """Returns a sentence for each file that could not be read."""
    return [f"Not read: {printable_text(str(skip.path))} ({skip.reason})." for skip in results.skipped]


def doubts(results: Results, comparison: Comparison) -> list[str]:
    """Returns the reasons for doubt about the numbers, which a reader needs before the numbers, the most important
    first.
    """
    runs, points = comparison.runs, comparison.points
    words = _busy_machine(runs) + _lost_runs_caution(comparison) + _far_below_bound(comparison)
    compared = points.loc[points["left_out"] == "", "count"]
    fewest = int(compared.min()) if len(compared) else 0
    if fewest == 1 and (results.directory / TUNING).exists():
        words.append(
            "The search runs a setting once: the map and the effects have no intervals, and only the fresh runs tell "
            "by how much the best is better than the baseline."
        )
    elif 0 < fewest < 3:
        words.append(
            f"Too few repetitions: the least repeated point has {plural(fewest, 'usable run')}. "
            "One run has no interval, two have a very wide one: repeat each point at least 3 times."
        )
    words += _unlike_work(comparison)
    words += _drifted(comparison)
    words += _other_hosts(runs)
    words += _moved_baseline(comparison) + _split_points(comparison)
    words += [f"Left out of the comparison: {text}" for text in left_out(comparison)]
    asked = not comparison.measure.less_is_better
    unconfirmed = asked * int((runs["usable"] & ~runs["confirmed"] & (runs["ignored"].map(len) == 0)).sum())
    if unconfirmed:
        words.append(
            f"In {unconfirmed} of {len(runs)} runs no trustworthy source confirms every requested setting: "
            "compare requested with observed in the table of runs."
        )
    return words


def _other_hosts(runs: pd.DataFrame) -> list[str]:
    """Returns a caution if runs had different hosts, beyond those that other numbers of nodes add."""
    nodes = runs["nodes"] if "nodes" in runs else pd.Series(0, index=runs.index)
    by_nodes: dict[Any, set[tuple[str, ...]]] = {}
    for count, hosts in zip(nodes, runs["hosts"], strict=True):
        if hosts:
            by_nodes.setdefault(count, set()).add(tuple(sorted(hosts)))
    places = sorted({place for each in by_nodes.values() for place in each}, key=len)
    nested = all(set(fewer) <= set(more) for fewer, more in pairwise(places))
    if all(len(each) == 1 for each in by_nodes.values()) and nested:
        return []
    named = name_list([", ".join(place) for place in sorted(places)])
    return [f"Not all runs had the same hosts ({named}): differences between hosts may look like effects of settings."]


def _busy_machine(runs: pd.DataFrame) -> list[str]:
    """Returns a caution if other programs used the cores that the ranks of many runs needed."""
    columns = ["machine.busy_cores", "machine.own_cores", "machine.cpus", "nprocs"]
    known = runs[columns].dropna().astype(float) if set(columns) <= set(runs) else pd.DataFrame()
    if not len(known):
        return _loaded_machine(runs)
    others = (known["machine.busy_cores"] - known["machine.own_cores"]).clip(lower=0.0)
    found = [
        crowded(other, round(ranks), round(cpus))
        for other, ranks, cpus in zip(others, known["nprocs"], known["machine.cpus"], strict=True)
    ]
    if not any(found):
        return []
    return [
        f"The machine was busy with other work: in {sum(found)} of {len(found)} runs other programs used up to "
        f"{others.max():.1f} of its {plural(round(known['machine.cpus'].max()), 'core')}, and ranks had to wait for a "
        "core. Repeat the sweep when it is quiet."
    ]


def _loaded_machine(runs: pd.DataFrame) -> list[str]:
    """Returns the caution of a busy machine for runs that recorded the load average alone."""
    load, ranks = runs["load_before"].dropna().astype(float), runs["nprocs"].dropna().astype(float)
    if not len(load) or not len(ranks) or load.median() <= _BUSY * ranks.median():
        return []
    return [
        f"The machine was busy with other work: before half of the runs, its load average was above "
        f"{load.median():.0f}, with {plural(round(ranks.median()), 'rank')} a run. Repeat the sweep when it is quiet."
    ]


def _far_below_bound(comparison: Comparison) -> list[str]:
    """Returns a caution if settings on emulated storage stay far below the bound that its own model gives them."""
    points = comparison.points[(comparison.points["left_out"] == "") & comparison.points["bound_by"].isin(MODEL_BOUNDS)]
    shares = (points["value"] / points["bound"]).astype(float)
    if comparison.measure.less_is_better or not (shares < _FAR_BELOW).any():
        return []
    named = [f"{points.loc[i, 'label']}: {100 * share:.0f} %" for i, share in shares[shares < _FAR_BELOW].items()]
    return [
        f"Settings stay far below the bound of their storage's model ({name_list(named)}): the program or a lack of "
        "cores limited them, and real storage may order them otherwise."
    ]


def _unlike_work(comparison: Comparison) -> list[str]:
    """Returns a caution if the runs of the best setting and of the baseline moved different numbers of bytes, or had
    different numbers of ranks.
    """
    if comparison.baseline is None or comparison.best in (None, comparison.baseline):
        return []
    runs = comparison.runs[comparison.runs["usable"]]
    base, best = (
        runs.loc[runs["point"] == point, ["bytes", "nprocs"]].astype(float).mean()
        for point in (comparison.baseline, comparison.best)
    )
    alike = [
        is_nan(base[name]) or is_nan(best[name]) or math.isclose(base[name], best[name], rel_tol=_ROUNDED)
        for name in ("bytes", "nprocs")
    ]
    if all(alike):
        return []
    said = [f"{volume_text(each['bytes'])} on {plural(round(each['nprocs']), 'rank')}" for each in (base, best)]
    return [f"The baseline moved {said[0]} and the best setting {said[1]}: their ratio does not compare the same work."]


def _split_points(comparison: Comparison) -> list[str]:
    """Returns the settings with outlying runs or two groups of runs, whose means describe none of their runs."""
    measure = comparison.measure
    values = [
        (str(point["label"]), measured(comparison.runs[comparison.runs["point"] == index], measure.column))
        for index, point in comparison.points.iterrows()
        if not point["left_out"]
    ]
    if comparison.fresh is not None and comparison.fresh.ratio is not None:
        names = list(comparison.settings)
        for levels, runs in comparison.fresh.runs.groupby(names, sort=False, dropna=False):
            label = describe(dict(zip(names, levels, strict=True)))
            values.append((f"fresh runs of {label}", measured(runs, measure.column)))
    groups = [each for _, each in values]
    usual = [usual_range(groups[:place] + groups[place + 1 :]) for place in range(len(groups))]
    found = [
        (label, split)
        for (label, each), range_of_others in zip(values, usual, strict=True)
        if (split := split_runs(each, range_of_others)) is not None
    ]
    far = [
        f"{label}: {three_digits(split.fewer_value)} against {value_with_unit(measure, split.more_value)}"
        for label, split in found
        if split.fewer == 1
    ]
    two = [
        f"{label}: {split.fewer} near {three_digits(split.fewer_value)} and {split.more} near "
        f"{value_with_unit(measure, split.more_value)}"
        for label, split in found
        if split.fewer > 1
    ]
    words = [
        f"One run of a setting is far from its others, and moves the mean ({name_list(far)}). If a setting has two "
        "speeds, few runs may all show the same one: repeat it more often."
    ]
    words = words if far else []
    return words + ([f"Runs fall in two groups, and their mean describes neither ({name_list(two)})."] if two else [])


def _moved_baseline(comparison: Comparison) -> list[str]:
    """Returns a caution for each setting whose default level has no comparable run, so that the baseline has another
    level.
    """
    if comparison.baseline is None:
        return []
    points = comparison.points
    levels = {
        name: (base_level(name, list(points[name])), points.loc[comparison.baseline, name])
        for name in comparison.factors
    }
    return [
        f"No run with {describe_one(name, usual)} can be compared, so the baseline has {describe_one(name, taken)}."
        for name, (usual, taken) in levels.items()
        if usual != taken
    ]


def _storage_notes(results: Results) -> list[str]:
    """Returns the consequences of the storage and the MPI-IO driver for the numbers."""
    runs = results.runs
    words = backends.cautions(set(runs["storage"])) + driver_notes(runs)
    if "tmpfs" in set(runs["below"].dropna()):
        words.append(
            "The data of the runs was in memory (tmpfs): the times come from the model of the storage, not from a disk."
        )
    return words + _reads_came_from(results)


def _compute_notes() -> list[str]:
    """Returns the definition of compute time."""
    return [
        "Compute time is the run time of the log less the I/O time of an average process: computing, messages between "
        "the processes, waiting for them, and the start of MPI. It says nothing about the storage."
    ]


def _drifted(comparison: Comparison) -> list[str]:
    """Returns by how much runs became faster or slower during the sweep; nothing if that is within the scatter or
    negligible.
    """
    found = drift(comparison.runs, comparison.measure)
    if found is None or not found.is_clear or abs(math.log(found.value)) < math.log1p(_LITTLE):
        return []
    way = "faster" if found.value > 1 else "slower"
    cancels = ", and ratios of runs of the same block are free of it" if comparison.by_block else ""
    return [
        f"The machine drifted: whatever the setting, the last runs were {way} than the first, {ratio_text(found)}. "
        f"The order of runs was mixed, so this affects all settings alike{cancels}. Look for what changed meanwhile."
    ]


def _reads_came_from(results: Results) -> list[str]:
    """Returns a caution that says whether the reads of a comparison came from storage; nothing if no reads are
    compared.
    """
    runs = results.runs[results.runs["usable"]]
    if results.measure.operation != "read" or runs.empty:
        return []
    if runs["file_system"].astype(str).str.startswith("fuse.ceph").any():
        return [
            "Reads may have come from the cache of ceph-fuse, which keeps data of its own: --cold-read empties only "
            "the kernel's cache. Mount with --client_oc=false --fuse_disable_pagecache=true to measure storage reads."
        ]
    if runs["below"].notna().all():
        return ["Reads count as from cold caches, because the model of the storage has no page cache for reads."]
    held = runs["storage.cached_before_read"]
    if held.isna().any():
        return [
            "Reads may have come from the nodes' page caches: it is unknown how much of the data they held. With "
            "--cold-read (btio, ior, restart_simulator) nodes drop the data first, and the runs report how much was "
            "left."
        ]
    most = float(held.astype(float).max())
    kind = "cold" if most <= HELD else "not cold"
    return [
        f"Reads were {kind}: after the request to drop the data, nodes held at most {100 * most:.0f} % of what was "
        "read back; the caches of the servers are unknown."
    ]


def _lost_runs_caution(comparison: Comparison) -> list[str]:
    """Returns the number of discarded runs, the reasons, and the effect on the numbers; empty if none was discarded."""
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
        f"{lost} of {len(runs) + len(attempts)} runs were lost{more}: {why}. A slow run is more likely to be lost "
        "than a fast one, so the remaining runs may look faster than their setting is. Settings that lost runs are "
        "marked."
    ]


def retried(results: Results) -> list[str]:
    """Returns the runs that failed and were repeated on request; empty if there is none."""
    reasons = Counter(reason for reasons in results.runs["failed_attempts"] for reason in reasons)
    if not reasons:
        return []
    total = sum(reasons.values())
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(MOST_NAMED))
    return [
        f"{plural(total, 'failed run')} {'was' if total == 1 else 'were'} repeated on request ({why}); their files "
        "are beside the runs, in folders that end in .attempt-N."
    ]


def left_out(comparison: Comparison) -> list[str]:
    """Returns the points left out of the comparison, by reason."""
    named: dict[str, list[str]] = {}
    for _, point in comparison.points.iterrows():
        if point["left_out"]:
            value = f" ({value_with_unit(comparison.measure, point['value'])})" if not is_nan(point["value"]) else ""
            named.setdefault(point["left_out"], []).append(f"{point['label']}{value}")
    return [f"{name_list(names)}: {reason}." for reason, names in named.items()]
