"""Tests statements about sample logs that a first reader found wrong, compared with the counters in the logs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from comparison_example import MIB, cautions, compared, write_sweep
from iolens.advise import Finding, diagnosis, findings
from iolens.advise.limits import DEFAULTS
from iolens.advise.say import percent
from iolens.cli.main import main
from iolens.lab.sweep.read.results import load_results
from iolens.log import Job, read_log
from iolens.log.records import as_records
from iolens.metrics.job.interfaces.mpiio import unseen
from iolens.metrics.processor import steps, time
from iolens.metrics.processor.sampled import groups
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.base.blocks import Text
from iolens.pages.exhibits.overview import GAUGES
from iolens.pages.exhibits.subjects import FINDINGS
from iolens.pages.exhibits.sweep_points import POINTS
from iolens.pages.job.time_bar import time_bar
from iolens.pages.wording import job_judgement as job_advice
from iolens.pages.wording import subject_words as subject_words
from iolens.pages.wording.job_lists import advice_text
from patience import PATIENCE
from processor_example import job

diagnosis_module = import_module("iolens.advise.diagnosis")
TESTS = Path(__file__).parents[1]
DATA, LOGS = TESTS / "data", TESTS / "advice/logs"


def found(made: Job) -> dict[str, Finding]:
    """Returns the findings by rule."""
    return {one.id: one for one in findings(made)}


def test_reads_before_writes_of_an_empty_file_are_data_sieving() -> None:
    made = read_log(LOGS / "e3sm_io_heatmap_only.darshan")
    posix = made.frames["POSIX"]
    written = posix[posix["POSIX_BYTES_WRITTEN"] > 0]
    assert (written["POSIX_BYTES_READ"].sum(), written["POSIX_READS"].sum()) == (0, 306_537)
    said = found(made)
    assert "POSIX read 0 B in 306,537 reads of places still empty" in said["data-sieving"].evidence
    assert "one collective call\nwithout holes" in said["data-sieving"].remedy
    slowest = written.groupby("rank")["POSIX_F_READ_TIME"].sum().max() / made.run_time
    assert said["data-sieving"].gain > slowest > 0.28
    assert "write-amplification" not in said  # Data sieving also writes the gaps between the program's pieces.


def test_a_file_is_said_to_be_moved_by_the_ranks_that_moved_it() -> None:
    """One aggregator moved the bytes of 496 ranks, so the record names it as the slowest rank, with all bytes."""
    evidence = found(read_log(DATA / "darshan/imbalanced-io.darshan"))["narrow-stripes"].evidence
    assert "496 ranks share 3981085427, of which 1 rank wrote 49.3 GiB and 1 rank read 49.3 GiB on 1 stripe" in evidence


def test_reads_past_the_end_of_a_file_are_not_missing_from_the_log() -> None:
    """PnetCDF asks for 256 KiB of a header that is smaller; each of these reads is in the POSIX record."""
    made = read_log(DATA / "iolens/pnetcdf_calls.darshan")
    assert unseen(made) == {"read": 0, "write": 0}
    assert not any("almost none" in sentence for sentence in diagnosis(made).doubts)
    lost = diagnosis(read_log(DATA / "darshan/imbalanced-io.darshan")).doubts
    assert any(
        "24.8 GiB of MPI-IO reached the files, because POSIX recorded almost none" in sentence for sentence in lost
    )


@pytest.mark.parametrize(("stripes", "most"), [(4, 1 - 1 / 4), (2, 1 - 1 / 2), (1, None)])
def test_a_hint_for_aggregators_can_gain_no_more_than_the_stripes_allow(stripes: int, most: float | None) -> None:
    """In the log cb_nodes=4 was requested, but one rank wrote all 512 MiB through MPI-IO."""
    made = read_log(LOGS / "clamped-hint.darshan")
    layout = made.frames["LUSTRE"].assign(stripe_count=stripes, osts=[tuple(range(stripes))])
    said = found(replace(made, frames={**made.frames, "LUSTRE": layout})).get("hints-ignored")
    if most is None:
        assert said is None
    else:
        spent = found(made)["hints-ignored"].gain / (1 - 1 / 4)
        assert said.gain == pytest.approx(most * spent)
        assert f"1 − 1/{stripes} of the time in MPI-IO" in said.derivation


def first_action(made: Job) -> str:
    (block,) = job_advice.first_action(made)
    assert isinstance(block, Text)
    return block.text


def test_no_action_is_proposed_for_the_reason_that_holds() -> None:
    logs = {
        "mpi-io-test": "the run is too short to judge",
        "empty_log": "there is nothing to judge",
        "noposix": "this log is too incomplete to judge it",
    }
    for name, why in logs.items():
        assert first_action(read_log(DATA / f"darshan/{name}.darshan")) == f"No action is proposed: {why}."


def test_the_terminal_says_why_no_action_is_proposed() -> None:
    made = read_log(DATA / "darshan/partial_data_stdio.darshan")
    said = " ".join(advice_text(made, diagnosis(made)).split())
    assert said.count(first_action(made)) == 1


def test_the_number_of_targets_is_called_effective() -> None:
    """The log has bytes on 12 targets, nearly all of them on one target."""
    made = read_log(DATA / "darshan/imbalanced-io.darshan")
    (row,) = [row for row in diagnosis(made).gauges.rows("gauge", "value") if row[0] == "stripes"]
    assert row[1] == pytest.approx(1, abs=0.01)
    assert [cells[0] for cells in GAUGES.table(made).rows if "targets" in cells[0]] == ["effective storage targets"]


def known_parts(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, list[float]]) -> None:
    """Replaces the parts of the time of a job's two ranks by the given seconds."""
    each = pd.DataFrame({"rank": [0, 1], **{part: seconds.get(part, [0.0, 0.0]) for part in groups.PARTS}})
    monkeypatch.setattr(time, "rank_time", lambda made: as_records(each))


