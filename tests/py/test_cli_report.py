"""Tests `iolens report` and `iolens show` on real logs, on a log with private regions, and on wrong input."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.advise import diagnosis
from iolens.cli.main import main
from iolens.extras import installation_command
from iolens.log import read_log
from iolens.pages.base.blocks import Table
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.job.job_screen import brief_summary, screen
from iolens.pages.text.lines import MOST_ROWS, NUMBER, pair, table_text

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))
SMALL = next(path for path in LOGS if path.name == "mpi-io-test-x86_64-3.5.0.darshan")
BIGGEST = next(path for path in LOGS if path.name == "partial_data_stdio.darshan")
PARTIAL = next(path for path in LOGS if path.name == "imbalanced-io.darshan")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_log_has_a_report(path: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "job.pdf"
    assert main(["report", str(path), "-o", str(pdf)]) == 0
    assert pdf.read_bytes().startswith(b"%PDF")
    assert [file.name for file in tmp_path.iterdir()] == ["job.pdf"]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_log_shows(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    assert main(["show", "--all", str(path)]) == 0
    said = capsys.readouterr().out
    assert path.name in said
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) <= 110
    assert "nan" not in said.split()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_log_fits_on_one_screen(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "All tables: iolens show --all LOG. Pages: iolens report LOG -o job.html"
    said = " ".join(lines)
    assert diagnosis(read_log(path)).verdict.sentence.removesuffix(".") in " ".join(said.split())
    assert "nan" not in said.split()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_the_end_of_a_run_takes_ten_lines(path: Path) -> None:
    lines = [text for text, _ in brief_summary(read_log(path), 80)]
    assert 2 <= len(lines) <= 10
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("run time ")


def test_default_output_and_several_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(SMALL), str(PARTIAL)]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {f"{SMALL.name}.pdf", f"{PARTIAL.name}.pdf"}


def test_one_name_for_two_reports_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(SMALL), str(PARTIAL), "-o", str(tmp_path / "x.pdf")]) == 2
    assert "--output names one file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "compare"])
@pytest.mark.parametrize("name", ["x.svg", "x", "pdf"])
def test_a_name_that_promises_something_else_is_a_usage_error(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([command, str(SMALL), "-o", str(tmp_path / name)])
    asked = "must end in .pdf or .html, because a PDF or an HTML page is written"
    assert f"{name} {asked}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(SMALL), "-o", str(tmp_path / "no" / "x.pdf")]) == 1
    assert f"there is no folder {tmp_path / 'no'}; make it, or name another folder" in capsys.readouterr().err
    tables = tmp_path / "no" / "csv"
    assert main(["report", str(SMALL), "-o", str(tmp_path / "x.pdf"), "--csv", str(tables)]) == 1
    assert (
        f"{tables}: tables cannot be written there ({tables.parent} is not a writable folder" in capsys.readouterr().err
    )
    assert not (tmp_path / "x.pdf").exists()
    assert not (tmp_path / "no").exists()


def test_a_log_that_was_cut_short_is_reported_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(PARTIAL.read_bytes()[:-100])
    assert main(["report", str(cut), "-o", str(tmp_path / "x.pdf")]) == 0
    assert main(["show", "--all", str(cut)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "PARTIAL LOG" in said
    assert "STDIO: the file is truncated; only the first 10 rows are there." in said
    assert main(["anonymize", str(cut), "-o", str(tmp_path / "y.darshan")]) == 1
    assert "is truncated in its STDIO region" in capsys.readouterr().err


def test_tables_are_exported_with_full_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    command = ["report", str(SMALL), "-o", str(tmp_path / "x.pdf"), "--csv", str(folder), "--json", str(folder)]
    assert main(command) == 0
    rows = list(csv.DictReader((folder / f"{SMALL.name}.performance.csv").open()))
    assert [(row["module"], row["bytes_written"]) for row in rows][:2] == [
        ("POSIX", "67108864"),
        ("MPI-IO", "67108864"),
    ]
    again = json.loads((folder / f"{SMALL.name}.performance.json").read_text())
    assert [row["bytes_written"] for row in again] == [int(row["bytes_written"]) for row in rows]
    names = {file.name.removeprefix(f"{SMALL.name}.") for file in folder.iterdir()}
    assert {"operations.csv", "access_sizes.csv", "costly_files.csv", "layouts.json", "modules.csv"} <= names


def test_exports_have_all_rows_the_job_and_an_index(tmp_path: Path) -> None:
    assert main(["report", str(PARTIAL), "-o", str(tmp_path / "x.pdf"), "--csv", str(tmp_path)]) == 0

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((tmp_path / f"{PARTIAL.name}.{name}.csv").open()))

    (job,) = rows("job")
    assert (job["jobid"], job["nprocs"], job["run_time"]) == ("1452113755", "496", "1479")
    assert "ran out of memory" in job["partial"]
    files = rows("costly_files")
    assert len(files) > 1000
    assert sum(int(row["bytes_written"]) for row in files) == sum(
        int(row["bytes_written"]) for row in rows("file_systems")
    )
    index = {row["name"]: row for row in rows("index")}
    assert {file.name for file in tmp_path.glob("*.csv")} == {
        f"{PARTIAL.name}.{name}.csv" for name in [*index, "index"]
    }
    assert int(index["costly_files"]["rows"]) == len(files)
    assert index["costly_files"]["columns"].split()[:2] == ["id", "path"]
    assert index["gauges"]["definition"].startswith("One row per gauge")


def test_a_table_as_csv_has_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "costly_files", str(PARTIAL), "--csv"]) == 0
    assert capsys.readouterr().out.count("\n") > 1000


def test_heat_maps_are_exported(tmp_path: Path) -> None:
    assert main(["report", str(SMALL), "-o", str(tmp_path / "x.pdf"), "--csv", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / f"{SMALL.name}.activity.csv").open()))
    assert sum(int(row["written"]) for row in rows if row["module"] == "POSIX") == 67108864


def test_the_package_for_parquet_is_installed_where_iolens_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iolens.pages.output.export.find_spec", lambda name: None)
    assert main(["report", str(SMALL), "-o", str(tmp_path / "x.pdf"), "--parquet", str(tmp_path)]) == 2
    assert f"install it: {installation_command('parquet')}" in capsys.readouterr().err


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert main(["report", str(SMALL), "-o", str(tmp_path / "x.pdf"), "--parquet", str(tmp_path)]) == 0
    import pandas as pd

    assert len(pd.read_parquet(tmp_path / f"{SMALL.name}.job.parquet")) == 1
    assert len(list(tmp_path.glob("*.parquet"))) == len(pd.read_parquet(tmp_path / f"{SMALL.name}.index.parquet")) + 1


def test_a_file_that_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind")
    for command in ("report", "show"):
        assert main([command, str(path)]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"iolens {command}: {path}: is not a Darshan log")
        assert said.count("\n") == 1


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")
def test_what_the_report_says(tmp_path: Path) -> None:
    pdf = tmp_path / "job.pdf"
    assert main(["report", str(PARTIAL), "-o", str(pdf)]) == 0
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True, text=True).stdout
    for word in (
        *("PARTIAL LOG", "407752450: I/O of job 1452113755", "496 processes", "Average I/O cost per process"),
        *("Operations", "Access sizes: POSIX", "Access sizes: MPI-IO", "Most common access sizes", "101,184"),
        *(
            "Transfer per file system",
            "/lus/theta-fs0",
            "Files with the most time or the most bytes",
            "Stripe layouts",
        ),
        *("First to last write", "Average I/O of a process", "Modules of this log", "MPI-IO hints: n/a"),
        *("page 1 of", "seconds since the start of the job"),
    ):
        assert word in text, word


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("path", [*LOGS[:3], PARTIAL, BIGGEST], ids=lambda path: path.stem)
def test_no_number_is_cut(path: Path, width: int) -> None:
    job = read_log(path)
    for table in (exhibit.table(job) for exhibit in JOB_EXHIBITS):
        if table is None:
            continue
        lines = table_text(table, width)
        assert max(map(len, lines)) <= width
        said = " ".join(lines)
        left_out = said.partition(f"No room in {width} columns for: ")[2]
        for number, head in enumerate(table.columns):
            cells = [row[number] for row in table.rows[:MOST_ROWS]]
            if all(NUMBER.match(cell) for cell in cells):
                assert all(cell in said for cell in cells) or head in left_out, (table.title, head)


def test_words_give_way_to_numbers() -> None:
    table = Table("", ["file", "n"], [["/a/very/long/path/to/some/file.dat", "1,234,567"]])
    row = table_text(table, 40)[-1]
    assert len(row) == 40
    assert row.startswith("/a/…ong/path")
    assert "file.dat  1,234,567" in row


def test_a_long_command_takes_few_lines() -> None:
    lines = pair("command", "/a" * 70 + " x y " + "z " * 300 + "end", 80)
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("  command           /a")
    assert lines[-1].endswith("end")


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_escape_where_none_is_wanted(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert screen().styled
    monkeypatch.setenv(variable, value)
    assert not screen().styled


def test_the_width_is_that_of_the_terminal_or_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert screen().width == 80


def test_a_name_moves_no_cursor() -> None:
    table = Table("", ["file", "n"], [["/tmp/\x1b[2Jgone", "1"]])
    assert "/tmp/\\x1b[2Jgone" in table_text(table, 80)[-1]


def test_help_waits_for_no_library() -> None:
    code = "import sys; from iolens.cli.main import COMMANDS, command_parser; list(map(command_parser, COMMANDS)); "
    code += "print(*{'numpy', 'pandas', 'matplotlib'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null"])
def test_a_home_that_cannot_be_written_to_is_no_news(place: str, tmp_path: Path) -> None:
    home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), place)
    done = subprocess.run(
        [sys.executable, "-m", "iolens.cli.main", "report", SMALL, "-o", tmp_path / "job.pdf"],
        env={**{key: value for key, value in os.environ.items() if key != "MPLCONFIGDIR"}, **home},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "atplotlib" not in done.stderr
