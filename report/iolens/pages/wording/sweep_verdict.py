"""The comparison in sentences: the verdict, and the joint effect of the settings."""

from __future__ import annotations

import math
from typing import Any

from iolens.lab.sweep.read.results import Results
from iolens.lazy import pd
from iolens.metrics.comparison.effects import Interaction
from iolens.metrics.comparison.results import HARDLY, Comparison
from iolens.metrics.comparison.settings import COSTLY, describe_one, level_text, name_text, three_digits
from iolens.metrics.files.stripes.bound import has_limits, stripes_of_a_link
from iolens.pages.base.words import difference, interval, name_list, plural, ratio_text, value_with_unit
from iolens.pages.wording.sweep_cautions import left_out
from iolens.pages.wording.sweep_remedy import driver_names

_ENOUGH = 5
"""With this number of repetitions or more, a further repetition narrows the intervals only a little."""


def comparison_verdict(comparison: Comparison) -> str:
    """Returns the answer in a few sentences, the gain first."""
    return " ".join([lead(comparison), *details(comparison)])


def lead(comparison: Comparison) -> str:
    """Returns a sentence on the gain of the best setting over the baseline, with its interval. The gain is that of the
    fresh runs, which had no part in choosing the setting. Without fresh runs it is that of the sweep, whose interval
    allows for the choice.
    """
    if comparison.best is None:
        return "No point of this sweep can be compared. " + " ".join(left_out(comparison))
    best = comparison.points.loc[comparison.best]
    measure, fresh = comparison.measure, comparison.fresh
    head = f"Best: {best['name']}, {value_with_unit(measure, best['value'])}"
    if comparison.baseline == comparison.best:
        more = "was faster" if measure.less_is_better else "gave more"
        less = f" by more than {HARDLY:.0%}" if len(comparison.equals) > 1 else ""
        return head + f"; this is the baseline, and no other comparable setting {more}{less}."
    if comparison.baseline is None:
        worst = comparison.points.loc[comparison.worst]
        return head + f"; the worst, {worst['name']}, gave {value_with_unit(measure, worst['value'])}."
    base = comparison.points.loc[comparison.baseline]
    against = f"{'as fast as ' * measure.less_is_better}the baseline ({base['name']})"
    if fresh is not None and fresh.ratio is not None and fresh.best is not None and fresh.base is not None:
        counts = (fresh.best.count, fresh.base.count)
        runs = (
            f"{plural(counts[0], 'fresh run')} of each"
            if counts[0] == counts[1]
            else f"{counts[0]} and {counts[1]} fresh runs"
        )
        gain = f"{_times_of(fresh.ratio.value, fresh.ratio.low, fresh.ratio.high)} {against}"
        speeds = f"{three_digits(fresh.best.value)} against {value_with_unit(measure, fresh.base.value)} in {runs}"
        begin = "Confirmed" if comparison.proven else "Not confirmed"
        text = f"{begin}: {best['name']} gives {gain}, {speeds}."
    else:
        gain = f"{_times_of(best['ratio'], best['ratio_low'], best['ratio_high'])} {against}"
        values = f"{three_digits(best['value'])} against {value_with_unit(measure, base['value'])}"
        text = f"Best: {best['name']}, {gain}: {values}."
    return text if comparison.proven else f"{text} The runs do not prove that it is better than the baseline."


def _times_of(ratio: float, low: float | None, high: float | None) -> str:
    """Returns a ratio with its interval: '4.03 times [3.92, 4.14]'."""
    return f"{three_digits(ratio)} times{interval(low, high)}"


def details(comparison: Comparison) -> list[str]:
    """Returns the sentences after the first one: the gain in the sweep itself (if the first one has that of fresh
    runs), the settings that may be as good, the runs that were saved, and the settings that cannot be compared.
    """
    if comparison.best is None:
        return []
    return [
        text
        for text in (
            _in_sweep(comparison),
            _smallest_equal(comparison),
            _rivals(comparison),
            _spared(comparison),
            _outside(comparison),
        )
        if text
    ]


def _smallest_equal(comparison: Comparison) -> str:
    """Returns the reason why the best setting is not the fastest one; empty if it is the fastest."""
    points, measure = comparison.points, comparison.measure
    top = min(comparison.equals, key=lambda i: points.loc[i, "value"] * (1 if measure.less_is_better else -1))
    if top == comparison.best:
        return ""
    return (
        f"{points.loc[top, 'label']} gave {value_with_unit(measure, points.loc[top, 'value'])}. That is at most "
        f"{HARDLY:.0%} better and may be chance, so the smallest of these {len(comparison.equals)} settings is "
        "recommended: fewest stripes, then aggregators, then buffer."
    )


