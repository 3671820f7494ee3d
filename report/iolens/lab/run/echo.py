"""Shows the output of a program on the screen while it goes to a file.

The program writes into the file itself, so that it never waits for whoever reads the screen, and finds the same kind of
output whether or not it is shown.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_PERIOD = 0.05
"""Seconds between two looks at the files."""

_PIECE = 2**16
"""Maximum number of bytes that are copied at once."""


@contextmanager
def echoed(files: Sequence[tuple[Path, int]]) -> Iterator[None]:
    """Copies what is appended to each file to its descriptor while the context lasts, and the rest at its end."""
    over = threading.Event()
    threads = [threading.Thread(target=_follow, args=(path, out, over), daemon=True) for path, out in files]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _follow(path: Path, out: int, over: threading.Event) -> None:
    """Copies a growing file to a descriptor until `over` is set; stops if the descriptor's reader is gone."""
    position = 0
    while True:
        last = over.wait(_PERIOD)
        try:
            position = _copy(path, position, out)
        except FileNotFoundError:
            pass  # The program has not been started yet.
        except OSError:
            return
        if last:
            return


def _copy(path: Path, position: int, out: int) -> int:
    """Copies the bytes of a file from `position` on to a descriptor; returns the new position."""
    with path.open("rb") as file:
        file.seek(position)
        while piece := file.read(_PIECE):
            position += len(piece)
            while piece:
                piece = piece[os.write(out, piece) :]
    return position
