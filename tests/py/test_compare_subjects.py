"""Tests `iolens compare` of logs, runs and outputs: its pages as PDF and HTML, and the numbers that they draw."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from comparison_example import MIB, write_run
from iolens.advise import diagnosis
from iolens.cli.main import main
from iolens.lab.subjects.subjects import read_subjects
from iolens.lab.sweep.perform.collect import observed, write_distribution
from iolens.log import read_log
from iolens.metrics.job.cost import io_cost
from iolens.metrics.processor.sampled import call_chains
from iolens.metrics.subjects.aligned import UNSURE, difference
from iolens.metrics.subjects.facts import subject_bounds
from iolens.metrics.subjects.shapes import activities, operation_seconds, sizes
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.metrics.subjects.values import values_of
from iolens.pages.base.blocks import Table
from iolens.pages.comparison.subjects_document import lead
from iolens.pages.exhibits.subjects import differences, grouped_tables
from iolens.pages.wording.subject_words import headline, ratio_words
from processor_example import every_rank, resolved, tables, use
from processor_example import job as profiled

DATA = Path(__file__).resolve().parents[1] / "data"
ADVICE = DATA.parent / "advice" / "logs"
LOGS = [DATA / "darshan" / f"mpi-io-test-x86_64-{version}.darshan" for version in ("3.4.0", "3.5.0", "3.4.4")]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compares three logs, and returns the PDF; the tables of the comparison are in a folder beside it."""
    folder = tmp_path_factory.mktemp("subjects")
    done = main(["compare", *map(str, LOGS), "-o", str(folder / "three.pdf"), "--json", str(folder / "tables")])
    assert done == 0
    return folder / "three.pdf"


