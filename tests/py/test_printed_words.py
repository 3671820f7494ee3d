"""Tests the sentences of reports: no exponents, no phrases that readers misunderstood, and notes that are whole
sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from iolens.advise import diagnosis
from iolens.log import Job, read_log
from iolens.metrics.audit.evidence import Evidence, frame_of, load
from iolens.metrics.comparison.settings import part_text, seconds_text, three_digits, two_digits, volume_text
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, FigureBlock, Page, Row, Table, Text, laid_out
from iolens.pages.job.job_document import PAGES
from iolens.pages.wording import job_lists as advice
from iolens.pages.wording.job_judgement import spoken

TESTS = Path(__file__).parents[1]
LOGS = sorted(
    path for folder in ("darshan", "iolens", "iolens/predict") for path in TESTS.glob(f"data/{folder}/*.darshan")
)
CORPUS = sorted((TESTS / "advice" / "logs").glob("*.darshan"))[::30]
"""Only every twelfth labelled log is read, because a report takes a second."""

SYMBOLS = ("s: ", "c: ", "r: ")
"""Notes that begin with the symbol which they explain."""

EXPONENT = re.compile(r"(?<![\w/.])\d+(?:\.\d+)?e[+-]?\d+(?![\w/.])")
BANNED = (
    "a way not recorded",
    "Bound: ",
    "for nothing",
    "moved 1 times",
    "second of a rank",
    "/s of a rank",
    "a second, one of",
    "some numbers: ",
    "some records: ",
)
CODE = re.compile(r"`|\bNone\b|\bNaN\b|\bReturns\b|Columns:|metrics\.\w+|\w_rank\b")


def blocks_of(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yields all blocks; blocks that stand side by side are yielded one after the other."""
    for block in blocks:
        if isinstance(block, Row):
            yield from blocks_of(block.blocks)
        else:
            yield block


def notes_of(pages: Sequence[Page]) -> Iterator[str]:
    """Yields the notes below tables and figures."""
    for page in pages:
        for block in blocks_of(page.blocks):
            if isinstance(block, Table):
                yield block.note
            elif isinstance(block, FigureBlock):
                yield block.caption


def prose_of(job: Job, pages: Sequence[Page]) -> Iterator[str]:
    """Yields every sentence of a report except text to paste, and every sentence of the advice in a terminal."""
    yield from notes_of(pages)
    for page in pages:
        yield page.title
        for block in blocks_of(page.blocks):
            if isinstance(block, Text):
                yield block.text if block.style != "code" else ""
            else:
                yield block.title
                yield "" if block.about is None else block.about.definition
    yield from spoken(job)
    yield advice.advice_text(job, diagnosis(job))


@pytest.mark.parametrize("log", [*LOGS, *CORPUS], ids=lambda path: path.stem[:30])
def test_a_report_is_in_plain_words(log: Path) -> None:
    job = read_log(log)
    pages = laid_out(PAGES, job)
    for text in prose_of(job, pages):
        assert not EXPONENT.search(text), text
        assert not [phrase for phrase in BANNED if phrase in text], text
    for note in filter(None, notes_of(pages)):
        assert note.endswith("."), note
        assert note[0].isupper() or not note[0].isalpha() or note.startswith(SYMBOLS), note
    for block in (block for page in pages for block in blocks_of(page.blocks)):
        about = getattr(block, "about", None)
        assert about is None or not CODE.search(about.definition), about


def test_a_scan_finds_what_it_is_for() -> None:
    assert EXPONENT.search("POSIX 1.28e+03 MiB")
    assert EXPONENT.search("took 5e-06 s of")
    assert not EXPONENT.search("/data/4c9e12/job.5e3")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(111.0, "1 min 51 s"), (5400.0, "1 h 30 min"), (780.0, "13 min"), (1e6, "11 d 14 h")],
)
def test_one_time_is_printed_in_one_way(seconds: float, said: str) -> None:
    assert words.duration(seconds) == seconds_text(seconds) == said


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 300, 24 * 2**30, 1000 * 2**20, 10.04 * 2**20, 5.7 * 2**20])
def test_one_size_is_printed_in_one_way(size: float) -> None:
    assert words.size(size) == volume_text(size)


def test_small_and_large_numbers_have_no_exponent() -> None:
    assert [seconds_text(value) for value in (1e-6, 0.00052, 0.999, 9.94)] == [
        "< 0.0001 s",
        "0.00052 s",
        "1.0 s",
        "9.9 s",
    ]
    assert [two_digits(value) for value in (127.0, 1.6, 0.00004)] == ["127", "1.6", "0.000040"]
    assert [three_digits(value) for value in (12345.0, 0.3, 0.0)] == ["12345", "0.300", "0"]
    assert [part_text(value) for value in (0.0, 6e-8, 0.0025)] == ["0", "1 part in 17 million", "0.25 %"]


def test_a_high_load_has_no_exponent() -> None:
    busy = Evidence(frame_of([{"load_before": 127.0}]), {}, rate=True, base="")
    assert load(busy)[1] == "The load was up to 127; the number of processors is not recorded."


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_no_number_is_not_printed_as_one(value: float) -> None:
    assert seconds_text(value) == "n/a"
