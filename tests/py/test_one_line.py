"""Tests the summary of a job in one line, as a job comment holds it."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.pages.wording.job_lists import MOST_CHARACTERS

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_line_holds_whole_sentences(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--line", str(path)]) in (0, 1)
    line, *others = capsys.readouterr().out.splitlines() or [""]
    assert not others
    assert len(line) <= MOST_CHARACTERS
    assert line.isprintable()
    assert not line or line[-1] in ".…)"
