"""HTML pages are complete, consist of the same blocks as a PDF, are safe to open, and load nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from html_check import checked
from iolens.advise.table import RULES
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.log import read_log
from iolens.metrics.files.families import families
from iolens.pages.base.blocks import About, FigureBlock, Page, Row, Table, Text
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.exhibits.timelines import SHARED_SPANS
from iolens.pages.html.page import document
from iolens.pages.html.parts import cells
from iolens.pages.job.job_document import write_job
from iolens.pages.output.document import write_document
from iolens.pages.wording.job_judgement import EVIDENCE
from matplotlib.figure import Figure
from test_pages_document import chart

DATA = Path(__file__).parents[1] / "data"
SMALL = next(DATA.rglob("mpi-io-test-x86_64-3.5.0.darshan"))
RICH = next(DATA.rglob("imbalanced-io.darshan"))
EVIL = '</title><script>alert("1")</script>&amp;\'"><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a page of every kind of block, with names that would run as scripts if they were not escaped."""
    path = tmp_path_factory.mktemp("html") / "page.html"
    rows = [[f"/scratch/{EVIL}/{i}", str(i), "12 MiB"] for i in range(20)]
    blocks = [
        Text(EVIL, "lead"),
        Row([FigureBlock(chart(), f"Caption {EVIL}", title=EVIL), FigureBlock(chart(), title=EVIL)]),
        Table(EVIL, ["file", "n", EVIL], rows, EVIL),
        Table("", ["", ""], [["program", EVIL]]),
        Text(EVIL, "finding"),
        Text(f"rm {EVIL}\n  -r", "code"),
    ]
    write_document(path, EVIL, EVIL, [Page(EVIL, blocks), Page("One", [Text("x")], EVIL, [EVIL])], [EVIL])
    return path


def test_a_page_of_all_blocks_is_whole_and_runs_nothing(pages: Path) -> None:
    page = checked(pages)
    assert page.faults == []
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert sum(EVIL in words for words in page.words) >= 10


def test_figures_are_text_and_lines_that_follow_the_page(pages: Path) -> None:
    text = pages.read_text(encoding="utf-8")
    assert text.count("<svg ") == 2
    assert ">an axis label</text>" in text
    assert "var(--ink)" in text
    assert "clip-path" in text
    assert "data:image/png;base64," in text
    assert "<pattern id=" in text


def test_nothing_is_loaded_from_elsewhere(pages: Path) -> None:
    text = pages.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"https?://", text)
    assert "@import" not in text


@pytest.mark.parametrize("path", [SMALL, RICH], ids=lambda path: path.stem)
def test_a_log_has_a_page(path: Path, tmp_path: Path) -> None:
    html = tmp_path / "job.html"
    assert main(["report", str(path), "-o", str(html)]) == 0
    page = checked(html)
    assert page.faults == []
    assert [file.name for file in tmp_path.iterdir()] == ["job.html"]
    assert "Job summary" in page.words
    assert html.stat().st_size < 1_000_000
    again = tmp_path / "again.html"
    write_job(read_log(path), again)
    assert again.read_bytes() == html.read_bytes()


def test_names_in_a_log_run_nothing(tmp_path: Path) -> None:
    job = read_log(RICH)
    names = {key: f"/scratch/{EVIL}/{key}" for key in job.names}
    write_job(replace(job, names=names, exe=EVIL, command=f"./a {EVIL}"), tmp_path / "job.html")
    page = checked(tmp_path / "job.html")
    assert page.faults == []
    assert page.tags.count("script") == 1
    assert "img" not in page.tags


def test_findings_and_numbers_link_to_each_other(tmp_path: Path) -> None:
    write_job(read_log(RICH), tmp_path / "job.html")
    text = (tmp_path / "job.html").read_text(encoding="utf-8")
    assert re.search(r'id="finding_(\d+)">Too few targets for many ranks.*?<a href="#exhibit_layouts">', text)
    behind = text.split('id="exhibit_layouts"')[1].split("</figure>")[0]
    assert re.search(r'Advice: <a href="#finding_\d+">Too few targets for many ranks</a>', behind)
    assert "<summary>Definition</summary>" in text


def test_every_rule_has_its_numbers() -> None:
    assert all(EVIDENCE[rule.id] for rule in RULES)
    assert set(" ".join(EVIDENCE.values()).split()) <= {exhibit.name for exhibit in JOB_EXHIBITS}