def _in_sweep(comparison: Comparison) -> str:
    """Returns the gain by the runs of the sweep, among which the best was picked; empty without fresh runs."""
    fresh = comparison.fresh
    if fresh is None or comparison.baseline is None:
        return ""
    if fresh.ratio is None:
        return f"The fresh runs that should confirm this cannot be used ({fresh.problem})."
    best, base = (comparison.points.loc[one] for one in (comparison.best, comparison.baseline))
    gain = _times_of(best["ratio"], best["ratio_low"], best["ratio_high"])
    return (
        f"In the sweep, from which the setting was picked, it gave {gain} the baseline: "
        f"{three_digits(best['value'])} against {value_with_unit(comparison.measure, base['value'])}."
    )


def _rivals(comparison: Comparison) -> str:
    """Returns a sentence about other settings that may be as good as the best."""
    if comparison.points.loc[comparison.best, "count"] < 2:
        return ""
    others = int(comparison.points["tied"].sum()) - 1
    if others == 0:
        return ""
    text = f"{plural(others, 'other setting')} may be as good as it: these repetitions cannot tell."
    text += _smallest_rival(comparison)
    compared = comparison.points.loc[comparison.points["left_out"] == "", "count"]
    fewest = int(compared.min())
    if fewest < _ENOUGH:
        width = math.sqrt(fewest / _ENOUGH)
        text += f" With {_ENOUGH} runs of each, the intervals would be about {width:.2f} times as wide."
    return text


def _smallest_rival(comparison: Comparison) -> str:
    """Returns a sentence with the cheapest setting that is tied with the best one and differs from it in nothing but
    cost: it has the fewest stripes, then the fewest aggregators, then the smallest buffer. Empty if that is the best
    setting itself.
    """
    points, best = comparison.points, comparison.points.loc[comparison.best]
    costs = [name for name in COSTLY if name in comparison.settings]
    rivals = points[points["tied"].astype(bool)]
    for name in comparison.settings:
        rivals = rivals if name in costs else rivals[rivals[name] == best[name]]
    if not costs or rivals.empty:
        return ""
    smallest = rivals.sort_values(costs, kind="stable").index[0]
    if smallest == comparison.best:
        return ""
    return f" The smallest of them is {points.loc[smallest, 'label']}: more runs can show if it is as good."


def _spared(comparison: Comparison) -> str:
    """Returns a sentence with the number of runs that were saved at points that could no longer be the best; empty if
    none was saved.
    """
    points = comparison.points
    most = int(points["planned"].max())
    early = points.loc[
        ~points["tied"].astype(bool) & (points["left_out"] == "") & (points["planned"] < most), "planned"
    ]
    if early.empty:
        return ""
    saved = int((most - early).sum())
    return (
        f"{plural(len(early), 'setting')} could no longer be the best and had fewer repetitions: "
        f"{plural(saved, 'run')} saved."
    )


def _outside(comparison: Comparison) -> str:
    """Returns the setting that was faster than the best but cannot be compared; empty if there is none."""
    points = comparison.points
    measure, others = comparison.measure, points.loc[points["left_out"] != "", "value"].dropna()
    if others.empty:
        return ""
    top = points.loc[others.idxmin() if measure.less_is_better else others.idxmax()]
    if not measure.better(top["value"], points.loc[comparison.best, "value"]):
        return ""
    return f"{top['label']} gave {value_with_unit(measure, top['value'])} but cannot be compared ({top['left_out']})."


def interaction_sentence(found: Interaction) -> str:
    """Returns the effect of each of two settings alone and of both together."""
    (a, b), (a0, b0), (a1, b1) = found.names, found.base, found.target
    steps = [
        f"{name_text(name)} {level_text(name, low)} → {level_text(name, high)} alone {ratio_text(gain)}"
        for name, low, high, gain in ((a, a0, a1, found.first), (b, b0, b1, found.second))
    ]
    if found.synergy.is_clear and found.synergy.value > 1:
        moral = f"together they give {three_digits(found.synergy.value)} times the product of their single gains"
    elif found.synergy.is_clear:
        moral = f"together they give only {three_digits(found.synergy.value)} times the product of their single gains"
    else:
        moral = "these runs do not show that the settings depend on each other"
    first = steps[0][0].upper() + steps[0][1:]
    return f"{first}; {steps[1]}; both {ratio_text(found.both)}: {moral}."


