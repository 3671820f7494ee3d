"""The state that a program must inherit from the caller of `iolens run`, although Python or fork changes it.

Python ignores SIGPIPE and SIGXFSZ from its start on, and adds LC_CTYPE to the environment if no locale is set. fork
clears pending signals, interval timers, the signal at the parent's death, and the adoption of orphans. The command
`iolens` (profiler/command/iolens.c) notes the state of signals in IOLENS_CALLER before it becomes Python. Without the
note, as after `python -m iolens`, only the caller's own signals tell what it had decided.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_NOTE = "IOLENS_CALLER"
_COERCED = "LC_CTYPE"
"""Variable that Python sets in the environment if no locale is set (PEP 538)."""

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class Inherited(NamedTuple):
    """The signals that the caller ignores; the signal for the death of its parent that it asked for, or 0; and whether
    it adopts orphans.
    """

    ignored: frozenset[int]
    parent_death: int = 0
    adopts_orphans: bool = False


class _Memory:
    """Holds what this process inherited, once that is known."""

    inherited: Inherited | None = None


def take_over() -> None:
    """Notes what this process inherited, and takes away what the caller did not give; to be called once, before
    anything is started.

    SIGPIPE and SIGXFSZ get a handler that does nothing if the caller did not ignore them: writing then fails as before,
    but a program that is started finds the default action. SIGCHLD gets its default action, without which no exit code
    of a started program would be known.
    """
    inherited = _noted(os.environ.pop(_NOTE, "")) or Inherited(_ignored_now() - {*_IGNORED_BY_PYTHON} | _guessed())
    for number in _IGNORED_BY_PYTHON:
        if number not in inherited.ignored:
            signal.signal(number, _do_nothing)
    if signal.SIGCHLD in inherited.ignored:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(OSError):
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
        if not any(entry.startswith(f"{_COERCED}=".encode()) for entry in given):
            os.environ.pop(_COERCED, None)
    _Memory.inherited = inherited


def _do_nothing(_: int, __: FrameType | None) -> None:
    """Handles a signal whose call fails with an error anyway."""


def _noted(note: str) -> Inherited | None:
    """Returns what the note says; None without a note, and for a note about another process."""
    with suppress(ValueError):
        pid, ignored, death, adopts = note.split(":")
        if int(pid) == os.getpid():
            return Inherited(_numbers_in(int(ignored, 16)), int(death), adopts == "1")
    return None


def _numbers_in(mask: int) -> frozenset[int]:
    """Returns the signals in a mask."""
    return frozenset(number for number in range(1, 65) if mask >> (number - 1) & 1)


def _ignored_now() -> frozenset[int]:
    """Returns the signals that this process ignores now."""
    return frozenset(number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN)


def _guessed() -> frozenset[int]:
    """Returns which of SIGPIPE and SIGXFSZ the parent ignores: what a shell has decided by `trap`, it ignores itself.
    A parent that ignores both counts as Python, which ignores them but usually gives the programs that it starts the
    default action.
    """
    mask = 0
    with suppress(OSError):
        for line in Path(f"/proc/{os.getppid()}/status").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("SigIgn:"):
                mask = int(line.split()[1], 16)
    found = _numbers_in(mask) & {*_IGNORED_BY_PYTHON}
    return frozenset() if len(found) == len(_IGNORED_BY_PYTHON) else found


class Handing(NamedTuple):
    """The steps for a program that inherits from this process: `restore_signals` and `preexec_fn` of Popen,
    and the timers that this process must stop once the program has them.
    """

    restore_signals: bool
    preexec: Callable[[], None] | None = None
    timers: tuple[int, ...] = ()

    def finish(self) -> None:
        """Ends the handing on in this process, after the program has started."""
        for which in self.timers:
            signal.setitimer(which, 0)


def handing_on() -> Handing:
    """Returns how the next program gets what this process inherited. Most callers leave nothing to do between fork and
    exec, and the program then starts faster.
    """
    # posix_spawn of glibc before 2.38 lets a program ignore two signals that its C library needs for threads.
    setattr(subprocess, "_USE_POSIX_SPAWN", False)  # noqa: B010  # The types call it final, and the manual changes it.
    inherited = _Memory.inherited
    if inherited is None:
        return Handing(restore_signals=True)
    timers = {which: value for which in _TIMERS if (value := signal.getitimer(which))[0]}
    pending = signal.sigpending()
    prctl = _prctl() if inherited.parent_death or inherited.adopts_orphans else None

    def hand_on() -> None:
        if signal.SIGCHLD in inherited.ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for which, value in timers.items():
            signal.setitimer(which, *value)
        for number in pending:
            os.kill(os.getpid(), number)
        if prctl and inherited.parent_death:
            prctl(_PR_SET_PDEATHSIG, inherited.parent_death)
        if prctl and inherited.adopts_orphans:
            prctl(_PR_SET_CHILD_SUBREAPER, 1)

    needed = signal.SIGCHLD in inherited.ignored or timers or pending or prctl
    return Handing(restore_signals=False, preexec=hand_on if needed else None, timers=tuple(timers))


def _prctl() -> Callable[[int, int], object]:
    """Returns the system's function for attributes of a process, which Python does not have."""
    import ctypes

    call = ctypes.CDLL(None).prctl

    def prctl(option: int, value: int) -> object:
        return call(option, *(ctypes.c_ulong(number) for number in (value, 0, 0, 0)))

    return prctl
