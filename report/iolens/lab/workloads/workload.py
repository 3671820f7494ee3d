"""The description of a program, as far as a sweep needs it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.lab.sizes import parse_size

RESULT = "result.json"
"""Name of the file in a run's folder for the program's measurements (workloads/RESULT.md)."""


def read_workload_result(folder: Path) -> dict[str, Any]:
    """Returns the result that the program wrote into the run's folder; empty if it left none."""
    try:
        content = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@dataclass(frozen=True)
class Workload:
    """One program. A workload is one file with one of these objects, and a row in `workloads.py`.

    `program` is its executable's name. `metrics` are the values of `report.metric` that its result provides, the
    default first. `result_option`, `directory_option` and `hint_option` pass the result's file, its data folder and one
    KEY=VALUE; None if the program has no such option. `keep_option` makes it keep its data, which it otherwise removes.

    The other fields are functions of its `arguments` (and the number of ranks): `refuses` returns the reason why it
    would not run with this number of ranks, or None; `volume` returns the most bytes that a run writes to files;
    `steps` returns the number of steps that it will print, each on a line that `step` matches with its number. They
    return None, or raise ValueError, if the arguments do not tell.

    `result(folder)` returns the measurements from the files of a run's folder; empty if there are none.
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
    result: Callable[[Path], dict[str, Any]] = read_workload_result

    def words(
        self, arguments: Sequence[str], folder: Path, data: Path, hints: Mapping[str, str], keep: bool = False
    ) -> list[str]:
        """Returns the arguments of one run, whose data goes to `data` and whose result goes to `folder`; in the
        experiment's own arguments `{directory}` and `{json}` stand for the two.
        """
        result = str(folder / RESULT)
        words = [word.replace("{directory}", str(data)).replace("{json}", result) for word in arguments]
        words += [self.result_option, result] if self.result_option else []
        words += [self.directory_option, str(data)] if self.directory_option else []
        words += [self.keep_option] if keep and self.keep_option else []
        given = hints.items() if self.hint_option else ()
        return words + [word for key, value in given for word in (str(self.hint_option), f"{key}={value}")]


def value_of(arguments: Sequence[str], *names: str) -> str | None:
    """Returns the value of the last of these options, from the next word or after `=` (`--steps=5`); None if none is
    given.
    """
    found = None
    for index, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in names:
            found = value if equals else arguments[index + 1] if index + 1 < len(arguments) else None
    return found


def size_of(arguments: Sequence[str], default: int, *names: str) -> int:
    """Returns the number or size after the last of these options; raises ValueError if it is invalid."""
    text = value_of(arguments, *names)
    return default if text is None else parse_size(text)
