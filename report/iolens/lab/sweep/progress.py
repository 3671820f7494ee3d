"""What a person sees of a sweep under way."""

from __future__ import annotations


class Progress:
    """Told what happens; this one shows nothing."""

    def begun(self, run: str) -> None:
        """A run was handed to the launcher."""

    def __call__(self, done: int, total: int, line: str, left: float) -> None:
        """Something happened, such as the end of a run: `line` says what, `left` are the seconds that are likely left,
        0 when nobody knows."""


class Lines(Progress):
    """One line per run, for logs and pipes."""

    def __call__(self, done: int, total: int, line: str, left: float) -> None:
        """Print it."""
        print(
            (f"[{done}/{total}] " if total else "") + line + (f" (about {left:.0f} s left)" if left else ""), flush=True
        )
