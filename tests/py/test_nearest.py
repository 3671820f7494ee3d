"""Tests that the nearest tests of a source are found, and that they fit into the time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import nearest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tests() -> nearest.Tests:
    return nearest.Tests(ROOT)


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("report/iolens/metrics/job/spent.py", "tests/py/test_spent.py"),
        ("report/iolens/log/join.py", "tests/system/test_one_log.py"),
        ("report/iolens/lab/run/one_log.py", "tests/system/test_one_log.py"),
        ("tests/py/null_runs.py", "tests/py/test_null_differences.py"),
        ("workloads/btio/norms.c", "tests/system/test_btio_solver.py"),
        ("tests/py/test_spent.py", "tests/py/test_spent.py"),
    ],
)
def test_the_test_that_its_writer_would_run_is_among_the_first(tests: nearest.Tests, source: str, test: str) -> None:
    assert test in tests.nearest(source, 6)


def test_tests_are_chosen_until_the_time_is_used_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ranked = {"a": ["slow", "one", "two"], "b": ["two", "three"]}
    monkeypatch.setattr(nearest.Tests, "nearest", lambda self, path, number: ranked[path])
    monkeypatch.setattr(nearest.Tests, "texts", {})
    (tmp_path / "seconds").write_text(json.dumps({"slow": 99.0, "one": 3.0, "two": 4.0, "three": 9.0}))
    monkeypatch.setattr(nearest, "SECONDS_OF_TESTS", str(tmp_path / "seconds"))
    assert nearest.chosen(["a", "b"], 10.0) == ["two", "one"]
    assert nearest.chosen(["a", "b"], 200.0) == ["slow", "two", "one", "three"]
