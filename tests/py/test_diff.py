"""Tests `iolens diff`: numbers are aligned, and have intervals if there are repetitions, otherwise the reason why there
are none.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from comparison_example import write_run, write_sweep
from iolens.cli.main import main
from iolens.lab.subjects.subjects import read_subjects
from iolens.metrics.statistics.intervals import family
from iolens.metrics.statistics.paired import design
from iolens.metrics.subjects.aligned import aligned, blocks_of
from iolens.metrics.subjects.facts import value_list
from iolens.metrics.subjects.shapes import aligned_files, keys_of
from iolens.metrics.subjects.subject import Output, Subject, Subjects, Trial, Value
from iolens.pages.wording.subject_words import notes

DATA = Path(__file__).resolve().parents[1] / "data"
LOGS = [DATA / "darshan" / f"mpi-io-test-x86_64-{version}.darshan" for version in ("3.4.0", "3.5.0")]


def subject(label: str, *groups: list[float]) -> Subject:
    """Makes a subject whose runs printed the values `x`, `y` …; each group has the values of one name, in the order of
    the runs.
    """
    runs = zip(*groups, strict=True)
    return Subject(
        label,
        Path(label),
        tuple(
            Trial(
                Path(label), output=Output("test", {}, tuple(Value("g", "xyz"[n], "s", v) for n, v in enumerate(run)))
            )
            for run in runs
        ),
    )


def row(first: list[float], second: list[float]) -> dict[str, object]:
    return dict(aligned(Subjects((subject("one", first), subject("two", second)))).iloc[0])


def test_repetitions_give_the_interval_of_the_statistics() -> None:
    first, second = [1.0, 1.1, 1.05], [2.0, 2.3, 2.1]
    found, expected = row(first, second), family([first, second]).against(1, 0)
    assert found["ratio B"] == pytest.approx(expected.value)
    assert (found["ratio_low B"], found["ratio_high B"]) == pytest.approx((expected.low, expected.high))
    assert found["standing B"] == "more"
    assert row([1.0, 2.0, 1.5], [1.1, 2.2, 1.4])["standing B"] == "inconclusive"


def test_runs_of_one_sweep_are_compared_within_their_blocks() -> None:
    """The machine becomes eight times slower, and each setting runs once before any setting runs again."""
    values = [[1.0, 2.0, 4.0, 8.0], [1.1, 2.25, 4.3, 8.9]]
    blocks = [list(range(4))] * 2
    subjects = Subjects(tuple(started(one, f"2026-01-0{{}}T1{place}:00:00Z") for place, one in enumerate(values)))
    (found,) = aligned(subjects).to_dict("records")
    expected = design(values, blocks).against(0)[1]
    assert blocks_of(subjects) is not None
    assert found["ratio B"] == pytest.approx(expected.value)
    assert (found["ratio_low B"], found["ratio_high B"]) == pytest.approx((expected.low, expected.high), rel=0.02)
    assert found["standing B"] == "more"
    (note,) = notes(subjects)
    assert "drift cancels" in note


def test_runs_one_setting_after_the_other_have_no_blocks() -> None:
    values = [[1.0, 2.0, 4.0, 8.0], [1.1, 2.25, 4.3, 8.9]]
    subjects = Subjects(tuple(started(one, f"2026-0{place + 1}-0{{}}T10:00:00Z") for place, one in enumerate(values)))
    assert blocks_of(subjects) is None
    assert aligned(subjects)["standing B"].tolist() == ["inconclusive"]


def started(values: list[float], when: str) -> Subject:
    """Makes a subject with one run on each day; each run has a run.json."""
    made = subject("one", values)
    records = [{"started": when.format(day), "point": {"repetition": day}} for day in range(1, len(values) + 1)]
    return replace(made, trials=tuple(replace(t, record=r) for t, r in zip(made.trials, records, strict=True)))


def test_single_runs_have_no_interval_and_zeros_no_ratio() -> None:
    alone = row([1.0], [2.0])
    assert alone["standing B"] == "one run"
    assert alone["ratio_low B"] != alone["ratio_low B"]
    assert row([0.0, 0.0], [3.0, 3.0])["standing B"] == "more"
    assert row([0.0, 1.0], [3.0, 4.0])["standing B"] == "no ratio"
    assert row([5.0], [5.0])["standing B"] == "same"


def test_intervals_hold_for_all_subjects_of_a_row() -> None:
    groups = [[1.0, 1.1, 1.05], [2.0, 2.3, 2.1], [3.0, 3.1, 3.3]]
    three = aligned(Subjects(tuple(subject(str(n), each) for n, each in enumerate(groups)))).iloc[0]
    two = aligned(Subjects((subject("0", groups[0]), subject("1", groups[1])))).iloc[0]
    assert three["ratio_low B"] < two["ratio_low B"]


def test_paths_match_by_their_last_part_only_where_it_is_unique() -> None:
    keys = keys_of([["/a/x", "/a/y", "/same", "/a/p/z", "/a/q/z"], ["/b/x", "/same", "/b/z"]])
    assert keys == [{"/a/x": "x"}, {"/b/x": "x"}]
    assert keys_of([["/a/x", "/b/x"], ["/b/x", "/a/x"]]) == [{}, {}]


def test_two_logs_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *map(str, LOGS)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "There is one run of each" in said
    assert "have their start and end in whole seconds" in said
    assert "speed by the slowest 3.60 GiB/s 3.05 GiB/s −569 MiB/s 0.85×" in said
    assert "[" not in said


def test_json_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--json", *map(str, LOGS)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"headline", "notes", "subjects", "facts", "numbers", "files"} <= set(found)
    moved = next(each for each in found["numbers"] if (each["group"], each["name"]) == ("POSIX", "written"))
    assert (moved["value A"], moved["value B"], moved["standing B"]) == (67108864, 67108864, "same")
    assert moved["ratio_low B"] is None


def test_a_folder_of_repetitions_gives_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, speed in (("before", 100.0), ("after", 200.0)):
        for n in range(3):
            write_run(tmp_path / name / f"rep-{n + 1}", {"stripe_count": 4}, n + 1, speed * (1 + n / 50))
    assert main(["diff", str(tmp_path / "before"), str(tmp_path / "after")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "bandwidth write 102 MiB/s → 204 MiB/s (2×" in said
    assert "covers at least 95.0 % if the quotients scatter log-normally" in said
    assert "3 runs: 3 outputs" in said


def test_a_log_beside_an_output_is_read_with_it(tmp_path: Path) -> None:
    shutil.copy(DATA / "outputs/npb_bt_full.out", tmp_path / "run.out")
    shutil.copy(LOGS[0], tmp_path / "run.darshan")
    (found, _) = read_subjects([tmp_path / "run.out", DATA / "outputs/npb_bt_epio.out"]).all
    assert found.trials[0].output is not None
    assert found.trials[0].job is not None
    (folder, _) = read_subjects([tmp_path, DATA / "outputs/npb_bt_epio.out"]).all
    assert len(folder.trials) == 1


def test_settings_of_a_sweep_are_subjects_and_lost_runs_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}, 3)
    lost = next(sweep.rglob("run.json"))
    lost.write_text(lost.read_text().replace('"status": "ok"', '"status": "failed"'))
    assert main(["diff", str(sweep)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "sweep: 4 stripes" in said
    assert "Left out of" in said


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([LOGS[0]], "alone cannot be compared"),
        ([LOGS[0], "missing.darshan"], "does not exist"),
        ([LOGS[0], DATA / "outputs/ORIGIN.md"], "neither a log nor an output"),
        ([LOGS[0], DATA / "darshan"], "not repetitions of one run"),
        ([LOGS[0], DATA], "has no log, no run.json"),
        ([LOGS[0]] * 13, "at most 12 can be compared"),
    ],
)
def test_what_cannot_be_compared_is_said(paths: list[Path], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *map(str, paths)]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_long_facts_of_repetitions_are_named_once() -> None:
    assert value_list(["a", "b", "c", "d"]) == "a; b; c; 1 more"
    assert value_list(["x" * 41, "y" * 41]) == "x" * 41 + "; 1 more"


def test_a_log_that_is_not_whole_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = next((DATA / "darshan").glob("imbalanced-io*"))
    (tmp_path / "cut.darshan").write_bytes(whole.read_bytes()[:3000])
    assert main(["diff", str(whole), str(tmp_path / "cut.darshan")]) == 0
    assert "A log of B is incomplete" in " ".join(capsys.readouterr().out.split())


def test_files_of_repetitions_are_matched_too(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for log in LOGS:
        shutil.copy(log, tmp_path / "runs")
    rows = aligned_files(read_subjects([tmp_path / "runs", LOGS[0]])).set_index("file")
    assert set(rows.index) == {"mpi-io-test.tmp.dat", "<STDOUT>"}
    assert rows.loc["mpi-io-test.tmp.dat", "bytes_written A"] == 64 * 2**20
    assert rows.loc["mpi-io-test.tmp.dat", "standing B"] == "same"
