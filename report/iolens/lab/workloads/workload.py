"""What a sweep must know of a program, whichever it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.lab.sizes import parse_size

RESULT = "result.json"
"""The file in a run's folder for what the program measured (workloads/RESULT.md)."""


def read_result(folder: Path) -> dict[str, Any]:
    """The result that the program wrote into the run's folder; empty when it left none."""
    try:
        content = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@dataclass(frozen=True)
class Workload:
    """One program. A workload is one file with one of these, and a row in `workloads.py`.

    `program` is its executable's name. `metrics` are what its result can answer of `report.metric`, the usual one
    first. `result_option`, `directory_option` and `hint_option` hand it the result's file, its data folder and one
    KEY=VALUE; None where it takes no such thing. `keep_option` has it leave its data, which it removes otherwise.

    The rest is told by its `arguments` (and the number of ranks): `refuses` why it would not run with so many ranks,
    or None; `volume` how many bytes of data a run puts into files at most; `steps` how many steps it will print, each
    on a line that `step` matches with its number. None: the arguments do not tell. They may raise ValueError as well.

    `result(folder)` is what was measured, by what the run left in its folder; empty when it left nothing.
    """

    program: str
    metrics: tuple[str, ...]
    result_option: str | None = "--json"
    directory_option: str | None = "--directory"
    hint_option: str | None = "--hint"
    keep_option: str | None = None
    refuses: Callable[[Sequence[str], int], str | None] = lambda arguments, ranks: None
    volume: Callable[[Sequence[str], int], int | None] = lambda arguments, ranks: None
    steps: Callable[[Sequence[str]], int | None] = lambda arguments: None
    step: re.Pattern[bytes] | None = None
    result: Callable[[Path], dict[str, Any]] = read_result

    def words(
        self, arguments: Sequence[str], folder: Path, data: Path, hints: Mapping[str, str], keep: bool = False
    ) -> list[str]:
        """The arguments of one run, whose files go to `data` and whose result goes to `folder`; in the experiment's
        own arguments `{directory}` and `{json}` stand for the two."""
        result = str(folder / RESULT)
        words = [word.replace("{directory}", str(data)).replace("{json}", result) for word in arguments]
        words += [self.result_option, result] if self.result_option else []
        words += [self.directory_option, str(data)] if self.directory_option else []
        words += [self.keep_option] if keep and self.keep_option else []
        given = hints.items() if self.hint_option else ()
        return words + [word for key, value in given for word in (str(self.hint_option), f"{key}={value}")]


def value_of(arguments: Sequence[str], *names: str) -> str | None:
    """The word behind the last of these options, or in it (`--steps=5`); None when none of them is given."""
    found = None
    for index, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in names:
            found = value if equals else arguments[index + 1] if index + 1 < len(arguments) else None
    return found


def size_of(arguments: Sequence[str], default: int, *names: str) -> int:
    """The number or size behind the last of these options; raises ValueError when it is none."""
    text = value_of(arguments, *names)
    return default if text is None else parse_size(text)
