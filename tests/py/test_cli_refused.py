"""Tests the command as a module, and on a system that refuses what the command needs."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from iolens import __version__
from iolens.cli.main import main, parse_arguments
from iolens.cli.record.run import LARGEST_EVENTS, LARGEST_HZ, LEAST_HZ, MOST_CALLERS
from iolens.errors import UsageError
from iolens.lab.run.settings.judged import refuse_unknown


def iolens(*words: str, output: str = "/dev/null", **surroundings: str) -> tuple[int, str]:
    """Runs `iolens` with these words; returns its exit code and its text on standard error."""
    with Path(output).open("w") as file:
        done = subprocess.run(
            [sys.executable, "-m", "iolens", *words],
            env={**os.environ, **surroundings},
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return done.returncode, done.stderr


def test_the_package_is_a_command(tmp_path: Path) -> None:
    assert iolens("--version", output=str(tmp_path / "said")) == (0, "")
    assert (tmp_path / "said").read_text() == f"iolens {__version__}\n"


def test_a_full_disk_behind_the_output_is_one_sentence() -> None:
    said = "iolens workloads: standard output: No space left on device\n"
    assert iolens("workloads", output="/dev/full") == (1, said)


def test_a_home_that_cannot_be_written_to_is_one_sentence() -> None:
    code, said = iolens("workloads", "build", "--mpicc", "true", HOME="/proc/nowhere", XDG_DATA_HOME="")
    assert code == 1
    assert said == "iolens workloads: /proc/nowhere: No such file or directory\n"


def test_a_model_is_not_measured_that_could_not_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "no" / "model.yaml"
    assert main(["calibrate", str(tmp_path), "-o", str(model)]) == 1
    why = f"{model}: cannot be written (there is no folder {model.parent}; make it, or name another folder)"
    assert capsys.readouterr().err == f"iolens calibrate: {why}\n"


LOG = str(Path(__file__).parents[1] / "data" / "iolens" / "predict" / "ior-4-stripes.darshan")
BAD = "not-text.yaml"

TYPED = (
    (("reprot", LOG), "iolens: there is no command reprot; did you mean report? `iolens --help` lists the commands"),
    (("xyzzy",), "iolens: there is no command xyzzy; `iolens --help` lists the commands"),
    (("sweep", BAD), f"iolens sweep: {BAD}: is not UTF-8 text (byte 1)"),
    (("sweep", "none.yaml"), "iolens sweep: none.yaml: cannot be read (No such file or directory)"),
    (("predict", LOG, "--model", BAD), f"iolens predict: {BAD}: is not UTF-8 text (byte 1)"),
    (("sweep", "--default", "--cb-buffer", "1"), "iolens sweep: cb_buffer_size: 1 bytes are less than 4096;"),
    (("sweep", "--default", "--np", "10000"), "iolens sweep: ranks: run first has 10000 ranks for "),
)
"""Commands as people mistype them, and the beginning of the message that each must give."""


@pytest.mark.parametrize(("words", "said"), TYPED, ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_what_is_mistyped_is_answered_in_one_line(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(BAD).write_bytes(b"\xff\xfe\x00bad")
    assert main(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(said)
    assert not Path("results").exists()


@pytest.mark.parametrize("option", ["--repeat", "--np", "--steps"])
def test_a_sweep_refuses_numbers_below_one(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["sweep", "--default", option, "-1"])
    assert "-1 is not a whole number of at least 1" in capsys.readouterr().err


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words, begin in ((["help"], "usage: iolens [-h]"), (["help", "table"], "usage: iolens table")):
        with pytest.raises(SystemExit, match="0"):
            main(words)
        assert capsys.readouterr().out.startswith(begin)


def test_a_table_and_its_log_may_be_swapped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "costly_files", LOG]) == 0
    usual = capsys.readouterr().out
    assert main(["table", LOG, "costly_files"]) == 0
    assert capsys.readouterr().out == usual


REFUSED = (
    (("--hwpc", "99"), "--hwpc: 99 is neither a group (0 to 19, or a name) nor an event"),
    (("--hwpc", "summary,PAPI_NOTHING"), "--hwpc: PAPI_NOTHING is neither a group"),
    (("--hwpc", ",".join(map(str, range(20)))), "at most 16 events can be counted in one run"),
    (("--hwpc", "list"), "--hwpc: list is not a group; --list-hwpc prints all groups"),
    (("--apa", "bad.apa"), "bad.apa: -Drtenv=PAT_RT_HWPC: 99 is neither a group"),
    (("--profiler", "none", "--hwpc", "1"), "--hwpc works only with the profiler iolens"),
    (("--mpi-sync",), "--mpi-sync has no effect without --trace mpi"),
    (("--timer", "cpu"), "--timer has no effect without --sample"),
    (("--timeline",), "--timeline has no effect without --sample or --trace mpi"),
)
"""Options of `iolens run` and the message that each must give."""


@pytest.mark.parametrize(("options", "why"), REFUSED)
def test_what_the_profiler_would_not_do_is_refused_before_anything_starts(
    options: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.apa").write_text("-g mpi\n-Drtenv=PAT_RT_HWPC=99\n")
    assert main(["run", "--output", "new/folder", *options, "--", "touch", "started"]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.apa"]


@pytest.mark.parametrize("group", ["blacs", "scalapack", "shmem"])
def test_a_group_of_craypat_s_that_is_not_traced_is_refused_with_its_reason(
    group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--list-groups"]) == 0
    listed = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert {"stdio", "sysio", "omp-rtl"} < set(listed)
    with pytest.raises(SystemExit, match="2"):
        main(["run", f"--trace={group}", "--", "touch", "/proc/started"])
    why = listed[group].removeprefix(group).strip()
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("option", ["--hwpc=,", "--timeline=99999999999999999999", "--callers=65", "--sample=10001"])
def test_values_that_are_none_are_refused_with_the_options(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", option, "--", "touch", "/proc/started"])
    assert option.partition("=")[2] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "taken"),
    [
        ({"IOLENS_SAMPLE": f"{LEAST_HZ:g}", "IOLENS_TIMELINE": str(LARGEST_EVENTS)}, True),
        ({"IOLENS_SAMPLE": f"{LARGEST_HZ:g}", "IOLENS_IO_CALLERS": str(MOST_CALLERS)}, True),
        ({"IOLENS_SAMPLE": f"{LEAST_HZ / 2:g}"}, False),
        ({"IOLENS_SAMPLE": f"{LARGEST_HZ + 1:g}"}, False),
        ({"IOLENS_SAMPLE": "1", "IOLENS_TIMELINE": str(LARGEST_EVENTS + 1)}, False),
        ({"IOLENS_IO_CALLERS": str(MOST_CALLERS + 1)}, False),
    ],
)
def test_the_limits_of_options_are_those_of_the_profiler(settings: dict[str, str], taken: bool) -> None:
    with nullcontext() if taken else pytest.raises(UsageError):
        refuse_unknown(settings, {})


def test_a_launcher_that_is_not_there_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--output", str(tmp_path / "new"), "--", "/nowhere/mpirun", "-np", "2", "true"]) == 1
    assert "/nowhere/mpirun cannot be started" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_a_folder_of_tables_that_cannot_be_leaves_no_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-o", str(tmp_path / "a.pdf"), "--csv", str(tmp_path / "tables"), "--json", str(tmp_path / "no/where")]
    for command in (["report", "some.darshan"], ["compare", "/dev/null", "/dev/null"]):
        assert main([*command, *options]) == 1
        assert f"{tmp_path / 'no/where'}: tables cannot be written there" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_an_unknown_class_is_refused_before_a_driver_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def install() -> str:
        raise AssertionError("asked for a driver")

    monkeypatch.setattr("iolens.cli.lab.sweep.driver_to_be_had", install)
    assert main(["sweep", "--class", "Q"]) == 2
    assert "unknown class 'Q'" in capsys.readouterr().err


MIXED = (
    ("table file_output --csv a.darshan", "table --csv file_output a.darshan"),
    ("advise a --json b", "advise --json a b"),
    ("compare a --json tables b -o x.pdf c", "compare -o x.pdf --json tables a b c"),
    ("diff a --json b", "diff a b --json"),
    ("ingest a -o store b", "ingest a b -o store"),
    ("report a --csv tables b", "report a b --csv tables"),
    ("recover a --list b", "recover a b --list"),
)
"""Command lines with options between other words, each with the same command line that has its options first."""


@pytest.mark.parametrize(("mixed", "apart"), MIXED)
def test_options_may_stand_between_the_other_words(mixed: str, apart: str) -> None:
    assert parse_arguments(mixed.split()) == parse_arguments(apart.split())


def test_a_name_that_begins_like_an_option_stands_behind_two_dashes() -> None:
    assert parse_arguments(["table", "--csv", "--", "files", "-log"]).log == Path("-log")
    assert parse_arguments(["run", "--dxt", "--", "app", "--", "-x"]).command == ["--", "app", "--", "-x"]
    assert parse_arguments(["stripe", "set", "-c", "2", "there"]).path == Path("there")
