"""The manual: the parsers accept its commands, its reference is complete, and its pages are built without a loss."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from iolens.cli.described import commands
from iolens.cli.main import COMMANDS, parse_arguments
from iolens.log.format.layouts import MODULES
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/tools"))

import counters  # noqa: E402
import record  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402
from commands import LONG, CommandRow, blocks, commands_of, pages, rows  # noqa: E402
from pages import documents, page_of  # noqa: E402

STOPS = {";", "&&", "||", "|", ">", ">>", "<", "&", ";;", "2>&1", ">&"}


def command_lines(text: str) -> Iterator[list[str]]:
    """Yields the words of each iolens command in a document."""
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        plain = re.sub(r"<<'?(\w+)'?\n.*?^\1$", "", block, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
        for words in word_lines(plain):
            for place, word in enumerate(words):
                if Path(word).name == "iolens" and place + 1 < len(words) and words[place + 1] in COMMANDS:
                    rest = words[place + 1 :]
                    yield rest[: next((n for n, each in enumerate(rest) if each in STOPS), len(rest))]


def word_lines(commands: str) -> Iterator[list[str]]:
    """Yields the words of each command; a quoted text may extend over several lines."""
    begun = ""
    for line in commands.splitlines():
        begun += line
        lexer = shlex.shlex(begun, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            yield list(lexer)
        except ValueError:
            begun += "\n"
            continue
        begun = ""
    assert not begun, commands


def takes(words: list[str]) -> bool:
    """Returns True if the command's parser accepts these words; `--help` and its like count as accepted."""
    try:
        parse_arguments(words)
    except SystemExit as ended:
        return ended.code == 0
    return True


@pytest.mark.parametrize("document", documents(), ids=str)
def test_every_call_of_iolens_in_a_document_is_one_that_it_takes(document: Path) -> None:
    for words in command_lines((ROOT / document).read_text(encoding="utf-8")):
        assert takes(words), " ".join(words)


def test_calls_are_found_and_wrong_ones_refused() -> None:
    text = "```sh\ncd x && .venv/bin/iolens show a.darshan | head   # words\nX=1 iolens run --dxt -- \\\n  app\n```\n"
    assert list(command_lines(text)) == [["show", "a.darshan"], ["run", "--dxt", "--", "app"]]
    assert not takes(["show", "--no-such-option"])


def test_commands_that_are_not_run_say_why() -> None:
    first = "```sh\na\n```\n<!-- not run: it needs root -->\n```sh\nb\n```\n"
    text = first + "\n<!-- long: minutes -->\n```sh\nc\nd \\\n e\n```\n"
    found = [[(each.text, each.kept, each.long) for each in block.commands] for block in blocks(text, Path("x.md"), [])]
    assert found == [
        [("a\n", "", False)],
        [("b\n", "it needs root", False)],
        [("c\n", "minutes", True), ("d \\\n e\n", "minutes", True)],
    ]


def test_a_row_of_the_table_keeps_its_command_from_being_run() -> None:
    table = [
        CommandRow("x*", "make *", "", "minutes"),
        CommandRow("*", "sbatch *", "tests/a.py", ""),
        CommandRow("*", "b", LONG, "hours"),
    ]
    (block,) = blocks("```sh\nmake a\nsbatch x\nb\nc\n```\n", Path("x.md"), table)
    assert [(each.kept, each.long) for each in block.commands] == [
        ("minutes", False),
        ("tests/a.py", False),
        ("long: hours", True),
        ("", False),
    ]


def test_every_command_is_run_or_stands_in_the_table_with_its_reason() -> None:
    table = rows()
    every = [(document, command) for document in documents() for command in commands_of(document, table)]
    assert len([command for _, command in every if not command.kept]) > 120
    for row in table:
        assert any(row.fits(document, command.text.partition("\n")[0]) for document, command in every), row
        assert row.why or row.run_by, row
        assert row.run_by in ("", LONG) or (ROOT / row.run_by).is_file(), row
    assert pages()[0] == "tutorial"
    assert "storage/README" in pages()


def test_commands_stand_in_blocks_that_are_marked_so() -> None:
    """A synopsis is not a command: it has brackets or dots for parts that a reader fills in."""
    begins = re.compile(r"^(iolens|make|mpirun|LD_PRELOAD=\S+|\.venv\S+) ", re.MULTILINE)
    for document in documents():
        text = (ROOT / document).read_text(encoding="utf-8")
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            assert language or not begins.search(block) or "[" in block or "…" in block, f"{document}: {block}"


