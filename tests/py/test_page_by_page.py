"""Tests statements in the reports of sample logs that a reader of every page found wrong, compared with the counters in
the logs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import iolens.pages.base.words as formats
import numpy as np
import pandas as pd
import pytest
from iolens.advise import diagnosis, say
from iolens.figures.job_times import amount
from iolens.figures.job_transfers import share_text
from iolens.log import Job, read_log
from iolens.metrics.job import cost
from iolens.metrics.job.gauges import balance
from iolens.metrics.processor import steps, time
from iolens.metrics.processor.counters import counters
from iolens.metrics.processor.mpi.calls import mpi_functions
from iolens.metrics.processor.regions import SEVERAL
from iolens.metrics.processor.sampled.groups import ANY_MPI, COLLECTIVE, IO, POINT, START, UNKNOWN
from iolens.metrics.times import traces
from iolens.pages.base.blocks import Text
from iolens.pages.exhibits.counted import COUNTERS, counter_text
from iolens.pages.exhibits.files import COSTLY_FILES, FAILED_CALLS
from iolens.pages.exhibits.overview import AVERAGE_IO, IO_COST, PERFORMANCE, gauge_pairs
from iolens.pages.exhibits.processor_time import EFFICIENCIES, TIME_PARTS
from iolens.pages.exhibits.striping import TARGET_BYTES
from iolens.pages.exhibits.timelines import RANK_SPANS, activity_maps
from iolens.pages.job.job_screen import Screen, show_job
from iolens.pages.job.time_bar import time_bar
from iolens.pages.text.lines import middle
from iolens.pages.wording.job_judgement import all_findings, confident_verdict, first_action, judgement
from iolens.pages.wording.job_words import title
from job_example import SHARED, frame, job_of
from processor_example import use

TESTS = Path(__file__).parents[1]
SAMPLES, LABELLED = TESTS / "data/darshan", TESTS / "advice/logs"
POSIX, STDIO, MPIIO = IO["POSIX"], IO["STDIO"], IO["MPI-IO"]


READ_APMPI = """
import json, sys
import darshan
report = darshan.DarshanReport(sys.argv[1], read_all=False)
report.mod_read_all_apmpi_records("APMPI")
_, *records = report.records["APMPI"]
print(json.dumps([{name: float(value) for name, value in each["all_counters"].items()} for each in records]))
"""


def sample(name: str) -> Job:
    """Returns a sample log by the beginning of its name."""
    (path,) = [path for folder in (SAMPLES, LABELLED) for path in folder.glob(f"{name}.darshan")]
    return read_log(path)


def timed(**frames: pd.DataFrame) -> Job:
    """Returns a job of four ranks that ran for 10 s; its calls of MPI were timed, and took 1 s of each rank."""
    apmpi = pd.DataFrame({"id": 9, "rank": range(4), "node": "n", "time": 1.0, "sync_time": 0.0})
    made = sample("mpi-io-test")
    return replace(made, frames={"APMPI": apmpi, **frames}, run_time=10.0, start=0.0, end=10.0)


def test_the_slowest_and_fastest_rank_of_a_merged_record_have_their_own_time() -> None:
    each = time.rank_time(timed(POSIX=frame("POSIX", [SHARED])))
    assert each[POSIX].tolist() == pytest.approx([0.95, 2.0, 0.95, 0.5])
    assert time.whole_time(each).tolist() == pytest.approx([10.0] * 4)


@pytest.mark.parametrize(
    "wrong", [{"SLOWEST_RANK": 7}, {"F_FASTEST_RANK_TIME": 1.5}, {"F_SLOWEST_RANK_TIME": 0.9}, {"FASTEST_RANK": 1}]
)
def test_a_merged_record_that_contradicts_itself_is_spread_evenly(wrong: dict[str, float]) -> None:
    each = time.rank_time(timed(POSIX=frame("POSIX", [SHARED | wrong])))
    assert each[POSIX].tolist() == pytest.approx([1.1] * 4)


def test_ranks_that_the_log_knows_by_themselves_keep_their_time_below_mpiio() -> None:
    """MPI-IO took 1.5 s of each rank; the table `file_ranks` has the part of this time that each rank spent in
    POSIX.
    """
    posix = [0.2, 0.4, 0.6, 0.8]
    apart = {"file": 1, "rank": range(4), "reads": 0, "writes": 1, "opens": 1, "bytes_read": 0, "bytes_written": 9}
    merged = {"id": 1, "rank": -1, "WRITES": 4, "INDEP_WRITES": 4}
    made = timed(
        **{
            "POSIX": frame("POSIX", [merged | {"F_WRITE_TIME": sum(posix)}]),
            "MPI-IO": frame("MPI-IO", [merged | {"F_WRITE_TIME": 6.0}]),
        }
    )
    times = {"read_time": 0.0, "write_time": posix, "meta_time": 0.0}
    each = time.rank_time(replace(made, private={"file_ranks": pd.DataFrame(apart | times)}))
    assert each[POSIX].tolist() == pytest.approx(posix)
    assert (each[POSIX] + each[MPIIO]).tolist() == pytest.approx([1.5] * 4)


def test_the_parts_of_a_sample_log_agree_with_its_slowest_rank() -> None:
    """Rank 1 was slowest, with 1.01 s of the 2.53 s of all ranks, and rank 3 fastest."""
    made = sample("mpi-io-test")
    (record,) = made.frames["POSIX"].to_dict("records")
    each = time.rank_time(made)[POSIX]
    assert each[record["POSIX_SLOWEST_RANK"]] == pytest.approx(record["POSIX_F_SLOWEST_RANK_TIME"])
    assert each[record["POSIX_FASTEST_RANK"]] == pytest.approx(record["POSIX_F_FASTEST_RANK_TIME"])
    printed = sample("darshan-apmpi-2nodes-64mpi")
    streams = printed.frames["STDIO"]
    (merged,) = streams[streams["rank"] < 0].to_dict("records")
    most = time.rank_time(printed)[STDIO].max()
    assert most >= merged["STDIO_F_SLOWEST_RANK_TIME"]
    assert balance(printed) == pytest.approx(time.rank_time(printed)[STDIO].mean() / most)


def test_ranks_that_do_the_io_of_others_are_no_longer_in_mpiio_than_these() -> None:
    """In this log 56 of 512 ranks access the file, and all of them wait in the same collective calls."""
    made = sample("e3sm_io_heatmap_only")
    each = time.rank_time(made)
    inside = each[MPIIO] + each[POSIX]
    records = made.frames["MPI-IO"]
    assert inside.max() <= records["MPIIO_F_SLOWEST_RANK_TIME"].sum() * 1.01
    spent = sum(records[f"MPIIO_F_{kind}_TIME"].sum() for kind in ("READ", "WRITE", "META"))
    assert inside.mean() == pytest.approx(spent / made.nprocs, rel=1e-3)
    posix = made.frames["POSIX"]
    own = posix[posix["rank"] >= 0]
    busy = own.assign(time=own.filter(regex="F_(READ|WRITE|META)_TIME").sum(axis=1)).groupby("rank")["time"].sum()
    assert each[POSIX][busy.idxmax()] == pytest.approx(busy.max(), rel=0.02)


def test_the_functions_of_apmpi_are_those_that_libdarshan_reads() -> None:
    # Where the package cannot be imported, the use of any of its names skips the test.
    assert pytest.importorskip("darshan").DarshanReport
    made = sample("darshan-apmpi-2nodes-64mpi")
    # PyDarshan reads other records when it reads such a log for the second time in one process.
    done = subprocess.run([sys.executable, "-c", READ_APMPI, made.path], capture_output=True, text=True, check=True)
    each = json.loads(done.stdout)
    assert len(each) == made.nprocs
    counted = {name.removesuffix("_CALL_COUNT") for name in each[0] if name.endswith("_CALL_COUNT")}
    called = {name for name in counted if any(counters[f"{name}_CALL_COUNT"] for counters in each)}
    found = mpi_functions(made)
    assert {name.upper() for name in found["function"].tolist()} == called
    for name, calls, seconds, most, rank in found.rows("function", "calls", "seconds", "most", "most_rank"):
        spent = [float(counters[f"{name.upper()}_TOTAL_TIME"]) for counters in each]
        assert calls == pytest.approx(sum(int(counters[f"{name.upper()}_CALL_COUNT"]) for counters in each) / len(each))
        assert (seconds, most) == (pytest.approx(sum(spent) / len(spent)), pytest.approx(max(spent)))
        assert spent[rank] == max(spent)


def test_a_log_with_apmpi_names_the_kinds_and_the_function_that_took_most() -> None:
    made = sample("darshan-apmpi-2nodes-64mpi")
    shares = dict(time.time_parts(made).rows("part", "seconds"))
    # Time in MPI_Allreduce, and a little in MPI_Bcast and MPI_Reduce.
    assert shares[COLLECTIVE] == pytest.approx(165.55, abs=0.05)
    # Time in MPI_Wait, MPI_Isend and MPI_Irecv.
    assert shares[POINT] == pytest.approx(123.34 + 48.82 + 29.67, abs=0.05)
    assert ANY_MPI not in shares
    assert "; most in MPI_Allreduce, 2 min 45 s;" in diagnosis(made).verdict.sentence
    step = steps.communication_step(made)
    assert "most in MPI_Allreduce (2 min 45 s" in step.evidence
    assert step.look == "mpi_functions"
    collective = sample("e3sm_io_heatmap_only")
    assert ANY_MPI in dict(time.time_parts(collective).rows("part", "seconds"))
    assert (
        "including calls inside MPI-IO, most in MPI_Barrier (10 min 35 s"
        in steps.communication_step(collective).evidence
    )


def test_the_recipe_names_the_imbalance_that_it_cannot_explain() -> None:
    """Rank 64 spends 275 s outside MPI and I/O, an average rank 225 s; in I/O no rank spends a second."""
    made = sample("darshan-apmpi-2nodes-64mpi")
    outside = made.run_time - made.frames["APMPI"]["time"]
    step = steps.imbalance_step(made)
    assert f"rank {made.frames['APMPI']['rank'][outside.idxmax()]} spends 4 min 35 s" in step.evidence
    assert round(outside.max()) == 275
    assert "among calls" not in step.evidence
    assert np.isnan(step.share)
    assert time.rank_time(made)[UNKNOWN].max() == pytest.approx(outside.max(), abs=0.5)


def test_efficiencies_of_a_short_run_of_whole_seconds_are_not_known() -> None:
    table = EFFICIENCIES.table(sample("mpi-io-test"))
    assert {row[1] for row in table.rows} == {"n/a"}
    assert any("counts whole seconds" in row[2] for row in table.rows)


def test_a_verdict_of_too_short_is_said_once() -> None:
    (only,) = judgement(sample("mpi-io-test"))
    assert only.text == (
        "Too short to judge: 1.0 s of I/O in a run of at most 2 s, and this log counts whole seconds only."
    )
    assert "start and end to less than a second" in dict(diagnosis(sample("mpi-io-test")).unknown)


def test_time_that_is_hardly_unknown_leaves_no_doubt() -> None:
    assert not any("computing" in doubt for doubt in diagnosis(sample("e3sm_io_heatmap_only")).doubts)
    assert diagnosis(sample("treddy*")).doubts == ()  # An average rank was in I/O for more than half of the run.
    assert any("computing and waiting" in doubt for doubt in diagnosis(sample("partial_data_stdio")).doubts)


def test_a_job_with_hardly_any_io_is_not_headed_io() -> None:
    assert title(sample("darshan-apmpi-2nodes-64mpi")) == "su3_rhmd_hisq: job 526820"
    assert title(sample("e3sm_io_heatmap_only")) == "e3sm_io: I/O of job 586491"


def test_a_file_that_several_ranks_use_by_records_of_their_own_is_shared() -> None:
    made = sample("treddy*")
    found = cost.average_io(made).frame().set_index(["kind", "what"])
    moved = made.frames["MPI-IO"]["MPIIO_BYTES_READ"].sum() / made.nprocs
    assert found.loc[("shared", "read"), "bytes"] == moved > 0
    assert found.loc[("independent", "read"), "bytes"] == 0


def test_one_process_has_no_slowest_rank() -> None:
    made = sample("nonmpi_dxt_anonymized")
    found = diagnosis(made)
    said = [*(one.evidence for one in found.findings), *(one.derivation for one in found.findings)]
    captions = [*(block.caption for block in activity_maps(made)), *(one.caption for one in RANK_SPANS.figures(made))]
    assert found.findings
    assert len(captions) == 3
    assert not [text for text in (*said, found.verdict.evidence, *captions) if "rank" in text]
    assert [head for head in COSTLY_FILES.table(made).columns if "rank" in head] == []


def test_every_traced_call_of_a_file_counts() -> None:
    """Half of the reads meet the end of the file and move nothing; they were traced as well."""
    made = sample("hdf5_diagonal_write_bytes_range_dxt")
    place = traces.transfer_places(made, "DXT_POSIX")
    assert (place.calls, place.made) == (20, 20)


def test_calls_that_overlap_take_more_than_the_run() -> None:
    (drawn,) = IO_COST.figures(sample("dxt"))
    assert "> 100 %" in {text.get_text() for axes in drawn.figure.axes for text in axes.texts}


def test_targets_with_few_bytes_have_no_speed() -> None:
    assert list(TARGET_BYTES.figures(sample("darshan-apmpi-2nodes-64mpi"))) == []
    assert [block.title for block in TARGET_BYTES.figures(sample("imbalanced-io"))] == ["Bytes per target"]


def test_a_remedy_for_a_full_profiler_does_not_speak_of_killed_programs() -> None:
    (note,) = [one for one in diagnosis(sample("partial_data_stdio")).notes if one.id == "log-partial"]
    assert "MAX_RECORDS 100000 STDIO" in note.remedy
    assert "killed" not in note.remedy
    (killed,) = [one for one in diagnosis(sample("killed")).notes if one.id == "log-partial"]
    assert "killed" in killed.remedy
    assert "MAX_RECORDS" not in killed.remedy


def test_the_name_at_the_end_of_a_path_is_kept() -> None:
    path = "/users/me/.conda/envs/one/lib/python3.8/site-packages/numpy/core/__pycache__/_add_newdocs.cpython-38.pyc"
    assert middle(path, 32) == "/use…/_add_newdocs.cpython-38.pyc"
    assert middle(path, 24) == "…_add_newd…cpython-38.pyc"  # The column has no room for the whole name.
    assert middle("/a/b", 3) == "/…/b"
    assert middle("one two three four", 10) == "one …e four"


def test_a_part_of_the_time_is_judged_from_as_many_seconds_on_as_io() -> None:
    apmpi = pd.DataFrame({"id": 9, "rank": range(4), "node": "n", "time": 0.45, "sync_time": 0.0})
    made = replace(sample("mpi-io-test"), frames={"APMPI": apmpi}, run_time=0.7, version="3.41")
    assert diagnosis(made).verdict.sentence.startswith(
        "Too short to judge: no part of an average rank's time took 0.50 s (MPI 64 %"
    )
    longer = replace(made, frames={"APMPI": apmpi.assign(time=4.5)}, run_time=7.0)
    assert diagnosis(longer).verdict.sentence.startswith("Bound by MPI: 64 %")


@pytest.mark.parametrize("log", ["mpi-io-test", "darshan-apmpi-2nodes-64mpi", "e3sm_io_heatmap_only"])
def test_a_step_has_its_share_once(log: str) -> None:
    found = steps.next_steps(sample(log))
    for evidence, share in found.rows("evidence", "share"):
        assert np.isnan(share) or f"{share:.1f} %" not in evidence


def test_a_step_divides_its_share_into_parts() -> None:
    evidence = steps.communication_step(sample("darshan-apmpi-2nodes-64mpi")).evidence
    assert re.match(r"\d+\.\d % MPI [\w-]+; \d+\.\d % MPI [\w-]+; ", evidence)
    assert steps.computation_step(sample("mpi-io-test")).evidence == "not attributed: computing and waiting"


def test_a_share_below_the_limit_is_not_said_to_be_the_limit() -> None:
    """The process took 1.427 s of a run of 29 s at least: 4.92 %, which is rounded up to 5.0 %."""
    said = diagnosis(sample("nonmpi_dxt_anonymized")).verdict.sentence
    assert said == (
        "Hardly worth your time: I/O took less than 5.0 % of the run: 1.4 s of 30 s; advice begins at 5.0 %."
    )


def test_seconds_have_two_digits_and_speeds_three() -> None:
    printed = {0.0123: "0.012", 0.0996: "0.10", 0.00996: "0.010", 0.0058: "0.0058", 0.23: "0.23", 0: "0"}
    assert [formats.seconds(value) for value in printed] == list(printed.values())
    speeds = {1.7 * 1024: "1.70 GiB/s", 23.04: "23.0 MiB/s", 298.3: "298 MiB/s", 1023.7: "1.00 GiB/s", 7: "7.00 MiB/s"}
    assert [formats.speed(value) for value in speeds] == list(speeds.values())


def test_notes_on_one_process_compare_no_ranks() -> None:
    alone, several = sample("nonmpi_dxt_anonymized"), sample("mpi-io-test")
    (drawn,) = IO_COST.figures(alone)
    notes = (PERFORMANCE.table(alone).note, AVERAGE_IO.table(alone).note, drawn.caption)
    assert not [note for note in notes if "rank" in note or "average" in note]
    assert AVERAGE_IO.table(alone).note.startswith("Counted in POSIX and STDIO. ")
    assert "slowest rank" in PERFORMANCE.table(several).note


def test_colours_are_those_of_a_bar_that_may_stand_on_the_same_page() -> None:
    (drawn,) = TIME_PARTS.figures(sample("mpi-io-test"))
    assert "the bar for an average rank" in drawn.caption


def test_a_bar_of_an_average_rank_says_that_others_may_wait_for_the_slowest() -> None:
    """One target held up its ranks for 13 minutes; an average rank was in I/O for 34 s."""
    (bar,) = time_bar(sample("sample-badost"))
    assert "34 s in I/O, on the slowest rank up to 12 min 59 s, for which the others may have waited." in bar.caption
    # In the first log, all ranks take the same time for I/O; in the second, I/O takes 6 s of 11 hours.
    for log in ("mpi-io-test-x86_64-3.5.0", "noposix"):
        (other,) = time_bar(sample(log))
        assert "waited" not in other.caption


def test_the_terminal_prints_the_confidence_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    made = sample("sample-badost")
    show_job(made, [], Screen())
    said = confident_verdict(diagnosis(made))
    assert said.endswith("(confidence: high).")
    assert said in capsys.readouterr().out


def test_time_of_hdf5_above_the_layers_of_the_bar_is_said_to_lie_in_the_rest() -> None:
    """HDF5's datasets took 1.79 s of an average rank, MPI-IO below them 1.30 s."""
    (bar,) = time_bar(sample("shane_macsio*"))
    assert "outside I/O, with the time that HDF5 takes above these layers." in bar.caption
    (other,) = time_bar(sample("sample-badost"))
    assert "above these layers" not in other.caption


