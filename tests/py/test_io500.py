"""Compares IO500's score and lines with an example that the IO500 benchmark publishes."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.lab.io500.phases import PHASES, Phase, Scale, options_of
from iolens.lab.io500.score import PhaseResult, geometric_mean, outcome_line, outcome_of, score_line, score_of

PUBLISHED = """\
[RESULT]       ior-easy-write        0.186620 GiB/s  : time 0.027 seconds
[RESULT]    mdtest-easy-write      103.300821 kIOPS : time 1.121 seconds
[RESULT]       ior-hard-write        0.001313 GiB/s  : time 0.067 seconds
[RESULT]    mdtest-hard-write       58.939081 kIOPS : time 1.021 seconds
[RESULT]                 find     1486.435084 kIOPS : time 0.118 seconds
[RESULT]        ior-easy-read        1.575557 GiB/s  : time 0.005 seconds
[RESULT]     mdtest-easy-stat      839.392805 kIOPS : time 0.138 seconds
[RESULT]        ior-hard-read        2.272671 GiB/s  : time 0.000 seconds
[RESULT]     mdtest-hard-stat     1212.558124 kIOPS : time 0.050 seconds
[RESULT]   mdtest-easy-delete      160.765642 kIOPS : time 0.753 seconds
[RESULT]     mdtest-hard-read      275.011939 kIOPS : time 0.219 seconds
[RESULT]   mdtest-hard-delete      132.015851 kIOPS : time 0.474 seconds
"""
"""Example in the README of github.com/IO500/io500; the score is 0.172092 GiB/s, 292.625029 kiops, 7.096374 in total."""


def published() -> list[PhaseResult]:
    rows = [line.split() for line in PUBLISHED.splitlines()]
    return [PhaseResult(phase, float(row[2]), float(row[-2])) for phase, row in zip(PHASES, rows, strict=True)]


def test_score_of_the_published_run() -> None:
    score = score_of(published())
    assert score.bandwidth == pytest.approx(0.172092, rel=1e-4)
    assert score.rate == pytest.approx(292.625029, rel=1e-6)
    assert score.total == pytest.approx(7.096374, rel=1e-4)
    assert score_line(score).startswith("[SCORE INVALID] Bandwidth 0.1721")


def test_lines_and_order_are_the_published_ones() -> None:
    assert [outcome_line(one) for one in published()] == PUBLISHED.splitlines()


def test_geometric_mean_by_hand() -> None:
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([1, 10, 100]) == pytest.approx(10)


def test_nothing_is_scored_from_nothing() -> None:
    rows = [PhaseResult(one.phase, 0.0 if one.phase.name == "find" else one.value, one.seconds) for one in published()]
    with pytest.raises(IolensError, match=r"find gave 0\.0 kIOPS, so no score can be computed"):
        score_of(rows)


def named(name: str) -> Phase:
    return next(phase for phase in PHASES if phase.name == name)


def test_options_are_those_of_io500(tmp_path: Path) -> None:
    scale = Scale(ranks=4, easy_block=2**22, hard_segments=9, easy_items=50, hard_items=60)
    easy = " ".join(options_of(named("ior-easy-read"), scale, tmp_path))
    assert f"-C -Q 1 -g -G 271 -k -e -o {tmp_path}/ior-easy/ior_file_easy -t 2m -b 4194304 -F -r -R" in easy
    hard = " ".join(options_of(named("ior-hard-write"), scale, tmp_path))
    assert hard.endswith(f"-o {tmp_path}/ior-hard/file -t 47008 -b 47008 -s 9 -w")
    files = " ".join(options_of(named("mdtest-hard-stat"), scale, tmp_path))
    assert files == f"-T --preset hard -n 60 -N 1 -d {tmp_path}/mdtest-hard"
    assert f"--newer {tmp_path}/timestamp" in " ".join(options_of(named("find"), scale, tmp_path))


def test_values_by_hand() -> None:
    moved = {"phases": [{"operation": "read", "bytes": 3 * 2**30, "seconds": {"max": 2.0}}]}
    assert outcome_of(named("ior-easy-read"), moved).value == 1.5
    looked = {"extra": {"rates": [{"operation": "stat", "items": 10, "seconds": 0.002, "items_per_second": 5000.0}]}}
    one = outcome_of(named("mdtest-easy-stat"), looked)
    assert (one.value, one.seconds) == (5.0, 0.002)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--directory", "missing"], "--directory missing is not a folder"),
        (["--easy-block", "3M"], "3M is not a multiple of 2M"),
        (["--np", "0"], "0 is not a whole number of at least 1"),
    ],
)
def test_bad_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["io500", *arguments])
    except SystemExit as end:
        status = int(str(end.code))
    assert status == 2
    assert message in capsys.readouterr().err
