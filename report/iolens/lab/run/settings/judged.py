"""Asks the profiler itself about settings before a job starts. Only the profiler knows which counters, rates and
numbers it accepts, and without this check each process of the job would print a message.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from iolens.errors import UsageError
from iolens.lab.installation import find_library
from iolens.lab.run import preload

_OURS = ("IOLENS_", "DARSHAN_", "DXT_", "PAT_RT_")
"""Prefixes of the variables that the profiler reads."""
_SAID = "iolens: IOLENS_"
"""Prefix of the profiler's messages about a setting."""


def _under_profiler(settings: Mapping[str, str]) -> subprocess.CompletedProcess[str] | None:
    """Returns the result of a program that does nothing, run with only these settings; None if the library is
    missing.
    """
    library = find_library("libiolens.so")
    if library is None:
        return None
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    surroundings = {
        "LD_PRELOAD": preload.preload_value([library]),
        "IOLENS_NONMPI": "0",
        "IOLENS_SPOOL": "none",
    }
    program = [sys.executable, "-I", "-S", "-c", ""]
    return subprocess.run(
        program, env={**kept, **settings, **surroundings}, capture_output=True, text=True, check=False
    )


def refuse_unknown(settings: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raises UsageError for the first setting that the profiler would not accept; `asked` gives the user's option for
    each variable.
    """
    if settings.get("IOLENS_HWPC") == "list":
        raise UsageError(
            f"{asked.get('IOLENS_HWPC', 'IOLENS_HWPC')}: list is not a group; --list-hwpc prints all groups"
        )
    judged = {name: value for name, value in settings.items() if name.startswith(_OURS)}
    done = _under_profiler(judged) if judged else None
    for line in done.stderr.splitlines() if done else ():
        if line.startswith(_SAID):
            sentence = line.removeprefix("iolens: ")
            name = next((name for name in settings if sentence.startswith((f"{name}:", f"{name}="))), "")
            raise UsageError(f"{asked.get(name, name)}{sentence.removeprefix(name)}")