def test_the_time_of_a_process_after_its_last_count_is_not_its_start() -> None:
    """A process was counted for 0.25 ms of 100 ms. If it ended regularly, the rest is its start. If it was killed or
    called exec, nobody knows what it did in the rest.
    """
    counted = use(on_core=0.0002, seconds=0.00025)
    ended = job_of(0.1, private={"process": counted})
    killed = replace(ended, private={"process": counted, "job": {"partial": ["The process was killed."]}})
    assert time.rank_time(ended)[START].max() == pytest.approx(0.1 - 0.00025)
    assert time.rank_time(killed)[START].max() == 0.0
    assert time.rank_time(killed)[UNKNOWN].min() == pytest.approx(0.1 - 0.00025)


def test_a_share_that_is_not_all_is_not_called_all() -> None:
    assert [say.percent(part) for part in (0.994, 0.997, 1.0)] == ["99 %", "> 99 %", "100 %"]


def test_a_process_that_became_another_program_is_not_called_killed() -> None:
    reason = "The process became another program (exec) without writing its log."
    made = job_of(private={"job": {"partial": [reason]}})
    (note,) = [one for one in diagnosis(made).notes if one.id == "log-partial"]
    assert "killed" not in note.remedy
    assert "program that the process became" in note.remedy


def test_a_verdict_on_exchange_is_certain_only_with_the_times_inside_the_calls() -> None:
    found = diagnosis(sample("e3sm_io_heatmap_only"))
    assert found.worth[0].id == "exchange"
    assert found.confidence == "medium"
    assert any("separate times of exchange and waiting" in doubt for doubt in found.doubts)
    assert "would not shorten" not in found.worth[0].why
    assert diagnosis(sample("treddy*")).confidence == "high"  # The MPI-IO calls of this log are independent.


