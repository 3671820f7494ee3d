"""Shows the progress of a sweep, and of a long run by the steps that its program prints."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from iolens.lab.workloads.workload import Workload


class Progress:
    """Receives the events of a sweep; this class shows nothing."""

    def begun(self, run: str) -> None:
        """Reports that the launcher has started a run."""

    def __call__(self, done: int, total: int, line: str, left: float) -> None:
        """Reports an event, such as the end of a run, in `line`; `left` is the estimated remaining time in seconds, 0
        if unknown.
        """


class Lines(Progress):
    """Prints one line per run, for logs and pipes."""

    def __call__(self, done: int, total: int, line: str, left: float) -> None:
        """Prints the current line."""
        print(
            (f"[{done}/{total}] " if total else "") + line + (f" (about {left:.0f} s left)" if left else ""), flush=True
        )


PERIOD = 1.0
"""Seconds between two checks."""


def last_step(output: bytes, step: re.Pattern[bytes]) -> int:
    """Returns the latest step that the output names; 0 if it names none."""
    steps = step.findall(output)
    return int(steps[-1]) if steps else 0


@contextmanager
def watched(
    stdout: Path, workload: Workload, arguments: Sequence[str], tell: Callable[[str, float], None]
) -> Iterator[None]:
    """Calls `tell(line, seconds left)` at every new step while the body runs; does nothing for a program that prints no
    steps.

    The first step is not representative, so the remaining time is estimated from the second report on.
    """
    steps, pattern = workload.steps(arguments), workload.step
    if not steps or not pattern:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        seen, first, began = 0, 0, 0.0
        while not over.wait(PERIOD):
            step = last_step(stdout.read_bytes(), pattern) if stdout.exists() else 0
            if step <= seen:
                continue
            seen, now = step, time.monotonic()
            if not first:
                first, began = step, now
            left = (now - began) / (step - first) * (steps - step) if step > first else 0.0
            tell(f"complete run: step {step} of {steps}", left)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
