"""Tests predictions: pieces and views, the bytes that each rank writes, the steps of ranks in the model, and whole
logs.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iolens.cli.main import main
from iolens.errors import IolensError, UsageError
from iolens.lab.predict.calibrate import one_run, runs
from iolens.lab.predict.extents import Extents, FileView, piece, union
from iolens.lab.predict.fit import FitRun, fit, seconds
from iolens.lab.predict.links import Links
from iolens.lab.predict.model import model_of, model_text, read_model
from iolens.lab.predict.predict import predict, recorded_times
from iolens.lab.predict.recorded import largest_file, read_recorded
from iolens.lab.predict.settings import ChangedSettings, predicted_layouts
from iolens.lab.predict.steps import RankSteps, play
from iolens.lab.predict.turns import ahead
from iolens.lab.predict.two_phase import Collective, Move, aggregators_in_use, is_interleaved, places, rounds
from iolens.lab.predict.what_if import read_what_if
from iolens.lab.storage.emulated import make_mount
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.plain import PLAIN
from iolens.log import read_log
from iolens.log.job import Mount
from iolens.pages.exhibits.sweep_answers import WHAT_IF

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "storage" / "ost.yaml"
MIB = 2**20


def pairs(extents: Extents) -> list[tuple[int, int]]:
    return list(zip(extents.begin.tolist(), extents.end.tolist(), strict=True))


def test_pieces_that_touch_or_overlap_are_one() -> None:
    assert pairs(union([piece(10, 5), piece(0, 4), piece(4, 2), piece(12, 8), piece(30, 0)])) == [(0, 6), (10, 20)]
    assert pairs(union([])) == []
    assert pairs(union([piece(0, 4), piece(8, 4)]).clip(2, 9)) == [(2, 4), (8, 9)]
    assert pairs(piece(0, 4).clip(4, 9)) == []


def test_a_view_goes_on_behind_its_file_type() -> None:
    view = FileView(100, 50, Extents(np.array([5, 20]), np.array([10, 10])))
    assert pairs(view.extents(105, 20)) == [(105, 115), (120, 130)]
    assert pairs(view.extents(125, 12)) == [(125, 130), (155, 162)]
    assert view.place(155) == 20


def everything(plan: Collective, wanted: Extents, writing: bool = True) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for one in rounds(plan, wanted, writing):
        for move in one.moves:
            found.setdefault(move.rank, []).append((move.begin, move.end))
    return found


def test_the_lustre_driver_binds_stripes_to_aggregators() -> None:
    """The model writes BT-IO of class W as ROMIO's Lustre driver does: four stripes, two aggregators, four ranks."""
    assert places("lustre", 2, 4) == (0, 2)
    plan = Collective("lustre", (0, 2), 16 * MIB, MIB)
    assert everything(plan, piece(552_960, 552_960)) == {0: [(552_960, MIB)], 2: [(MIB, 1_105_920)]}
    assert everything(plan, piece(1_658_880, 552_960)) == {2: [(1_658_880, 2 * MIB)], 0: [(2 * MIB, 2_211_840)]}


@pytest.mark.parametrize(
    ("stripes", "wanted", "ratio", "used"), [(4, 3, 1, 2), (4, 4, 1, 4), (2, 6, 2, 4), (1, 4, 1, 1)]
)
def test_aggregators_of_the_lustre_driver_divide_the_stripes(stripes: int, wanted: int, ratio: int, used: int) -> None:
    assert aggregators_in_use("lustre", wanted, stripes, ratio) == used
    assert aggregators_in_use("generic", wanted, stripes, ratio) == wanted


def test_the_generic_driver_divides_evenly_and_moves_buffers() -> None:
    plan = Collective("generic", (0, 1), 200, MIB)
    assert everything(plan, piece(1000, 600)) == {0: [(1000, 1200), (1200, 1300)], 1: [(1300, 1500), (1500, 1600)]}
    first, *_ = rounds(plan, union([piece(0, 100), piece(150, 50), piece(300, 500)]), writing=True)
    assert [(move.begin, move.end, move.holes) for move in first.moves] == [(0, 200, True), (400, 600, False)]
    assert first.bytes == 350


def test_collective_reads_of_the_lustre_driver_end_with_stripes() -> None:
    plan = Collective("lustre", (0, 2), 16 * MIB, MIB)
    assert everything(plan, piece(0, 3 * MIB), writing=False) == {0: [(0, 2 * MIB)], 2: [(2 * MIB, 3 * MIB)]}


