"""Invalid runs are repeated up to a limit, and the records of the invalid attempts are kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from iolens.lab.run.record import RECORD, RunRecord, read_record, write_record
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.plan.prepare import drop_stale
from iolens.lab.sweep.plan.repeat import REPEATS, first_attempt, next_attempt, put_aside

SLOW = "the machine was slower than the emulated storage"


def record(kept: bool, key: str = "same", failed: str | None = None) -> RunRecord:
    return RunRecord(
        id="sc1/rep-1",
        status="failed" if failed else "ok" if kept else "invalid",
        reason=failed or (None if kept else SLOW),
        command=["btio"],
        started="2026-11-21T10:00:00+00:00",
        seconds=1.5,
        exit_code=0,
        point={"stripe_count": 1, "repetition": 1},
        requested={},
        effective={},
        observed={},
        took_effect={},
        storage={"kind": "emulated", "valid": kept},
        launcher="local",
        mpi={},
        hosts=["laptop"],
        load_before=0.1,
        log=None,
        result=None,
        key=key,
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = record(kept=False)
    write_record(tmp_path, written)
    text = (tmp_path / RECORD).read_text()
    assert read_record(tmp_path) == RunRecord(**vars(written) | {"command": ["btio"], "lost": [], "failed_before": []})
    (tmp_path / RECORD).write_text(json.dumps({**json.loads(text), "storage": None, "of_a_later_version": 1}))
    assert (read_record(tmp_path) or written).storage == {}
    for broken in ("[]", "{}", text[:-9], text.replace('"key"', '"lock"')):
        (tmp_path / RECORD).write_text(broken)
        assert read_record(tmp_path) is None


def played(folder: Path, outcomes: Sequence[bool], key: str = "same") -> RunRecord:
    """Plays the attempts of a run, which end as `outcomes` say, and leaves a record of each, as a real run does. Raises
    an error if a further attempt is made.
    """
    asked = PointSpec(id="sc1/rep-1", ranks=4, point={"stripe_count": 1, "repetition": 1})
    left = iter(outcomes)
    attempt: PointSpec | None = first_attempt(replace(asked, folder=folder), key)
    while attempt:
        made = replace(record(next(left), key), lost=attempt.lost, failed_before=attempt.failed)
        write_record(folder, made)
        attempt = next_attempt(attempt, made)
    return made


@pytest.mark.parametrize(
    ("outcomes", "status", "lost"),
    [
        ([True], "ok", 0),
        ([False, False, True], "ok", 2),
        ([False] * (REPEATS + 1), "invalid", REPEATS),
    ],
)
def test_a_lost_run_is_repeated_up_to_the_limit(tmp_path: Path, outcomes: list[bool], status: str, lost: int) -> None:
    played(tmp_path, outcomes)
    written = json.loads((tmp_path / "run.json").read_text())
    assert written["status"] == status
    assert written["lost"] == [{"reason": SLOW, "seconds": 1.5}] * lost


def test_a_later_sweep_does_not_forget_what_an_earlier_one_lost(tmp_path: Path) -> None:
    played(tmp_path, [False] * (REPEATS + 1))
    assert len(played(tmp_path, [True]).lost) == REPEATS + 1


def test_runs_of_another_setting_or_program_are_no_losses_of_this_one(tmp_path: Path) -> None:
    played(tmp_path, [False] * (REPEATS + 1), key="before the change")
    assert played(tmp_path, [True]).lost == ()


def test_the_complete_run_is_kept_as_it_is(tmp_path: Path) -> None:
    first = first_attempt(PointSpec(id="first", ranks=4, folder=tmp_path), "same")
    assert next_attempt(first, record(kept=False)) is None


def test_failed_runs_that_are_done_again_stay_and_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "rep-1"
    asked = PointSpec(id="sc1/rep-1", ranks=4, point={"stripe_count": 1, "repetition": 1})
    for reason in ("no room", "no time"):
        attempt = first_attempt(replace(asked, folder=folder), "same")
        put_aside(folder)
        folder.mkdir()
        write_record(folder, replace(record(True, failed=reason), lost=attempt.lost, failed_before=attempt.failed))
    put_aside(folder)  # An interrupted third attempt must not delete the records of the first two.
    folder.mkdir()
    attempt = first_attempt(replace(asked, folder=folder), "same")
    assert [(one["reason"], one["folder"]) for one in attempt.failed] == [
        ("no room", "rep-1.attempt-1"),
        ("no time", "rep-1.attempt-2"),
    ]
    assert json.loads((tmp_path / "rep-1.attempt-2" / "attempt.json").read_text())["reason"] == "no time"
    assert first_attempt(replace(asked, folder=folder), "another command").failed == ()


def test_runs_of_a_command_that_was_edited_are_in_no_comparison_any_more(tmp_path: Path) -> None:
    asked = PointSpec(id="sc1/rep-1", ranks=4, point={"stripe_count": 1, "repetition": 1})
    places = [tmp_path / "points" / "sc1" / "rep-1", tmp_path / "points" / "sc1" / "rep-2"]
    fresh = tmp_path / "confirm" / "sc1" / "rep-1"
    for place, key in zip([*places, fresh], ("before", "now", "before"), strict=True):
        place.mkdir(parents=True)
        write_record(place, record(True, key))
    drop_stale(tmp_path, [first_attempt(replace(asked, folder=place), "now") for place in places])
    assert [path.parent for path in tmp_path.rglob("run.json")] == [places[1]]
    assert json.loads((tmp_path / "points" / "sc1" / "rep-1.attempt-1" / "attempt.json").read_text())["key"] == "before"
    drop_stale(tmp_path, [first_attempt(replace(asked, folder=places[1]), "now")])
    assert (places[1] / "run.json").exists()