def text_of(pdf: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")
    done = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


def test_the_pages_show_every_subject(document: Path) -> None:
    said = text_of(document)
    for words in ("What differs", "How they were made", "I/O time by operation", "Bytes over time", "Access sizes"):
        assert words in said
    assert "C (mpi-io-test-x86_64-3.4.4) against A" in said
    assert "There is one run of each" in said
    assert "No bound is known" in said


def test_the_tables_hold_what_is_the_same_too(document: Path) -> None:
    rows = json.loads((document.parent / "tables/comparison-numbers.json").read_text())
    written = next(row for row in rows if (row["group"], row["name"]) == ("POSIX", "written"))
    assert {written[f"value {letter}"] for letter in "ABC"} == {64 * MIB}


def test_html_has_the_same_sections(tmp_path: Path) -> None:
    out = tmp_path / "two.html"
    assert main(["compare", *map(str, LOGS[:2]), "-o", str(out), "--device-rate", "4000"]) == 0
    text = out.read_text()
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert [re.sub("<.*?>", "", head) for head in heads][:2] == ["What differs", "How they were made"]
    assert "the bound that was given for the device" in text
    assert "<script src" not in text
    figures = re.findall(r"<svg.*?<title[^>]*>(.*?)</title>", text, re.DOTALL)
    assert figures
    assert [title for title in figures if ": " not in title] == []


def test_time_by_operation_is_that_of_the_logs() -> None:
    subjects = read_subjects(LOGS)
    found = operation_seconds(subjects).set_index(["module", "letter"])
    job = subjects.all[1].jobs[0]
    expected = io_cost(job).frame().set_index("module").loc["POSIX"]
    for kind in ("read", "write", "meta"):
        assert found.loc[("POSIX", "B"), kind] == pytest.approx(expected[kind])
    assert "STDIO" not in found.index.get_level_values(0)


def test_sizes_begin_and_end_with_those_in_use() -> None:
    found = sizes(read_subjects(LOGS))
    assert set(found["bucket"]) == {"10M_100M"}
    assert set(found["count"]) == {4.0}


def test_heatmaps_share_one_unit() -> None:
    subjects = read_subjects(LOGS)
    layer, maps = activities(subjects)
    assert layer == "POSIX"
    assert [one.letter for one in maps] == ["A", "B", "C"]
    for one in maps:
        assert one.rates.sum() * one.width == pytest.approx(128 * MIB)


def test_the_model_of_emulated_storage_sets_the_bound(tmp_path: Path) -> None:
    limits = "ost_mb_per_s: 100\nlink_mb_per_s: 250\nmemory_mb_per_s: 1000\nranks_per_client: 1\n"
    for name in ("one", "two"):
        write_run(tmp_path / name / "rep-1", {"stripe_count": 4, "aggregators": 2}, 1, 100.0)
        (tmp_path / name / "ost.yaml").write_text(limits)
    subjects = read_subjects([tmp_path / "one", tmp_path / "two"])
    assert subject_bounds(subjects) == {letter: pytest.approx(400e6 / MIB) for letter in "AB"}
    assert subject_bounds(subjects, 1e12) == subject_bounds(subjects)


def test_a_file_of_each_writer_has_stripes_of_its_own(tmp_path: Path) -> None:
    limits = "ost_mb_per_s: 100\nlink_mb_per_s: 250\nmemory_mb_per_s: 1000\nranks_per_client: 1\n"
    for name in ("one", "two"):
        write_run(tmp_path / name / "rep-1", {"stripe_count": 4, "aggregators": 1}, 1, 100.0)
        run = tmp_path / name / "rep-1/run.json"
        seen = {"aggregators": 1, "file_share": 0.25, "writers": 4}
        run.write_text(json.dumps(json.loads(run.read_text()) | {"observed": seen}))
        (tmp_path / name / "ost.yaml").write_text(limits)
    subjects = read_subjects([tmp_path / "one", tmp_path / "two"])
    assert subject_bounds(subjects) == {letter: pytest.approx(1000e6 / MIB) for letter in "AB"}


def test_a_run_that_wrote_several_files_says_how_the_bytes_lie() -> None:
    assert write_distribution(read_log(ADVICE / "healthy-own-of-8.darshan"), set()) == {
        "file_share": 1 / 8,
        "writers": 8,
    }
    one = observed(read_log(ADVICE / "one-aggregator.darshan"))
    assert (one["aggregators"], one["file_share"], one["writers"], one["mpi_io"]) == (1, 1.0, 1, True)
    assert observed(read_log(ADVICE / "healthy-own-of-8.darshan")) == {
        "mpi_io": False,
        "compute_seconds": 1.365678,
        "file_bytes": 160 * MIB,
        "io_layer": "POSIX",
        "io_bytes": 8 * 160 * MIB,
        "io_bandwidth": pytest.approx(136.6, abs=0.05),
    }


def test_numbers_that_are_nothing_anywhere_are_no_difference() -> None:
    subjects = read_subjects([ADVICE / f"{name}.darshan" for name in ("not-aggregated", "healthy-shared")])
    found = differences(subjects)
    mpi = found[found["group"] == "MPI-IO accesses"]
    assert list(mpi["name"]) == ["writes of 1K to 10K bytes"]  # The comparison of a log without MPI-IO lacks this row.
    tables = {block.title: block for block in grouped_tables(subjects) if isinstance(block, Table)}
    assert "none of its logs or outputs" in tables["MPI-IO accesses"].note
    assert tables["Run"].note == ""


@pytest.mark.parametrize(
    ("names", "said", "unsaid"),
    [
        (("npb_bt_full.out", "npb_bt_3.4.out"), "2 numbers of processes (4, 5)", "benchmarks"),
        (("npb_bt_3.4.out", "npb_ft_omp.out"), "2 benchmarks (NPB BT, NPB FT)", "nothing in common"),
        (("mapl_checkpoint.out", "osu_bw_host.out"), "they have no number in common", "none of the numbers"),
        (("osu_allreduce_5.7.out", "osu_allreduce_7.5.out"), "MPI Allreduce Latency", "do not compare the same work"),
    ],
)
def test_unlike_outputs_are_told_apart(
    names: tuple[str, ...], said: str, unsaid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(DATA / "outputs" / name) for name in names]
    assert main(["compare", *paths, "-o", str(tmp_path / "out.pdf")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (said in printed, unsaid in printed) == (True, False)


def test_a_bound_below_nothing_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(LOGS[0]), str(LOGS[1]), "--device-rate", "-1"]) == 2
    assert "more than 0" in capsys.readouterr().err


def test_functions_of_profiles_come_with_their_largest_changes_first() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    subjects = read_subjects([logs / "small-messages.darshan", logs / "uneven-computing.darshan"])
    found = differences(subjects)
    rows = found[found["group"] == "MPI functions, of an average rank"]
    assert rows["name"].tolist()[:2] == ["MPI_Sendrecv", "MPI_Barrier"]
    assert (rows["change B"].abs().diff().dropna() <= 0).all()
    # A function that was not called took 0 s; a part of the time that a log does not record is n/a.
    sent = rows.set_index("name").loc["MPI_Sendrecv"]
    assert (sent["value A"] > 9, sent["value B"]) == (True, 0.0)
    parts = found[found["group"] == "Parts of the time of an average rank"].set_index("name")
    assert parts.loc["computing", ["value A"]].isna().all()
    (said,) = headline(subjects)
    assert "in MPI_Sendrecv" in said
    assert "→ 0 s" in said
    assert said.index("in MPI_Sendrecv") < said.index("in MPI_Barrier")


def test_sampled_functions_and_parts_of_the_time_come_with_their_largest_changes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_chains, "resolve", resolved)
    columns = "thread timer asked_hz samples stacks lost cut duration handler_time"
    rates = every_rank([(0, "wall", 100.0, 900, 900, 0, 0, 9.0, 0.009)], columns)
    samples = tables()["samples"]
    fewer = samples.assign(count=samples["count"] // (1 + samples["node"]))
    changed = {"samples": fewer, "process": use(on_core=4.0, runnable=1.0, init=0.25)}
    jobs = [profiled(**tables() | {"sampling": rates} | each) for each in ({}, changed)]
    trials = [(Trial(Path(f"{place}/log"), one),) for place, one in enumerate(jobs)]
    subjects = Subjects(tuple(Subject(f"run {place}", Path(f"{place}"), trial) for place, trial in enumerate(trials)))
    found = differences(subjects)
    for group in ("Functions, by samples of an average rank", "Parts of the time of an average rank"):
        rows = found[found["group"] == group]
        assert len(rows) > 1, group
        assert rows["change B"].dropna().abs().is_monotonic_decreasing, group
    went = found[found["group"] == "Parts of the time of an average rank"].set_index("name")
    # Log A attributes all of its time, so its ranks were never asleep; log B does not tell how long it waited for a
    # core.
    assert went.loc["asleep or blocked", ["value A", "value B", "change B"]].tolist() == [0.0, 2.25, 2.25]
    assert "waiting for a core" not in went.index


def test_a_short_run_on_a_clock_of_whole_seconds_has_no_share_of_io() -> None:
    short, exact = (read_log(DATA / "darshan" / f"mpi-io-test-x86_64-{name}.darshan") for name in ("3.3.1", "3.5.0"))
    names = [{one.name for one in values_of(Trial(job.path, job))} for job in (short, exact)]
    assert ["share of I/O in the run" in each for each in names] == [False, True]


@pytest.mark.parametrize("name", ["imbalanced-io", "mpi-io-test-x86_64-3.5.0", "treddy"])
def test_a_comparison_gives_the_share_of_io_that_the_report_gives(name: str) -> None:
    job = read_log(min((DATA / "darshan").glob(f"{name}*.darshan")))
    (share,) = [one.value for one in values_of(Trial(job.path, job)) if one.name == "share of I/O in the run"]
    assert share == dict(diagnosis(job).gauges.rows("gauge", "value"))["share"]


def test_one_number_leads_and_the_others_follow() -> None:
    first, further, *_ = [block for block in lead(read_subjects(LOGS[:2])) if not block.text.startswith("Caution: ")]
    assert (first.style, first.text.count(";")) == ("lead", 0)
    assert re.match(r"B \(.*\) against A: run time .*×.*\.$", first.text)
    assert further.text.startswith("Further: I/O time of the slowest process ")


def test_values_that_differ_by_rounding_alone_do_not_differ() -> None:
    assert difference(0.1 + 0.2, 0.3) == 0.0
    assert difference(0.3, 0.4) == pytest.approx(0.1)
    assert ratio_words(float("nan"), 0.0, 0.0, UNSURE) == "no ratio: 0 in a run"
