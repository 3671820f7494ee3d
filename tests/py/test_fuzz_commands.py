"""Gives damaged logs to the commands: a fixed sample of tests/fuzz/fuzz_commands.py, and the faults that its long runs
found.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from iolens.metrics.grouping import Groups
from iolens.pages import words

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
import fuzz_commands


def test_commands_answer_or_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_commands.reader, "read_with_darshan", lambda path, module: (None, "it is left out here"))
    tally = fuzz_commands.fuzz(count=20, seed=0)
    assert not tally.failures, tally.first
    assert tally.read > 50


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none_have_words(value: float) -> None:
    assert words.duration(value) == words.NONE
    assert words.count(value) == words.NONE
    assert words.digits(float("nan")) == words.NONE


@pytest.mark.parametrize("values", [(float("inf"), float("-inf")), (1e308, 1e308)])
def test_a_sum_that_is_no_number_is_none(values: tuple[float, float]) -> None:
    assert np.isnan(Groups(np.array([1, 1])).sum(np.array(values))).all()
