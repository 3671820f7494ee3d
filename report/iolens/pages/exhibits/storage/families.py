"""The column and the note of tables in which a row may be a family of files."""

from __future__ import annotations

from iolens.metrics.files.families import FEWEST
from iolens.pages import words
from iolens.pages.exhibit import Column


def _several_files(number: float) -> str:
    """Returns the number of files that a row sums, in words; an empty text for one file."""
    return words.count(number) if number > 1 else ""


FAMILY_SIZE = Column("files", "files", _several_files, optional=True)
"""The number of files of a family."""

FAMILY_NOTE = (
    f"Files whose names differ in numbers or in one folder are one row from {FEWEST} files on: # stands for a digit, * "
    "for a number or a folder."
)
