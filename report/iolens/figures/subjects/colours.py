"""The colour of each subject, which all figures of several subjects share."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.figures.comparison.levels import level_colours

_LABEL = 40
"""Maximum length of a subject's name in a legend, in characters."""


def colours(letters: Sequence[str]) -> dict[str, tuple[float, float, float, float]]:
    """Returns the subjects' colours, dark to light in their order."""
    return level_colours(list(letters))


def legend_label(letter: str, label: str) -> str:
    """Returns the text of a subject in a legend; a long name is shortened."""
    return (
        f"{letter}  {label}"
        if len(label) <= _LABEL
        else f"{letter}  {label[: _LABEL // 3]}…{label[-2 * _LABEL // 3 :]}"
    )
