"""Tests rules that no sample log triggers, on made-up jobs; the arithmetic of bounds; thresholds; hints."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pandas as pd
import pytest
from advice_invariants import contradictions
from iolens.advise import Finding, diagnosis, findings, judge, remedies, rules, verdict
from iolens.advise.limits import DEFAULTS, changed, from_file
from iolens.advise.rules import computing_rules, rank_rules, target_rules
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.log import Job, read_log
from iolens.log.records import Records
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job.share import io_seconds
from iolens.metrics.job.spent import slowest_seconds
from iolens.metrics.processor.sampled import groups
from iolens.metrics.processor.steps import communication_step
from iolens.pages.wording.job_lists import rules_text
from job_example import MIB, frame, job_of
from processor_example import use

TESTS = Path(__file__).parents[1]
MARK = re.compile(r"^@\w+:")
WORDS = re.compile("^[A-Z_]*[A-Z]_REMEDY$|^(COLLECTIVE|BROADCAST|SPLIT|INDEPENDENT)$")
ADVICE = TESTS.parent / "report/ADVICE.md"


def job(nprocs: int, frames: dict[str, pd.DataFrame], run_time: float = 100.0, **private: Any) -> Job:
    """Returns a job on a Lustre mount."""
    names = {key: f"/scratch/file.{key}" for key in range(5000)}
    return job_of(run_time, nprocs=nprocs, names=names, frames=frames, private=private)


def own_files(seconds: list[float], **counters: Any) -> pd.DataFrame:
    """Returns records of one file per rank, each with 64 MiB in writes of 4 MiB that take the given seconds."""
    written = {"OPENS": 1, "WRITES": 16, "SEQ_WRITES": 15, "CONSEC_WRITES": 15, "SIZE_WRITE_1M_4M": 16}
    sizes = {"BYTES_WRITTEN": 64 * MIB, "MAX_BYTE_WRITTEN": 64 * MIB - 1}
    return frame(
        "POSIX",
        [
            {"id": rank, "rank": rank, "F_WRITE_TIME": spent, "F_WRITE_START_TIMESTAMP": 1.0, **written, **sizes}
            | {"F_WRITE_END_TIMESTAMP": 1.0 + spent}
            | counters
            for rank, spent in enumerate(seconds)
        ],
    )


def layouts(stripes: dict[int, list[int]], size: int = MIB) -> pd.DataFrame:
    """Returns a layout of one component for each file."""
    rows = [
        {"id": key, "rank": -1, "component": 0, "stripe_size": size, "stripe_count": len(osts), "pattern": 0}
        | {"flags": 0, "extent_start": 0, "extent_end": -1, "mirror": 0, "pool": "", "osts": tuple(osts)}
        for key, osts in stripes.items()
    ]
    return pd.DataFrame(rows)


def said(made: Job, **limits: float) -> dict[str, Finding]:
    """Returns the findings of the advice by rule."""
    return {one.id: one for one in findings(made, changed([f"{key}={value}" for key, value in limits.items()]))}


def test_time_of_the_slowest_rank() -> None:
    rows = [
        {"id": 1, "rank": 0, "F_WRITE_TIME": 3.0},
        {"id": 2, "rank": 1, "F_WRITE_TIME": 2.0, "F_READ_TIME": 2.5},
        {"id": 3, "rank": -1, "F_WRITE_TIME": 8.0, "F_META_TIME": 1.0, "F_SLOWEST_RANK_TIME": 4.0},
        {"id": 4, "rank": -1, "F_READ_TIME": 1.0, "F_SLOWEST_RANK_TIME": 4.0},
    ]
    made = job(4, {"POSIX": frame("POSIX", rows)})
    assert io_seconds(made) == pytest.approx(4.5 + 4.0 + 1.0)
    # Rank 0 wrote its own file for 3 s; the shared file's slowest rank, which it is, was there for 4 s of 9 s over all
    # ranks, 1 s of which were metadata.
    assert seconds_of(made, [1, 2, 3], "WRITE") == pytest.approx((3.0 + 4.0 - 1.0, 3.0 + 4.0 * 8 / 9, 3.0 + 4.0))
    assert seconds_of(made, [2], "READ") == pytest.approx((2.5, 2.5, 2.5))
    assert seconds_of(made, [3], "META") == pytest.approx((1.0 / 4, 4.0 / 9, 1.0))


def seconds_of(made: Job, files: list[int], kind: str) -> tuple[float, float, float]:
    """Returns the least, the likely and the largest time of the slowest rank in POSIX calls of a kind."""
    spent = slowest_seconds(made, "POSIX", files, (kind,))
    return spent.least, spent.about, spent.most


def test_mpiio_time_stands_for_the_posix_time_below_it() -> None:
    upper = frame("MPI-IO", [{"id": 1, "rank": -1, "F_WRITE_TIME": 20.0, "F_SLOWEST_RANK_TIME": 6.0}])
    lower = frame("POSIX", [{"id": 1, "rank": -1, "F_WRITE_TIME": 10.0, "F_SLOWEST_RANK_TIME": 5.0}])
    assert io_seconds(job(4, {"MPI-IO": upper, "POSIX": lower})) == pytest.approx(6.0)


def hosted(slow: set[int]) -> Job:
    """Returns a job of eight ranks on four hosts; ranks of the slow hosts take three times as long."""
    info = {"hosts": ["a", "b", "c", "d"], "rank_host": [0, 0, 1, 1, 2, 2, 3, 3]}
    return job(8, {"POSIX": own_files([30.0 if rank // 2 in slow else 10.0 for rank in range(8)])}, job=info)


def test_a_slow_host_is_named_and_its_ranks_are_not() -> None:
    found = said(hosted({2}))
    assert set(found) == {"straggler-host"}
    assert "All 2 ranks on c took 30 s" in found["straggler-host"].evidence
    assert found["straggler-host"].gain == pytest.approx(0.2)
    assert "--exclude=c" in found["straggler-host"].remedy
    assert said(hosted(set())) == {}
    assert said(hosted({1, 2})) == {}


def test_a_slow_rank_where_hosts_are_not_known() -> None:
    found = said(job(8, {"POSIX": own_files([10.0] * 7 + [16.0])}))
    assert set(found) == {"straggler-rank"}
    assert found["straggler-rank"].gain == pytest.approx(0.06)
    assert said(job(8, {"POSIX": own_files([10.0] * 7 + [14.0])})) == {}


def test_small_files_on_many_targets() -> None:
    small = {"BYTES_WRITTEN": 1000, "MAX_BYTE_WRITTEN": 999, "WRITES": 1, "F_META_TIME": 0.2}
    files = frame("POSIX", [{"id": key, "rank": 0, **small} for key in range(200)])
    wide = job(1, {"POSIX": files, "LUSTRE": layouts({key: [0, 1, 2, 3] for key in range(200)})})
    assert set(said(wide)) == {"wide-stripes"}
    assert "lfs setstripe -c 1" in said(wide)["wide-stripes"].remedy
    narrow = job(1, {"POSIX": files, "LUSTRE": layouts({key: [0] for key in range(200)})})
    assert said(narrow) == {}


def _importers(own_seconds: float, suffix: str = "py") -> Job:
    """Returns a job of four ranks, each of which opens 500 modules and then writes a file of its own."""
    modules = [
        {"id": number, "rank": rank, "OPENS": 1, "STATS": 2, "READS": 1, "BYTES_READ": 4096}
        | {"F_META_TIME": 0.02 + 0.01 * (rank == 3), "F_READ_TIME": 0.01}
        for number in range(500)
        for rank in range(4)
    ]
    own = [
        {"id": 600 + rank, "rank": rank, "OPENS": 1, "WRITES": 16, "SIZE_WRITE_1M_4M": 16, "BYTES_WRITTEN": 64 * MIB}
        | {"F_WRITE_TIME": own_seconds}
        for rank in range(4)
    ]
    names = {number: f"/scratch/env/module{number}.{suffix}" for number in range(500)}
    names |= {600 + rank: f"/scratch/out.{rank}" for rank in range(4)}
    return job_of(200.0, nprocs=4, names=names, frames={"POSIX": frame("POSIX", modules + own)})


def test_modules_that_every_rank_loads_are_a_storm_also_beside_much_writing() -> None:
    """Metadata calls take little of the I/O time here, and all paths that the ranks look up exist."""
    seen = said(_importers(own_seconds=120.0))
    assert not {"metadata-storm", "missing-paths"} & set(seen)
    storm = seen["start-up-storm"]
    # The slowest rank: 500 modules, 0.03 s of opening and 0.01 s of reading each.
    assert storm.gain == pytest.approx(500 * 0.04 / 200)
    assert "4 processes opened or looked up 500 files of libraries and modules 6,000 times" in storm.evidence
    assert "/dev/shm" in storm.remedy
    assert "spindle" in storm.remedy


def test_the_metadata_calls_of_a_storm_of_modules_are_not_promised_twice() -> None:
    made = _importers(own_seconds=1.0)
    assert "start-up-storm" in said(made)
    assert "metadata-storm" not in said(made)
    posix = made.frames["POSIX"]
    posix.loc[posix["id"] >= 600, ["POSIX_OPENS", "POSIX_F_META_TIME"]] = [300, 30.0]
    seen = said(replace(made, frames={"POSIX": posix}))
    assert seen["start-up-storm"].gain == pytest.approx(500 * 0.04 / 200)
    assert seen["metadata-storm"].gain == pytest.approx(30.0 / 200)
    assert "1,200 opens on 4 files" in seen["metadata-storm"].evidence


def test_data_files_and_a_quick_start_are_no_storm() -> None:
    assert "start-up-storm" not in said(_importers(own_seconds=120.0, suffix="dat"))
    assert "start-up-storm" not in said(_importers(own_seconds=120.0), slow_start=21.0)


def test_a_file_for_each_of_many_processes() -> None:
    made = job(512, {"POSIX": own_files([10.0] * 512, F_META_TIME=8.0)})
    assert said(made)["file-per-process"].gain == pytest.approx(0.08)
    assert "file-per-process" not in said(job(511, {"POSIX": own_files([10.0] * 511, F_META_TIME=8.0)}))


def test_rates_of_the_page_cache_are_noted() -> None:
    made = job(2, {"POSIX": own_files([0.01] * 2)})
    assert set(said(made)) == {"above-device"}
    assert said(made)["above-device"].severity == "note"
    slower = job(2, {"POSIX": own_files([0.1] * 2)})
    assert said(slower) == {}
    assert set(said(slower, device_rate=500e6)) == {"above-device"}


@pytest.mark.parametrize(("again", "noted"), [(0.1, True), (0.9, False)])
def test_cold_and_warm_reads_are_told_apart(again: float, noted: bool) -> None:
    rows = [
        {"id": 1, "rank": 0, "op": "read", "offset": block * 16 * MIB, "length": 16 * MIB, "start": 10.0 * turn + block}
        | {"end": 10.0 * turn + block + (1.0 if turn == 0 else again)}
        for turn in range(2)
        for block in range(5)
    ]
    made = job(1, {"DXT_POSIX": pd.DataFrame(rows), "POSIX": own_files([0.1])})
    assert ("cold-then-warm" in said(made)) == noted


@pytest.mark.parametrize(("views", "rule"), [(0, "collective-slower"), (4, "exchange")])
def test_exchange_is_told_from_access(views: int, rule: str) -> None:
    upper = {"id": 1, "rank": -1, "COLL_WRITES": 16, "BYTES_WRITTEN": 512 * MIB, "VIEWS": views}
    lower = {"id": 1, "rank": -1, "WRITES": 32, "BYTES_WRITTEN": 512 * MIB, "MAX_BYTE_WRITTEN": 512 * MIB - 1}
    times = pd.DataFrame(
        {"file": np.uint64(1), "rank": range(4), "calls": 4, "missed": 0, "seconds": 30.0, "waiting": 1.0}
        | {"access": [9.0, 9.0, 0.0, 0.0], "exchange": [20.0, 20.0, 29.0, 29.0]}
    )
    made = job(
        4,
        {
            "MPI-IO": frame("MPI-IO", [upper | {"F_WRITE_TIME": 120.0, "F_SLOWEST_RANK_TIME": 30.0}]),
            "POSIX": frame("POSIX", [lower | {"F_WRITE_TIME": 18.0, "F_SLOWEST_RANK_TIME": 9.0}]),
        },
        mpiio_collectives=times,
    )
    assert set(said(made)) == {rule}
    assert said(made)[rule].gain == pytest.approx(0.2)
    assert "romio_cb_write disable" in said(made)[rule].remedy or rule == "exchange"


def test_one_stripe_bounds_the_gain_by_the_ranks() -> None:
    shared = {"id": 1, "rank": -1, "WRITES": 64, "BYTES_WRITTEN": 512 * MIB, "MAX_BYTE_WRITTEN": 512 * MIB - 1}
    posix = frame("POSIX", [shared | {"F_WRITE_TIME": 80.0, "F_SLOWEST_RANK_TIME": 20.0}])
    made = job(8, {"POSIX": posix, "LUSTRE": layouts({1: [3]})})
    found = said(made)["narrow-stripes"]
    assert "narrow-stripes" not in said(made, busy_target=30 * MIB)
    assert found.gain == pytest.approx(0.2 * (1 - 1 / 8))
    assert "lfs setstripe -c 8 -S 1M FOLDER" in found.remedy
    assert found.severity == "medium"
    assert verdict(made).kind == "too few targets"
    four, five = (job(8, {"POSIX": posix, "LUSTRE": layouts({1: [*range(count)]})}) for count in (4, 5))
    assert said(four, busy_target=MIB)["narrow-stripes"].gain == 0.1
    assert "narrow-stripes" not in said(five, busy_target=MIB)
    large = posix.assign(POSIX_BYTES_WRITTEN=4096 * MIB, POSIX_MAX_BYTE_WRITTEN=4096 * MIB - 1)
    for target, said_so in ((3, False), (40, True)):
        found = said(job(64, {"POSIX": large, "LUSTRE": layouts({1: [target]})}))["narrow-stripes"]
        assert ("This is a first step" in found.remedy) == said_so, "more stripes are proposed where there are targets"


@pytest.mark.parametrize("much", [1.0, 2.0**20, 2.0**26])
def test_no_layout_is_advised_that_leaves_a_file_with_empty_stripes(much: float) -> None:
    sizes = {1: 3 * MIB, 2: 2 * MIB, 3: 3 * MIB - 1}
    rows = [
        {"id": key, "rank": -1, "WRITES": 64, "BYTES_WRITTEN": size, "MAX_BYTE_WRITTEN": size - 1}
        | {"F_WRITE_TIME": 80.0, "F_SLOWEST_RANK_TIME": 20.0}
        for key, size in sizes.items()
    ]
    made = job(8, {"POSIX": frame("POSIX", rows), "LUSTRE": layouts({key: [key] for key in sizes})})
    seen = target_rules.narrow_stripes(made, {**DEFAULTS, "much_bytes": much, "busy_target": 0})
    assert (seen is None) == (much > MIB)
    for key in seen.layout.files if seen is not None and seen.layout is not None else ():
        assert seen is not None
        assert seen.layout is not None
        assert sizes[key] > (seen.layout.count - 1) * (seen.layout.size or 0)


def test_times_beyond_the_run_are_noted() -> None:
    meta = {"OPENS": 3, "F_META_TIME": 60.0}
    threads = job(1, {"POSIX": frame("POSIX", [{"id": key, "rank": 0, **meta} for key in range(3)])})
    assert "add up to 3 min in a run of 1 min 40 s" in said(threads)["overlapping-times"].evidence
    assert said(job(1, {"POSIX": frame("POSIX", [{"id": 1, "rank": 0, **meta}])})) == {}


def test_the_note_on_overlapping_times_says_which_waits_the_verdict_leaves_out() -> None:
    quick = [{"id": key, "rank": 0, "OPENS": 1, "F_META_TIME": 0.001} for key in range(3)]
    pipe = {"id": 9, "rank": 0, "OPENS": 1, "F_META_TIME": 500.0}
    found = said(job(1, {"POSIX": frame("POSIX", [*quick, pipe])}))["overlapping-times"].evidence
    assert "(0.0030 s) leaves out the calls that opened a file and waited there for another process." in found


def test_gains_decide_on_words_and_silence() -> None:
    slow = own_files([10.0] * 7 + [16.0])
    low = said(job(8, {"POSIX": slow}, run_time=300.0))["straggler-rank"]
    assert (low.severity, low.gain_words) == ("low", "about 2.0 % of the run: not worth it")
    assert said(job(8, {"POSIX": slow}, run_time=3000.0)) == {}
    assert verdict(job(8, {"POSIX": slow}, run_time=3000.0)).sentence.startswith("Nothing worth your time")


def short_run(io: float, start: float) -> Job:
    """Returns a job of four ranks that ran for 10 s: `io` seconds in I/O, `start` seconds in MPI_Init, 1 s in a
    barrier, and the rest computing.
    """
    zero = dict.fromkeys(("calls", "sync_time", "bytes_sent", "bytes_received", "messages", "late_receives"), 0)
    zero |= {f"size_{number}": 0 for number in range(7)}
    rows = [
        {"rank": rank, "function": name, "region": 0, "time": spent, "min_time": spent, "max_time": spent, **zero}
        for rank in range(4)
        for name, spent in (("MPI_Init", start), ("MPI_Barrier", 1.0))
    ]
    # MPI keeps the processor busy while it polls; a rank that waits for I/O leaves it idle.
    busy = use(10.0 - io, init=start)
    return job(4, {"POSIX": own_files([io] * 4)}, run_time=10.0, mpi_calls=pd.DataFrame(rows), process=busy)


def test_a_run_with_too_little_io_to_judge_says_so_with_the_parts_of_its_time() -> None:
    limits = changed(["least_seconds=20"])
    assert verdict(short_run(6.0, 2.0), limits).sentence == (
        "Too short to judge: I/O took at most 60 % of the run: 6.0 s of 10 s; advice begins at 20 s of I/O; "
        "of an average rank's time: I/O in POSIX 60 %, start and end 20 %, computing 10 %."
    )
    assert verdict(short_run(0.1, 7.0), limits).sentence == (
        "Nothing worth your time: I/O took at most 1.0 % of the run: 0.10 s of 10 s; "
        "of an average rank's time: start and end 70 %, computing 19 %, MPI synchronisation 10 %."
    )
    private = short_run(0.0, 2.0).private
    fileless = job(4, {}, run_time=10.0, mpi_calls=private["mpi_calls"], process=private["process"])
    assert verdict(fileless, limits).sentence.endswith(
        "; of an average rank's time: computing 70 %, start and end 20 %, MPI synchronisation 10 %."
    )
    alone = replace(short_run(6.0, 2.0), private={})
    assert verdict(alone, limits).sentence.endswith("6.0 s of 10 s; advice begins at 20 s of I/O.")


def test_io_that_is_long_on_one_rank_alone_is_judged_though_no_part_of_an_average_rank_is_long() -> None:
    calls = short_run(0.0, 2.0).private["mpi_calls"].assign(time=0.05, min_time=0.05, max_time=0.05)
    files = {"POSIX": own_files([0.01, 0.01, 0.01, 0.7])}
    made = job(4, files, run_time=0.9, mpi_calls=calls, process=use(0.3, seconds=0.9))
    found = diagnosis(made)
    assert found.verdict.sentence.startswith("I/O took at most 78 % of the run: 0.70 s of 0.90 s; ")
    assert contradictions(made, found) == []


def test_a_run_that_starts_mpi_for_most_of_its_time_is_bound_by_that() -> None:
    found = verdict(short_run(0.1, 7.0))
    assert found.kind == "mpi"
    assert found.sentence.startswith("Bound by the start and end of MPI: 70 % of an average rank's time; I/O took")


def test_thresholds_come_from_a_file_and_from_words(tmp_path: Path) -> None:
    path = tmp_path / "limits.yaml"
    path.write_text("straggler: 3\nfew_ranks: 2\n")
    assert from_file(path)["straggler"] == 3
    assert changed(["straggler=1.2"], from_file(path))["few_ranks"] == 2
    assert set(said(job(8, {"POSIX": own_files([10.0] * 7 + [14.0])}), straggler=1.3)) == {"straggler-rank"}
    path.write_text("stragler: 3\n")
    with pytest.raises(UsageError, match="no threshold 'stragler'"):
        from_file(path)
    path.write_text("- 3\n")
    with pytest.raises(UsageError, match="holds no thresholds"):
        from_file(path)


def test_hints_are_written_for_one_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, hints = TESTS / "advice/logs/one-aggregator.darshan", tmp_path / "hints.txt"
    assert main(["advise", str(log), "--json", "--write-hints", str(hints)]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["id"] == "few-aggregators"
    assert hints.read_text() == "cb_nodes 4\ncb_config_list *:*\nromio_cb_write enable\n"
    assert main(["advise", str(log), str(log), "--write-hints", str(hints)]) == 2
    quiet = TESTS / "data/darshan/empty_log.darshan"
    assert main(["advise", str(quiet), "--write-hints", str(tmp_path / "none.txt")]) == 1
    assert "no finding of the advice has MPI-IO hints" in capsys.readouterr().err
    assert not (tmp_path / "none.txt").exists()
    assert main(["advise"]) == 2


def test_the_document_has_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_text() in "\n\n".join(ADVICE.read_text(encoding="utf-8").split("\n\n"))
    assert main(["advise", "--rules"]) == 0
    assert capsys.readouterr().out.strip() == rules_text()


def test_one_rule_is_printed_with_its_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "--rules", "few-aggregators"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == ["few-aggregators", "much_bytes"]
    assert main(["advise", "--rules", "few-agregators"]) == 2
    assert "no rule is called few-agregators; close to it: few-aggregators" in capsys.readouterr().err
    assert main(["advise", "--rules", "%"]) == 2
    assert "--rules alone prints all" in capsys.readouterr().err


def test_texts_to_paste_fit_a_terminal() -> None:
    modules = [remedies, *(import_module(each.name) for each in walk_packages(rules.__path__, rules.__name__ + "."))]
    texts = {
        f"{m.__name__}.{key}": getattr(m, key) for m in modules for key in vars(m) if key[0] != "_" and WORDS.match(key)
    }
    assert len(texts) > 20
    assert [key for key, text in texts.items() if max(len(MARK.sub("", line)) for line in text.splitlines()) > 77] == []


def test_one_stripe_for_all_is_told_one_remedy() -> None:
    """A file of one stripe also makes its target the busiest one, but only one layout may be advised for the file."""
    found = {one.id: one for one in findings(read_log(TESTS / "data/darshan/imbalanced-io.darshan"))}
    assert "lfs setstripe -c 8 -S 1M FOLDER" in found["narrow-stripes"].remedy
    assert "uneven-targets" not in found


def test_commands_to_paste_are_commands_of_a_shell() -> None:
    """The lines of remedies that begin with a command are valid shell as they stand; other lines are explanations."""
    modules = [remedies, *(import_module(each.name) for each in walk_packages(rules.__path__, rules.__name__ + "."))]
    texts = [getattr(m, key) for m in modules for key in vars(m) if key[0] != "_" and WORDS.match(key)]
    texts += [remedies.stripes_text(-1), remedies.hints_text(["cb_nodes 4"])]
    first = "cd export lctl lfs ethtool h5repack iolens mpirun sbatch scontrol squeue srun".split()
    lines = [line for text in texts for line in text.splitlines() if re.match(rf" +({'|'.join(first)}) \S", line)]
    assert len(lines) > 20
    done = subprocess.run(["bash", "-n"], input="\n".join(lines), capture_output=True, text=True)
    assert done.stderr == ""


def test_offsets_of_ranks_that_took_turns_begin_at_zero() -> None:
    """After MPI_Exscan rank 0's receive buffer has its old contents."""
    assert "offset = 0;" in rank_rules.TURNS_REMEDY
    assert "Fortran  offset = 0\n" in rank_rules.TURNS_REMEDY


