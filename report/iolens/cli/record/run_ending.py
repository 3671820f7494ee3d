"""The lines with which `iolens run` ends in a terminal: what limited the run, what to do, and where the log is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError

_WIDTH, _NARROWEST = 80, 40
"""Number of columns if the terminal does not tell, and the smallest number that is used."""


def print_summary(logs: Sequence[Path]) -> None:
    """Prints at most ten lines about the run to standard error; nothing unless the run left exactly one log that can be
    read.
    """
    if len(logs) != 1:
        return
    from iolens.log import read_log
    from iolens.log.processes import only_process
    from iolens.pages.job.job_screen import brief_summary
    from iolens.pages.many.forest_report import processes_summary

    width = max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 24)).columns)
    try:
        job = only_process(read_log(logs[0]))
        lines = processes_summary(logs[0], width) if job is None else brief_summary(job, width)
    except IolensError:
        return
    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for text, style in lines:
        print(f"\x1b[{style}m{text}\x1b[0m" if styled and style else text, file=sys.stderr)