def test_a_finding_links_to_each_of_its_exhibits_that_the_page_has() -> None:
    tables = [Table(title, ["a"], [["1"]], about=About(title.lower(), title, "")) for title in ("Opens", "Starts")]
    text = document("t", "s", [Page("P", [Text("Slow: 1 s", "finding", "opens none starts"), *tables])], [])
    assert 'Numbers: <a href="#exhibit_opens">Opens</a>, <a href="#exhibit_starts">Starts</a></p>' in text
    assert text.count('Advice: <a href="#finding_1">Slow</a>') == 2
    said = [Text(f"{number}Slow: 1 s", "finding", "opens") for number in ("", "1. ")]
    twice = document("t", "s", [Page("P", [*said, tables[0]])], [])
    assert 'Advice: <a href="#finding_2">Slow</a></p>' in twice, "page 1 and the advice have the same finding"


def test_a_page_has_more_rows_than_a_sheet() -> None:
    rows = [[f"file-{n}"] for n in range(3000)]
    table = Table("Files", ["file"], rows[:15], "A note.", more=lambda most: (rows[:most], len(rows)))
    text = document("t", "s", [Page("P", [table])], [])
    assert text.count("<td class=s>") == 1000
    assert text.count("<tr class=extra>") == 985
    extent = "This page lists the first 1,000 of 3,000 (--csv exports all), one by one."
    assert f'A note. <span class="screen">{extent}</span>' in text


def test_the_format_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(SMALL), "--format", "html"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == [f"{SMALL.name}.html"]
    assert main(["report", str(SMALL), "--format", "html", "-o", "x.pdf"]) == 2
    assert "--format html and --output x.pdf name different formats" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(IolensError, match="cannot be written"):
        write_document(tmp_path / "no" / "x.html", "t", "s", [Page("P", [Text("x")])])
    (tmp_path / "x.html").mkdir()
    with pytest.raises(IolensError, match="cannot be written"):
        write_document(tmp_path / "x.html", "t", "s", [Page("P", [FigureBlock(Figure())])])
    assert [file.name for file in tmp_path.iterdir()] == ["x.html"]


def test_the_table_of_files_knows_the_ranks_behind_each(tmp_path: Path) -> None:
    """The ranks of each file in the table are compared with the file's records. A file with a record of all ranks
    together is marked as such.
    """
    job = read_log(RICH)
    write_job(job, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    table = text.split('id="exhibit_costly_files" data-processes="496"')[1].split("</table>")[0]
    marked = {
        re.sub("<[^>]+>", "", first): ranks
        for ranks, first in re.findall(r'<tr[^>]* data-ranks="([^"]*)"><td[^>]*>(.*?)</td>', table)
    }
    records: dict[str, set[int]] = {}
    for layer in ("POSIX", "STDIO"):
        for key, rank in zip(job.frames[layer]["id"], job.frames[layer]["rank"], strict=True):
            records.setdefault(job.names[key], set()).add(int(rank))
    kin = families([*records])
    for name, place in zip([*records], kin.place.tolist(), strict=True):
        if kin.sizes[place] > 1:
            records[kin.labels[place]] = records.get(kin.labels[place], set()) | records.pop(name)
    assert len(marked) == min(1000, len(records))
    for path, ranks in marked.items():
        ends = [part.split("-") for part in ranks.split(",")] if ranks != "all" else []
        said = {rank for end in ends for rank in range(int(end[0]), int(end[-1]) + 1)} if ends else {-1}
        assert said == (records[path] if min(records[path]) >= 0 else {-1}), path
    write_job(read_log(SMALL), tmp_path / "y.html")
    assert 'data-ranks="0"' in (tmp_path / "y.html").read_text(encoding="utf-8")


def test_where_all_files_are_of_all_ranks_a_page_says_why_there_is_no_filter(tmp_path: Path) -> None:
    write_job(read_log(next(DATA.rglob("noposix.darshan"))), tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "the log has only their sums: no filter by rank" in text
    assert "data-ranks" not in text


def test_long_paths_break_after_slashes_and_heads_have_words(tmp_path: Path) -> None:
    write_job(read_log(RICH), tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "/lus/<wbr>theta-fs0/<wbr>3981085427</td>" in text
    assert 'scope="col"></th>' not in text
    assert "at most 0.0 %" not in text


def test_a_head_that_is_empty_on_paper_is_a_word_for_who_hears_the_page() -> None:
    assert cells("th", ["", "bytes"], [False, True]).count('<span class="unseen">name</span></th>') == 1


def test_accesses_after_the_end_of_the_job_are_remarked() -> None:
    odd = read_log(next(DATA.rglob("shane_ior-PNETCDF*")))
    assert "after the end of the job in this log" in SHARED_SPANS.figures(odd)[0].caption
    assert "after the end" not in SHARED_SPANS.figures(read_log(SMALL))[0].caption