def traced(compute: list[float], **counters: Any) -> Job:
    """Returns a job of 100 s in which each rank computed for the given seconds and spent the rest in MPI."""
    rows = [
        {"rank": rank, "function": function, "region": 0, "calls": 50000, "time": (100.0 - spent) / 2, "sync_time": 0.0}
        | {"messages": 0 if function == "MPI_Wait" else 50000, "late_receives": 0, "min_time": 0.0, "max_time": 1.0}
        | {"bytes_sent": 0, "bytes_received": 0, **{f"size_{number}": 0 for number in range(7)}, **counters}
        for rank, spent in enumerate(compute)
        for function in ("MPI_Sendrecv", "MPI_Wait")
    ]
    return job(len(compute), {}, mpi_calls=pd.DataFrame(rows), process=use(100.0, seconds=100.0))


def test_ranks_that_compute_nothing_are_not_uneven() -> None:
    assert "uneven-computing" not in said(traced([0.0, 0.0, 0.0, 0.0]))


def test_time_not_attributed_on_the_longest_rank_evens_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of a rank that the log does not attribute count as computing, but only up to the computing time of the
    longest rank.
    """
    times = {part: np.zeros(2) for part in (*groups.MPI_PARTS, *groups.IO_PARTS)}
    times |= {groups.COMPUTE: np.array([10.0, 2.0]), groups.UNKNOWN: np.array([9.0, 1.0]), "rank": np.arange(2)}
    monkeypatch.setattr("iolens.metrics.processor.time.rank_time", lambda job: Records(times))
    seen = computing_rules.uneven_computing(traced([90.0, 30.0]), DEFAULTS)
    assert seen is not None
    assert seen.seconds == pytest.approx(10.0 - (10.0 + 3.0) / 2)


def test_uneven_computing_is_seen_without_any_io() -> None:
    uneven = traced([90.0, 30.0, 30.0, 30.0])
    found = said(uneven)
    assert set(found) == {"uneven-computing"}
    assert found["uneven-computing"].gain == pytest.approx(0.45)
    assert said(traced([40.0, 42.0, 41.0, 40.0])) == {}
    assert verdict(traced([40.0, 42.0, 41.0, 40.0])).kind == "mpi"
    assert verdict(traced([90.0, 92.0, 91.0, 90.0])).kind == "compute"


def test_late_receives_and_small_messages_are_counted() -> None:
    assert set(said(traced([40.0] * 4, late_receives=30000))) == {"late-receives"}
    assert set(said(traced([40.0] * 4, size_0=40000))) == {"small-messages"}
    assert said(traced([40.0] * 4, size_0=10000, late_receives=10000)) == {}


def eager(limit: int, on_node: int = 1, **sizes: int) -> Job:
    """Returns a job whose eager limit is 64 KiB between nodes and different within a node, with messages of these
    sizes.
    """
    limits = {"btl_vader_eager_limit": limit, "btl_tcp_eager_limit": 65536, "btl_self_eager_limit": 1024}
    settings = pd.DataFrame(
        [(0, "eager limit", name, str(value), "default") for name, value in limits.items()],
        columns=["rank", "kind", "name", "value", "source"],
    )
    peers = pd.DataFrame({"rank": [0], "peer": [1], "messages": [200000], "bytes": [1], "on_node": [on_node]})
    made = traced([40.0] * 4, **sizes)
    return replace(made, private={**made.private, "mpi_settings": settings, "mpi_peers": peers})


def test_messages_above_the_eager_limit_that_they_met() -> None:
    found = said(eager(4096, size_3=40000))
    assert set(found) == {"eager-limit"}
    assert found["eager-limit"].gain == pytest.approx(0.6)
    assert "--mca btl_vader_eager_limit 8192" in found["eager-limit"].remedy
    assert "btl_tcp_eager_limit 131072" in said(eager(4096, on_node=0, size_4=40000))["eager-limit"].remedy
    assert said(eager(8192, size_3=40000)) == {}, "how many of these are above it is not known"
    assert said(eager(4096, size_3=20000)) == {}
    assert said(eager(4096, size_4=40000)) == {}, "they are far above it"
    assert said(traced([40.0] * 4, size_3=40000)) == {}


def placed(*cpus: str, on_core: float = 100.0, runnable: Any = 0.0, mpi: float = 1.0) -> Job:
    """Returns a traced job of 100 s whose ranks may run on the given processors; `mpi` is the seconds that each rank
    spent in MPI.
    """
    rows = [(rank, "node1", one, one.count(",") + 1, 0) for rank, one in enumerate(cpus)]
    places = pd.DataFrame(rows, columns=["rank", "host", "cpus", "cpu_count", "thread_level"])
    made = traced([100.0 - mpi] * len(cpus))
    counted = use(on_core, runnable, seconds=100.0)[: len(cpus)]
    return replace(made, private={**made.private, "rank_places": places, "process": counted})


def test_ranks_that_share_processors_and_want_them() -> None:
    """Two processors and four computing ranks: each rank waits for half of the run, and no remedy can save more."""
    found = said(placed("0,1", "0,1", "0,1", "0,1", on_core=50.0, runnable=50.0))["crowded-processors"]
    assert found.gain == pytest.approx(0.51)
    assert "Rank 0 on node1 was ready to run and had no processor for 50 s of 1 min 40 s" in found.evidence
    assert "4 ranks of 4" in found.evidence
    overlapping = said(placed("0,1", "1,2", on_core=60.0, runnable=40.0))["crowded-processors"]
    assert overlapping.gain == pytest.approx(0.41)
    one = said(placed("0,1", "0,1", "0,1", "0,1", on_core=70.0, runnable=lambda rank: 30.0 if rank == 2 else 0.0))
    assert "Rank 2 on node1" in one["crowded-processors"].evidence


def test_ranks_that_all_lack_a_processor_at_once_lack_processors_in_mpi_too() -> None:
    """Four ranks are in MPI for 90 s of 100 s. If each was without a processor for 90 s, there were at least 60 s in
    which no rank had one, so the ranks did not just poll for a rank that computed. With 74 s each, they may have taken
    turns.
    """
    starved = placed("0,1", "0,1", "0,1", "0,1", on_core=5.0, runnable=90.0, mpi=90.0)
    assert findings(starved)[0].id == "crowded-processors"
    assert verdict(starved).kind == "cores"
    assert "without a core for 90.0 % of the time, also in these calls" in communication_step(starved).evidence
    in_turns = placed("0,1", "0,1", "0,1", "0,1", on_core=20.0, runnable=74.0, mpi=90.0)
    assert "crowded-processors" not in said(in_turns)
    assert verdict(in_turns).kind == "mpi"
    assert "without a core" not in communication_step(in_turns).evidence


def test_ranks_on_few_processors_that_want_none_have_enough() -> None:
    """Numbers of ranks and processors are no proof: four ranks on one processor may sleep, or poll for messages."""
    crowd = ("0",) * 4
    for made in (
        placed(*crowd, on_core=0.5),
        placed(*crowd, on_core=80.0, runnable=19.0),
        placed(*crowd, on_core=40.0, runnable=60.0, mpi=90.0),
        placed("0,1", "2,3", on_core=50.0, runnable=50.0),
        placed("0,1", "0,1", on_core=50.0, runnable=50.0),
    ):
        assert "crowded-processors" not in said(made)
    unknown = placed(*crowd, on_core=50.0, runnable=50.0)
    assert said(replace(unknown, private={**unknown.private, "process": use()[:0]})) == {}


def test_a_run_in_io_is_not_bound_by_its_processors() -> None:
    """The verdict names I/O, even if the finding about processors may gain more: waiting for a processor slows all
    parts of a run.
    """
    finding = Finding("crowded-processors", "high", "Ranks share processors", "", "", 0.5, "at most 50 %", "", "")
    made = job(4, {"POSIX": own_files([60.0, 60.0, 60.0, 60.0])})
    assert judge.verdict(made, DEFAULTS, [finding]).sentence == (
        "I/O took at most 60 % of the run: 60 s of 1 min 40 s; the fault lies outside I/O: Ranks share processors."
    )


def test_ranks_of_a_shared_file_come_from_the_private_table() -> None:
    large = (1 << 63) + 12345
    shared = {"id": large, "rank": -1, "WRITES": 100, "BYTES_WRITTEN": 400 * MIB, "MAX_BYTE_WRITTEN": 400 * MIB - 1}
    posix = frame("POSIX", [shared | {"F_WRITE_TIME": 24.0, "F_SLOWEST_RANK_TIME": 20.0, "SLOWEST_RANK": 1}])
    posix["id"] = np.array([large], dtype=np.uint64)
    written = [MIB, 397 * MIB, MIB, MIB]
    rows = {"file": np.array([large] * 4, dtype=np.uint64), "rank": range(4), "ranks": 1, "writes": [1, 97, 1, 1]}
    zero = dict.fromkeys(("bytes_read", "read_time", "meta_time", "first_write", "last_write"), 0)
    table = pd.DataFrame(rows | zero | {"bytes_written": written, "write_time": [1.0, 20.0, 1.0, 2.0]})
    made = job(4, {"POSIX": posix}, file_ranks=table)
    np.testing.assert_array_equal(moved_by_rank(made, "written"), written)
    assert "one-writer" in said(made)
    assert moved_by_rank(job(4, {"POSIX": posix}), "written") is None


@pytest.mark.parametrize("name", ["one-aggregator", "shared-turns"])
def test_absurd_counters_end_in_no_error(name: str) -> None:
    whole = read_log(TESTS / f"advice/logs/{name}.darshan")
    chance = np.random.default_rng(1)
    for _ in range(15):
        frames = {key: table.copy() for key, table in whole.frames.items() if chance.random() < 0.9}
        for table in frames.values():
            numbers = [column for column in table if column not in ("id", "rank") and table[column].dtype.kind in "iuf"]
            for column in chance.choice(numbers, 20):
                table[column] = np.array([chance.choice([0, -1, 1, 2**40, 2**62])] * len(table), table[column].dtype)
        made = replace(whole, frames=frames, run_time=float(chance.choice([0.0, 1.0, 1e9])))
        assert verdict(made).sentence


@pytest.mark.parametrize(("usual", "found"), [(0.0001, False), (2.0, True)], ids=["one waits", "all are slow"])
def test_opening_a_pipe_that_waits_is_no_metadata_trouble(usual: float, found: bool) -> None:
    rows = [{"id": n, "rank": 0, "OPENS": 1, "STATS": 99, "F_META_TIME": 100 * usual} for n in range(1, 21)]
    pipe = {"id": 21, "rank": 0, "OPENS": 2, "READS": 1, "F_META_TIME": 900.0}
    made = job(1, {"POSIX": frame("POSIX", [*rows, pipe])}, run_time=5000.0)
    assert ("metadata-storm" in said(made)) == found
    assert io_seconds(made) == pytest.approx(20 * 100 * usual + (900.0 if found else 0.0))


def collective(times: list[float], sync: float = 0.0, mpi: str = "Open MPI v4.1.4", size: int = 8) -> Job:
    """Returns a job of 100 s in which each rank spent the given seconds in MPI_Allreduce, `sync` of them in the barrier
    that is timed before it.
    """
    rows = [
        {"rank": rank, "function": "MPI_Allreduce", "region": 0, "calls": 1000, "time": spent, "sync_time": sync}
        | {"messages": 1000, "bytes_sent": 1000 * size, "bytes_received": 1000 * size, "late_receives": 0}
        | {"min_time": 0.0, "max_time": 1.0, **{f"size_{number}": 0 for number in range(7)}}
        for rank, spent in enumerate(times)
    ]
    return job(len(times), {}, mpi_calls=pd.DataFrame(rows), job={"mpi": mpi})


def test_a_collective_that_transfers_long_and_does_not_wait() -> None:
    found = said(collective([30.0, 32.0, 31.0, 33.0]))["collective-algorithm"]
    assert found.gain == pytest.approx(0.30), "the rank that waited least"
    assert "coll_tuned_use_dynamic_rules 1" in found.remedy
    assert found.remedy.index("coll_tuned_allreduce_algorithm 3") < found.remedy.index("_algorithm 6")
    large = said(collective([30.0] * 4, sync=1.0, mpi="MPICH Version: 4.1", size=1 << 20))["collective-algorithm"]
    assert large.remedy.index("reduce_scatter_allgather") < large.remedy.index("recursive_doubling")
    assert "I_MPI_ADJUST_ALLREDUCE=1" in said(collective([30.0] * 4, mpi="Intel(R) MPI"))["collective-algorithm"].remedy


@pytest.mark.parametrize(
    "other",
    [
        collective([2.0, 60.0, 60.0, 60.0]),
        collective([20.0, 60.0, 60.0, 60.0]),
        collective([30.0] * 4, sync=40.0),
        collective([5.0] * 4),
        collective([30.0, 30.0]),
        collective([30.0] * 4, mpi=""),
    ],
    ids=["one waits for", "most is waiting", "the barrier waits", "short", "two ranks", "an unknown library"],
)
def test_no_other_algorithm_where_ranks_wait_or_little_is_at_stake(other: Job) -> None:
    assert "collective-algorithm" not in said(other)
