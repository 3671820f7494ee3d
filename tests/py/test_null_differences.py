"""Tests that the comparing commands seldom call equal runs different, and that names and order of folders change
nothing.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from comparison_example import write_run
from iolens.cli.main import main
from iolens.lab.outputs.words import BANDWIDTH
from iolens.lab.subjects.subjects import read_subjects
from iolens.log import read_log
from iolens.metrics.subjects.aligned import aligned, blocks_of
from iolens.metrics.subjects.subject import Output, Subject, Subjects, Trial, Value
from iolens.metrics.subjects.values import FUNCTIONS
from iolens.pages.wording.subject_words import headline, subject_doubts
from null_runs import FORMS, LOG, Chance, benchmark_outputs, run_folders, told
from test_diff import started

DATA = Path(__file__).resolve().parents[1] / "data"
REPETITIONS, COMPARISONS = (3, 10), 12
PROMISED, ERRORS = 0.05, 2.0
"""Share of equal numbers that may be called different, and the standard errors that a simulation may lie above it."""


@pytest.mark.parametrize("form", FORMS)
def test_equal_runs_are_called_different_in_five_per_cent(form: str, tmp_path: Path) -> None:
    found = [each for runs in REPETITIONS for each in told(form, runs, COMPARISONS, tmp_path)]
    shares = [sum(each) / len(each) for each in found if each]
    assert len(shares) == len(REPETITIONS) * COMPARISONS
    chance = math.sqrt(PROMISED * (1 - PROMISED) / len(shares))
    assert sum(shares) / len(shares) <= PROMISED + ERRORS * chance


def test_names_and_order_of_the_folders_of_runs_change_nothing(tmp_path: Path) -> None:
    chance = Chance(7, 0.3)
    one, other = run_folders(tmp_path, "a", 4, chance), run_folders(tmp_path, "b", 4, chance)
    before = aligned(read_subjects([one, other]))
    for number, folder in enumerate(sorted(one.iterdir())):
        folder.rename(one / f"renamed-{9 - number}")
    after = aligned(read_subjects([one, other]))
    assert "inconclusive" in before["standing B"].tolist()
    assert not before["standing B"].isin(["more", "less"]).any()
    assert after.equals(before)


def test_pairs_of_runs_come_from_one_sweep_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        for day in (1, 2, 3):
            when = f"2026-01-0{day}T1{name == 'two':d}:00:00Z"
            write_run(tmp_path / name / "points/p" / f"rep-{day}", {"ranks": 4}, day, 100.0 + day, started=when)
    assert blocks_of(read_subjects([tmp_path / name for name in ("one", "two")])) is None
    (tmp_path / "one/points/q").mkdir()
    for day in (1, 2, 3):
        shutil.move(tmp_path / "two/points/p" / f"rep-{day}", tmp_path / "one/points/q" / f"rep-{day}")
    assert blocks_of(read_subjects([tmp_path / "one/points" / name for name in "pq"])) == [[1, 2, 3], [1, 2, 3]]


def test_two_runs_of_one_block_count_by_their_mean() -> None:
    first = started([1.0, 2.0, 4.0], "2026-01-0{}T10:00:00Z")
    second = started([1.1, 2.3, 4.2], "2026-01-0{}T11:00:00Z")
    twice = replace(second.trials[0], output=started([1.3], "").trials[0].output)
    rows = [
        aligned(Subjects((first, replace(second, trials=trials))))
        for trials in ((*second.trials, twice), (twice, *reversed(second.trials)))
    ]
    expected = math.exp((math.log(1.1 * 1.3) / 2 + math.log(1.15) + math.log(1.05)) / 3)
    for found in rows:
        assert found["ratio B"].tolist() == [pytest.approx(expected)]


def test_repetitions_within_runs_count_as_one_measurement_each(tmp_path: Path) -> None:
    paths = [benchmark_outputs(tmp_path, name, 3, Chance(3)) for name in "ab"]
    rows = aligned(read_subjects(paths))
    assert set(rows["count A"]) == {3}
    single = read_subjects([path / "run-0.json" for path in paths])
    assert set(aligned(single)["count A"]) == {3}
    assert "repetitions within one run" in " ".join(subject_doubts(single))


def processes_folder(folder: Path, logs: int) -> Path:
    """Writes what `iolens run --output` leaves of a run of 9 s whose processes left some logs of their own."""
    folder.mkdir()
    columns = ["log", "command", "ranks", "started", "seconds", "files", "bytes_read", "bytes_written", "io_seconds"]
    with (folder / "processes.csv").open("w", newline="") as table:
        writer = csv.DictWriter(table, columns)
        writer.writeheader()
        for number in range(logs):
            name = f"p{number}.darshan"
            shutil.copy(LOG, folder / name)
            row = {"log": name, "started": f"2026-01-01T10:00:0{number}.000+00:00", "seconds": 1.5, "ranks": 4}
            writer.writerow({**dict.fromkeys(columns, 0), **row, "io_seconds": 3 - abs(number - 1)})
    run = {"status": "ok", "point": {}, "seconds": 9.25, "log": f"p{logs - 1}.darshan", "started": "2026-01-01"}
    (folder / "run.json").write_text(json.dumps(run))
    return folder


def test_the_time_of_a_run_of_many_processes_is_that_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = processes_folder(tmp_path / "recorded", 5)
    gathered = processes_folder(tmp_path / "gathered", 3)
    (gathered / "run.json").unlink()
    assert main(["diff", str(recorded), str(gathered)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "run time 9.25 s → 3.50 s" in said
    assert "left 5 or 3 logs" in said
    subjects = read_subjects([recorded, gathered])
    assert [job.path.name for one in subjects.all for job in one.jobs] == ["p1.darshan", "p1.darshan"]
    assert read_log(LOG).run_time != 9.25


def test_a_headline_names_no_change_that_the_runs_do_not_prove() -> None:
    """Five bandwidths and two functions scatter far more than their typical values differ."""
    scattered = {"a": [1.0, 3.0, 2.0], "b": [2.9, 1.2, 2.0]}
    names = [*((BANDWIDTH, f"of {number}", "MiB/s", 1) for number in range(5)), (FUNCTIONS, "solve", "s", -1)]
    sides = []
    for name, speeds in scattered.items():
        outputs = [
            Output("test", {}, tuple(Value(group, what, unit, speed, way) for group, what, unit, way in names))
            for speed in speeds
        ]
        sides.append(Subject(name, Path(name), tuple(Trial(Path(name), output=one) for one in outputs)))
    (said,) = headline(Subjects(tuple(sides)))
    assert "more at 0, less at 0 of 5" in said
    assert "solve" not in said