def test_io_of_a_log_without_records_of_some_files_is_recorded_io() -> None:
    assert "; recorded I/O took at most 0.1 %" in diagnosis(sample("darshan-apmpi-2nodes-64mpi")).verdict.sentence


def test_a_remedy_does_not_ask_for_what_the_log_has() -> None:
    made = sample("dxt")
    (note,) = [one for one in diagnosis(made).notes if one.id == "overlapping-times"]
    assert "--dxt" not in note.remedy
    assert note.remedy.endswith("last accesses, and single transfers, all of which this log has.")
    assert "I/O times of the process add up" in note.evidence
    untraced = replace(made, frames={name: rows for name, rows in made.frames.items() if not name.startswith("DXT")})
    (note,) = [one for one in diagnosis(untraced).notes if one.id == "overlapping-times"]
    assert "iolens run --dxt" in note.remedy


def test_a_finding_stands_in_full_once() -> None:
    made = sample("e3sm_io_heatmap_only")
    first, *others = diagnosis(made).worth
    said = [block.text for block in [*first_action(made), *all_findings(made)]]
    assert others
    assert [sum(one.evidence in text for text in said) for one in (first, *others)] == [1] * len(diagnosis(made).worth)


def test_one_process_has_no_columns_for_ranks() -> None:
    failed = {"rank": [0], "operation": ["open"], "error": [2], "calls": [3], "seconds": [0.1]}
    tables = {"failed_calls": pd.DataFrame(failed)}
    alone, several = (FAILED_CALLS.table(job_of(nprocs=count, private=tables)) for count in (1, 4))
    assert [head for head in alone.columns if "rank" in head] == []
    assert [head for head in several.columns if "rank" in head] == ["ranks", "most of a rank", "slowest rank, s"]


