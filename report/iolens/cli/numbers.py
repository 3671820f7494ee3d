"""Numbers on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


def whole_number(least: int, most: int | None = None, hint: str = "") -> Callable[[str], int]:
    """Returns the function that converts a word to a whole number from `least` to `most`, if there is a limit; it
    raises what argparse says of a wrong value, and then `hint`.
    """

    def convert(text: str) -> int:
        if text.isdecimal() and least <= int(text) <= (int(text) if most is None else most):
            return int(text)
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{text} is not a whole number {limits}{hint}")

    return convert


positive = whole_number(1)
"""Converts a word to a whole number of at least 1."""


def explained(convert: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Returns the conversion in a form whose ValueError argparse prints as it is."""

    def converted(text: str) -> _Value:
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return converted
