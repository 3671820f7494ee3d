"""Advice: order and bounds of findings, silence, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from iolens.advise import findings, verdict
from iolens.advise.finding import SEVERITIES
from iolens.cli.main import main
from iolens.log import read_log

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))
TINY = next(path for path in LOGS if path.name == "mpi-io-test-x86_64-3.5.0.darshan")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_log_has_a_verdict_and_bounded_findings(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = read_log(path)
    said, found = verdict(job), findings(job)
    assert said.sentence
    assert said.share is None or 0 <= said.share <= 1
    gains = [one.gain for one in found if one.gain is not None]
    assert gains == sorted(gains, reverse=True)
    assert all(0 < gain <= 1 for gain in gains)
    assert all(one.severity in SEVERITIES and one.evidence and one.remedy and one.read_more for one in found)
    assert main(["advise", str(path)]) == 0
    text = capsys.readouterr().out
    assert "nan" not in text.lower().split()
    assert all(len(line) <= 80 for line in text.splitlines() if " " in line.strip())


def test_a_tiny_job_gets_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["findings"] == []
    assert said["verdict"]["kind"] == "nothing"
    assert said["verdict"]["sentence"].startswith("Nothing worth your time")


@pytest.mark.parametrize("setting", ["small_transfer", "nothing=1", "small_transfer=-1", "small_transfer=x"])
def test_a_wrong_threshold_is_a_usage_error(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--threshold", setting]) == 2
    assert "threshold" in capsys.readouterr().err