def test_the_ranks_that_share_a_file_are_not_those_that_moved_its_bytes() -> None:
    found = diagnosis(sample("imbalanced-io")).worth[0]
    assert found.evidence.startswith(
        "496 ranks share 3981085427, of which 1 rank wrote 49.3 GiB and 1 rank read 49.3 GiB on 1 stripe;"
    )


def test_shares_of_a_run_of_unknown_length_say_what_they_refer_to() -> None:
    (drawn,) = IO_COST.figures(sample("hdf5_diagonal_write_bytes_range_dxt"))
    assert "Shares are of 4 s, which is the most" in drawn.caption


def test_kinds_of_files_that_nobody_used_have_no_rows() -> None:
    assert {row[0] for row in AVERAGE_IO.table(sample("e3sm_io_heatmap_only")).rows} == {"shared"}


def test_a_caption_explains_the_colours_that_are_there() -> None:
    (_, said) = gauge_pairs(sample("dxt"))
    assert said.text == "Grey: not judged (nothing to gain)."


def test_a_path_keeps_its_last_folders() -> None:
    path = "/users/me/.conda/envs/one/lib/python3.8/logging/__pycache__/__init__.cpython-38.pyc"
    cut = path.replace("__pycache__", "…")
    assert middle(path, 60) == f"/users/…{cut[-53:]}"


