"""Gives damaged logs to the commands: a fixed sample of tests/fuzz/fuzz_commands.py, and the faults that its long runs
found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from iolens.log.format.container import open_container
from iolens.log.rewrite import split_log
from iolens.metrics.grouping import Groups
from iolens.pages.base import words
from iolens.pages.wording.subject_words import value_text

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
import fuzz_commands


def test_commands_answer_or_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_commands.reader, "read_with_darshan", lambda path, module: (None, "it is left out here"))
    tally = fuzz_commands.fuzz(count=8, seed=0)
    assert not tally.failures, tally.first
    assert tally.read > 20


@pytest.mark.parametrize(
    "number",
    [31274037, 31271295, 31273065, 31274101, 42000292, 42000351, 42001398, 42002249, 42002812],
)
def test_logs_that_once_ended_a_command_in_an_error_or_after_ten_seconds(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their chains had hundreds or thousands of callers, or impossible numbers."""
    monkeypatch.setattr(fuzz_commands.reader, "read_with_darshan", lambda path, module: (None, "it is left out here"))
    tally = fuzz_commands.fuzz(count=1, seed=number)
    assert not tally.failures, tally.first


def test_every_private_table_is_damaged() -> None:
    """Tables without rows cannot be damaged, and most logs have samples, regions or waits in none."""
    listed = (Path(__file__).parents[2] / "profiler/src/tables.def").read_text()
    contents = [split_log(open_container(path)) for path in fuzz_commands.EVERY_TABLE]
    found = {name for one in contents for name in fuzz_commands.tables_with_rows(one)}
    assert {*re.findall(r"^TABLE\((\w+)\)", listed, re.M)} - {"job"} <= found


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none_have_words(value: float) -> None:
    assert words.duration(value) == words.NONE
    assert words.count(value) == words.NONE
    assert {value_text(value, unit) for unit in ("s", "B", "MiB/s", "share", "", "seconds each")} == {words.NONE}
    assert words.digits(float("nan")) == words.NONE


@pytest.mark.parametrize("values", [(float("inf"), float("-inf")), (1e308, 1e308)])
def test_a_sum_that_is_no_number_is_none(values: tuple[float, float]) -> None:
    assert np.isnan(Groups(np.array([1, 1])).sum(np.array(values))).all()
