"""`iolens check` rarely fails by chance, fails on a planted change, and reports limits that it cannot decide."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.metrics.subjects.gate import BROKEN, HELD, OPEN, judge_limit, limit_of
from iolens.metrics.subjects.subject import Output, Subject, Trial, Value
from job_example import job_of, small_job

DATA = Path(__file__).resolve().parents[1] / "data"
OLD, NEW = (DATA / "darshan" / f"mpi-io-test-x86_64-{version}.darshan" for version in ("3.4.0", "3.5.0"))


def subject(values: list[float], unit: str = "s") -> Subject:
    trials = [Trial(Path("x"), output=Output("test", {}, (Value("g", "x", unit, value),))) for value in values]
    return Subject("x", Path("x"), tuple(trials))


def verdict(limit: str, base: list[float], new: list[float], unit: str = "s") -> str:
    (found,) = judge_limit([limit_of(limit)], subject(base, unit), subject(new, unit))
    return found.outcome


def runs(rng: random.Random, typical: float) -> list[float]:
    """Returns five runs with a spread of 2 %."""
    return [typical * rng.lognormvariate(0, 0.02) for _ in range(5)]


def test_chance_alone_fails_one_check_in_twenty_at_most() -> None:
    rng = random.Random(1)
    broken = sum(verdict("g_x>+0%", runs(rng, 10), runs(rng, 10)) == BROKEN for _ in range(200))
    assert broken <= 18  # The 99 % quantile of 200 draws with a probability of one in twenty is 18.


def test_a_planted_growth_of_a_tenth_is_caught() -> None:
    rng = random.Random(2)
    assert sum(verdict("g_x>+2%", runs(rng, 10), runs(rng, 11)) == BROKEN for _ in range(200)) >= 190


def test_a_planted_fall_is_caught_where_less_is_worse() -> None:
    rng = random.Random(3)
    assert sum(verdict("g_x<-2%", runs(rng, 10), runs(rng, 9)) == BROKEN for _ in range(200)) >= 190
    assert sum(verdict("g_x<-20%", runs(rng, 10), runs(rng, 9)) == HELD for _ in range(200)) >= 190


@pytest.mark.parametrize(
    ("limit", "base", "new", "unit", "outcome"),
    [
        ("g_x>+10%", [1.0], [5.0], "s", OPEN),  # A single run does not tell how widely a time scatters.
        ("g_x>+10%", [100], [109], "calls", HELD),  # A count is the same in each run, so that one run is enough.
        ("g_x>+10%", [100], [111], "calls", BROKEN),
        ("g_x>+0%", [0], [1], "calls", BROKEN),
        ("g_x>+0%", [0], [0], "calls", HELD),
        ("g_x>+10%", [1.0, 0.0], [1.0, 2.0], "s", OPEN),  # A ratio to 0 is undefined.
        ("g_x>+10%", [1.0, 1.1], [1.1, 1.2], "s", OPEN),  # Two runs are too few to decide.
        ("g_x>+10%", [], [1.0], "s", OPEN),
    ],
)
def test_verdicts_by_hand(limit: str, base: list[float], new: list[float], unit: str, outcome: str) -> None:
    assert verdict(limit, base, new, unit) == outcome


@pytest.mark.parametrize("unit", ["s", "calls"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_breaks_no_limit_and_is_said(value: float, unit: str) -> None:
    limits = [limit_of("g_x>+10%"), limit_of("g_x<-10%")]
    for base, new in (([value], [1.0]), ([1.0, 1.1], [value, 1.0]), ([value], [value]), ([value] * 2, [value] * 2)):
        for found in judge_limit(limits, subject(base, unit), subject(new, unit)):
            assert (found.outcome, found.reason) == (OPEN, "some runs have no number here, or an infinite one")


def recorded(seconds: list[float], **fields: Any) -> Subject:
    """Returns a subject whose runs left logs with these run times."""
    jobs = [job_of(one, frames=small_job().frames, names=small_job().names, **fields) for one in seconds]
    return Subject("x", Path("x"), tuple(Trial(Path("x"), made) for made in jobs))


@pytest.mark.parametrize(
    ("limit", "is_base_cut", "is_new_cut", "outcome"),
    [
        ("run_time>+10%", False, False, HELD),
        # A killed program would have run longer, so that its time is only a lower bound.
        ("run_time>+10%", False, True, OPEN),
        # If the killed run of the baseline had ended, the growth would be smaller still.
        ("run_time>+10%", True, False, HELD),
        ("posix_written<-5%", False, True, HELD),
        ("posix_written<-5%", True, False, OPEN),
        ("posix_speed_by_the_slowest<-5%", False, True, OPEN),
        ("run_time>-40%", False, True, BROKEN),
        ("run_time>-40%", True, False, OPEN),
    ],
)
def test_a_log_that_is_not_whole_proves_no_more_than_it_can(
    limit: str, is_base_cut: bool, is_new_cut: bool, outcome: str
) -> None:
    sides = [
        recorded([10.0, 10.1, 9.9, 10.0], missing=("The program was killed.",) * is_cut)
        for is_cut in (is_base_cut, is_new_cut)
    ]
    (found,) = judge_limit([limit_of(limit)], *sides)
    assert (found.outcome, "is incomplete" in found.reason) == (outcome, outcome == OPEN)


def test_a_trace_without_room_leaves_the_verdict() -> None:
    runs = recorded([10.0, 10.1, 9.9], missing=("The DXT_POSIX module ran out of room.",))
    (found,) = judge_limit([limit_of("run_time>+10%")], runs, runs)
    assert found.outcome == HELD


@pytest.mark.parametrize(("new", "outcome"), [(3.0, OPEN), (4.0, BROKEN)])
def test_a_second_proves_nothing_if_logs_count_whole_seconds(new: float, outcome: str) -> None:
    """In logs that count whole seconds, 1.99 and 2.01 s may appear as 2 and 3 s."""
    sides = [recorded([seconds] * 3, version="3.21") for seconds in (2.0, new)]
    (found,) = judge_limit([limit_of("run_time>+10%")], *sides)
    assert found.outcome == outcome


@pytest.mark.parametrize("text", ["", "g_x", "g_x>10", "g_x=10%", ">10%", "g_x<-100%", "g_x>+10%; rm"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        limit_of(text)


def test_exit_codes_table_and_junit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, log in (("base", OLD), ("new", NEW)):
        (tmp_path / folder).mkdir()
        for number in range(3):
            shutil.copy(log, tmp_path / folder / f"{number}.darshan")
    words = ["check", str(tmp_path / "new"), "--against", str(tmp_path / "base"), "--junit", str(tmp_path / "j.xml")]
    assert main([*words, "--fail", "posix_written>+0%", "--fail", "posix_written>-1%"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 limits exceeded; posix_written" in printed
    cases = ElementTree.parse(tmp_path / "j.xml").getroot().findall("testcase")
    assert [(case.get("name"), [part.tag for part in case]) for case in cases] == [
        ("posix_written>+0%", []),
        ("posix_written>-1%", ["failure"]),
    ]
    assert main([*words, "--fail", "posix_written>+0%"]) == 0
    assert main(["check", str(NEW), "--against", str(OLD), "--fail", "run_time<-1%"]) == 0
    assert main(["check", str(NEW), "--against", str(OLD), "--fail", "run_time<-1%", "--strict"]) == 1
    assert main([*words, "--fail", "runtime>+1%"]) == 2
    assert "close to it: run_time" in capsys.readouterr().err
    assert main(["check", str(NEW), "--list"]) == 0
    assert "mpiio_written" in capsys.readouterr().out