def test_ranges_in_turn_are_not_interleaved() -> None:
    assert not is_interleaved([(0, 9), (10, 19), (20, 29)])
    assert is_interleaved([(0, 9), (5, 19)])


def test_a_transfer_that_no_program_makes_is_refused() -> None:
    program = RankSteps({7: Layout(1, MIB, 0)})
    program.move(0, 7, writing=True, offset=0, length=90_000_000 * MIB)
    with pytest.raises(IolensError, match="more than 100,000,000 pieces of stripes"):
        program.move(0, 7, writing=False, offset=0, length=20_000_000 * MIB)


def test_ranks_wait_for_one_another_and_for_the_targets() -> None:
    program = RankSteps({7: Layout(1, MIB, 0)})
    for rank in (0, 1):
        program.wait(rank, 0.5 * rank)
        program.mark(rank, 0)
    program.meet([0, 1])
    program.move(0, 7, True, 0, 8 * MIB)
    program.mark(0, 1)
    program.flush(0, 7)
    for rank in (0, 1):
        program.mark(rank, 2)
    played = play(program, MODEL)
    marks = {rank: dict(found) for rank, found in played.marks.items()}
    assert marks[0][0] == 0
    assert marks[1][2] == pytest.approx(0.5)
    assert marks[0][1] < 0.51, "the write returns when it is in the client's memory"
    assert marks[0][2] == pytest.approx(0.5 + 8 * MIB / 200e6, rel=0.02)
    assert played.end == marks[0][2]


@pytest.mark.parametrize(("apart", "last_ones"), [(0.0, {0, 1, 2, 3}), (3e-5, {0, 1, 2, 3}), (1e-2, {3})])
def test_who_comes_first_is_drawn_by_the_seed(apart: float, last_ones: set[int]) -> None:
    """Four ranks write the same page: the last one waits for the locks of all others, and any rank may be the last one,
    unless they begin at very different times.
    """
    program = RankSteps({1: Layout(1, MIB, 0)})
    program.meet(range(4))
    for rank in range(4):
        program.wait(rank, apart * rank)
        program.move(rank, 1, True, 0, 4096)
        program.mark(rank, 0)
    last = {}
    for seed in range(41):
        marks = play(program, MODEL, seed).marks
        last[seed] = max(marks, key=lambda rank: marks[rank][0][1])
    assert last[0] == 3, "without a seed the lowest rank comes first"
    assert set(last.values()) == last_ones
    assert play(program, MODEL, 5) == play(program, MODEL, 5)


def test_a_rank_goes_behind_those_ahead_of_it() -> None:
    """Rank 1 of two begins first, whatever the seed: the other one waits for its lock, never the other way round."""
    program = RankSteps({1: Layout(1, MIB, 0)})
    program.meet(range(2))
    places = program.in_turn({0: [1], 1: []})
    for rank in (0, 1):
        if rank in places:
            program.begin(rank, places[rank])
        program.move(rank, 1, True, 0, 4096)
        program.mark(rank, 0)
    ends = {tuple(marks[0][1] for _, marks in sorted(play(program, MODEL, seed).marks.items())) for seed in range(1, 9)}
    assert len(ends) == 1
    behind, first = ends.pop()
    assert first < behind < first + 0.01, "it begins behind the other one, not when that has ended"


