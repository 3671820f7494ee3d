"""Tests answers about a log: the questions that programs may ask, those that are refused, and the detection of wrong
numbers in a text.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from iolens.cli.main import main
from iolens.cli.read.serve import server
from iolens.errors import UsageError
from iolens.log import Job, read_log
from iolens.pages.answers import sources
from iolens.pages.answers.named_logs import NamedLogs, numbers_in_text, written_numbers
from iolens.pages.answers.sources import Source, of_log, of_store
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

DATA = Path(__file__).parents[1] / "data"
LOG = DATA / "darshan" / "mpi-io-test-x86_64-3.5.0.darshan"


@pytest.fixture(scope="module")
def log() -> Source[Job]:
    return of_log(read_log(LOG))


def values_of(job: Job) -> list[float]:
    """Returns every finite number of all tables, and the tables' lengths."""
    found: list[float] = []
    for exhibit in JOB_EXHIBITS:
        frame = exhibit.every(job)
        if frame is not None:
            found.append(len(frame))
            found += [one for name in frame for one in frame[name].tolist() if isinstance(one, (int, float))]
    return [float(one) for one in found if math.isfinite(one)]


def test_answers_are_the_rows_of_the_tables(log: Source[Job]) -> None:
    listed = {one["name"]: one for one in sources.tables(log)}
    assert listed["performance"]["rows"] == len(sources.table_answer(log, "performance")["rows"])
    pieces = [sources.table_answer(log, "operations", first=first, count=2)["rows"] for first in (0, 2)]
    assert [row["row"] for piece in pieces for row in piece] == [0, 1, 2, 3]
    assert "modules" in listed
    assert sources.overview(log)["judgement"]["verdict"]["sentence"]
    json.dumps([sources.table_answer(log, name) for name in listed])


def test_what_a_log_cannot_tell_is_refused(log: Source[Job]) -> None:
    with pytest.raises(UsageError, match=r"this log cannot tell: .* the table mpi_calls; it needs"):
        sources.table_answer(log, "mpi_calls")
    with pytest.raises(UsageError, match="there is no table nonsense"):
        sources.table_answer(log, "nonsense")
    assert any("MPI" in one["reason"] or "comput" in one["fact"] for one in sources.overview(log)["not_known"])


def written(value: float, chance: random.Random) -> str:
    """Returns a number as people write it: with three or four digits, or with all."""
    if value == int(value) and abs(value) < 1e15 and chance.random() < 0.7:
        return f"{int(value):,}" if chance.random() < 0.5 else str(int(value))
    return f"{value:.{chance.randrange(2, 5)}f}"


def rounds_to_a_number(text: str, values: list[float]) -> bool:
    """Compares each value with the number after rounding to the text's digits. This plain loop shares no code with
    iolens.
    """
    plain = text.replace(",", "")
    digits = len(plain.partition(".")[2])
    return any(abs(value - float(plain)) <= 0.5000001 * 10**-digits for value in values)


def test_every_planted_number_of_a_thousand_texts_is_named(log: Source[Job]) -> None:
    chance, values = random.Random(2713), [one for one in values_of(log.subject) if one >= 0]
    # Numbers in sentences about the log are removed from the candidates, because a planted number must not equal one of
    # them by chance.
    said = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", json.dumps(sources.overview(log)).replace(",", ""))]
    for _ in range(1000):
        true = [written(chance.choice(values), chance) for _ in range(3)]
        wrong = f"{chance.uniform(1e4, 1e9):.{chance.randrange(0, 3)}f}"
        if rounds_to_a_number(wrong, values + said):
            continue
        words = [*true, wrong]
        chance.shuffle(words)
        text = f"It moved {words[0]} here, {words[1]}; then {words[2]} and ({words[3]})."
        found = numbers_in_text(log, text)
        assert [one.text for one in found] == words
        assert [one.text for one in found if not one.source] == [wrong], text


def test_units_are_those_of_the_text(log: Source[Job]) -> None:
    moved = int(sources.table_answer(log, "performance")["rows"][0]["bytes_written"])
    for text in (f"{moved / 2**20:.2f} MiB", f"{moved / 1e6:.2f} MB", f"{moved:,} bytes", f"{moved} B"):
        (one,) = numbers_in_text(log, f"The program wrote {text}.")
        assert one.source, text
        assert one.text == text
    assert not numbers_in_text(log, f"wrote {moved / 2**20 * 1.01:.2f} MiB")[0].source
    assert not written_numbers("glibc+deb12u1")
    assert written_numbers("⅞ and ½")[0].values[0][0] == 0.875
    assert not numbers_in_text(log, "See file_17.dat, v2.0.1, HDF5, x86_64, N-1, and /scratch/12/data.")


def test_the_command_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "answer.txt"
    text.write_text("It wrote 987654321.5 bytes.")
    assert main(["verify-answer", str(LOG), str(text)]) == 1
    assert "987654321.5 bytes: the log has no such number" in capsys.readouterr().out
    assert main(["verify-answer", str(LOG), str(tmp_path / "none.txt")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def asked(job_path: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Starts the server as a program and returns the answers that a client receives."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def talk() -> list[Any]:
        command = [*"-m iolens.cli.main serve".split(), str(job_path)]
        async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=command))) as client:
            return [await client.call_tool(name, words) for name, words in calls]

    return asyncio.run(talk())


