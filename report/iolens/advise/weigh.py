"""Applies all rules to one job, orders their findings by the time that each can save, and makes their remedies
consistent.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from iolens.advise import say
from iolens.advise.finding import Finding
from iolens.advise.limits import Limits
from iolens.advise.remedies import fitting, hints_text, stripes_text
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.standing import UNKNOWN, WHOLE_SECONDS, is_close, log_standing
from iolens.advise.table import RULES
from iolens.log import Job
from iolens.metrics.files.overview import used_types
from iolens.metrics.files.stripes.striping import named_targets
from iolens.metrics.job.ranks import io_span_seconds, part_at_most
from iolens.metrics.job.spent import Spent
from iolens.metrics.why.answers import files_bound, storage_bound

_HINTS_PLACE, _LAYOUT_PLACE = "{hints}", "{layout}"

_WIDTH = 76


def agreed(found: Iterable[tuple[Rule, Seen]], kinds: Collection[str] = (), targets: int = 0) -> list[Seen]:
    """Returns the findings with remedies that do not contradict each other; the first rule decides. A hint or a file
    layout that an earlier rule set to another value is taken out of the later remedy, which then names the finding
    whose value holds. `kinds`: the types of file systems that the job used; lines of remedies for other types are taken
    out. `targets`: the number of storage targets that the log shows; a remedy with more stripes says so.
    """
    values: dict[str, tuple[str, str]] = {}
    layouts: list[tuple[ProposedStripes, str]] = []
    made = []
    for rule, seen in found:
        hints, rivals = [], []
        for line in seen.hints:
            key, _, value = line.partition(" ")
            known, title = values.setdefault(key, (value, rule.title))
            if known == value:
                hints.append(line)
            else:
                rivals.append((key, known, title))
        remedy = fitting(seen.remedy, kinds).replace(_HINTS_PLACE, _hints_said(hints, rivals))
        layout, said = _layout_said(seen.layout, layouts, targets)
        if layout is not None:
            layouts.append((layout, rule.title))
        made.append(replace(seen, remedy=remedy.replace(_LAYOUT_PLACE, said), hints=tuple(hints), layout=layout))
    return made


def _wrapped_sentence(text: str) -> str:
    """Returns a sentence in lines that fit a terminal."""
    return "\n".join(textwrap.wrap(text, _WIDTH, break_on_hyphens=False))


def _hints_said(hints: list[str], rivals: list[tuple[str, str, str]]) -> str:
    """Returns hints as text to paste, and a sentence for each hint whose value an earlier rule has already decided."""
    kept = [_wrapped_sentence(f"{key} stays {value}, as “{title}” asks for.") for key, value, title in rivals]
    return "\n\n".join([*([hints_text(hints)] if hints else []), *kept])


def _layout_said(
    layout: ProposedStripes | None, known: list[tuple[ProposedStripes, str]], targets: int
) -> tuple[ProposedStripes | None, str]:
    """Returns the layout and its text. If an earlier finding proposes another layout for some of these files, returns
    None and a sentence that names this finding.
    """
    if layout is None:
        return None, ""
    for other, title in known:
        if set(other.files) & set(layout.files) and (other.count, other.size) != (layout.count, layout.size):
            return None, _wrapped_sentence(f"Use the layout of the file that “{title}” gives.")
    doubt = (
        f"This log names only {say.count(targets, 'target')}: do not use more stripes than the file system has targets."
    )
    return layout, stripes_text(layout.count, layout.size) + (
        f"\n{_wrapped_sentence(doubt)}" if layout.count > targets else ""
    )


def weighed(job: Job, limits: Limits, notes: bool = True) -> tuple[Finding, ...]:
    """Returns the findings, most gain first, but a cause before its effects; then findings without a bound on the gain,
    and notes last.

    Empty for a job whose I/O is healthy or too short to matter. Without `notes`, rules that only make notes are not
    applied.
    """
    heard = [
        (rule, seen) for rule in RULES if _is_asked(rule, job, limits, notes) and (seen := rule.check(job, limits))
    ]
    heavy = [_Weighed(rule, seen, *_gain(rule, seen, job, limits)) for rule, seen in heard]
    kept = [one for one in heavy if (notes or not one.note) and not _is_negligible(one, limits)]
    gains = {one.rule.id: one.gain or 0.0 for one in kept}
    kept.sort(key=lambda one: _sort_key(one, gains))
    remedies = agreed([(one.rule, one.seen) for one in kept], used_types(job), named_targets(job)) if kept else []
    return tuple(_finding_of_rule(one, seen, job, limits) for one, seen in zip(kept, remedies, strict=True))


_REPLAYED = (
    "A replay of the job's calls without that I/O saves no more than that, because ranks wait for one another anyway."
)


_ONLY_SUM = "The log has only the sum over ranks of this time, and not the time of the slowest rank."

_WHOLE = 0.99
"""Part of the run from which a bound says no more than that the remedy cannot save the whole run."""

_TIGHT = 1.1
"""A bound is printed without the estimate if it is at most this many times the estimate."""


class _Weighed(NamedTuple):
    """The evidence of a rule, the part of the run that its remedy may save, the largest such part (None: unknown), and
    whether it is only a note.
    """

    rule: Rule
    seen: Seen
    gain: float | None
    bound: float | None
    note: bool


def _is_judged(job: Job, limits: Limits) -> bool:
    """Returns whether there is enough I/O, on a sufficiently accurate clock, for advice."""
    judged = log_standing(job, limits) not in (UNKNOWN, WHOLE_SECONDS)
    return judged and (io_span_seconds(job) or 0.0) >= limits["least_seconds"]


def _is_asked(rule: Rule, job: Job, limits: Limits, notes: bool) -> bool:
    """Returns whether a rule applies: a note if `notes` is set, a rule on computing or messages if the run was long
    enough, a rule on I/O if there is enough I/O to judge.
    """
    if rule.note:
        return notes
    if rule.beside_io and not rule.always:
        return job.run_time >= limits["least_seconds"]
    return rule.always or _is_judged(job, limits)


def _gain(rule: Rule, seen: Seen, job: Job, limits: Limits) -> tuple[float | None, float | None, bool]:
    """Returns the part of the run time that a remedy may save (for I/O, no more than I/O cost), an upper bound of it,
    and whether the finding is only a note. On a clock of whole seconds both allow for a run that was a second shorter.
    """
    if rule.always and not _is_judged(job, limits) and not (rule.beside_io and _is_long(job, limits, seen)):
        return None, None, True
    if seen.seconds is None or job.run_time <= 0:
        return None, None, rule.note
    most = job.run_time if rule.beside_io else _most_of_io(job, seen)
    gain = part_at_most(job, min(max(0.0, _estimate(seen)), most, job.run_time))
    if rule.always and gain < limits["worth_gain"]:
        return None, None, True
    return gain, _bound(rule, seen, job, gain), rule.note


def _is_long(job: Job, limits: Limits, seen: Seen) -> bool:
    """Returns whether calls that the times of I/O do not contain took long enough to be judged."""
    return not job.coarse and _estimate(seen) >= limits["least_seconds"]


def _estimate(seen: Seen) -> float:
    """Returns the seconds that a remedy is assumed to save."""
    return seen.seconds.about if isinstance(seen.seconds, Spent) else seen.seconds or 0.0


def _bound(rule: Rule, seen: Seen, job: Job, gain: float) -> float | None:
    """Returns the largest part of the run that a remedy can save; None if nothing but the run bounds it.

    A replay does not bound a process without others: it keeps the work between calls, which a remedy may take away.
    """
    replayed = None if rule.beside_io or job.nprocs <= 1 else _replayed(job, seen)
    spans = [seen.seconds.span] if isinstance(seen.seconds, Spent) else []
    found = min([*spans, *([] if replayed is None else [replayed])], default=job.run_time)
    bound = max(gain, part_at_most(job, found))
    return bound if bound < _WHOLE else None


def _most_of_io(job: Job, seen: Seen) -> float:
    """Returns the most seconds that a remedy of I/O can save: those that a replay without the I/O saves, or, in a log
    without the events for it, the time in I/O.
    """
    bound = _replayed(job, seen)
    return (io_span_seconds(job) or 0.0) if bound is None else bound


def _replayed(job: Job, seen: Seen) -> float | None:
    """Returns the seconds that a run would save without the I/O of a finding (on its files, or on all files), by a
    replay of the recorded events. None if the log does not have the events for it (`iolens run --why`).
    """
    bounds = [storage_bound(job), files_bound(job, seen.layout.files) if seen.layout else None]
    return min((bound for bound in bounds if bound is not None), default=None)


def _sort_key(one: _Weighed, gains: Mapping[str, float]) -> tuple[bool, bool, float, bool]:
    """Returns the sort key of a finding: most gain first, and a cause before its effects."""
    own = gains[one.rule.id]
    caused = [gains[key] for key in one.rule.before if key in gains and 2 * own >= gains[key]]
    return one.note, one.gain is None, -max([own, *caused]), not caused


def _is_negligible(one: _Weighed, limits: Limits) -> bool:
    """Returns whether a finding can gain too little to be reported."""
    return one.gain is not None and (one.gain < limits["least_gain"] or one.gain == 0.0)


def _finding_of_rule(one: _Weighed, seen: Seen, job: Job, limits: Limits) -> Finding:
    """Returns the finding of a rule with the remedy that agrees with those of the others."""
    rule, gain = one.rule, one.gain
    return Finding(
        id=rule.id,
        severity=_severity(one, limits),
        title=rule.title,
        evidence=_for_ranks(seen.evidence, job),
        why=rule.why,
        gain=gain,
        gain_words=_gain_words(one, limits, job),
        remedy=seen.remedy,
        read_more=rule.read_more,
        derivation=_derivation(one, job),
        hints=seen.hints,
        bound=one.bound,
        limited_by=rule.bounds if seen.bounds is None else seen.bounds,
        doubt=_doubt(seen),
    )


def _derivation(one: _Weighed, job: Job) -> str:
    """Returns a sentence that says how the bound on the gain was computed; empty for a note without a gain."""
    if one.gain is None and one.note:
        return ""
    bound = None if one.rule.beside_io else _replayed(job, one.seen)
    replayed = bound is not None and _estimate(one.seen) > bound
    said = _for_ranks(one.seen.derivation, job)
    return f"{said} {_REPLAYED}".strip() if replayed else said


def _for_ranks(text: str, job: Job) -> str:
    """Returns a rule's text; for a job of a single process, without the words "on the slowest rank"."""
    return text if job.nprocs > 1 else text.replace(" on the slowest rank", "")


