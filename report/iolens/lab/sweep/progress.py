"""The progress of a sweep as a person sees it."""

from __future__ import annotations


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
        """Prints the line."""
        print(
            (f"[{done}/{total}] " if total else "") + line + (f" (about {left:.0f} s left)" if left else ""), flush=True
        )
