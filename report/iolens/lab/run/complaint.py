"""The message by which a failed program says what went wrong."""

from __future__ import annotations

from pathlib import Path

_TRACEBACK = "Traceback (most recent call last)"


def complaint(path: Path) -> str:
    """Returns the first message of standard error, and the path of the file. Launchers wrap a message over several
    lines between two rules of dashes: the lines are joined up to the empty line that ends a sentence. The message
    of a Python traceback is the line that names the exception.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    own = [line.strip() for line in lines]
    first = next((number for number, line in enumerate(own) if line.strip("- ")), None)
    if first is None:
        return "no message"
    said = own[first]
    if first and not own[first - 1].strip("- "):  # Launchers print the message between two lines of dashes.
        for line in own[first + 1 :]:
            if (line and not line.strip("- ")) or (not line and said.endswith((".", "!", "?"))):
                break
            said = f"{said} {line}".strip()
    if said.startswith(_TRACEBACK):
        said = next((line for line in lines[first + 1 :] if line[:1].strip()), said)
    return f"{said} (full output: {path})"