def _doubt(seen: Seen) -> str:
    """Returns a sentence on a time that the log leaves open; empty if it is known."""
    if not isinstance(seen.seconds, Spent) or not seen.seconds.is_interval:
        return ""
    return _ONLY_SUM


def _severity(one: _Weighed, limits: Limits) -> str:
    """Returns one of SEVERITIES for a gain; medium if the gain has no upper bound."""
    if one.note:
        return "note"
    if one.gain is None:
        return "medium"
    return "high" if one.gain >= limits["high_gain"] else "medium" if one.gain >= limits["worth_gain"] else "low"


def _gain_words(one: _Weighed, limits: Limits, job: Job) -> str:
    """Returns the gain in words, such as "at most 12 % of the run", or the reason why none is given."""
    gain = one.gain
    if gain is None:
        return "a note on the numbers, not on the speed" if one.note else "this log gives no upper bound of the gain"
    about, most = f"about {say.percent(gain)}", "" if one.bound is None else f"at most {say.at_most(one.bound)}"
    is_tight = one.bound is not None and one.bound <= _TIGHT * gain and not job.coarse
    words = f"{most if is_tight else ', '.join(filter(None, (about, most)))} of the run"
    if is_close(gain, limits):
        return f"{words}, close to the {say.percent(limits['worth_gain'])} from which a change is worth it"
    return words if gain >= limits["worth_gain"] else f"{words}: not worth it"
