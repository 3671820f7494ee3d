"""The advice on a job as text for the terminal, as JSON, and as a hints file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from iolens.advise import Diagnosis, Finding, say
from iolens.errors import IolensError
from iolens.foreign import printable_text
from iolens.log import Job
from iolens.missing import is_nan
from iolens.pages.job.judgement.paragraphs import confident_verdict, no_action_sentence

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
