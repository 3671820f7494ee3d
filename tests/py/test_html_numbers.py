"""Compares numbers in HTML pages with PyDarshan's sums of the same logs; nothing of iolens except the page is read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import darshan
import pytest
from iolens.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "darshan"
LOGS = [
    "imbalanced-io",
    "mpi-io-test-x86_64-3.5.0",
    "hdf5_diagonal_write_half_ranks_dxt",
    "partial_data_stdio",
    "shane_macsio",
]
PREFIXES = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}
UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4}
SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0}


class Exhibits(HTMLParser):
    """Returns the words of each figure and the rows of each table, by the names that the page gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.key, self.rows, self.words = "", dict[str, list[list[str]]](), dict[str, list[str]]()
        self.facts: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "figure":
            self.key = dict(attrs).get("id") or ""
            self.rows[self.key], self.words[self.key] = [], []
        elif tag == "tr":
            self.rows[self.key].append([])
        elif tag in ("td", "th"):
            self.rows[self.key][-1].append("")
        elif tag in ("dt", "dd"):
            self.facts.append("")
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside in ("dt", "dd"):
            self.facts[-1] += data
        elif self.inside in ("td", "th"):
            self.rows[self.key][-1][-1] += data
        elif self.inside == "text":
            self.words[self.key].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def size(words: str) -> float:
    """Converts a printed amount of data to bytes."""
    number, unit = words.split()
    return float(number.replace(",", "")) * 1024.0 ** UNITS[unit]


@pytest.mark.parametrize("stem", LOGS)
def test_a_page_says_what_pydarshan_reads(stem: str, tmp_path: Path) -> None:
    log = next(DATA.glob(f"{stem}*.darshan"))
    assert main(["report", str(log), "-o", str(tmp_path / "x.html")]) == 0
    page = Exhibits()
    page.feed((tmp_path / "x.html").read_text(encoding="utf-8"))
    theirs = darshan.DarshanReport(str(log), read_all=False)
    facts = dict(zip(page.facts[::2], page.facts[1::2], strict=True))
    assert re.match(r"[\d,]+", facts["processes"])[0].replace(",", "") == str(theirs.metadata["job"]["nprocs"])
    parts = re.findall(r"([\d.]+) (h|min|s)\b", facts["run time"])
    run_time = theirs.metadata["job"]["run_time"]
    # A log without nanoseconds counts whole seconds, so its run time may be up to a second too long or short.
    slack = 1.01 if facts["run time"].startswith("at most") else 0.006 + run_time / 100
    assert sum(float(n) * SECONDS[unit] for n, unit in parts) == pytest.approx(run_time, abs=slack)
    head, *rows = page.rows["exhibit_performance"]
    assert head[:4] == ["layer", "files", "read", "written"]
    layers = [row for row in rows if row[0] in PREFIXES]
    assert {row[0] for row in layers} == {name for name in PREFIXES if name in theirs.modules}
    for layer, files, read, written, *_ in layers:
        theirs.mod_read_all_records(layer)
        counters, prefix = theirs.records[layer].to_df()["counters"], PREFIXES[layer]
        assert files == f"{counters['id'].nunique():,}"
        for said, what in ((read, "READ"), (written, "WRITTEN")):
            assert size(said) == pytest.approx(int(counters[f"{prefix}_BYTES_{what}"].clip(lower=0).sum()), rel=0.006)
        if layer == "POSIX":
            for kind in ("OPENS", "READS", "WRITES", "STATS"):
                called = int(counters[f"POSIX_{kind}"].clip(lower=0).sum())
                assert not called or f"{called:,}" in page.words["exhibit_operations"], kind
