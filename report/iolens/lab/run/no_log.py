"""The reasons why a run may have left no log, as far as they are known."""

from __future__ import annotations

import os

from iolens.lab.recovery.places import default_folders

_SIGNALLED = 128
"""Exit codes above this one stand for the signal that ended a program."""


def why_no_log(exit_code: int, profiler: str) -> str:
    """Returns why a run left no log, as the end of a sentence; names several reasons if the run does not tell which
    one holds.
    """
    if profiler == "darshan":
        return "Darshan wrote none; a message above may give the reason"
    if exit_code > _SIGNALLED and os.environ.get("IOLENS_SPOOL") == "none":
        return "with IOLENS_SPOOL=none a killed process leaves no records"
    if exit_code > _SIGNALLED and not any(folder.is_dir() for folder in default_folders()):
        folders = " and ".join(map(str, default_folders()))
        return f"a killed process leaves its records in a spool, but {folders} did not exist any more when it ended"
    if exit_code > _SIGNALLED:
        places = " or ".join(map(str, default_folders()))
        return (
            "a killed process leaves its records in a spool, and there is none: it did not load the profiler, "
            f"it opened no file that is recorded, or its spool was removed from {places}; a message above may give the "
            "reason"
        )
    return (
        "either no process loaded the profiler, or none of those that did opened a file that it records; a message "
        "above may give the reason"
    )
