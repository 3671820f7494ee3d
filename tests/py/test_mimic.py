"""Tests phases of a mini-app: loops make exactly the calls that they replace, and a log without the necessary data is
refused.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from iolens.cli.main import main
from iolens.lab.mimic.calls import CallKind, Calls, FileFacts, Trace, View, calls_of, in_order, joined
from iolens.lab.mimic.phases import VALUES, expand_steps, fold, pauses, rank_groups, step_waits
from iolens.lab.mimic.tables import c_tables_of
from iolens.lab.mimic.uncounted import chain_renames
from iolens.lab.mimic.visible import visible_before
from iolens.lab.predict.extents import Extents, FileView

ROOT = Path(__file__).resolve().parents[2]


def program(rank: int, rows: list[tuple[CallKind, int, int, int]]) -> Calls:
    """Returns calls of a rank (kind, file, offset, length), one second each."""
    kinds, files, offsets, lengths = np.array(rows, np.int64).reshape(-1, 4).T
    starts = np.arange(len(rows)) * 1.0
    return calls_of(
        len(rows), rank=rank, kind=kinds, file=files, offset=offsets, length=lengths, start=starts, end=starts
    )


def folded(calls: Calls, threshold: float = np.inf) -> list[int]:
    """Folds the calls of each group of ranks into steps, checks that the expanded steps are the same calls, and returns
    the number of steps of each group.
    """
    sizes = []
    for group in rank_groups(calls, step_waits(calls, np.zeros(1 + int(calls.rank.max())))):
        steps = fold(calls, group, pauses(group, threshold))
        kinds, values = expand_steps(steps)
        assert kinds == [CallKind(int(kind)) for kind in calls.kind[group.place[:, 0]]]
        for place, name in enumerate(VALUES):
            assert np.array_equal(values[:, place], getattr(calls, name)[group.place])
        sizes.append(len(steps))
    return sizes


def segments(rank: int, ranks: int) -> list[tuple[CallKind, int, int, int]]:
    """Returns the calls of IOR: 7 segments, each of 5 transfers of 10 bytes."""
    moves = [(CallKind.WRITE, 0, (s * ranks + rank) * 50 + t * 10, 10) for s in range(7) for t in range(5)]
    return [(CallKind.OPEN, 0, 0, 0), *moves, (CallKind.CLOSE, 0, 0, 0)]


def test_segments_of_transfers_are_two_loops_for_all_ranks() -> None:
    calls = in_order(joined([program(rank, segments(rank, 8)) for rank in range(8)]))
    assert folded(calls) == [5]


def test_loops_over_files_with_transfers_in_them_are_found() -> None:
    each = [(CallKind.OPEN, 0, 0), *((CallKind.WRITE, 100 * i, 100) for i in range(9)), (CallKind.CLOSE, 0, 0)]
    rows = [(kind, file, offset, length) for file in range(50) for kind, offset, length in each]
    assert folded(program(0, rows)) == [5]


@pytest.mark.parametrize("seed", range(40))
def test_steps_stand_for_exactly_the_calls_of_a_random_program(seed: int) -> None:
    chance = random.Random(seed)

    def block(depth: int) -> list[tuple[CallKind, int, int, int]]:
        rows: list[tuple[CallKind, int, int, int]] = []
        for _ in range(chance.randrange(1, 4)):
            if depth and chance.random() < 0.6:
                inner, stride = block(depth - 1), chance.choice([0, 8, 100, -4])
                for turn in range(chance.randrange(1, 6)):
                    rows += [(kind, file, offset + turn * stride, length) for kind, file, offset, length in inner]
            else:
                kind = chance.choice([CallKind.WRITE, CallKind.READ, CallKind.FSYNC])
                rows.append((kind, chance.randrange(3), chance.randrange(1000), chance.randrange(100)))
        return rows

    rows = block(3)
    parts = [program(rank, [(k, f, o + rank * 7, n) for k, f, o, n in rows]) for rank in range(3)]
    folded(in_order(joined(parts)))
    calls = in_order(joined(parts))
    jitter = np.array([chance.choice([0.0, 0.5]) for _ in range(len(calls))])
    folded(calls.changed(start=calls.start + jitter, end=calls.end + jitter), 0.9)


def test_waits_of_one_chain_share_a_class() -> None:
    calls = program(0, [(CallKind.SEEK, 0, 0, 0)] * 6)
    starts = np.cumsum([0.0, 1.0, 1.5, 30.0, 0.001, 40.0])
    calls = calls.changed(start=starts, end=starts)
    (group,) = rank_groups(calls, step_waits(calls, np.zeros(1)))
    assert pauses(group, 0.1).tolist() == [0, 1, 1, 2, 0, 2]


def test_offsets_in_a_view_count_visible_bytes() -> None:
    view = View(100, 50, ((5, 10, 1, 0, 1, 0, 1, 0), (20, 5, 2, 6, 1, 0, 1, 0)))
    visible = [100 + 50 * tile + byte for tile in range(3) for byte in [*range(5, 15), *range(20, 25), *range(26, 31)]]
    assert visible_before(view, np.array(visible)).tolist() == list(range(len(visible)))


def test_pieces_beyond_the_extent_of_a_type_belong_to_the_first_tile() -> None:
    """The type of PnetCDF's records spans 924 bytes and has an extent of 580."""
    view = View(0, 580, ((0, 512, 1, 0, 1, 0, 1, 0), (512, 24, 2, 32, 1, 0, 1, 0), (904, 20, 1, 0, 1, 0, 1, 0)))
    visible = [*range(512), *range(512, 536), *range(544, 568), *range(904, 924)]
    assert visible_before(view, np.array(visible)).tolist() == list(range(580))
    pieces = FileView(0, 580, Extents(np.array([0, 512, 544, 904]), np.array([512, 24, 24, 20])))
    assert [pieces.place(offset) for offset in (544, 904, 923)] == [536, 560, 579]
    written = pieces.extents(904, 20)
    assert (written.begin.tolist(), written.length.tolist()) == ([904], [20])


