"""Tests the first page of a job: the limit of the run, four gauges, findings, and facts that the log does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.advise import Finding, diagnosis, verdict
from iolens.log import Job, read_log
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.gauges import gauges
from iolens.metrics.job.interfaces.mpiio import byte_ratios, collective_time, read_unasked, unseen
from iolens.metrics.job.share import io_seconds
from iolens.metrics.job.unknown import unknown
from iolens.metrics.times.timespans import rank_spans
from iolens.pages.base.blocks import Block, FigureBlock, Row, Table, Text, laid_out
from iolens.pages.exhibits.files import COSTLY_FILES, SHARED_FILES
from iolens.pages.exhibits.overview import GAUGES, IO_COST, PERFORMANCE, UNKNOWN
from iolens.pages.exhibits.overview import gauge_text as said_of
from iolens.pages.exhibits.timelines import mapped_layers
from iolens.pages.job.job_document import PAGES, meeting_ranks, write_job
from iolens.pages.pdf.flow import GAP, side_by_side
from iolens.pages.text.lines import table_text
from iolens.pages.wording import job_judgement as job_advice
from iolens.pages.wording.job_words import fact_columns, main_file_system, verdicts
from job_example import MIB, frame, job_of

DATA = Path(__file__).parents[1] / "data" / "darshan"


posix = partial(frame, "POSIX")


def job(frames: dict[str, pd.DataFrame], **fields: object) -> Job:
    """Returns a job of 4 processes that ran for 10 s."""
    return job_of(frames=frames, names={n: f"/scratch/{n}" for n in range(9)}, **fields)


UNEVEN = [
    {"id": n, "rank": n, "WRITES": 4, "BYTES_WRITTEN": 8 * MIB, "F_WRITE_TIME": 8.0 if n == 3 else 2.0}
    for n in range(4)
]


def layout(targets: list[tuple[int, ...]]) -> pd.DataFrame:
    """Returns a layout of each file."""
    fixed = {
        "rank": 0,
        "component": 0,
        "stripe_size": MIB,
        "mirror": -1,
        "extent_start": 0,
        "extent_end": -1,
        "pool": "",
    }
    return pd.DataFrame([{"id": n, "stripe_count": len(osts), "osts": osts, **fixed} for n, osts in enumerate(targets)])


def gauge_texts(drawn: Sequence[Block]) -> set[str]:
    """Returns the texts of all gauges."""
    return {text.get_text() for block in drawn for text in block.figure.texts}


def test_each_gauge_by_hand() -> None:
    found = gauges(job({"POSIX": posix(UNEVEN), "LUSTRE": layout([(0,), (0,), (0,), (5,)])})).frame().set_index("gauge")
    assert found["value"].round(6).to_dict() == {
        "share": 0.8,  # Share of I/O: the slowest rank spends 8 of 10 s in I/O.
        "balance": 0.4375,  # Balance of the ranks: (2 + 2 + 2 + 8) / 4 divided by 8.
        "size": 2.0 * MIB,
        # Effective stripes: 3/4 of the bytes lie on one target and 1/4 on another, which gives 1 / (9/16 + 1/16).
        "stripes": 1.6,
    }
    assert found["bound"].to_dict() == {"share": 0.2, "balance": 0.8, "size": MIB, "stripes": 4.0}
    assert found["good"].to_dict() == {"share": False, "balance": False, "size": True, "stripes": False}
    assert (found["reason"] == "").all()


def test_each_gauge_has_a_labelled_scale_and_says_its_value() -> None:
    drawn = GAUGES.figures(job({"POSIX": posix(UNEVEN), "LUSTRE": layout([(0,), (0,), (0,), (5,)])}))
    assert {"0 %", "100 %", "0", "1 (even)", "1 B", "16 MiB (logarithmic)", "5"} <= gauge_texts(drawn)
    assert [block.says.count(" (bound ") for block in drawn] == [2, 2]
    assert drawn[0].figure.get_size_inches()[0] * 72 * 1.1 < 390  # The four gauges must fit on a phone's screen.


def test_what_is_not_known_has_its_reason() -> None:
    alone = gauges(job({"POSIX": posix(UNEVEN[:1])}, nprocs=1)).frame().set_index("gauge")
    assert alone["reason"].to_dict() == {
        "share": "",
        "balance": "one process",
        "size": "",
        "stripes": "no stripes are recorded",
    }
    assert gauges(job({})).frame()["value"].isna().all()
    assert list(GAUGES.figures(job({}))) == []
    drawn = GAUGES.figures(job({"POSIX": posix(UNEVEN[:1])}, nprocs=1))
    assert {"one process", "no stripes are recorded"} <= gauge_texts(drawn)


def test_targets_are_not_judged_where_all_that_the_log_names_are_in_use() -> None:
    narrow = job({"POSIX": posix(UNEVEN), "LUSTRE": layout([(0,)] * 4)})
    known = gauges(narrow).frame().set_index("gauge").loc["stripes"]
    assert (known["value"], known["bound"], known["good"]) == (1.0, 1.0, None)
    assert "bound ≥ 1, all that the log names" in gauge_texts(GAUGES.figures(narrow))


def test_where_nothing_is_to_be_gained_no_gauge_is_red() -> None:
    small = [row | {"F_WRITE_TIME": row["F_WRITE_TIME"] / 100} for row in UNEVEN]
    for rows, colours in ((UNEVEN, 3), (small, 1)):
        made = job({"POSIX": posix(rows)})
        texts = [text for drawn in GAUGES.figures(made) for text in drawn.figure.texts]
        values = [text for text in texts if text.get_fontsize() == 15]
        assert len({text.get_color() for text in values}) == colours
    assert verdict(made).kind == "nothing"


def finding(number: int, lines: int = 1) -> Finding:
    """Makes a finding."""
    return Finding(
        id=f"f{number}",
        severity="high",
        title=f"Title {number}",
        evidence=f"Evidence {number}.",
        why="Why.",
        gain=0.5,
        gain_words="at most 50 % of the run",
        remedy="\n".join(["do this"] * lines),
        read_more="",
    )


def said(blocks: list[object]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


def test_one_action_stands_on_the_first_page_and_all_on_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    made = job({"POSIX": posix(UNEVEN)})

    def found(findings: list[Finding]) -> None:
        judged = replace(diagnosis(made), findings=tuple(findings))
        monkeypatch.setattr(job_advice, "diagnosis", lambda _: judged)

    found([finding(n) for n in range(1, 5)])
    first = said(job_advice.first_action(made))
    assert "Title 1: at most 50 % of the run\nEvidence 1. Why.\ndo this\n3 more changes can be worth the work" in first
    assert "Title 2" not in first
    assert "1. Title 1" in said(job_advice.all_findings(made))
    assert "4. Title 4" in said(job_advice.all_findings(made))
    found([finding(1)])
    assert job_advice.all_findings(made) == []
    found([finding(1, lines=30)])
    # An action that does not fit whole must not be shown at all.
    assert "do this" not in said(job_advice.first_action(made))
    assert said(job_advice.all_findings(made)).count("do this") == 30
    found([])
    assert said(job_advice.first_action(made)).startswith("No action is proposed")


def test_the_first_page_begins_with_what_bounds_the_run() -> None:
    made = read_log(DATA / "imbalanced-io.darshan")
    first = laid_out(PAGES, made)[0]
    assert isinstance(first.blocks[0], Text)
    assert "% of the run (confidence: low)." in first.blocks[0].text
    assert isinstance(first.blocks[1], Text)
    assert (
        "This log cannot tell how 24.8 GiB of MPI-IO reached the files, because POSIX recorded almost none"
        in first.blocks[1].text
    )
    assert [block.text for block in first.blocks if isinstance(block, Text)][2] == "What to do"
    assert sum(isinstance(block, Row) and isinstance(block.blocks[0], FigureBlock) for block in first.blocks) == 1


@pytest.mark.parametrize("log", sorted(DATA.glob("*.darshan")), ids=lambda path: path.stem[:24])
def test_the_first_page_has_one_picture_and_stands_alone(log: Path) -> None:
    pages = laid_out(PAGES, read_log(log))
    assert sum(isinstance(block, FigureBlock) for block in pages[0].blocks) <= 1
    assert sum(isinstance(block, Row) and isinstance(block.blocks[0], FigureBlock) for block in pages[0].blocks) <= 1
    assert all(not page.joined for page in pages[1:2])
    assert all(page.joined for page in pages[2:])


@pytest.mark.parametrize(
    ("log", "confidence", "doubt"),
    [
        ("imbalanced-io", "low", "The profiler ran out of memory for POSIX"),
        ("noposix", "low", "518 files have stripes in this log, but no record of any I/O"),
        ("empty_log", "", None),
        ("mpi-io-test", "", None),
    ],
)
def test_the_confidence_falls_with_what_the_log_lacks(log: str, confidence: str, doubt: str | None) -> None:
    """A verdict that little time is lost is not in doubt if only causes are missing in the log."""
    found = diagnosis(read_log(DATA / f"{log}.darshan"))
    assert found.confidence == confidence
    assert doubt in " ".join(found.doubts) if doubt else not found.doubts


def test_files_without_any_record_of_io_are_said_and_doubted() -> None:
    """The log has layouts of 519 files, records of 2 files by STDIO, one of them striped, and no records of POSIX."""
    made = read_log(DATA / "noposix.darshan")
    layouts = set(made.frames["LUSTRE"]["id"])
    assert unrecorded_files(made) == len(layouts - set(made.frames["STDIO"]["id"])) == 518
    assert unrecorded_files(read_log(DATA / "imbalanced-io.darshan")) == 0
    assert "this log is too incomplete to judge it" in verdict(made).sentence
    assert {row[0] for row in diagnosis(made).gauges.rows("good")} == {None}


def test_the_gauge_of_the_share_is_what_the_verdict_says() -> None:
    made = read_log(DATA / "mpi-io-test-x86_64-3.4.4.darshan")
    share = next(value for gauge, value in gauges(made).rows("gauge", "value") if gauge == "share")
    assert f"at most {said_of('share', share).removeprefix('≤ ')} of the run" in diagnosis(made).verdict.sentence


@pytest.mark.parametrize("log", ["mpi-io-test-ppc64-3.1.3", "mpi-io-test-x86_64-3.4.0"])
def test_a_short_run_on_a_coarse_clock_says_so_once(log: str) -> None:
    said = [
        block.text for block in laid_out(PAGES, read_log(DATA / f"{log}.darshan"))[0].blocks if isinstance(block, Text)
    ]
    assert sum("whole second" in text for text in said) == 1
    assert "an average rank's time" not in said[0]


def test_a_long_command_keeps_its_program_and_options() -> None:
    (log,) = DATA.glob("shane_macsio*.darshan")
    shown = str(laid_out(PAGES, read_log(log))[0].blocks)
    assert "…/macsio --interface hdf5 --parallel_file_mode SIF 1 --part_dim 3 --part_size 200K" in shown


def test_reads_of_files_that_mpi_io_only_wrote_are_said() -> None:
    (log,) = DATA.glob("shane_macsio*.darshan")
    made = read_log(log)
    mpi, posix = made.frames["MPI-IO"], made.frames["POSIX"]
    assert mpi["MPIIO_BYTES_READ"].sum() == 0
    assert read_unasked(made) == posix[posix["id"].isin(mpi["id"])]["POSIX_BYTES_READ"].sum() > 0
    assert any("POSIX read 38 MiB of files that MPI-IO only wrote" in str(page) for page in laid_out(PAGES, made))


def test_notes_below_tables_speak_of_what_is_there() -> None:
    alone = read_log(DATA / "mpi-io-test-ppc64-3.0.0.darshan")
    for exhibit in (COSTLY_FILES, SHARED_FILES):
        assert "names differ" not in exhibit.table(alone).note
        assert "family" not in exhibit.table(alone).note
    many = job(
        {"POSIX": posix([{"id": n, "rank": 0, "WRITES": 1, "BYTES_WRITTEN": MIB, "F_WRITE_TIME": 1} for n in range(9)])}
    )
    assert "names differ in numbers or in one folder" in COSTLY_FILES.table(many).note


def test_what_a_log_cannot_tell() -> None:
    made = read_log(DATA / "imbalanced-io.darshan")
    found = unknown(made).frame().set_index("what")["why"]
    assert found["some records"] == "The profiler ran out of memory for POSIX: some of its records are missing."
    assert {"computing and waiting apart", "hints of MPI-IO", "when bytes moved"} <= set(found.index)
    assert UNKNOWN.table(made).title == "What this log cannot tell"


def test_a_short_remedy_is_what_is_pasted() -> None:
    assert job_advice.to_paste(["Do this:", "", "  lfs setstripe -c 4 DIR"], 2) == ["  lfs setstripe -c 4 DIR"]
    assert job_advice.to_paste(["Write whole chunks."], 2) == ["Write whole chunks."]


def test_a_remedy_is_not_cut_within_a_statement() -> None:
    remedy = [
        "Write it",
        "at once:",
        "",
        "  C        f(a,",
        "             b);",
        "  Fortran  call f(a, &",
        "             b)",
    ]
    assert job_advice.to_paste(remedy, 3) == remedy[3:5]
    assert (
        job_advice.to_paste(["  cb_nodes 4", "  cb_buffer_size 8", "", "  export X=y"], 2)[-1] == "  cb_buffer_size 8"
    )
    assert job_advice.to_paste(["Do:", *(f"  f{n}(" for n in range(9))], 2) == []
    assert job_advice.opening(remedy) == "Write it at once:"
    assert job_advice.opening(["Write whole chunks."]) == ""


@pytest.mark.parametrize(
    ("log", "begin", "holds"),
    [
        ("partial_data_stdio", "Recorded I/O took at most 40 % of the run", "no rule explains it."),
        ("mpi-io-test-ppc64-3.0.0", "Too short to judge: 0.55 s of I/O in a run of at most 2 s", "whole seconds"),
        ("empty_log", "Nothing to judge: this log has no records.", "the profiler recorded none"),
        ("noposix", "Recorded I/O took at most 0.1 % of the run", "6.2 s of 10 h 54 min; this log is too incomplete"),
    ],
)
def test_the_verdict_claims_no_more_than_the_log_tells(log: str, begin: str, holds: str) -> None:
    sentence = verdict(read_log(DATA / f"{log}.darshan")).sentence
    assert sentence.startswith(begin)
    assert holds in sentence


def test_a_verdict_names_what_can_gain_most_not_an_idle_target() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    assert verdict(read_log(logs / "odd-blocks.darshan")).sentence.startswith("Collective calls take far longer")
    assert verdict(read_log(logs / "tiny-stripes.darshan")).sentence.startswith("The stripe size does not fit")
    blind = read_log(logs / "blind.darshan")
    assert "rules could not judge it" in verdict(blind).sentence


def test_bytes_that_posix_missed_are_a_gap_and_no_ratio() -> None:
    made = read_log(DATA / "imbalanced-io.darshan")
    assert unseen(made) == {"read": 0, "write": 25098793816 + 1486659348}
    assert byte_ratios(made) == {"read": 1.0, "write": 1.0}


def test_the_reasons_of_what_is_missing_are_those_of_this_log() -> None:
    ours = read_log(DATA.parent / "iolens" / "hdf5_calls.darshan")
    assert "iolens 0.1.0" in unknown(ours).frame().set_index("what")["why"]["hints of MPI-IO"]
    short = unknown(read_log(DATA / "mpi-io-test-x86_64-3.5.0.darshan")).frame().set_index("what")["why"]
    assert short["when bytes moved"] == "the run was too short for its heat map, whose bins are 0.1 s wide"
    assert "when bytes moved" not in set(unknown(read_log(DATA / "empty_log.darshan")).frame()["what"])
    seconds = unknown(read_log(DATA / "mpi-io-test-x86_64-3.4.0.darshan")).frame().set_index("what")["why"]
    assert "heat map ends within its first 2 bins" in seconds["when bytes moved"]


def test_a_striped_file_that_opens_slowly_is_no_pipe() -> None:
    spent = io_seconds(read_log(DATA / "imbalanced-io.darshan"))
    # The time includes the 33 s of one fopen, as in darshan-parser's sums.
    assert spent == pytest.approx(1390.99, abs=0.01)


def test_a_log_of_which_most_is_missing_is_not_called_healthy(tmp_path: Path) -> None:
    (tmp_path / "cut.darshan").write_bytes((DATA / "imbalanced-io.darshan").read_bytes()[:20000])
    assert verdict(read_log(tmp_path / "cut.darshan")).sentence.endswith("this log is too incomplete to judge it.")


def test_sentences_in_tables_of_a_terminal_are_folded_and_not_cut() -> None:
    found = UNKNOWN.table(read_log(DATA / "imbalanced-io.darshan"))
    assert found is not None
    lines = table_text(found, 80)
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    path = table_text(Table("", ["file"], [["/a/" + "b" * 99]]), 30)[-1].strip()
    assert len(path) <= 30
    assert re.fullmatch("…b+…b+", path), "one sign stands for the folders, one for the middle of the name"


def test_a_layer_that_moved_nothing_has_no_speed_and_lone_ranks_meet_nowhere() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    found = PERFORMANCE.table(read_log(logs / "metadata.darshan"))
    assert found is not None
    assert [row[-1] for row in found.rows] == ["n/a"]
    assert meeting_ranks(read_log(logs / "healthy-own.darshan")) == []
    assert meeting_ranks(read_log(logs / "meet-on-stripes.darshan"))


def test_a_small_balance_keeps_its_digits() -> None:
    assert said_of("balance", 0.0439) == "0.044"
    assert (said_of("share", 0.0002), said_of("share", 0.0493), said_of("share", 0.3901)) == (
        "≤ 0.1 %",
        "≤ 5.0 %",
        "≤ 40 %",
    )
    assert (said_of("balance", 0.847), said_of("stripes", 1.999)) == ("0.85", "2")


def test_a_program_without_mpi_has_no_component_of_it() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    assert "MPI-IO component" not in dict(fact_columns(read_log(logs / "healthy-dd.darshan"))[1])
    assert "MPI-IO component" in dict(fact_columns(read_log(logs / "healthy-own.darshan"))[1])


def test_blocks_side_by_side_stay_apart() -> None:
    row = side_by_side(Row([Text("left " * 40, "note"), Text("right " * 40, "note")]), 400.0)
    assert row._cellStyles[0][0].rightPadding == GAP
    assert row._cellStyles[0][1].rightPadding == 0


def test_facts_leave_out_what_standard_streams_did() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    printing = read_log(logs / "healthy-items.darshan")
    assert verdicts(printing) == ["No bytes of files were read or written: 660 B went through standard streams."]
    assert main_file_system(printing) == "n/a"
    assert rank_spans(read_log(DATA / "mpi-io-test-x86_64-3.5.0.darshan")).frame().empty
    waited = read_log(logs / "dxt.darshan")
    assert (
        verdicts(waited)[0] == "Transferred 33.9 MiB through POSIX."
    )  # The parts of this job's time add up to more than the run.


@pytest.mark.parametrize("ranks", [1, 100_000])
def test_any_number_of_ranks_has_a_report(ranks: int, tmp_path: Path) -> None:
    number = np.arange(ranks)
    frame = posix([{"id": 0, "rank": 0, "WRITES": 4, "BYTES_WRITTEN": 8 * MIB, "F_WRITE_TIME": 2.0}])
    times = {"POSIX_F_WRITE_START_TIMESTAMP": 1.0, "POSIX_F_WRITE_END_TIMESTAMP": 1 + number % 7}
    many = frame.loc[np.zeros(ranks, int)].reset_index(drop=True).assign(id=number, rank=number, **times)
    bins = {"id": 0, "module": "POSIX", "width": 5.0, "bin": 0, "read": 0}
    heat = pd.DataFrame({"rank": number, "written": 8 * MIB, **bins})
    heat = pd.concat([heat, heat.assign(bin=1, written=0)], ignore_index=True)
    write_job(job({"POSIX": many, "HEATMAP": heat}, nprocs=ranks), tmp_path / "job.pdf")
    assert (tmp_path / "job.pdf").stat().st_size < 1 << 20


def test_a_share_of_a_short_run_of_whole_seconds_is_not_known() -> None:
    for version, value in (("3.4.0", "the log counts whole seconds"), ("3.4.4", "≤ 87 %")):
        assert value in gauge_texts(GAUGES.figures(read_log(DATA / f"mpi-io-test-x86_64-{version}.darshan")))


def test_calls_that_took_longer_than_the_run_are_explained() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    for name, explained in (("dxt", True), ("narrow", False)):
        (drawn,) = IO_COST.figures(read_log(logs / f"{name}.darshan"))
        assert isinstance(drawn, FigureBlock)
        assert ("Calls overlapped, or waited for another process" in drawn.caption) is explained
        assert ("POSIX: longer than the run" in drawn.says) is explained


def test_time_that_posix_did_not_see_is_no_exchange() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    found = collective_time(read_log(logs / "blind.darshan")).frame()
    assert found is not None
    assert list(found["who"]) == ["all ranks"]
    assert found[["access", "exchange"]].isna().all(axis=None)
    (cost,) = IO_COST.figures(read_log(logs / "blind.darshan"))
    assert isinstance(cost, FigureBlock)
    assert "POSIX" not in cost.caption


def test_a_layer_that_moved_next_to_nothing_has_no_map() -> None:
    logs = Path(__file__).parents[1] / "advice" / "logs"
    assert mapped_layers(read_log(logs / "x-healthy-hdf5.darshan")) == ["POSIX"]
