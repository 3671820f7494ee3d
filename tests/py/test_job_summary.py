"""`iolens-job-summary` accepts the arguments of darshan-job-summary.pl."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from iolens.cli.job_summary import main

LOG = next((Path(__file__).parents[1] / "data").rglob("mpi-io-test-x86_64-3.5.0.darshan"))


def test_the_pdf_is_named_after_the_log_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([str(LOG)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{LOG.name}.pdf"]
    assert (tmp_path / f"{LOG.name}.pdf").read_bytes().startswith(b"%PDF")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [["--output", "a"], ["--output=a"], ["--out", "a"]])
def test_the_output_may_have_any_name(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, str(LOG)]) == 0
    assert (tmp_path / "a").read_bytes().startswith(b"%PDF")


def test_verbose_prints_and_keeps_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--verbose", "--output", str(tmp_path / "a.pdf"), str(LOG)]) == 0
    word, _, folder = capsys.readouterr().out.strip().partition(": ")
    assert word == "verbose"
    assert list(Path(folder).glob("*.job.csv"))
    shutil.rmtree(folder)


@pytest.mark.parametrize("words", [[], ["a", "b"], ["--nonsense", "a"]])
def test_anything_but_one_log_is_wrong_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2


def test_a_log_that_is_none_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_text("nothing")
    assert main([str(tmp_path / "x"), "--output", str(tmp_path / "x.pdf")]) == 1
    assert capsys.readouterr().err.startswith("iolens-job-summary: ")
    assert main([str(tmp_path / "missing")]) == 2
