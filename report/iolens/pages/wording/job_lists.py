"""The advice on a job as text for the terminal, as JSON, as a hints file and as one line; its rules as tables; the
best interval between checkpoints.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from iolens.advise import Diagnosis, Finding, diagnosis, say
from iolens.advise.limits import TABLE
from iolens.advise.table import RULES
from iolens.errors import IolensError, UsageError
from iolens.foreign import printable_text
from iolens.log import Job
from iolens.metrics.times.periods import best_interval, lost_share, periods
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.output.export import json_rows
from iolens.pages.wording.job_judgement import confident_verdict, no_action_sentence
from iolens.pages.wording.job_words import fact_columns, verdicts

_WIDTH = 80
_BOLD = "1"
"""The ANSI code of headings."""


def advice_text(job: Job, found: Diagnosis) -> str:
    """Returns the advice in lines of at most 80 columns, except text that is to be pasted."""
    return "\n".join(line for line, _ in styled_lines(job, found, _WIDTH))


def styled_lines(job: Job, found: Diagnosis, width: int) -> list[tuple[str, str]]:
    """Returns the verdict, what is worth doing, what is not, and notes about the log, in lines of at most `width`
    columns, except text that is to be pasted. Each line comes with the ANSI code of its style, empty if it has none.
    """
    program = PurePosixPath(job.exe).name or "unknown program"
    head = f"{program}, job {job.jobid}: {say.count(job.nprocs, 'process')}, {say.run_time(job)}"
    lines = [(head, ""), *((line, _BOLD) for line in wrapped(confident_verdict(found), width))]
    lines += _unstyled(wrapped(found.verdict.evidence, width, "  "))
    if not found.worth and found.verdict.kind != "nothing":
        lines += _unstyled(wrapped(no_action_sentence(found), width))
    for number, one in enumerate(found.worth, 1):
        lines += [("", ""), *_finding_lines(number, one, width)]
    for title, others in (("Found, but not worth a change:", found.minor), ("Notes:", found.notes)):
        lines += [("", ""), (title, _BOLD)] if others else []
        for one in others:
            tail = f" ({one.gain_words.partition(':')[0]})" if one.severity == "low" else ""
            lines += _unstyled(wrapped(f"{one.title}: {one.evidence}{tail} [{one.id}]", width, "  - ", "    "))
            if one.severity == "note":
                lines += _unstyled(f"    {line}".rstrip() for line in one.remedy.splitlines())
    return lines


def _finding_lines(number: int, one: Finding, width: int) -> list[tuple[str, str]]:
    """Returns one finding in full."""
    title = wrapped(f"{number}. {one.title}: {one.gain_words} [{one.id}]", width, "", "   ")
    lines = wrapped(one.evidence, width, "   ") + wrapped(f"Why: {one.why}", width, "   ")
    lines += wrapped(f"Where the number comes from: {one.derivation}", width, "   ") if one.derivation else []
    lines += ["   What to do:", *(f"   {line}".rstrip() for line in one.remedy.splitlines())]
    lines += wrapped(f"More: {one.read_more}", width, "   ")
    return [*((line, _BOLD) for line in title), *_unstyled(lines)]


def _unstyled(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Returns lines without a style."""
    return [(line, "") for line in lines]


def wrapped(text: str, width: int, first: str = "", other: str | None = None) -> list[str]:
    """Returns lines of at most `width` columns; words longer than that, such as paths, stay whole."""
    following = first if other is None else other
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=following, break_long_words=False, break_on_hyphens=False
    )


def advice_json(job: Job, found: Diagnosis) -> str:
    """Returns `judgement_object` as one line of JSON."""
    return json.dumps(judgement_object(job, found))


def judgement_object(job: Job, found: Diagnosis) -> dict[str, Any]:
    """Returns one object: log, program, jobid, processes, run_time, verdict (also its confidence, and the doubts about
    it), gauges, findings, hints, unknown.
    """
    return {
        "log": printable_text(str(job.path)),
        "program": job.exe,
        "jobid": job.jobid,
        "processes": job.nprocs,
        "run_time": job.run_time,
        "verdict": {**asdict(found.verdict), "confidence": found.confidence, "doubts": list(found.doubts)},
        "gauges": [_gauge_object(*row) for row in found.gauges.rows("gauge", "value", "bound", "good", "reason")],
        "findings": [asdict(one) for one in found.findings],
        "hints": list(found.hints),
        "unknown": [{"what": what, "why": why} for what, why in found.unknown],
    }


