"""Tests btio's options and NPB's input file: how they are read, and one clear message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from btio_program import btio, result, verified

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--class", "Q"], "--class Q: unknown; the classes are S W A B C D E F"),
        (["--method", "fast"], "--method fast: unknown; the methods are full simple epio fortran none"),
        (["--frobnicate"], "unknown argument '--frobnicate'"),
        (["--steps"], "--steps needs a value"),
        (["--steps", "ten"], "--steps ten: the value must be a whole number"),
        (["--steps", "-1"], "--steps -1: the value must be a whole number"),
        (["--dt", "0"], "--dt 0: the value must be a positive number"),
        (["--keep=yes"], "--keep takes no value"),
        (["--grid", "12,12"], "--grid 12,12: the value must be three whole numbers"),
        (["--grid", "12,12,12"], "--grid needs the time step too"),
        (["--grid", "12,12,5", "--dt", "0.01"], "at least 6 points"),
        (["--grid", "12,12,12", "--class", "S"], "exclude one another"),
        (["--write-interval", "0"], "--write-interval 0"),
        (["--method", "none", "--io-only"], "--method none has no files"),
        (["--verify-only", "--read-interval", "2"], "--verify-only works only for runs without a read interval"),
        (["--write-only"], "--write-only works only with --io-only"),
        (["--hint", "cb_nodes"], "'cb_nodes' is not a hint"),
        (["--hints-file", "absent.txt"], "cannot read the hints file absent.txt"),
        (["--input", "absent.data"], "cannot read the input file absent.data"),
        (["--directory", "absent"], "--directory: cannot write into absent"),
        (["--json", "absent/result.json"], "--json: cannot write into absent"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], words: str) -> None:
    outcome = btio(tmp_path, *arguments)
    assert outcome.status == 2
    assert len(outcome.messages) == 1
    assert words in outcome.messages[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        (5, "5 ranks: a square number of ranks is needed, such as 4 or 9"),
        (25, "25 ranks are too many for 12 points: each cell needs 3; use at most 16 ranks"),
    ],
)
def test_wrong_number_of_ranks(tmp_path: Path, ranks: int, words: str) -> None:
    outcome = btio(tmp_path, ranks=ranks)
    assert (outcome.status, outcome.messages) == (2, [f"btio: {words}"])


def test_help_lists_every_option(tmp_path: Path) -> None:
    outcome = btio(tmp_path, "--help")
    assert outcome.status == 0
    for option in ("class", "grid", "method", "hints-file", "io-only", "json", "verify-only"):
        assert f"  --{option} " in outcome.text


def test_input_file_of_npb(tmp_path: Path) -> None:
    """The file has Fortran's exponents, a read interval and hints for collective buffering."""
    (tmp_path / "inputbt.data").write_text("60\n0.01d0\n12 12 12\n5 2\n2 1048576\n")
    outcome = verified(tmp_path, "--json", "result.json", "--keep", ranks=4)
    assert " Reading from input file inputbt.data" in outcome.text
    assert " collbuf_nodes            2" in outcome.text
    assert " collbuf_size       1048576" in outcome.text
    assert outcome.value("Class") == "S"
    assert (tmp_path / "btio.full.out").stat().st_size == 138_240
    requested = result(tmp_path / "result.json")["hints"]["requested"]
    assert requested == {"cb_nodes": "2", "cb_buffer_size": "1048576", "collective_buffering": "true"}


def test_input_file_of_another_grid(tmp_path: Path) -> None:
    (tmp_path / "mine.data").write_text("10 steps\n0.01\n10 11 12\n0\n")
    outcome = verified(tmp_path, "--input", "mine.data")
    assert outcome.value("Size") == "10x  11x  12  (class U)"
    assert outcome.text.count(" Writing data set") == 2


def test_a_class_on_the_command_line_leaves_the_input_file_alone(tmp_path: Path) -> None:
    (tmp_path / "inputbt.data").write_text("10\n0.01\n10 11 12\n")
    outcome = verified(tmp_path, "--class", "S")
    assert outcome.value("Class") == "S"
    assert "inputbt.data is there but was not read" in outcome.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("w\n0\n", "line 3: the number of dumps expected"),
        ("60\n", "line 2: the time step dt expected"),
        ("60\n0.01\n12 12\n", "line 3: the grid points nx ny nz expected"),
    ],
)
def test_bad_input_file(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "inputbt.data").write_text(content)
    outcome = btio(tmp_path, ranks=4)
    assert outcome.status == 2
    assert len(outcome.messages) == 1
    assert words in outcome.messages[0]


def test_the_other_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "inputbt.data").write_text("w\n0\n")
    outcome = btio(tmp_path, "--io-only")
    assert outcome.status == 2
    assert "format of Northwestern's BTIO; for it, run btio inputbt.data" in outcome.messages[0]


@pytest.mark.parametrize(
    ("method", "io"),
    [
        ("full", "romio321"),
        ("full", "ompio"),
        ("simple", "romio321"),
        ("simple", "ompio"),
        ("epio", "romio321"),
        ("fortran", "romio321"),
    ],
)
def test_no_space_left_in_mid_run(tmp_path: Path, small_disk: Path, method: str, io: str) -> None:
    """The program must not succeed silently. Open MPI's own component hides the error; the program then finds that the
    file is too short.
    """
    start = ["--class", "W", "--steps", "100", "--io-only"]
    place = ["--directory", str(small_disk)]
    outcome = btio(tmp_path, *start, "--method", method, *place, ranks=4, io=io)
    assert outcome.status == 1
    assert list(small_disk.iterdir()) == []
    assert len(outcome.messages) == 1
    assert f"small/btio.{method}.out" in outcome.messages[0]
    reasons = ["No space left", "MB free", "bytes; 20 dumps are"]
    assert any(reason in outcome.messages[0] for reason in reasons)