def answer_sentences(comparison: Comparison) -> list[str]:
    """Returns sentences on whether all builds of the program computed the same result, with the names of those that did
    not; empty if there is only one build. Builds that differ are also named among the points left out.
    """
    runs = comparison.runs
    if "answer.said" not in runs or runs["answer.said"].isna().all():
        return []
    known = runs[runs["answer.same"].notna()]
    if known.empty:
        return [f"Answer: n/a: {_untold(runs)}."]
    wrong = known[~known["answer.same"].astype(bool)]
    most = float(known.loc[known["answer.same"].astype(bool), "answer.difference"].astype(float).max())
    text = f"Answer: the baseline's in {len(known) - len(wrong)} of {len(known)} runs"
    text += f" (greatest relative difference {difference(most)})" if len(wrong) < len(known) else ""
    text += "" if wrong.empty else f", another one in {len(wrong)}: {name_list(_settings_of_runs(comparison, wrong))}"
    rest = runs[runs["answer.same"].isna()]
    return [text + (f"; n/a of {len(rest)}: {_untold(rest)}." if len(rest) else ".")]


def _untold(runs: pd.DataFrame) -> str:
    """Returns the reasons why these runs have no comparable answer, with the number of runs for each reason."""
    counts = runs["answer.said"].str.removeprefix("n/a: ").value_counts(sort=False)
    if len(counts) == 1:
        return str(counts.index[0])
    return "; ".join(f"{said} ({plural(count, 'run')})" for said, count in counts.items())


def _settings_of_runs(comparison: Comparison, runs: pd.DataFrame) -> list[str]:
    """Returns the settings of these runs."""
    return [str(comparison.points.loc[index, "label"]) for index in dict.fromkeys(runs["point"])]


def bound_sentences(comparison: Comparison) -> list[str]:
    """Returns a sentence on the bounds by the storage's model, and on the stripe count from which on more aggregators
    can pay; none without a model.
    """
    limits = comparison.limits
    if not has_limits(limits) or comparison.points["bound"].isna().all():
        return []
    share = stripes_of_a_link(limits)
    fed = math.floor(share)
    aggregators = (
        f"One aggregator can feed up to {fed} stripes; with {fed + 1} or more stripes, more aggregators can help. "
    )
    runs = comparison.runs
    if "observed.mpi_io" in runs and runs["observed.mpi_io"].isin([False, 0]).all():
        aggregators = ""
    return [
        f"Bound: a target takes {limits['ost_mb_per_s']:g} MB/s, and a client's link carries "
        f"{limits['link_mb_per_s']:g} MB/s, as much as {share:g} targets. {aggregators}A line at each bar shows the "
        "bound of its setting."
    ]


def complete_run(results: Results) -> str | None:
    """Returns the complete run that went before the sweep, in a sentence; None if there was none."""
    first = results.first
    if first is None:
        return None
    if first["status"] != "ok":
        return f"The complete run before the sweep {first['status']}: {first['reason'] or 'no reason given'}."
    measure = results.measure
    value = first[measure.column]
    gave = "" if value is None else f", {measure.name} {value_with_unit(measure, value)}"
    return f"The complete run before the sweep: verification {first['verification'] or 'n/a'}{gave}."


def _ranks_text(ranks: pd.Series[Any]) -> str:
    """Returns the ranks of the runs: '4 ranks', '1 to 8 ranks', or nothing if no run reports them."""
    if ranks.empty:
        return ""
    least, most = int(ranks.min()), int(ranks.max())
    return plural(most, "rank") if least == most else f"{least} to {most} ranks"


def comparison_subtitle(results: Results, comparison: Comparison) -> str:
    """Returns the subtitle: workload, ranks, runs, and the settings that are equal at every point."""
    runs = comparison.runs
    ranks = runs["nprocs"].dropna()
    parts = [
        results.program,
        _ranks_text(ranks),
        f"{hosts} hosts" if (hosts := runs["hosts"].map(len).max()) > 1 else "",
        f"{plural(len(comparison.points), 'point')}, {len(runs)} runs",
        driver_names(runs),
    ]
    same = [name for name in comparison.settings if len(set(runs[name])) == 1]
    parts += [describe_one(name, runs[name].iloc[0]) for name in same]
    return ", ".join(part for part in parts if part)