def test_an_aggregator_writes_behind_those_to_which_it_sends() -> None:
    """If rank 1 sends to rank 0 only, rank 0 is ahead. Short messages, pairs that send both ways and rings of three
    prove nothing.
    """

    def turns(*wanted: tuple[int, int]) -> dict[int, list[int]]:
        moves = [Move(rank, rank * MIB, (rank + 1) * MIB, False) for rank in range(3)]
        return ahead(moves, {rank: piece(*each) for rank, each in enumerate(wanted)})

    nothing = (0, 0)
    assert turns((0, MIB // 2), (MIB // 2, MIB), nothing) == {0: [], 1: [0], 2: []}
    assert turns((0, MIB // 2), (MIB - 4096, MIB), nothing) == {0: [], 1: [], 2: []}
    assert turns((0, 2 * MIB), (0, 2 * MIB), nothing) == {0: [], 1: [], 2: []}
    assert turns((0, 2 * MIB), (MIB, 2 * MIB), (0, 8192)) == {0: [], 1: [], 2: []}
    assert turns(nothing, (0, MIB), (MIB, MIB)) == {0: [], 1: [0], 2: [1]}


@pytest.mark.parametrize(
    "line", ["w,0,0,0,1", "x,0,1", "t,0,-1", "t,-1,1", "file,0,99,65536,0", "m,0,-1,2", "b,0,-1,2", "p,0,-1"]
)
def test_a_wrong_step_is_named(line: str) -> None:
    done = subprocess.run(
        [ROOT / "build" / "bin" / "ost-replay", MODEL], input=line + "\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "line 1" in done.stderr


def test_ranks_that_wait_in_vain_are_named() -> None:
    program = RankSteps({}, met=0)
    program.lines.append("m,3,0,2")
    with pytest.raises(Exception, match="rank 3 waits for ranks that never come"):
        play(program, MODEL)


TRUE = {"ost_mb_per_s": 90.0, "link_mb_per_s": 300.0, "ost_rpc_us": 120.0, "network_us": 300.0, "lock_us": 700.0}
"""Parameters of the simulated file system that the test measures; the fit must find them."""


def moves(ranks: int, stripes: int, sizes: Iterable[tuple[int, int, int]], sync_each: bool = False) -> RankSteps:
    """Returns writes (rank, offset, length) with a flush at the end or, if `sync_each`, after each write."""
    program = RankSteps({1: Layout(stripes, MIB, 0)})
    for rank in range(ranks):
        program.mark(rank, 0)
    for rank, offset, length in sizes:
        program.move(rank, 1, True, offset, length)
        if sync_each:
            program.flush(rank, 1)
    for rank in range(ranks):
        program.flush(rank, 1)
        program.mark(rank, 1)
    return program


def test_a_fit_recovers_what_it_was_not_told(tmp_path: Path) -> None:
    """The runs of a calibration are timed by a model whose parameters differ from the fit's first guess."""
    start = read_model()
    start = replace(start, values={**start.values, "link_mb_per_s": 4000})
    scattered = [(0, 2 * MIB * (i * 37 % 101), 4096) for i in range(100)]
    programs = {
        "bandwidth": moves(1, 1, [(0, i * 4 * MIB, 4 * MIB) for i in range(32)]),
        "link": moves(1, 12, [(0, i * 4 * MIB, 4 * MIB) for i in range(64)]),
        "request": moves(1, 1, scattered, sync_each=True),
        "in flight": moves(1, 1, scattered),
        "locks": moves(2, 1, [(i % 2, i * MIB // 4, MIB // 4) for i in range(64)]),
    }
    true = {**start.values, **TRUE}
    found = fit(
        [FitRun(name, each, seconds(FitRun(name, each, 1.0), true, tmp_path)) for name, each in programs.items()], start
    )
    assert found.unseen == ()
    assert {key: found.model.values[key] for key in TRUE} == pytest.approx(TRUE, rel=0.03)
    assert max(map(abs, found.errors.values())) < 0.01


def test_a_parameter_that_no_run_shows_stays(tmp_path: Path) -> None:
    start = read_model()
    one = moves(1, 1, [(0, i * 4 * MIB, 4 * MIB) for i in range(8)])
    true = {**start.values, "ost_mb_per_s": 120.0}
    found = fit([FitRun("one", one, seconds(FitRun("one", one, 1.0), true, tmp_path))], start)
    assert {"link_mb_per_s", "lock_us"} <= set(found.unseen)
    assert found.model.values["lock_us"] == start.values["lock_us"]
    assert found.model.values["ost_mb_per_s"] == pytest.approx(120, rel=0.02)


def test_the_errors_are_those_of_the_model_that_is_written(tmp_path: Path) -> None:
    """If targets are faster than the link, their speed cannot be measured; the fit must only raise the first guess."""
    start = read_model()
    one = moves(1, 1, [(0, i * 4 * MIB, 4 * MIB) for i in range(8)])
    true = {**start.values, "ost_mb_per_s": 5000.0, "link_mb_per_s": 600.0}
    trial = FitRun("one", one, seconds(FitRun("one", one, 1.0), true, tmp_path))
    found = fit([trial], start)
    assert seconds(trial, found.model.values, tmp_path) / trial.measured - 1 == pytest.approx(
        found.errors["one"], abs=0.02
    )
    assert abs(found.errors["one"]) < 0.05


@pytest.mark.mpi
def test_a_plain_file_system_is_one_target(tmp_path: Path) -> None:
    """The log of a run on a plain file system has no stripes, and no accounts say whether its times are valid."""
    (run,) = (run for run in runs(MIB, MIB) if run.shows == "file per process")
    recorded = one_run(run, Layout(1, MIB), tmp_path, PLAIN, tmp_path / "logs")
    layouts = predicted_layouts(recorded, ChangedSettings(), 1)
    assert [(layout.stripe_count, layout.start) for layout in layouts.values()] == [(1, 0)] * 4
    assert sorted(recorded.ranks) == [0, 1, 2, 3]
    assert recorded_times(recorded).io > 0
    unknown = replace(recorded, layouts={i: Layout(1, MIB) for i in range(3)})
    assert [layout.start for layout in predicted_layouts(unknown, ChangedSettings(), 2).values()] == [0, 1, 0]


@pytest.mark.parametrize(
    ("line", "told"), [("nonsense: 1", "is not a key"), ("lock_us: fast", "line 37"), ("", "is missing")]
)
def test_a_wrong_model_is_named(tmp_path: Path, line: str, told: str) -> None:
    text = model_text(read_model().values)
    text = text.replace("lock_us: 200\n", "") if not line or line.startswith("lock_us") else text
    (tmp_path / "model.yaml").write_text(text + line + "\n")
    with pytest.raises(UsageError, match=told):
        read_model(tmp_path / "model.yaml")


RECORDED = ROOT / "tests" / "data" / "iolens" / "predict"
"""A log of IOR with 4 ranks that share a file in pieces of 47008 bytes, on targets with the parameters in model.yaml.
"""


@pytest.mark.parametrize(("log", "stripes", "error"), [("ior-1-stripe", 1, 0.02), ("ior-12-stripes", 12, 0.05)])
def test_a_recorded_run_tells_another_one(log: str, stripes: int, error: float) -> None:
    """Both runs were measured; the one with 4 stripes is replayed with another stripe count."""
    traced = read_recorded(read_log(RECORDED / "ior-4-stripes.darshan"))
    (found,) = predict(traced, read_model(RECORDED / "model.yaml"), [ChangedSettings(stripe_count=stripes)])
    measured = recorded_times(read_recorded(read_log(RECORDED / f"{log}.darshan")))
    assert found.predicted.io == pytest.approx(measured.io, rel=error)
    assert abs(found.own_error) < 0.1
    assert found.predicted.io != pytest.approx(found.recorded.io, rel=0.5)


def test_the_model_is_that_of_the_mount_that_the_run_used(tmp_path: Path) -> None:
    job = replace(read_log(RECORDED / "ior-4-stripes.darshan"), mounts=(Mount("ost", str(tmp_path)),))
    assert model_of(job).origin == read_model().origin, "the mount is gone"
    make_mount(tmp_path, RECORDED / "model.yaml")
    assert model_of(job).origin == str(tmp_path / ".ost" / "ost.yaml")
    assert model_of(job).values == read_model(RECORDED / "model.yaml").values
    assert model_of(job, MODEL).origin == str(MODEL)


def test_transfers_that_pnetcdf_joins_are_not_predicted() -> None:
    import pandas as pd

    job = read_log(RECORDED / "ior-4-stripes.darshan")
    counts = pd.DataFrame({"PNETCDF_VAR_NB_READS": [0], "PNETCDF_VAR_NB_WRITES": [3]})
    with pytest.raises(IolensError, match="n/a: PnetCDF's non-blocking transfers"):
        read_recorded(replace(job, frames={**job.frames, "PNETCDF_VAR": counts}))


def test_the_command_prints_what_was_measured_and_what_is_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", str(RECORDED / "ior-4-stripes.darshan"), "--model", str(RECORDED / "model.yaml")]
    assert main([*words, "--stripes", "1,12", "-o", str(tmp_path / "what-if.json")]) == 0
    said = capsys.readouterr().out
    assert "Predicted, not measured, from the traced run ior-4-stripes.darshan" in " ".join(said.split())
    assert "Do not rely" not in said
    assert main([*words[:2], "--stripes", "1"]) == 0, "the model of other storage"
    assert "Do not rely on these predictions" in " ".join(capsys.readouterr().out.split())
    found = read_what_if(tmp_path)
    assert found is not None
    assert [dict(settings) for settings, _ in found.points] == [{"stripe_count": 1}, {"stripe_count": 12}]
    (figure,) = WHAT_IF.figures(found)
    assert figure.says.startswith("most: stripe count 1,")
    assert "least: stripe count 12," in figure.says
    assert main([*words, "--stripes", "99"]) == 1
    assert "the model has 12 targets" in capsys.readouterr().err


def test_stripes_that_a_log_does_not_hold_can_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["predict", str(RECORDED / "ior-4-stripes.darshan"), "--model", str(RECORDED / "model.yaml")]
    words += ["--stripes", "1,12", "-o", str(tmp_path / "what-if.json")]
    assert main(words) == 0
    held = read_what_if(tmp_path)
    job = read_log(RECORDED / "ior-4-stripes.darshan")
    (size,) = set(job.frames["LUSTRE"]["stripe_size"])
    bare = replace(job, frames={name: frame for name, frame in job.frames.items() if name != "LUSTRE"})
    monkeypatch.setattr("iolens.log.read_log", lambda _: bare)
    capsys.readouterr()
    assert main(words) == 1
    assert "name the stripes that its files had with --recorded" in capsys.readouterr().err
    assert main([*words, "--recorded", f"4:{size}"]) == 0
    named = read_what_if(tmp_path)
    assert held is not None
    assert named is not None
    assert [one.io for _, one in named.points] == pytest.approx([one.io for _, one in held.points], rel=0.02)
    with pytest.raises(SystemExit):
        main([*words, "--recorded", "4"])
    assert "4 is not a number of stripes and their size, such as 4:1M" in capsys.readouterr().err


def test_a_best_setting_says_for_which_machines_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file on four stripes of 2 MB/s is slower than one on twelve as soon as the links carry more than that."""
    words = ["predict", str(RECORDED / "ior-4-stripes.darshan"), "--model", str(RECORDED / "model.yaml")]
    assert main([*words, "--stripes", "4,12", "-o", str(tmp_path / "what-if.json")]) == 0
    assert "This choice holds if a client's link is 1 to 16 times" not in " ".join(capsys.readouterr().out.split())
    found = read_what_if(tmp_path)
    assert found is not None
    assert found.links is not None
    assert found.links.here == 6.25
    assert main([*words, "--stripes", "4", "-o", str(tmp_path / "what-if.json")]) == 0
    alone = read_what_if(tmp_path)
    assert alone is not None
    assert alone.links is None, "one setting has nothing to be better than"
    quick = {**read_model(RECORDED / "model.yaml").values, "ost_mb_per_s": 2e5, "link_mb_per_s": 3e5}
    (tmp_path / "quick.yaml").write_text(model_text(quick))
    assert main([*words[:3], str(tmp_path / "quick.yaml"), "--stripes", "4,12"]) == 0, "links that a model may have"


def test_a_prediction_proposes_no_stripes_that_stay_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", str(RECORDED / "ior-4-stripes.darshan"), "--model", str(RECORDED / "model.yaml")]
    size = largest_file(read_recorded(read_log(RECORDED / "ior-4-stripes.darshan")))
    unit = size // 3
    assert main([*words, "--stripes", "1,12", "--stripe-size", str(unit), "-o", str(tmp_path / "what-if.json")]) == 0
    filled = math.ceil(size / unit)
    said = " ".join(capsys.readouterr().out.split())
    assert f"The largest file fills only {filled} of these stripes, so request {filled}." in said
    found = read_what_if(tmp_path)
    assert found is not None
    assert found.filled == [None, filled]
    assert main([*words, "--stripes", "1,12", "--stripe-size", str(size // 40)]) == 0
    assert "of these stripes only" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "place", "limits"),
    [
        (((5, 4), (3, 4), (3, 4), (5, 4)), 0, (2, 4)),
        (((3, 4), (5, 4), (3, 4), (3, 4)), 0, (4, 8)),
        (((3, 4), (3, 4), (3, 4), (3, 4)), 0, (1, 8)),
        (((3, 4), (3, 4), (3, 3.05), (3, 4)), 1, (4, 4)),
        (((3, 4), (3, 4), (3, 4), (4, 3)), 1, None),
    ],
)
def test_the_machines_are_those_around_the_models_own(
    seconds: tuple[tuple[float, float], ...], place: int, limits: tuple[float, float] | None
) -> None:
    links = Links(4, list(zip((1, 2, 4, 8), seconds, strict=True)))
    assert links.range_of(place) == limits
    assert bool(links.words(place)) == (limits is not None)