def test_the_recipe_calls_no_rank_slow_whose_computing_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known_parts(monkeypatch, {groups.COMPUTE: [0.9, 0.0], groups.UNKNOWN: [1.8, 2.7], groups.RUNNABLE: [7.0, 7.0]})
    first = steps.imbalance_step(job(2))
    assert first.evidence == (
        "n/a: this log does not separate computing from waiting on every rank; rank 1 spends 2.7 s outside I/O and "
        "MPI, an average rank 2.2 s"
    )
    assert first.share != first.share
    known_parts(monkeypatch, {groups.COMPUTE: [6.0, 2.0], groups.UNKNOWN: [1.0, 1.0]})
    assert steps.imbalance_step(job(2)).evidence == "rank 0 computes 6.0 s, an average rank 4.0 s"


def test_the_recipe_lists_waits_with_the_longest_first() -> None:
    step = steps.computation_step(read_log(DATA / "iolens/predict/ior-1-stripe.darshan"))
    assert step.evidence == "14.2 % not on a core, 4.5 % waiting for a core, 3.3 % not attributed"


def mpi_io_tests() -> Subjects:
    """Returns two runs of one program: 4 ranks that moved 128 MiB, and 32 ranks that moved 4 GiB."""
    paths = [DATA / "darshan/mpi-io-test-x86_64-3.5.0.darshan", *(DATA / "darshan").glob("treddy*.darshan")]
    return Subjects(tuple(Subject(path.stem, path, (Trial(path, job=read_log(path)),)) for path in paths))


def test_a_comparison_says_first_that_the_work_was_unlike() -> None:
    said = subject_words.subject_doubts(mpi_io_tests())
    assert any("2 numbers of processes (4, 32)" in text for text in said)
    assert any("different numbers of bytes (A 128 MiB, B 4 GiB)" in text for text in said)
    alike = Subjects((mpi_io_tests().all[0],) * 2)
    assert not any("unlike" in text for text in subject_words.subject_doubts(alike))


def test_a_comparison_bounds_a_finding_as_the_advice_does() -> None:
    """In a log of whole seconds the run may have been a second shorter, which makes the share of I/O larger."""
    (job_of_seconds,) = mpi_io_tests().all[1].jobs
    cells = {row[0]: row[2] for row in FINDINGS.table(mpi_io_tests()).rows}
    for one in findings(job_of_seconds):
        if one.gain is not None:
            assert cells[one.title] == f"about {percent(one.gain)}"


def test_a_sweep_says_first_that_the_best_moved_other_bytes_than_the_baseline(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4], "aggregators": [4]})
    assert not any(
        "does not compare the same work" in text for text in cautions(load_results(folder), compared(folder))
    )
    for path in folder.glob("points/stripe_count4*/*/result.json"):
        result = json.loads(path.read_text())
        result["phases"][0]["bytes"] *= 2
        path.write_text(json.dumps(result | {"ranks": 8}))
    (said,) = [
        text for text in cautions(load_results(folder), compared(folder)) if "does not compare the same work" in text
    ]
    assert said.startswith("The baseline moved 100 MiB on 4 ranks and the best setting 200 MiB on 8 ranks")


