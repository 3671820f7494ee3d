"""A job in one line, for Slurm's job comment, a chat or a log of jobs."""

from __future__ import annotations

from iolens.advise.diagnosis import diagnosis
from iolens.log import Job
from iolens.pages.job.judgement.paragraphs import confident_verdict
from iolens.pages.job.words import verdicts

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
