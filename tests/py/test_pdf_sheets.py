"""The sheets of a job's PDF as poppler's tools see them: none is nearly empty, and a screen reader can reach
all words.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from iolens.log import read_log
from iolens.pages.base.blocks import FigureBlock, Page, Text, laid_out
from iolens.pages.html.parts import flat_blocks
from iolens.pages.job.job_document import PAGES, write_job
from iolens.pages.output.document import write_document
from matplotlib.figure import Figure
from PIL import Image

DATA = Path(__file__).parents[1] / "data"
LOGS = [
    *(f"darshan/{name}" for name in ("noposix", "imbalanced-io", "partial_data_stdio", "mpi-io-test-ppc64-3.0.0")),
    *("darshan/dxt-threads-3.5-dev", "darshan/mpi-io-test-x86_64-3.5.0"),
    *("iolens/mpi_calls", "iolens/hdf5_calls", "iolens/predict/ior-12-stripes"),
]
LEAST = 1 / 3
HEADER, FOOTER = 0.085, 0.93
"""Heights in a sheet, as shares from its top: where the header ends, and where the footer begins."""

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("pdftoppm", "pdftotext", "pdfinfo"))), reason="poppler-utils is not installed"
)


@pytest.fixture(scope="module", params=LOGS, ids=lambda name: Path(name).stem)
def pdf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sheets") / "job.pdf"
    write_job(read_log(DATA / f"{request.param}.darshan"), path)
    return path


def said_by(*command: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def structure(pdf: Path) -> str:
    return said_by("pdfinfo", "-struct-text", pdf)


def fills(pdf: Path) -> list[float]:
    """Returns how much of each sheet between header and footer is filled, from the top to the last mark."""
    subprocess.run(["pdftoppm", "-r", "20", "-gray", pdf, pdf.with_suffix("")], check=True)
    found = []
    for sheet in sorted(pdf.parent.glob("job-*.pgm"), key=lambda path: int(path.stem.rpartition("-")[2])):
        dots = np.asarray(Image.open(sheet))
        body = dots[round(len(dots) * HEADER) : round(len(dots) * FOOTER)]
        found.append(float(max(np.flatnonzero((body < 200).any(axis=1)), default=-1) + 1) / len(body))
    return found


def test_no_sheet_but_the_last_is_under_a_third_full(pdf: Path) -> None:
    *others, last = fills(pdf)
    assert all(fill >= LEAST for fill in others), others
    assert last > 0


def test_all_words_of_a_sheet_are_in_the_structure(pdf: Path, structure: str) -> None:
    assert "Tagged:          yes" in said_by("pdfinfo", pdf)
    spoken = "".join(structure.split())
    for sheet in said_by("pdftotext", "-raw", pdf, "-").split("\f"):
        body = [line for line in sheet.splitlines()[2:] if not re.match(r"page \d+ of \d+|[A-Z ]+$", line)]
        missing = [word for line in body for word in line.split() if word not in spoken]
        assert len(missing) <= len(body) / 50, missing  # poppler reads a few words of figures incorrectly.


def test_tables_have_heads_and_pages_have_headings(structure: str) -> None:
    assert structure.count("H1 (block)") >= 3
    tables = re.split(r"^ +Table \(block\)$", structure, flags=re.MULTILINE)[1:]
    widths = []
    for table in tables:
        rows = re.split(r"^ +TR$", re.split(r"^  \w", table, flags=re.MULTILINE)[0], flags=re.MULTILINE)[1:]
        widths.append({len(re.findall(r"^ +T[HD]\b", row, re.MULTILINE)) for row in rows})
    assert tables
    assert all(len(each) == 1 for each in widths), widths  # All rows of a table must have the same number of cells.
    assert sum("TH" in table for table in tables) > len(tables) / 2


@pytest.mark.parametrize("log", LOGS, ids=lambda name: Path(name).stem)
def test_each_figure_says_what_it_shows(log: str) -> None:
    blocks = flat_blocks(block for page in laid_out(PAGES, read_log(DATA / f"{log}.darshan")) for block in page.blocks)
    silent = [block.title for block in blocks if isinstance(block, FigureBlock) and not block.says]
    assert not silent


def test_a_figure_has_its_alternative_text_in_the_pdf(tmp_path: Path) -> None:
    path = tmp_path / "out.pdf"
    figure = FigureBlock(Figure(figsize=(2, 1)), title="Bytes", says="rank 3 wrote half (50 %)")
    write_document(path, "The title", "below", [Page("Only", [Text("Words."), figure])])
    assert rb"/Alt (Bytes: rank 3 wrote half \(50 %\))" in path.read_bytes()
