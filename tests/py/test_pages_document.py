"""Tests documents: their contents in the PDF as poppler's tools see them, wrapped words, widths, and shortened
paths.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.errors import IolensError
from iolens.figures.job_times import shared_spans_figure
from iolens.figures.style import HALF_WIDTH, canvas, styled
from iolens.log import read_log
from iolens.pages.base import words
from iolens.pages.base.blocks import FigureBlock, Page, Row, Table, Text
from iolens.pages.job.job_document import about_log, rank_balance_blocks
from iolens.pages.output.document import write_document
from iolens.pages.pdf.grid import broken, capped, column_widths, shorten
from iolens.pages.pdf.vector import PLAIN, text_width
from matplotlib.figure import Figure

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")
LONG_PATH = "/scratch/project/" + "deep/" * 60 + "final_name.dat"


@styled
def chart() -> Figure:
    """Draws bars, a dashed line, a hatch, a mathematical label and an image."""
    figure, axes = canvas(HALF_WIDTH, 2.0)
    axes.bar([0, 1], [1, 2], hatch="//", edgecolor="white", label="bars")
    axes.plot([0, 1], [2, 1], "--", alpha=0.5)
    axes.imshow(np.eye(2), extent=(0, 1, 0, 1), interpolation="none")
    axes.set_xlabel("an axis label")
    axes.set_ylabel("$10^3$")
    axes.legend()
    return figure


def pages() -> list[Page]:
    rows = [[LONG_PATH, str(i), "12 MiB"] for i in range(120)]
    return [
        Page("First", [Text("A lead & <more>", "lead"), Row([FigureBlock(chart(), "Caption"), Text("beside")])]),
        Page("Second", [Table("Many rows", ["file", "n", "size"], rows, "A note.")]),
    ]


def tool(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@needs_poppler
@pytest.mark.parametrize(("rows", "sheets"), [(30, 1), (52, 1), (58, 1), (66, 2), (120, 3)])
def test_no_sheet_holds_but_the_last_rows_of_a_table(rows: int, sheets: int, tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    table = Table("Many rows", ["row", "n"], [[f"row-{i}", str(i)] for i in range(rows)], "A note.")
    write_document(path, "The title", "the subtitle", [Page("Only", [table])])
    texts = tool("pdftotext", "-layout", str(path), "-").split("\f")[:-1]
    assert len(texts) == sheets
    each = [len(re.findall(r"row-\d+", text)) for text in texts]
    assert sum(each) == rows
    assert min(each) >= 6


@pytest.mark.parametrize(("lines", "sheets"), [(16, 1), (30, 2)])
def test_a_sheet_for_a_few_lines_is_saved(lines: int, sheets: int, tmp_path: Path) -> None:
    """Figures below a fifth of a sheet shrink until they fit; larger ones get a sheet of their own."""
    blocks = [*(FigureBlock(chart()) for _ in range(3)), *(Text(f"line {number}") for number in range(lines))]
    write_document(tmp_path / "x.pdf", "Title", "below", [Page("One", blocks)])
    found = (tmp_path / "x.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", found)) == sheets


def test_the_language_is_told(tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    write_document(path, "The title", "the subtitle", [Page("Only", [Text("Words.")])])
    assert b"/Lang (en)" in path.read_bytes()


@needs_poppler
def test_text_of_every_sheet(tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    write_document(path, "The title", "the subtitle", pages(), ["EMULATED STORAGE"])
    count = int(re.search(r"Pages:\s+(\d+)", tool("pdfinfo", str(path))).group(1))  # type: ignore[union-attr]
    assert count >= 3
    for number in range(1, count + 1):
        text = tool("pdftotext", "-f", str(number), "-l", str(number), "-layout", str(path), "-")
        for word in ("The title", "the subtitle", "EMULATED STORAGE", f"page {number} of {count}"):
            assert word in text, (number, word)
    whole = tool("pdftotext", "-layout", str(path), "-")
    for word in ("A lead & <more>", "an axis label", "Caption", "Many rows", "A note.", "final_name.dat"):
        assert word in whole


@needs_poppler
def test_fonts_are_embedded(tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    write_document(path, "t", "s", pages())
    lines = tool("pdffonts", str(path)).splitlines()[2:]
    assert lines
    for line in lines:
        assert "DejaVuSans" in line
        assert line.split()[-5:-2] == ["yes", "yes", "yes"], line


@needs_poppler
def test_figures_are_vectors(tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    write_document(path, "t", "s", pages())
    images = tool("pdfimages", "-list", str(path)).splitlines()[2:]
    # The chart's image has 2 x 2 pixels and must not be resampled.
    assert all(line.split()[3:5] == ["2", "2"] for line in images)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_document(tmp_path / name, "t", "s", pages())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IolensError, match="cannot be written"):
        write_document(tmp_path / "file" / "out.pdf", "t", "s", [Page("P", [Text("x")])])
    bad = Page("P", [FigureBlock("no figure")])  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        write_document(tmp_path / "out.pdf", "t", "s", [bad])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_long_path_keeps_its_ends() -> None:
    short = shorten(LONG_PATH, PLAIN, 8, 150)
    assert text_width(short, PLAIN, 8) <= 150
    assert short.startswith("/scratch")
    assert short.endswith("final_name.dat")
    assert shorten("short", PLAIN, 8, 150) == "short"


def test_lines_are_broken_at_spaces() -> None:
    lines = broken("one two three four five six", PLAIN, 8, 60)
    assert len(lines) > 1
    assert " ".join(lines) == "one two three four five six"
    assert all(text_width(line, PLAIN, 8) <= 60 for line in lines)


def test_columns_fit() -> None:
    assert capped([10, 20, 300, 400], 430) == [10, 20, 200, 200]
    widths = column_widths(["file", "n"], [[LONG_PATH, "7"]], 300)
    assert sum(widths) == pytest.approx(300)
    assert widths[1] < 20


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1 << 40, "1 TiB"),
        (None, "n/a"),
        (float("nan"), "n/a"),
    ],
)
def test_sizes(value: float | None, said: str) -> None:
    assert words.size(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(1 << 24, "16 MiB"), (40, "40 B"), (1025, "1,025 B"), (1536 * 1024, "1536 KiB")]
)
def test_exact_sizes(value: int, said: str) -> None:
    assert words.exact_size(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.00001, "< 0.0001"), (0.0042, "0.0042"), (1.234, "1.23"), (1234.5, "1,234"), (None, "n/a")],
)
def test_seconds(value: float | None, said: str) -> None:
    assert words.seconds(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.003, "0.0030"), (0.0995, "0.10"), (5.714, "5.71"), (57.14, "57.1"), (5714.2, "5714"), (3, "3")],
)
def test_three_digits(value: float, said: str) -> None:
    assert words.ratio(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.25, "0.25"), (4.75, "4.75"), (23, "23.0"), (23.5, "23.5"), (1234, "1,234.0"), (None, "--")]
)
def test_numbers_of_one_column_have_points_of_their_own(value: float | None, said: str) -> None:
    assert words.guarded(value) == said


def test_percent_of_nothing_is_not_a_number() -> None:
    assert words.percent(1, 0) == "n/a"
    assert words.percent(1, 8) == "12.5 %"


def test_a_share_that_is_not_nothing_is_not_said_to_be() -> None:
    assert [words.percent(part, 10_000) for part in (0, 1, 5)] == ["0.0 %", "< 0.1 %", "0.1 %"]


def test_the_legend_of_shared_files_has_two_colours_where_nobody_wrote() -> None:
    spans = pd.DataFrame({"path": ["/a"], "kind": ["read"], "start": [0.0], "end": [1.0]})
    legend = shared_spans_figure(spans, 2.0).axes[0].get_legend()
    assert legend is not None
    assert len({patch.get_facecolor() for patch in legend.get_patches()}) == 2


def test_small_tables_and_charts_stand_side_by_side() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    few, many = (read_log(logs / f"{name}.darshan") for name in ("narrow", "e3sm_io_heatmap_only"))
    for part in (about_log, rank_balance_blocks):
        beside, below = part(few), part(many)
        assert [type(block) for block in beside] == [Row]
        assert Row not in [type(block) for block in below]
