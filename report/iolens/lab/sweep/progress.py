"""What a person sees of a sweep under way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str, float], None]
"""Called after every run with done, total, a line about it, and the seconds that are likely left."""


def plain_progress(done: int, total: int, line: str, left: float) -> None:
    """One line per run, for logs and pipes."""
    print((f"[{done}/{total}] " if total else "") + line + (f" (about {left:.0f} s left)" if left else ""), flush=True)


@contextmanager
def progress_bar(total: int, done: int) -> Iterator[Progress]:
    """A progress bar with an estimate of the time left on a terminal, else one line per run."""
    if not sys.stdout.isatty():
        yield plain_progress
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=total, completed=done, left="")

        def show(count: int, _: int, line: str, left: float) -> None:
            bar.update(task, completed=count, description=line, left=f"{left:.0f} s left" if left else "")

        yield show
