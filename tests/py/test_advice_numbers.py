"""Tests that numbers in sentences of the advice are those of the right files, clock, ranks and stripes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from iolens.advise import diagnosis, findings, say
from iolens.advise.limits import DEFAULTS
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.rules import aggregator_rules
from iolens.advise.standing import HARDLY, NOTHING, log_standing
from iolens.advise.weigh import agreed
from iolens.log import read_log
from iolens.metrics.files.stripes.ost import clearly_slow
from iolens.pages.exhibits.overview import PERFORMANCE
from iolens.pages.exhibits.striping import TARGET_BYTES
from iolens.pages.wording.job_words import verdicts
from job_example import MIB, frame
from test_advise_rules import TESTS, job, layouts, own_files, said


def rule(name: str) -> Rule:
    return Rule(name, f"Title of {name}", "", (), "", "", lambda *_: None)


def test_the_first_finding_decides_on_a_hint_and_on_a_layout() -> None:
    first = Seen(
        "", 2.0, "", "{hints}\n{layout}", ("cb_nodes 4", "romio_cb_write enable"), ProposedStripes(4, MIB, (1,))
    )
    later = Seen(
        "", 1.0, "", "{hints}\n{layout}", ("cb_nodes 8", "romio_cb_write enable"), ProposedStripes(8, MIB, (1, 2))
    )
    other = Seen("", 1.0, "", "{layout}", (), ProposedStripes(8, MIB, (3,)))
    one, two, three = agreed([(rule("a"), first), (rule("b"), later), (rule("c"), other)])
    assert "  cb_nodes 4" in one.remedy
    assert "lfs setstripe -c 4 -S 1M" in one.remedy
    assert two.hints == ("romio_cb_write enable",)
    assert "cb_nodes stays 4, as “Title of a” asks for." in two.remedy
    assert "Use the layout of the file that “Title of a” gives." in two.remedy
    assert "cb_nodes 8" not in two.remedy
    assert "setstripe" not in two.remedy
    assert "lfs setstripe -c 8 -S 1M" in three.remedy


@pytest.mark.parametrize(("targets", "is_said"), [(3, True), (4, False)])
def test_a_remedy_with_more_stripes_than_the_log_shows_targets_says_so(targets: int, is_said: bool) -> None:
    seen = Seen("", 2.0, "", "{layout}", (), ProposedStripes(4, MIB, (1,)))
    (one,) = agreed([(rule("a"), seen)], ("lustre",), targets)
    assert ("This log names only 3 targets" in one.remedy) == is_said


def exchanging(stripes: int, ranks: int = 64) -> str:
    """Returns the remedy of a job whose file has this many stripes and is written by two aggregators."""
    upper = {"id": 1, "rank": -1, "COLL_WRITES": 16, "BYTES_WRITTEN": 512 * MIB, "VIEWS": 4}
    lower = {"id": 1, "rank": -1, "WRITES": 32, "BYTES_WRITTEN": 512 * MIB, "MAX_BYTE_WRITTEN": 512 * MIB - 1}
    times = pd.DataFrame(
        {"file": np.uint64(1), "rank": range(4), "calls": 4, "missed": 0, "seconds": 30.0, "waiting": 1.0}
        | {"access": [9.0, 9.0, 0.0, 0.0], "exchange": [20.0, 20.0, 29.0, 29.0]}
    )
    writers = pd.DataFrame(
        {"file": np.uint64(1), "rank": range(2), "ranks": 1, "bytes_written": 256 * MIB, "bytes_read": 0}
        | {"read_time": 0.0, "write_time": 9.0, "meta_time": 0.0, "first_write": 0.0, "last_write": 9.0, "writes": 16}
    )
    frames = {"MPI-IO": frame("MPI-IO", [upper | {"F_WRITE_TIME": 120.0, "F_SLOWEST_RANK_TIME": 30.0}])}
    frames["POSIX"] = frame("POSIX", [lower | {"F_WRITE_TIME": 18.0, "F_SLOWEST_RANK_TIME": 9.0}])
    frames["LUSTRE"] = layouts({1: list(range(stripes))})
    return said(job(ranks, frames, mpiio_collectives=times, file_ranks=writers))["exchange"].remedy


def test_more_aggregators_are_proposed_only_as_far_as_stripes_and_ranks_go() -> None:
    assert "cb_nodes" not in exchanging(1)
    assert "cb_nodes" not in exchanging(2)
    assert "cb_nodes 8\n" in exchanging(8)
    assert "cb_nodes 4\n" in exchanging(8, ranks=4)
    assert "cb_buffer_size" in exchanging(1)
    assert aggregator_rules.EXCHANGE.id == "exchange"


def test_a_target_is_named_only_with_a_gap_to_the_others() -> None:
    assert list(clearly_slow(np.array([10.0, 100.0, 110.0, 95.0]), 1.5)) == [True, False, False, False]
    assert not clearly_slow(np.array([60.0, 66.0, 68.0, 100.0, 100.0, 100.0, 101.0]), 1.5).any()
    assert not clearly_slow(np.array([np.nan, 100.0, 110.0]), 1.5).any()


@pytest.mark.parametrize("kind", ["READ", "WRITE"])
def test_bytes_of_several_files_are_those_of_all_of_them(kind: str) -> None:
    moved = "READ" if kind == "READ" else "WRITTEN"
    rows = [
        {"id": key, "rank": 0, f"{kind}S": 100, f"BYTES_{moved}": key * 512 * MIB, f"MAX_BYTE_{moved}": 64 * MIB - 1}
        | {f"F_{kind}_TIME": 20.0}
        for key in (1, 2)
    ]
    found = said(job(1, {"POSIX": frame("POSIX", rows)}))["read-again" if kind == "READ" else "rewriting"]
    assert "1.5 GiB" in found.evidence
    assert "128 MiB" in found.evidence
    assert "12.0 times" in found.evidence


def test_several_narrow_files_have_their_own_bytes_and_the_sum_apart() -> None:
    shared = {"rank": -1, "WRITES": 64, "BYTES_WRITTEN": 512 * MIB, "MAX_BYTE_WRITTEN": 512 * MIB - 1}
    rows = [shared | {"id": key, "F_WRITE_TIME": 80.0, "F_SLOWEST_RANK_TIME": 20.0} for key in (1, 2)]
    made = job(8, {"POSIX": frame("POSIX", rows), "LUSTRE": layouts({1: [3], 2: [4]})})
    evidence = said(made, busy_target=MIB)["narrow-stripes"].evidence
    assert re.match(r"file\.\d: 8 ranks moved 512 MiB on 1 stripe; this file and 1 other like it took 40 s", evidence)


def test_a_share_just_below_what_is_worth_it_is_said_to_be_close() -> None:
    for part, stands in ((4.7, HARDLY), (3.0, NOTHING)):
        made = job(4, {"POSIX": own_files([part] * 4)})
        assert log_standing(made, DEFAULTS) == stands
    close = diagnosis(job(4, {"POSIX": own_files([4.7] * 4)})).verdict.sentence
    assert close.startswith("Hardly worth your time: I/O took at most 4.7 % of the run")
    assert close.endswith("; advice begins at 5.0 %.")
    low, high = (
        said(job(8, {"POSIX": own_files([10.0] * 7 + [10.0 + more])}, run_time=100.0), straggler=1.2)
        for more in (4.9, 5.1)
    )
    assert low["straggler-rank"].gain_words.endswith("close to the 5.0 % from which a change is worth it")
    assert high["straggler-rank"].gain_words.endswith("close to the 5.0 % from which a change is worth it")


def test_a_bound_is_not_rounded_below_what_it_bounds() -> None:
    assert [say.at_most(part) for part in (0.0432, 0.05, 0.0991, 0.123, 1.0)] == [
        "4.4 %",
        "5.0 %",
        "10 %",
        "13 %",
        "100 %",
    ]


def test_a_speed_from_microseconds_is_not_printed() -> None:
    row = {"id": 1, "rank": 0, "WRITES": 2, "BYTES_WRITTEN": 4096}
    for seconds, known in ((68e-6, False), (2.0, True)):
        made = job(1, {"STDIO": frame("STDIO", [row | {"F_WRITE_TIME": seconds}])})
        assert ("(estimate)" in verdicts(made)[0]) is known
        table = PERFORMANCE.table(made)
        assert table is not None
        assert (table.rows[0][-1] != "n/a") is known


def test_a_gain_on_a_clock_of_whole_seconds_allows_for_a_shorter_run() -> None:
    rows = own_files([20.0] * 7 + [40.0])
    exact = job(8, {"POSIX": rows}, run_time=100.0)
    (whole,), (most,) = ([one.gain for one in findings(each)] for each in (exact, replace(exact, version="3.21")))
    assert (whole, most) == (pytest.approx(20 / 100), pytest.approx(20 / 99))
    assert findings(replace(exact, version="3.21"))[0].gain_words == "about 20 % of the run"


def test_a_slow_target_has_one_speed_in_evidence_table_and_caption() -> None:
    made = read_log(TESTS / "advice/logs/sample-badost.darshan")
    (table,) = TARGET_BYTES.tables(made)
    (slow,) = (row for row in table.rows if row[0] == "14")
    assert f"target 14 moved {slow[-1]}, " in findings(made)[0].evidence
    assert f"Target 14 was slow: a process that used it moved {slow[-1]}, " in (table.note or "")