def test_a_sweep_without_a_baseline_shows_no_ratios_to_one(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2], "cb_buffer_size": [MIB]}))
    assert "× baseline" in POINTS.table(comparison).columns
    without = POINTS.table(replace(comparison, baseline=None))
    assert "× baseline" not in without.columns
    assert "baseline" not in without.note


def test_letters_of_subjects_go_on_in_the_next_figure() -> None:
    assert Subjects(mpi_io_tests().all, before=6).letters == ["G", "H"]


def test_the_share_of_io_is_explained_by_io_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = read_log(DATA / "darshan/imbalanced-io.darshan")
    crowd = replace(findings(made)[0], id="crowded-processors", title="Ranks share processors")
    monkeypatch.setattr(diagnosis_module, "weighed", lambda *_: (crowd, *findings(made)))
    reasons = dict(diagnosis_module.diagnosed(made, DEFAULTS).gauges.rows("gauge", "reason"))
    assert reasons["share"] == "“Too few targets for many ranks”"


def test_a_gauge_of_few_transfers_is_not_judged() -> None:
    made = read_log(DATA / "iolens/predict/ior-1-stripe.darshan")
    few = diagnosis_module.diagnosed(made, {**DEFAULTS, "some_calls": 1000})
    assert dict(few.gauges.rows("gauge", "reason"))["size"] == "68 transfers are too few to matter"


def test_shares_of_a_run_on_a_clock_of_seconds_say_of_what_they_are() -> None:
    (bar,) = time_bar(read_log(DATA / "darshan/mpi-io-test.darshan"))
    assert "Shares are of 2 s, which is the most that the run can have taken." in bar.caption


def test_no_share_of_processes_time_is_above_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "head -c 20000000 /dev/zero > a; for i in 1 2 3; do cat a > b$i; done"
    words = ["-m", "iolens.cli.main", "run", "--output", "logs", "--", "bash", "-c", script]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, timeout=PATIENCE, capture_output=True)
    assert main(["show", str(tmp_path / "logs")]) == 0
    said = capsys.readouterr().out
    (share,) = re.findall(r"I/O took (up to all|[\d.]+ %) of the processes' time", said)
    assert share == "up to all" or float(share[:-2]) <= 100


def test_a_folder_of_programs_without_io_is_not_headed_io(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "iolens.cli.main", "run", "--sample", "--output", "logs", "--", "bash", "-c", "sleep 0.2; :"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, timeout=PATIENCE, capture_output=True)
    assert main(["show", str(tmp_path / "logs")]) == 0
    assert "I/O of" not in capsys.readouterr().out.partition("\n")[0]


def test_the_time_in_mpi_that_darshan_summed_up_is_a_part_of_the_time() -> None:
    """The log has Darshan's module APMPI, with the time in MPI of each of 128 ranks."""
    made = read_log(LOGS / "darshan-apmpi-2nodes-64mpi.darshan")
    mean = float(made.frames["APMPI"]["time"].mean())
    each = time.in_parts(time.rank_time(made), groups.MPI_PARTS)
    assert (each.mean(), each.max()) == (pytest.approx(mean), pytest.approx(float(made.frames["APMPI"]["time"].max())))
    assert time.whole_time(time.rank_time(made)).tolist() == pytest.approx([made.run_time] * made.nprocs)
    assert diagnosis(made).verdict.sentence.startswith(f"Bound by MPI: {100 * mean / made.run_time:.0f} % of")
    (bar,) = time_bar(made)
    assert "communication" not in bar.caption
    assert steps.computation_step(made).evidence == "not attributed: computing and waiting"
    assert any("processor times" in doubt for doubt in diagnosis(made).doubts)


def test_mpi_calls_inside_mpiio_are_no_time_of_their_own() -> None:
    """The module APMPI also counted the MPI calls by which MPI-IO exchanges data, so that the times of MPI and MPI-IO
    add up to more than the run.
    """
    made = read_log(LOGS / "e3sm_io_heatmap_only.darshan")
    mpiio = made.frames["MPI-IO"].filter(regex="F_(READ|WRITE|META)_TIME").sum(axis=1).sum() / made.nprocs
    summed = made.frames["APMPI"]["time"].mean()
    assert summed + mpiio > 1.5 * made.run_time
    seconds = dict(time.time_parts(made).rows("part", "seconds"))
    assert seconds["I/O in MPI-IO"] + seconds["I/O in POSIX"] == pytest.approx(mpiio, rel=0.05)
    assert 0 < seconds[groups.ANY_MPI] < 0.1 * made.run_time < 0.5 * summed