def test_a_shortened_path_of_a_module_keeps_the_folder_that_distinguishes_it() -> None:
    path = "/users/me/envs/py38/lib/python3.8/{}/__pycache__/__init__.cpython-38.pyc"
    assert middle(path.format("ctypes"), 40) == "/users/…/ctypes/…/__init__.cpython-38.pyc"
    assert middle(path.format("numpy"), 40) == "/users/…8/numpy/…/__init__.cpython-38.pyc"
    assert "……" not in " ".join(middle(path.format("numpy"), keep) for keep in range(5, 70))


def test_efficiencies_say_how_long_the_time_is_that_they_are_about() -> None:
    ended = job_of(0.1, private={"process": use(on_core=0.0002, seconds=0.00025)})
    assert time.working_seconds(time.rank_time(ended)) == pytest.approx(0.00025)
    apmpi = pd.DataFrame({"id": 9, "rank": range(4), "node": "n", "time": 0.45, "sync_time": 0.0})
    made = replace(sample("mpi-io-test"), frames={"APMPI": apmpi}, run_time=0.7, version="3.41")
    assert "profiler's own time, 0.70 s here. " in EFFICIENCIES.table(made).note


def test_a_share_has_the_same_digits_in_the_figure_and_in_the_tables() -> None:
    shares = (0.0003, 0.0007, 0.125, 0.9999, 1.0)
    assert [share_text(share) for share in (*shares, 1.2)] == [*map(formats.share, shares), "> 100 %"]


