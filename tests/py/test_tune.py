"""Tests `iolens tune`: the model of the machine on made-up and on recorded grids, budgets, a whole search on
real runs.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.run.record import RunRecord
from iolens.lab.storage.plain import PLAIN
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import matrix_points, schedule
from iolens.lab.sweep.define.spec import spec_of
from iolens.lab.sweep.perform.progress import Lines
from iolens.lab.tune import tune
from iolens.lab.tune.budget import Budget, parse_budget, usual_budget
from iolens.lab.tune.features import writers_of_lustre
from iolens.lab.tune.refused import refused_points
from iolens.lab.tune.search import DEFAULT, MODEL, OTHER_SIZE, RULE, search_of
from iolens.lab.tune.trail import SearchStep, Trail
from iolens.lab.tune.tune import Tuning, repetitions_due
from iolens.lab.values import Change
from iolens.pages.exhibits.sweep_answers import fitted
from tune_grids import all_grids, experiment_of, recorded, replay

FEW = ("btio-lustre-nearline", "ior-lustre-flash", "ior-generic-dear-locks", "btio-like-thin-links")
"""Recorded grids that every test run replays; `tests/bench/tune.py replay` replays all grids."""


def grid(**changes: object) -> Experiment:
    fields: dict[str, object] = {
        "name": "made-up",
        "title": "",
        "program": "btio",
        "arguments": (),
        "ranks": 4,
        "matrix": {"stripe_count": (1, 2, 4, 8), "aggregators": (1, 2, 4), "stripe_size": (2**18, 2**20)},
    }
    return Experiment(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FEW)
def test_a_search_of_a_recorded_grid_finds_its_best_with_few_runs(name: str, tmp_path: Path) -> None:
    found = replay(experiment_of(name, tmp_path), recorded()[name])
    assert found.share >= 0.95, f"{found.chosen} gives {found.share:.0%} of the best"
    assert found.runs <= min(8, found.settings / 3)


def test_every_grid_that_was_recorded_is_whole(tmp_path: Path) -> None:
    assert len(recorded()) == len(all_grids()) == 20
    assert sum(bool(one.get("held_out")) for one in all_grids().values()) == 10
    for name, record in recorded().items():
        assert {point.id for point in matrix_points(experiment_of(name, tmp_path))} == set(record)
        assert all(value > 0 for values in record.values() for value in values)


def test_a_search_begins_with_the_default_and_the_rule_of_thumb_and_then_asks_the_model() -> None:
    search = search_of(grid())
    first = search.next({})
    assert first is not None
    assert (search.points[first.place].id, first.why, first.expected) == ("sc1_ag1_ss1M", DEFAULT, None)
    second = search.next({first.place: 100.0})
    assert second is not None
    assert (search.points[second.place].id, second.why) == ("sc8_ag4_ss1M", RULE)
    assert second.low is not None
    assert second.low < 100.0 < (second.high or 0)
    third = search.next({first.place: 100.0, second.place: 300.0})
    assert third is not None
    assert third.why == OTHER_SIZE
    fourth = search.next({first.place: 100.0, second.place: 300.0, third.place: 200.0})
    assert fourth is not None
    assert fourth.why == MODEL


def test_a_search_tries_the_rule_of_thumb_with_both_extreme_stripe_sizes() -> None:
    """More writers may be faster only with small stripes, so one point with large stripes does not rule them out."""
    matrix = {"stripe_count": (1, 4, 8), "aggregators": (1, 4), "stripe_size": (2**18, 2**20, 2**21)}
    search = search_of(grid(matrix=matrix))
    assert [(search.points[place].id, why) for place, why in search.begin] == [
        ("sc1_ag1_ss1M", DEFAULT),
        ("sc8_ag4_ss1M", RULE),
        ("sc8_ag4_ss256k", OTHER_SIZE),
    ]


def test_a_search_counts_only_stripes_that_hold_data() -> None:
    """In a file of 4 MiB, 4, 8 and 12 stripes of 1 MiB are the same layout, so that one run measures all three."""
    experiment = grid(matrix={"stripe_count": (1, 4, 8, 12), "aggregators": (1, 2)}, io_component="lustre")
    search = search_of(experiment, 4 * 2**20)
    assert {one.stripes for one in search.features} == {1, 4}
    first = next(i for i, point in enumerate(search.points) if point.id == "sc12_ag1")
    belief = search.belief({first: 100.0})
    same = [i for i, point in enumerate(search.points) if point.id in ("sc4_ag1", "sc8_ag1")]
    assert belief.expected[same].tolist() == pytest.approx([belief.expected[first]] * 2)
    assert len({one.stripes for one in search_of(experiment).features}) == 4


def test_the_fitted_machine_has_the_speeds_of_a_machine_that_is_nothing_but_targets_and_links() -> None:
    search = search_of(grid(io_component="lustre"))
    wanted = [min(one.stripes * 50.0, one.writers * 200.0) for one in search.features]
    traits = {one.name: one for one in search.traits(dict(enumerate(wanted)))}
    for name, value in (("one stripe", 50.0), ("one writer's link", 200.0)):
        assert traits[name].value == pytest.approx(value, rel=0.4)
        assert traits[name].low < traits[name].value < traits[name].high
    assert traits["share of locks in the time with 4 writers"].value < 10.0


def test_a_search_ends_when_nothing_is_left_or_nothing_is_worth_a_run() -> None:
    search = search_of(grid(matrix={"stripe_count": (1, 2)}))
    assert search.next({0: 1.0, 1: 1.0}) is None
    assert search.next({0: 1.0}, failed=[1]) is None
    known = search_of(grid())
    measured = {place: 100.0 * one.stripes for place, one in enumerate(known.features)}
    del measured[1]
    assert known.points[1].id == "sc1_ag1_ss1M"
    assert known.next(measured, failed=[place for place, _ in known.begin]) is None


def test_a_failed_setting_is_not_asked_for_again() -> None:
    search = search_of(grid())
    first = search.next({})
    assert first is not None
    second = search.next({}, failed=[first.place])
    assert second is not None
    assert second.place != first.place


@pytest.mark.parametrize(
    ("stripes", "wanted", "writers"), [(1, 4, 1), (3, 2, 1), (3, 4, 3), (4, 4, 4), (8, 3, 2), (12, 4, 4), (4, 9, 4)]
)
def test_the_lustre_driver_takes_aggregators_that_share_the_stripes(stripes: int, wanted: int, writers: int) -> None:
    assert writers_of_lustre(stripes, wanted) == writers


@pytest.mark.parametrize(
    ("text", "budget"),
    [("8", Budget(runs=8)), ("5min", Budget(seconds=300)), ("90s", Budget(seconds=90)), ("1.5h", Budget(seconds=5400))],
)
def test_budgets(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget


@pytest.mark.parametrize("text", ["", "0", "1", "2.5", "-3", "5 m", "8runs", "0s", "min"])
def test_no_budgets(text: str) -> None:
    with pytest.raises(ValueError, match="is not a budget; write runs"):
        parse_budget(text)


def test_a_budget_of_time_leaves_room_to_confirm() -> None:
    assert [usual_budget(n).runs for n in (4, 12, 24, 36)] == [2, 4, 8, 8]
    assert Budget(seconds=100).allows(made=0, spent=0.0, reserved=6)
    assert Budget(seconds=100).allows(made=3, spent=30.0, reserved=6)
    assert not Budget(seconds=99).allows(made=3, spent=30.0, reserved=6)


EXPERIMENT = """name: tiny
workload: {program: ior, arguments: [-a, MPIIO, -c, -w, -b, 2M, -t, 1M], ranks: 2}
storage: {configuration: ost.yaml}
matrix: {stripe_count: [1, 2, 4], aggregators: [1, 2]}
confirm: 1
"""


def test_a_whole_search_on_real_runs_is_confirmed_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    slow = {"targets": 4, "ost_mb_per_s": 4, "link_mb_per_s": 40}
    ost = Path(__file__).parents[2] / "storage" / "ost.yaml"
    lines = [line for line in ost.read_text().splitlines() if line.partition(":")[0] not in slow]
    Path("ost.yaml").write_text("\n".join([*lines, *(f"{key}: {value}" for key, value in slow.items())]) + "\n")
    Path("tiny.yaml").write_text(EXPERIMENT)
    assert main(["tune", "tiny.yaml", "--dry-run", "--budget", "3"]) == 0
    said = capsys.readouterr().out
    assert "sc1_ag1/rep-1: default\nsc4_ag2/rep-1: rule of thumb\n" in said
    assert "3 runs in all" in said
    assert not Path("results").exists()

    assert main(["tune", "tiny.yaml", "--budget", "2", "--no-report"]) == 0
    folder = Path("results/tiny")
    trail = json.loads((folder / "tuning.json").read_text())
    assert [step["run"] for step in trail["steps"]] == ["sc1_ag1/rep-1", "sc4_ag2/rep-1"]
    assert trail["stopped"] == "the budget of 2 runs is spent"
    before = (folder / "points/sc4_ag2/rep-1/run.json").read_text()

    assert main(["tune", "tiny.yaml", "--budget", "3"]) == 0
    said = capsys.readouterr().out
    trail = json.loads((folder / "tuning.json").read_text())
    assert 2 <= len(trail["steps"]) <= 3
    assert trail["steps"][0]["bandwidth"] < trail["steps"][1]["bandwidth"], "one target against four"
    assert (folder / "points/sc4_ag2/rep-1/run.json").read_text() == before, "a run that is done is not done again"
    assert all(math.isfinite(trait["value"]) for trait in trail["machine"])
    assert "settings were run" in said
    said = " ".join(said.split())
    assert "in 1 fresh run of each" in said or "The fresh runs that should confirm this cannot be used" in said
    assert "cb_nodes" in (folder / "hints.txt").read_text()
    assert (folder / "stripes.sh").read_text().startswith("lfs setstripe -c ")
    assert (folder / "comparison.pdf").stat().st_size > 10_000


def test_a_search_whose_first_runs_fail_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = EXPERIMENT.replace("-w, ", "-w, --nosuch, ").replace("{configuration: ost.yaml}", "{}")
    Path("tiny.yaml").write_text(text)
    assert main(["tune", "tiny.yaml", "--budget", "5"]) == 1
    assert len(json.loads(Path("results/tiny/tuning.json").read_text())["steps"]) == 2, "default and rule of thumb"
    assert "every run failed, so the search has no results to use" in capsys.readouterr().out


def test_what_cannot_be_tuned_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.yaml"
    path.write_text("name: a\nworkload: {program: collectives, ranks: 2}\nmatrix: {ranks: [2, 4]}\n")
    assert main(["tune", str(path), "--results", str(tmp_path)]) == 2
    assert "use `iolens sweep`" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["tune", str(path), "--budget", "soon"])
    assert caught.value.code == 2


def test_a_matrix_that_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="has 6000 settings, but a search takes at most 5000"):
        search_of(grid(matrix={"stripe_count": tuple(range(1, 101)), "cb_buffer_size": tuple(range(1, 61))}))


def test_own_factors_are_searched_too() -> None:
    own = {"variant": {"shared": Change(), "own files": Change(arguments=("-F",))}}
    experiment = grid(matrix={"variant": ("shared", "own files"), "stripe_count": (1, 2, 4, 8)}, own=own)
    search = search_of(experiment)
    speeds = [one.stripes * (3.0 if one.own[0][1] == "own files" else 1.0) for one in search.features]
    measured: dict[int, float] = {}
    while len(measured) < 4 and (choice := search.next(measured)):
        measured[choice.place] = speeds[choice.place]
    assert max(measured.values()) == max(speeds)


def test_a_damaged_trail_is_said_before_anything_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.yaml"
    path.write_text("name: a\nworkload: {program: ior, ranks: 2}\nmatrix: {stripe_count: [1, 2]}\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "tuning.json").write_text("{")
    assert main(["tune", str(path), "--results", str(tmp_path)]) == 1
    assert "tuning.json cannot be read" in capsys.readouterr().err
    assert [one.name for one in (tmp_path / "a").iterdir()] == ["tuning.json"]


def test_a_trait_tells_what_the_runs_know_of_it() -> None:
    assert fitted(14.0, 10.0, 20.0, "MiB/s") == "14.0 [10.0, 20.0] MiB/s"
    assert fitted(30.0, 10.0, 200.0, "MiB/s") == "at least 10.0 MiB/s"
    assert fitted(9.5, 1.6, 39.1, "%") == "at most 39.1 %"


def test_beside_repeated_settings_the_best_and_the_default_are_repeated_too() -> None:
    experiment = grid(matrix={"stripe_count": (1, 2, 4)}, repetitions=3)
    search = search_of(experiment)
    finished = {"sc1/rep-1", "sc2/rep-1", "sc2/rep-2"}
    todo = [run for run in schedule(experiment) if run.id not in finished]
    sweep: Any = SimpleNamespace(experiment=experiment, todo=todo)
    step = SearchStep("sc4/rep-1", {"stripe_count": 4}, MODEL, None, None, None, 4.0, None, 1.0)
    trail = Trail(3, "3 runs", (), (step,))
    tuning = Tuning(sweep, search, Budget(runs=3), {0: 1.0, 1: 2.0, 2: 4.0}, frozenset(), trail)
    assert {spec.id for spec in repetitions_due(tuning)} == {"sc1/rep-2", "sc4/rep-2"}


def _record(requested: dict[str, int], effective: dict[str, int | None], **observed: int) -> RunRecord:
    """Returns the record of a run in which no requested setting took effect."""
    return RunRecord(
        id="run",
        status="invalid",
        started="",
        seconds=1.0,
        exit_code=0,
        point={},
        requested=requested,
        effective=effective,
        observed=observed,
        took_effect=dict.fromkeys(requested, False),
        launcher="local",
        load_before=0.0,
        key="",
    )


@pytest.mark.parametrize(
    ("record", "left"),
    [
        (_record({"cb_nodes": 4}, {"cb_nodes": 2}), {1, 2}),
        (_record({"cb_nodes": 1}, {"cb_nodes": 4}), {4}),
        (_record({"cb_nodes": 4}, {"cb_nodes": None}, aggregators=1), {1}),
        (_record({"cb_nodes": 4}, {"cb_nodes": None}), {1, 2, 4}),
    ],
)
def test_a_hint_that_did_not_take_effect_leaves_the_search(record: RunRecord, left: set[int]) -> None:
    """If a driver limits a hint to a value, the search keeps the levels below it. If a driver fixes the hint, the
    search keeps no other level after it has tried one on either side.
    """
    found = list(matrix_points(grid()))
    gone = refused_points(found, record)
    assert {point.settings["aggregators"] for i, point in enumerate(found) if i not in gone} == left


def test_a_hint_that_the_driver_ignores_is_not_varied() -> None:
    matrix = {"stripe_count": (1, 2), "cb_buffer_size": (2**20, 16 * 2**20)}
    for component, metric, buffers in (("lustre", "write_bandwidth", 1), ("lustre", "read_bandwidth", 2)):
        search = search_of(grid(matrix=matrix, io_component=component, metric=metric))
        assert len({point.settings["cb_buffer_size"] for point in search.points}) == buffers
    assert {point.id for point in search_of(grid(matrix=matrix, io_component="lustre")).points} == {
        "sc1_cb16M",
        "sc2_cb16M",
    }
    assert len(search_of(grid(matrix=matrix, io_component="romio321")).points) == 4


def test_a_search_does_not_ask_for_a_refused_level_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up driver takes at most two aggregators; the search must find that out in one run."""
    experiment = grid(matrix={"stripe_count": (1, 2), "aggregators": (1, 2, 4, 8)}, confirm=0)
    asked: list[str] = []

    def perform(bench: object, specs: list[SimpleNamespace], begun: object) -> Any:
        for spec in specs:
            asked.append(spec.id)
            wanted = spec.requested["cb_nodes"]
            record = _record({"cb_nodes": wanted}, {"cb_nodes": min(wanted, 2)}, file_bytes=2**20)
            took = wanted <= 2
            yield replace(record, status="ok" if took else "invalid", took_effect={"cb_nodes": took}, id=spec.id)

    def row(path: Path, operation: str) -> dict[str, Any]:
        return {"usable": True, "ignored": (), "bandwidth": 200.0 if "ag2" in str(path) else 100.0}

    replaced: dict[str, Any] = {
        "perform": perform,
        "read_run": row,
        "attempt_at": lambda sweep, run: spec_of(sweep.experiment, run, PLAIN),
        **dict.fromkeys(("write_runs", "run_fresh", "leave"), lambda *words: None),
        "run_more": lambda *words: (),
    }
    for name, function in replaced.items():
        monkeypatch.setattr(tune, name, function)
    sweep = SimpleNamespace(experiment=experiment, folder=tmp_path, mounts=())
    sweep.todo = [SimpleNamespace(id=run.id) for run in schedule(experiment)]
    monkeypatch.setattr(tune, "replace", lambda one, **words: one if one is sweep else replace(one, **words))
    search = search_of(experiment)
    done = tune.run_tuning(tune.begin(sweep, search, Budget(runs=8)), Lines())  # type: ignore[arg-type]
    over = [name for name in asked if "ag4" in name or "ag8" in name]
    assert len(over) <= 1, asked
    assert done.measured
    assert done.file_bytes == 2**20
    assert {one.stripes for one in done.search.features} == {1}
    assert not done.failed
