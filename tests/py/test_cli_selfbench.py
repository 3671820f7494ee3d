"""`iolens selfbench`: a table of what was measured, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main


def test_every_library_has_its_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfbench", "--directory", str(tmp_path), "--files", "20", "--pairs", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = lines[0]
    for name in ("direct", "iolens", "iolens, traced", "iolens, off"):
        assert name in head
    assert [line[:14].strip() for line in lines[1:6]] == ["pwrite", "pread", "write", "fwrite", "open and close"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["--files", "0"], ["--pairs", "0"], ["--directory", "/nowhere"]])
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfbench", *words]) == 2
    assert capsys.readouterr().err.startswith("iolens selfbench: ")