def test_amounts_in_a_map_and_memory_have_the_digits_of_the_tables() -> None:
    assert [amount(size * 2**20) for size in (1.582, 5.49, 405.4, 1023.9)] == [
        *("1.58 MiB", "5.49 MiB", "405 MiB", "1024 MiB")
    ]
    assert counter_text(4.04, "MiB", "") == formats.size(4.04 * 2**20) == "4.04 MiB"


def test_rates_of_a_recovered_log_are_not_known() -> None:
    """The counters of such a log were last written some time before the process ended."""
    rows = pd.DataFrame(
        [(0, SEVERAL, "minor-faults", 25, 100, 100, "")],
        columns=["rank", "region", "event", "value", "time_enabled", "time_running", "unavailable"],
    )
    made = job_of(0.1, private={"counters": rows})
    ended = replace(made, private={**made.private, "job": {"partial": ["The process was killed."]}})
    assert counters(made)["rate"].tolist() == pytest.approx([250.0])
    assert np.isnan(counters(ended)["rate"]).all()
    table = COUNTERS.table(ended)
    assert "rate" not in table.columns
    assert "This log was recovered" in table.note


def test_a_name_that_differs_in_a_folder_is_explained() -> None:
    note = COSTLY_FILES.table(sample("hdf5_file_opens_only")).note
    assert "differ in numbers or in one folder" in note
    assert "* for a number or a folder" in note


