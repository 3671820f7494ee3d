"""Tests `iolens advise`: no finding on a tiny job, and messages for wrong usage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import main

TINY = Path(__file__).parents[1] / "data/darshan/mpi-io-test-x86_64-3.5.0.darshan"


def test_a_tiny_job_gets_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["findings"] == []
    assert said["verdict"]["kind"] == "nothing"
    assert main(["advise", str(TINY)]) == 0
    assert "\nToo short to judge: I/O took at most 87 % of the run: 0.044 s of 0.051 s;" in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["small_transfer", "nothing=1", "small_transfer=-1", "small_transfer=x"])
def test_a_wrong_threshold_is_a_usage_error(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--threshold", setting]) == 2
    assert "threshold" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["advise"], ["show"], ["report"], ["table", "job"], ["diff", str(TINY)], ["predict"]]
)
def test_a_missing_log_is_a_wrong_call(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, str(tmp_path / "none.darshan")]) == 2
    assert "none.darshan" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["advise", "show", "show --all"])
def test_the_terminal_needs_no_frames(command: str) -> None:
    """Runs a command on a log with I/O that every rule examines; the command must not import pandas."""
    folder = TINY.parents[1]
    logs = [folder / f"darshan/{name}.darshan" for name in ("mpi-io-test-ppc64-3.1.3", "mpi-io-test", "imbalanced-io")]
    done = without_pandas(*command.split(), *logs)
    assert "MPI-IO on NFS" in done or command == "show"
    assert done.endswith("False\n")


def test_advice_on_traced_calls_of_mpi() -> None:
    logs = TINY.parents[2] / "advice/logs"
    done = without_pandas("advise", logs / "uneven-computing.darshan", logs / "small-messages.darshan")
    assert "Very many small messages" in done


def without_pandas(*words: str | Path) -> str:
    """Returns the output of a command, followed by True or False: whether the command imported pandas."""
    code = "import sys; from iolens.cli.main import main; main(sys.argv[1:]); print('pandas' in sys.modules)"
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("command", ["show", "advise"])
def test_a_log_waits_for_no_module_that_it_does_not_use(command: str) -> None:
    """Joined files brought modules along that made `advise` slower by a tenth, most of it for metadata of packages."""
    code = "import sys; from iolens.cli.main import main; main(sys.argv[1:]); "
    code += "print({'importlib.metadata', 'difflib', 'iolens.log.rewrite'} & {*sys.modules})"
    words = [sys.executable, "-c", code, command, str(TINY)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.endswith("\nset()\n")


def test_show_prints_the_judgement_and_all_tables_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    logs = [TINY, TINY.with_name("imbalanced-io.darshan")]
    assert main(["show", "--json", *map(str, logs)]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["verdict"]["kind"], second["verdict"]["confidence"]) == ("nothing", "low")
    assert second["facts"]["processes"] == "496"
    assert sum(row["bytes_written"] for row in second["tables"]["file_systems"]) > 2**35
    assert main(["show", "--json", str(TINY.parent)]) == 2
    assert "--json takes logs" in capsys.readouterr().err


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_advice_takes_the_width_of_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["advise", str(TINY.with_name("imbalanced-io.darshan"))]) == 0
    prose = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("   Why", "  - "))]
    assert prose
    assert max(map(len, prose)) <= columns
    assert columns - 20 < max(map(len, prose)) or columns == 160


def test_a_folder_stands_for_its_only_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(tmp_path)]) == 2
    assert "is a folder without a log" in capsys.readouterr().err
    for name in ("one", "two"):
        (tmp_path / f"{name}.darshan").write_bytes(TINY.read_bytes())
        code = main(["table", "job", str(tmp_path)])
        assert code == (0 if name == "one" else 2)
    assert "is a folder with 2 logs; name one, such as" in capsys.readouterr().err