NAMES = ["/a/x", "/b/x", "/c/x.2", "/d/..", "/e/", '/f/\U0001f600?"\\\n\udcff7', "/g/a??'b"]


@pytest.mark.parametrize("files", [(3, 2, 1, 0), (0, 1, 2, 3), (1, 3, 0, 2)])
def test_a_file_is_renamed_after_the_rename_that_made_it(files: tuple[int, ...]) -> None:
    """Files are renamed in a chain. Only the first file was opened, and its last call ended 5 s after the start."""
    begun = [5.0, 0.0, 0.0]
    rows = sorted((0, file, files[i + 1], begun[i]) for i, file in enumerate(files[:-1]))
    moments = {file: moment for _, file, _, moment in chain_renames(rows, {(files[0], 0)})}
    assert sorted(moments, key=lambda file: moments[file]) == [*files[:-1]]
    assert moments[files[0]] == 5.0
    late = [(0, 1, 2, 5.0), (0, 2, 3, 9.0)]
    assert chain_renames(late, {(1, 0)}) == late, "a file that has calls on streams alone until 9 s"
    assert chain_renames([(0, 1, 1, 2.0)], set()) == [(0, 1, 1, 2.0)]
    assert len(chain_renames([(0, 1, 2, 1.0), (0, 2, 1, 1.0)], set())) == 2, "names in a circle come to an end"


def test_own_names_are_strings_of_c_that_lead_nowhere_else(tmp_path: Path) -> None:
    facts = [FileFacts(name, 0, None, {"key?": "value\x01"}, True) for name in NAMES]
    trace = Trace(1, 1.0, "", "", calls_of(0), tuple(facts), (), (), ((0,), (0,)), {}, np.zeros(1), ())
    source = c_tables_of(trace, [], names=True)
    (names,) = (part for part in source.split("\n\n") if "names[]" in part)
    (hints,) = (part for part in source.split("\n\n") if "hints[]" in part)
    code = f"""#include <stdio.h>
        struct hint {{ long first_file, files; const char *key, *value; }};
        {names[names.index("static") :]}
        {hints}
        int main(void)
        {{
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                fwrite(names[i], 1, __builtin_strlen(names[i]) + 1, stdout);
            return puts(hints[0].value) < 0;
        }}"""
    (tmp_path / "names.c").write_text(code)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "names", tmp_path / "names.c"], check=True)
    *found, hint = subprocess.run([tmp_path / "names"], check=True, capture_output=True).stdout.split(b"\0")
    assert found == [b"x", b"x.3", b"x.2", b"file", b"file.2", '\U0001f600?"\\\n'.encode() + b"\xff7", b"a??'b"]
    assert hint == b"value\x01\n"
    assert not any(b"/" in name for name in found)


def test_a_log_without_traces_is_refused_with_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ROOT / "tests/data/iolens/hdf5_calls.darshan"
    assert main(["mimic", str(log), "-o", str(tmp_path / "mini")]) == 1
    assert "iolens run --dxt" in capsys.readouterr().err
    assert not (tmp_path / "mini").exists()


def test_logs_of_older_versions_are_taken(tmp_path: Path) -> None:
    log = ROOT / "tests/data/iolens/predict/ior-4-stripes.darshan"
    assert main(["mimic", str(log), "-o", str(tmp_path / "mini")]) == 0
    assert "{WRITE," in (tmp_path / "mini" / "mimic.c").read_text()


def test_files_that_are_not_of_a_mini_app_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, own = str(ROOT / "tests/data/iolens/predict/ior-4-stripes.darshan"), tmp_path / "README.md"
    own.write_text("mine")
    assert main(["mimic", log, "-o", str(tmp_path)]) == 1
    assert f"{own} is not of a mini-app" in capsys.readouterr().err
    assert (own.read_text(), [*tmp_path.iterdir()]) == ("mine", [own])
    own.unlink()
    assert [main(["mimic", log, "-o", str(tmp_path)]) for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_visible_bytes_are_those_of_a_walk_over_the_tiles(seed: int) -> None:
    chance = random.Random(seed)
    rows, at = [], chance.randrange(20)
    for _ in range(chance.randrange(1, 5)):
        rows.append((at, chance.randrange(1, 9), 1, 0, 1, 0, 1, 0))
        at += rows[-1][1] + chance.randrange(6)
    span = at - rows[0][0]
    view = View(chance.randrange(30), chance.choice([span, span + 7, max(1, span // 2)]), tuple(rows))
    walk = [
        view.displacement + tile * view.extent + byte
        for tile in range(4)
        for begin, length, *_ in rows
        for byte in range(begin, begin + length)
    ]
    first_tile = walk[: len(walk) // 4] if view.extent < span else walk
    assert visible_before(view, np.array(first_tile)).tolist() == list(range(len(first_tile)))
