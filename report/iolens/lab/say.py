"""What the toolkit says to the person, apart from the program's own output."""

from __future__ import annotations

import sys


def say(message: str) -> None:
    """One line on standard error."""
    print(f"iolens: {message}", file=sys.stderr)