def test_a_client_is_answered_over_the_protocol() -> None:
    pytest.importorskip("mcp", reason="mcp is not installed")
    known, refused, checked = asked(
        LOG,
        [
            ("table", {"log": LOG.name, "name": "performance"}),
            ("table", {"log": LOG.name, "name": "mpi_calls"}),
            ("verify_answer", {"log": LOG.name, "text": "987654321.5"}),
        ],
    )
    assert json.loads(known.content[0].text)["table"] == "performance"
    assert refused.is_error
    assert "this log cannot tell" in refused.content[0].text
    assert '"source": ""' in checked.content[0].text


def test_without_the_package_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from iolens.errors import IolensError

    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(IolensError, match="needs the package mcp"):
        server(NamedLogs({}))


@pytest.mark.parametrize(
    "words",
    [
        *("-987654.5", "9.876545e11", "3-987654", "987654x", "987654k", "987654.5 %", "(987,654.5)", "=987654.5;"),
        *("987654KB", "987654 KB", "987654kb", "987654/s", "987654 B/sec", "#987654", "100/987654", "1,987654"),
        *("987'654", "987\u202f654", "987_654", "9.87654 × 10^5", "9.87654·10⁵", "9.87654x10**5", ".987654321"),
        *("987654th", "987654abc", "n:987654", "it—987654—fell", "rank-987654", "x987654", "~987654", "≥987654"),
        *("between 987654 and 987655 ms", "987654–987655 s", "987654 ± 3", "0xf1206", "98f7654a3b", "9876.54.3"),
        *("2031-05-17", "2031-05-17T03:04:05Z", "03:59:17", "９８７６５４", "٩٨٧٦٥٤", "98.7654 million"),
        *("nine hundred and eighty-seven thousand", "seventy-three million bytes", "forty-three percent"),
        *("seventy-four times", "eleven and a half", "three hundred gigabytes", "987.654 Gbit/s", "987 days"),
        *("half a million", "half-million", "a quarter of a million", "three quarters of a million"),
        *("a couple of dozen", "a few hundred", "several thousand", "dozens", "tens of thousands", "12e", "⑰", "⁹⁸⁷"),
    ],
)
def test_a_wrong_number_passes_in_no_spelling(log: Source[Job], words: str) -> None:
    found = numbers_in_text(log, f"It fell by {words} of all.")
    assert "" in {one.source for one in found}, found


def test_true_numbers_pass_in_each_spelling(log: Source[Job]) -> None:
    row = sources.table_answer(log, "performance")["rows"][0]
    moved, ranks = int(row["bytes_written"]), log.subject.nprocs
    begun = sources.overview(log)["facts"]["started"]
    for text in (
        f"{moved / 2**20:.0f} to {moved / 2**20:.0f} MiB",
        f"{moved / 1e3:.3f} kB",
        f"{moved * 8 / 1e6:.2f} Mbit",
        f"{moved / 1e6:.3f} million bytes",
        f"{moved:_} bytes",
        f"on {begun}",
        f"{ranks}-rank job",
        f"{ranks} of {ranks} ranks",
    ):
        found = numbers_in_text(log, f"The program wrote {text}.")
        assert found, text
        assert all(one.source for one in found), found


def test_a_name_of_the_log_is_told_from_one_that_it_does_not_have(log: Source[Job]) -> None:
    """A version or an address is no number, so that it must occur in the log exactly as it is."""
    version = sources.overview(log)["facts"]["profiler"]
    assert all(one.source for one in numbers_in_text(log, f"It was recorded by {version}."))
    assert [one.source for one in numbers_in_text(log, "Recorded by version 17.3.99 on 10.0.0.7.")] == ["", ""]


def test_a_store_is_asked_like_a_log(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    from iolens.fleet.store import open_store

    assert main(["ingest", str(DATA / "darshan"), "-o", str(tmp_path / "store")]) == 0
    store = of_store(open_store(tmp_path / "store"))
    jobs = sources.table_answer(store, "totals")["rows"][0]["jobs"]
    assert sources.overview(store)["facts"]["jobs"] == str(jobs)
    assert {one["name"] for one in sources.tables(store)} >= {"users", "applications", "file_systems"}
    said = numbers_in_text(store, f"{jobs} jobs moved 987654321 bytes")
    assert [bool(one.source) for one in said] == [True, False]
    with pytest.raises(UsageError, match="there is no table mpi_calls"):
        sources.table_answer(store, "mpi_calls")


def test_signs_and_exponents_are_those_of_the_log(log: Source[Job]) -> None:
    moved = int(sources.table_answer(log, "performance")["rows"][0]["bytes_written"])
    assert all(one.source for one in numbers_in_text(log, f"-{moved} and {moved / 1e6:.4f}e6 bytes"))


@pytest.mark.parametrize(
    "text",
    [
        "9" * 100_000,
        "1," * 20_000,
        "1e999999999",
        "5×10^" + "9" * 5000,
        "1e-999",
        "two and a " * 5000,
        "1a" * 20_000,
        "⁹" * 100_000,
    ],
)
def test_hostile_texts_are_read_in_time(log: Source[Job], text: str) -> None:
    begin = time.process_time()
    assert "" in {one.source for one in numbers_in_text(log, text + " 987654321.5")}
    assert time.process_time() - begin < 5