def _gauge_object(gauge: str, value: float, bound: float, good: bool | None, reason: str) -> dict[str, Any]:
    """Returns a gauge for JSON, where null stands for a number that is not known."""
    known = {name: each if not is_nan(each) else None for name, each in (("value", value), ("bound", bound))}
    return {"gauge": gauge, **known, "good": good, "reason": reason}


def write_hints(path: Path, found: Diagnosis) -> None:
    """Writes a hints file with a line `key value` for each hint of the findings that are worth it."""
    if not found.hints:
        raise IolensError(f"{path} was not written: no finding of the advice has MPI-IO hints")
    try:
        path.write_text("".join(f"{line}\n" for line in found.hints), encoding="utf-8")
    except OSError as error:
        raise IolensError(f"{path} cannot be written ({error.strerror})") from error


def rules_text(name: str = "") -> str:
    """Returns the table of the rules and that of their thresholds, in Markdown: all, or the rule of this name and its
    thresholds. Raises UsageError if no rule has the name.
    """
    chosen = [rule for rule in RULES if name in ("", rule.id)]
    if not chosen:
        from difflib import get_close_matches

        close = ", ".join(get_close_matches(name, [rule.id for rule in RULES], 3))
        hint = f"close to it: {close}" if close else "--rules alone prints all"
        raise UsageError(f"no rule is called {name}; {hint}")
    keys_of_one = {key for rule in chosen for key in rule.limits}
    rules = ["| rule | the finding is reported if | thresholds |", "|---|---|---|"]
    for rule in chosen:
        keys = ", ".join(f"`{key}`" for key in rule.limits)
        rules.append(f"| `{rule.id}`{' (note)' if rule.note else ''} | {rule.says} | {keys} |")
    limits = ["| threshold | default | unit | meaning |", "|---|---|---|---|"]
    limits += [
        f"| `{one.key}` | {one.default:.12g} | {one.unit} | {one.meaning} |"
        for one in TABLE
        if not name or one.key in keys_of_one
    ]
    return "\n".join([*rules, "", *limits])


def checkpoint_sentence(job: Job, failures: float) -> str:
    """Returns the interval between checkpoints that loses least, beside the job's own, and the time that it saves;
    `failures` is the mean time between failures in seconds.
    """
    found = periods(job)
    rows = [row for row in found.rows("kind", "period", "burst") if row[0] == "written"] if len(found) else []
    if not rows:
        return "Checkpoints: this log shows no bursts of writing at even intervals, so that --mtbf says nothing."
    _, period, burst = rows[0]
    best = best_interval(burst, failures)
    now, then = (lost_share(pause, burst, failures) for pause in (max(period - burst, 0.0), best))
    return (
        f"Checkpoints: at most {words.duration(burst)} of writing every {words.duration(period)} and a failure every "
        f"{words.duration(failures)} cost {words.share(now)} of the time. The cost is lowest, {words.share(then)}, "
        f"with {words.duration(best)} of computing between two checkpoints (Young and Daly, to first order), which "
        f"saves {words.share(max(now - then, 0.0))} of the time. This supposes that the bursts are checkpoints, and "
        "that a failure loses what was computed since the last one."
    )


def job_json(job: Job) -> str:
    """Returns one object in a line: the keys of `iolens advise --json`, `facts` in words, and `tables` by name, each a
    list of all rows with full numbers, bytes and seconds.
    """
    found = {exhibit.name: exhibit.every(job) for exhibit in JOB_EXHIBITS if not exhibit.apart}
    return json.dumps(
        {
            **judgement_object(job, diagnosis(job)),
            "facts": {name: value for part in fact_columns(job) for name, value in part},
            "tables": {name: json_rows(frame) for name, frame in found.items() if frame is not None},
        }
    )


MOST_CHARACTERS = 240
"""The longest line: Slurm's accounting keeps 255 characters of a comment in its usual databases."""


def one_line(job: Job) -> str:
    """Returns the verdict, followed by the amounts and forms of transfers, in as many whole sentences as one line
    holds.
    """
    line = confident_verdict(diagnosis(job))
    if len(line) > MOST_CHARACTERS:
        return line[: MOST_CHARACTERS - 3].rsplit(" ", 1)[0] + " …"
    for sentence in verdicts(job):
        if len(line) + 1 + len(sentence) > MOST_CHARACTERS:
            break
        line += f" {sentence}"
    return line
