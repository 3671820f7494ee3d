"""Numbers on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


def whole_number(least: int, most: int | None = None, hint: str = "") -> Callable[[str], int]:
    """Returns the function that converts a word to a whole number from `least` to `most`, if there is a limit. The
    function raises argparse's error for a wrong value, followed by `hint`.
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
    """Returns the conversion with ValueErrors in a form that argparse prints unchanged."""

    def converted(text: str) -> _Value:
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return converted
