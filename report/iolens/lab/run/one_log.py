"""Joins the logs that the processes of a command left into one log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError, short_reason
from iolens.lab.say import say

if TYPE_CHECKING:
    from iolens.log.join import Part


def in_one_log(logs: Sequence[Path], pid: int, command: Sequence[str]) -> tuple[Path, ...]:
    """Returns the logs of a run after joining those of processes without MPI into one; the command began as process
    `pid`. The joined log takes the place of one of them, and the others go only once it is whole.
    """
    if len(logs) < 2:
        return tuple(logs)
    from iolens.log.join import joined_log, read_part

    parts = sorted(filter(None, map(read_part, logs)), key=lambda part: _order(part, pid))
    if len(parts) < 2:
        return tuple(logs)
    whole, *others = (part.log.path for part in parts)
    aside = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        aside.touch(0o600)
        aside.write_bytes(joined_log(parts, " ".join(command)))
        aside.chmod(whole.stat().st_mode & 0o777)
        aside.replace(whole)
    except (IolensError, OSError) as error:
        say(f"the {len(parts)} logs of this run stay apart: {short_reason(error)}")
        return tuple(logs)
    finally:
        aside.unlink(missing_ok=True)
    for log in others:
        try:
            log.unlink(missing_ok=True)
        except OSError as error:
            say(f"{log} cannot be removed: {error.strerror}; {whole.name} holds its records too, so remove it by hand")
    gone = set(others)
    return tuple(log for log in logs if log not in gone)


def _order(part: Part, pid: int) -> tuple[bool, int]:
    """Returns the place of a process: first what the process of the command became last, then all others by start."""
    own = part.info.get("pid") == pid
    return not own, -part.start_ns if own else part.start_ns
