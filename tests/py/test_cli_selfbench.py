"""`iolens selfbench` prints a table of its measurements, and leaves no files behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.lab.run.cost.overhead import CHARGED
from iolens.log import read_log


def test_every_library_has_its_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfbench", "--directory", str(tmp_path), "--files", "20", "--pairs", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = lines[0]
    for name in ("direct", "iolens", "iolens, traced", "iolens, off"):
        assert name in head
    assert [line[:14].strip() for line in lines[1:6]] == ["pwrite", "pread", "write", "fwrite", "open and close"]
    assert not list(tmp_path.iterdir())


def test_a_log_gets_a_bound_from_its_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In this log four ranks share a file; the bound must charge each of them with a quarter of the calls."""
    log = Path(__file__).parents[1] / "data/darshan/mpi-io-test-x86_64-3.5.0.darshan"
    words = ["--directory", str(tmp_path), "--files", "20", "--pairs", "3", "--jobs", "1", "--log", str(log)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "iolens.lab.run.cost.overhead.command_seconds", lambda command, environment: 1.0 + 0.5 * ("env" in command)
        )
        assert main(["selfbench", *words]) == 0
    _, _, bound = capsys.readouterr().out.partition("seconds of the busiest rank")
    parts = {line.split("  ")[0]: line.split()[-5:] for line in bound.splitlines()[1:] if line.endswith("%")}
    posix = read_log(log).frames["POSIX"]
    expected = sum(-(-int(posix[f"POSIX_{name}"].sum()) // 4) for name in CHARGED["POSIX"] if f"POSIX_{name}" in posix)
    assert f" {expected} " in next(line for line in bound.splitlines() if line.startswith("POSIX calls"))
    begin_and_end = next(line for line in bound.splitlines() if line.startswith("start and end of a job of 4 ranks"))
    assert begin_and_end.split()[9:12] == ["1", "0.500000", "0.500000"]
    assert "all" in parts


@pytest.mark.parametrize("words", [["--files", "1"], ["--jobs", "0"], ["--pairs", "0"], ["--directory", "/nowhere"]])
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfbench", *words]) == 2
    assert capsys.readouterr().err.startswith("iolens selfbench: ")
