"""The advice on a job as text for the terminal, as JSON, and as a hints file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from iolens.advise import Finding, Verdict, say
from iolens.errors import IolensError

if TYPE_CHECKING:
    from iolens.log import Job

WIDTH = 80


def as_text(job: Job, verdict: Verdict, findings: Sequence[Finding]) -> str:
    """Verdict, what is worth doing, what is not, and notes about the log; lines of at most 80 columns, but for text
    that is to be pasted.
    """
    program = PurePosixPath(job.exe).name or "unknown program"
    head = f"{program}, job {job.jobid}: {say.count(job.nprocs, 'process')}, {say.seconds(job.run_time)}"
    lines = [head, *wrapped(verdict.sentence), *wrapped(verdict.evidence, "  ")]
    worth = [one for one in findings if one.severity in ("high", "medium")]
    for number, one in enumerate(worth, 1):
        lines += ["", *finding_lines(number, one)]
    for title, severity in (("Seen, and not worth it:", "low"), ("About this log:", "note")):
        others = [one for one in findings if one.severity == severity]
        lines += ["", title] if others else []
        for one in others:
            tail = f" ({one.gain_words.partition(':')[0]})" if severity == "low" else ""
            lines += wrapped(f"{one.title}: {one.evidence}{tail} [{one.id}]", "  - ", "    ")
            if severity == "note":
                lines += [f"    {line}".rstrip() for line in one.remedy.splitlines()]
    return "\n".join(lines)


def finding_lines(number: int, one: Finding) -> list[str]:
    """One finding in full."""
    lines = wrapped(f"{number}. {one.title}: {one.gain_words} [{one.id}]", "", "   ")
    lines += wrapped(one.evidence, "   ")
    lines += wrapped(f"Why: {one.why}", "   ")
    lines += wrapped(f"Bound: {one.derivation}", "   ") if one.derivation else []
    lines += ["   What to do:", *(f"   {line}".rstrip() for line in one.remedy.splitlines())]
    return lines + wrapped(f"More: {one.read_more}", "   ")


def wrapped(text: str, first: str = "", other: str | None = None) -> list[str]:
    """Lines of at most 80 columns; words longer than that, such as paths, stay whole."""
    following = first if other is None else other
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=following, break_long_words=False, break_on_hyphens=False
    )


def as_json(job: Job, verdict: Verdict, findings: Sequence[Finding]) -> str:
    """One object in a line: log, program, jobid, processes, run_time, verdict, findings."""
    return json.dumps(
        {
            "log": str(job.path),
            "program": job.exe,
            "jobid": job.jobid,
            "processes": job.nprocs,
            "run_time": job.run_time,
            "verdict": asdict(verdict),
            "findings": [asdict(one) for one in findings],
        }
    )


def write_hints(path: Path, findings: Sequence[Finding]) -> None:
    """A hints file, `key value` a line, of the findings that are worth it; the first of them decides on a key."""
    chosen: dict[str, str] = {}
    for one in findings:
        for line in one.hints if one.severity in ("high", "medium") else ():
            key, _, value = line.partition(" ")
            chosen.setdefault(key, value)
    if not chosen:
        raise IolensError(f"{path} was not written: nothing in the advice is a matter of MPI-IO hints")
    try:
        path.write_text("".join(f"{key} {value}\n" for key, value in chosen.items()), encoding="utf-8")
    except OSError as error:
        raise IolensError(f"{path} cannot be written ({error.strerror})") from error