def test_a_fact_below_the_verdict_is_not_said_again_on_the_page() -> None:
    made = sample("imbalanced-io")
    said = [block.text for block in [*judgement(made), *all_findings(made)] if isinstance(block, Text)]
    assert sum("ran out of memory" in one for one in said) == 1
    assert "The log is incomplete." in said


def test_a_caption_says_which_ranks_the_spans_have() -> None:
    reads, writes = RANK_SPANS.figures(sample("imbalanced-io"))
    assert reads.caption.endswith("Only rank 0 has such reads.")
    assert "295 of 496 ranks have such writes. Look for ranks" in writes.caption


def test_more_stripes_than_are_proposed_are_worth_a_measurement_where_bytes_and_ranks_fill_them() -> None:
    (first, *_) = diagnosis(sample("imbalanced-io")).worth
    assert "-c 8 " in first.remedy
    assert "This is a first step" in first.remedy


def test_the_step_of_computing_refers_to_a_table_that_the_log_has() -> None:
    made = job_of(1.0, private={"process": use(on_core=0.9, seconds=1.0)})
    rows = dict(steps.next_steps(made).rows("step", "look"))
    assert rows["4. compute faster"] == "time_parts"


def test_two_times_that_print_alike_are_not_compared_in_numbers() -> None:
    used = use(5.0)
    used.loc[used["rank"] == 3, ["first_on_core", "user_time"]] += 0.01
    said = steps.imbalance_step(job_of(nprocs=4, private={"process": used})).evidence
    assert said == "rank 3 computes or is in MPI for 5.0 s, hardly longer than an average rank"