def test_every_counter_has_a_unit_and_a_meaning() -> None:
    for module in MODULES.values():
        for counter in module.names:
            unit, words = counters.meaning(module.prefix, counter)
            assert words
            assert "{" not in unit + words
    assert counters.meaning("POSIX", "POSIX_SIZE_READ_100_1K") == ("calls", "reads of 100 to 1K B")
    with pytest.raises(KeyError):
        counters.meaning("POSIX", "POSIX_NO_SUCH_COUNTER")


def test_the_reference_has_every_command_option_key_and_table() -> None:
    made = reference.pages()
    index = made["reference/commands/index.md"]
    for command in commands():
        text = made[f"reference/commands/{command.name}.md"]
        assert f"({command.name}.md)" in index
        assert all(flag in text for option in command.options for flag in option.flags)
    assert "`workload.timeout`" in made["reference/experiment.md"]
    assert all(f"## {exhibit.name}\n" in made["reference/tables.md"] for exhibit in JOB_EXHIBITS)
    assert "\n`all_performance`: " in made["reference/tables.md"]


def test_links_of_a_page_go_to_pages_or_to_copies(tmp_path: Path) -> None:
    text = "[a](../README.md#one) [b](../calls) ![c](../report/images/job.png)\n```sh\n[d](../README.md)\n```\n"
    laid = stage.with_links(text, Path("docs/tutorial.md"), set(documents()), tmp_path)
    assert laid == "[a](README.md#one) b ![c](report/images/job.png)\n```sh\n[d](../README.md)\n```\n"
    assert (tmp_path / "report/images/job.png").exists()


def test_recording_replaces_the_output_of_the_blocks_that_ran() -> None:
    page = "```sh\na\n```\n<!-- output: 2 -->\n\nThen:\n\n```sh\nb\n```\n<!-- output -->\n```text\nold\n```\n"
    recorded = record.with_output(page, {"0": "one\ntwo \nthree"})
    assert recorded == page.replace("2 -->\n", "2 -->\n```text\none\ntwo\n…\n```\n")
    assert record.with_output(recorded, {"0": "one\ntwo\nthree"}) == recorded
    assert record.with_output(recorded, {"1": "new"}) == recorded.replace("old", "new")
    assert record.shown("one\ntwo\nthree", "5", "tw") == "```text\n…\ntwo\nthree\n```\n"


def test_a_build_of_the_manual_shows_recorded_numbers_and_measures_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recorded output and picture is in its page and in the built page; the test starts no program."""
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.setattr(os, "posix_spawn", None)
    assert stage.main([str(tmp_path)]) == 0
    for document in documents():
        text = (ROOT / document).read_text(encoding="utf-8")
        laid = (tmp_path / page_of(document)).read_text(encoding="utf-8")
        asked = re.findall(r"^<!-- output[^\n]*-->\n(?:```text\n(.*?)^```$)?", text, re.MULTILINE | re.DOTALL)
        assert asked == re.findall(r"^:class: output\n\n(.*?)^```$", laid, re.MULTILINE | re.DOTALL), document
        for comment, image in re.findall(r"^(<!-- picture: [^\n]*-->)\n(?:!\[.*\]\((.*)\)$)?", text, re.MULTILINE):
            assert image, f"{document}: {comment} has no image below it"
            assert (ROOT / document.parent / image).is_file()
    monkeypatch.undo()
    assert [each.name for each in (tmp_path / "images").iterdir()]


def test_pages_of_the_manual_and_of_the_repository_do_not_meet() -> None:
    found = [page_of(document) for document in documents()]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(("source", "package"), [("job.pdf", "poppler-utils"), ("job.html", "chromium")])
def test_a_picture_that_cannot_be_drawn_ends_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, package: str
) -> None:
    (tmp_path / source).write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    page = f"<!-- picture: {source} -->\n![A page.](images/page.png)\n"
    with pytest.raises(record.NoPicture, match=f"install {package}"):
        record.draw_pictures(page, tmp_path, tmp_path / "page.md")
    with pytest.raises(record.NoPicture, match=r"a picture of job\.svg"):
        record.draw_pictures(page.replace(source, "job.svg"), tmp_path, tmp_path / "page.md")
