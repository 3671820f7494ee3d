"""Tests that no output of a command, in any format, contains a control character of a name in the log."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import profiler_harness as harness
import pytest
from iolens.cli.main import main
from iolens.foreign import checked, printable_text
from iolens.lab.outputs.outputs import read_output
from iolens.log.format import container
from iolens.log.rewrite import PrivateRegion, put_together, split_log
from iolens.pages.base.words import INDENT
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

LOGS = sorted((Path(__file__).resolve().parents[1] / "data/iolens").glob("*.darshan"))

UNPRINTABLE = [chr(code) for code in range(1, 0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")]
"""Control and format characters, and separators of lines and paragraphs, without the zero byte, which names cannot
hold.
"""
EVIL = "".join(UNPRINTABLE)
SHORT = "\x1b]0;\u202e\x9b\x7f"


def poisoned(source: Path, folder: Path) -> Path:
    """Makes a log in which every text has control characters."""
    log = container.open_container(source)
    contents = split_log(log)
    names = re.sub(rb"(?s)(.{8})([^\0]*)\0", lambda one: one[1] + one[2] + EVIL.encode() + b"\0", contents.names)
    head, blank, program = contents.job.partition(b"/")
    job = head + blank + SHORT.encode() + program
    path = folder / source.name
    private = tuple(map(poisoned_region, contents.private or ()))
    path.write_bytes(put_together(log, replace(contents, names=names, job=job, private=private or None)))
    return path


def poisoned_region(region: PrivateRegion) -> PrivateRegion:
    """Makes a private region with control characters: after each text of JSON, and at the start of each text of a
    table.
    """
    if region.kind == "json":
        return replace(region, chunks=tuple(json.dumps(behind(json.loads(chunk))).encode() for chunk in region.chunks))
    columns = json.loads(region.chunks[0].partition(b"\n")[0])["columns"] if region.chunks else []
    return replace(region, chunks=tuple(poisoned_table(chunk, columns) for chunk in region.chunks))


def behind(found: Any) -> Any:
    """Returns JSON with control characters after each text."""
    if isinstance(found, str):
        return found + EVIL
    if isinstance(found, list):
        return [behind(one) for one in found]
    return {key: behind(one) for key, one in found.items()} if isinstance(found, dict) else found


def poisoned_table(chunk: bytes, columns: list[dict[str, Any]]) -> bytes:
    """Returns a rank's part of a table, one column after the other, with control characters in place of the start of
    each text that is long enough. Only the first part has to name the columns.
    """
    line, _, body = chunk.partition(b"\n")
    header, data, at = json.loads(line), bytearray(body), 0
    for column in columns:
        kind: np.dtype[Any] = np.dtype(column["dtype"])
        size = kind.itemsize
        for row in range(header["rows"]):
            begin = at + row * size
            if kind.kind == "S" and len(bytes(data[begin : begin + size]).rstrip(b"\0")) > len(SHORT.encode()):
                data[begin : begin + len(SHORT.encode())] = SHORT.encode()
        at += size * header["rows"]
    return line + b"\n" + bytes(data)


def unprintable(text: str, keep: str = "") -> set[str]:
    """Returns the control characters of a text, except line ends and the blanks that pages use."""
    return {letter for letter in text if not letter.isprintable() and letter not in "\n" + INDENT + keep}


@pytest.mark.parametrize("source", LOGS, ids=lambda path: path.stem)
def test_no_table_holds_a_control_character(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(poisoned(source, tmp_path))
    calls = [[exhibit.name, log, *shape] for exhibit in JOB_EXHIBITS for shape in ((), ("--csv",), ("--json",))]
    for words in calls:
        code = main(["table", *words])
        said = capsys.readouterr()
        assert code in (0, 1), (words, said.err)
        assert not unprintable(said.out + said.err), words
        if "--json" in words and code == 0:
            assert not unprintable(json.dumps(json.loads(said.out), ensure_ascii=False)), words
    assert main(["table", "costly_files", log, "--csv"]) == 0
    assert "\\x1b" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "--all"],
        ["advise"],
        ["advise", "--json"],
        ["diff"],
        ["diff", "--json"],
        ["report", "--format", "html"],
    ],
)
def test_no_summary_holds_a_control_character(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(poisoned(LOGS[0], tmp_path))
    more = [str(LOGS[0])] if words[0] == "diff" else ["-o", str(tmp_path / "x.html")] if words[0] == "report" else []
    assert main([words[0], log, *more, *(words[1:] if words[0] != "report" else ())]) in (0, 1)
    said = capsys.readouterr()
    page = tmp_path / "x.html"
    written = page.read_text() if page.exists() else ""
    assert not unprintable(said.out + said.err + written, "\t" if written else "")
    if "--json" in words:
        assert not unprintable(json.dumps(json.loads(said.out), ensure_ascii=False))


def text_of(pdf: Path) -> str:
    return subprocess.run(["pdftotext", pdf, "-"], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is missing")
def test_no_pdf_holds_a_control_character(tmp_path: Path) -> None:
    """pdftotext prints a form feed between two pages."""
    pdf = tmp_path / "x.pdf"
    assert main(["report", str(poisoned(LOGS[0], tmp_path)), "-o", str(pdf)]) == 0
    assert "\\x1b" in text_of(pdf)
    assert not unprintable(text_of(pdf), "\f")


def test_no_form_of_a_data_set_holds_a_control_character(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    logs, store, out = tmp_path / "logs", str(tmp_path / "store"), tmp_path / "out"
    logs.mkdir()
    for source in LOGS:
        poisoned(source, logs)
    forms = [
        ["--csv", str(out)],
        ["--json", str(out)],
        ["-o", str(tmp_path / "x.html")],
        ["--sql", "select * from jobs"],
    ]
    for words in (["ingest", str(logs), "-o", store, "-j", "1"], *(["fleet", store, *form] for form in forms)):
        assert main(words) == 0
    said = capsys.readouterr()
    assert not unprintable(said.out + said.err)
    written = [*out.iterdir(), tmp_path / "x.html"]
    assert len(written) > 2
    for path in written:
        text = path.read_text()
        assert not unprintable(text, "\t" if path.suffix == ".html" else ""), path.name
        if path.suffix == ".json":
            assert not unprintable(json.dumps(json.loads(text), ensure_ascii=False)), path.name


@pytest.mark.parametrize("form", ["collapsed", "speedscope", "pprof", "chrome", "hatchet"])
def test_no_export_holds_a_control_character(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for source in LOGS:
        target = tmp_path / "out"
        code = main(["export", str(poisoned(source, tmp_path)), "--format", form, "-o", str(target)])
        said = capsys.readouterr()
        assert not unprintable(said.out + said.err)
        if code == 0 and form == "pprof":
            assert SHORT[:4].encode() not in gzip.decompress(target.read_bytes())
        elif code == 0:
            found = target.read_text()
            assert not unprintable(found if form == "collapsed" else json.dumps(json.loads(found), ensure_ascii=False))


def test_a_message_about_a_name_holds_no_control_character(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "iolens", "show", str(tmp_path / SHORT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "\\x1b" in done.stderr
    assert not unprintable(done.stderr)


HOSTILE = "\x1b]0;\u202e\x9b\x7f\n\u2028"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes logs whose names, and whose folder's name, have control characters; the working folder is empty."""
    folder, place = tmp_path / f"logs{HOSTILE}", tmp_path / "place"
    folder.mkdir()
    place.mkdir()
    monkeypatch.chdir(place)
    return [str(shutil.copy(source, folder / f"{source.stem}{HOSTILE}x.darshan")) for source in LOGS]


