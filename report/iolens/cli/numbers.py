"""Numbers on the command line."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Returns a whole number of at least one; raises what argparse says of a wrong value."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return int(text)
