"""Messages to the user of a command, separate from the program's own output."""

from __future__ import annotations

import sys

from iolens.foreign import printable_text


def say(message: str) -> None:
    """Prints one line on standard error."""
    print(f"iolens: {printable_text(message)}", file=sys.stderr)