def said_by(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Returns what a command printed; the command ends by SystemExit."""
    with suppress(SystemExit):
        assert main(words) in (0, 1, 2)
    said = capsys.readouterr()
    return said.out + said.err


def leaked(text: str) -> set[str]:
    """Returns the control characters that a text has as they are, and the lines that begin with the part of a hostile
    name behind its line end.
    """
    found = unprintable(text, "\t\f")
    with suppress(ValueError):
        found |= unprintable(json.dumps(json.loads(text), ensure_ascii=False))
    return found | {line for line in text.splitlines() if line.startswith(("x.darshan", "/x.darshan"))}


def documents(place: Path) -> list[tuple[Path, str]]:
    """Returns the text of each document that commands left in a folder."""
    texts = {".pdf": text_of} if shutil.which("pdftotext") else {}
    kinds = {*texts, ".html", ".csv", ".json", ".yaml", ".md", ".c", ""}
    found = [path for path in sorted(place.rglob("*")) if path.is_file() and path.suffix in kinds]
    return [(path, texts.get(path.suffix, Path.read_text)(path)) for path in found]


ON_ONE_LOG = (
    "show|show --json|show --line|advise|advise --json|apa|report|report --format html|export --format speedscope|"
    "rank-order -o order|anonymize|mimic -o app|predict --stripes 4|table job|verify-answer /etc/hostname"
)


@pytest.mark.parametrize("words", ON_ONE_LOG.split("|"))
def test_no_name_of_a_log_brings_a_control_character(
    words: str, hostile: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = words.split()
    for log in hostile:
        assert not leaked(said_by([command, log, *options], capsys))
    for path, text in documents(Path()):
        assert not leaked(text), path


ON_SEVERAL = (
    "diff LOGS|diff --json LOGS|compare LOGS|compare LOGS -o c.html|check LOGS|show LOGS --none|table none LOGS|"
    "report FOLDER|report FOLDER -o r.html|report FOLDER --csv csv --json json|ingest FOLDER -o store -j 1|"
    "recover --list FOLDER|recover FOLDER"
)


@pytest.mark.parametrize("words", ON_SEVERAL.split("|"))
def test_no_name_of_several_logs_brings_a_control_character(
    words: str, hostile: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(hostile[0]).parent
    (folder / f"{HOSTILE}.spool").write_bytes(b"no spool")
    meant = {"LOGS": hostile[:2], "FOLDER": [str(folder)]}
    assert not leaked(said_by([part for word in words.split() for part in meant.get(word, [word])], capsys))
    for path, text in documents(Path()):
        assert not leaked(text), path


def test_no_message_of_the_library_holds_a_control_character(tmp_path: Path) -> None:
    """The texts have characters that a terminal obeys, and a byte that is not UTF-8."""
    ranges = [(1, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069)]
    obeyed = "".join(chr(letter) for first, last in ranges for letter in range(first, last + 1))
    value = f"naïve 文件{obeyed}\udc9b"
    done = harness.run("/bin/true", folder=tmp_path, IOLENS_MEMORY=value)
    assert "IOLENS_MEMORY=naïve 文件???" in done.stderr
    assert not unprintable(done.stderr)


def test_what_others_print_keeps_its_lines_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(f" BT Benchmark Completed.\n Class = {SHORT}\n Time in seconds = 1.0\n Mop/s total = {SHORT}2\n")
    found = read_output(path)
    assert not unprintable(repr(found))


def test_the_door_writes_each_character_as_an_escape_and_leaves_others() -> None:
    assert printable_text("naïve 文件.dat") == "naïve 文件.dat"
    assert printable_text("a\x1b[31m\u202eb\n\x85\udc80") == "a\\x1b[31m\\u202eb\\n\\x85\\udc80"
    assert printable_text("a\tb\n", keep="\t\n") == "a\tb\n"
    assert all(printable_text(letter).isprintable() for letter in UNPRINTABLE)
    assert checked({"a\x1b": ["\u202e", 1, None]}) == {"a\\x1b": ["\\u202e", 1, None]}
