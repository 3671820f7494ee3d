"""Tests tables that go down from the total to functions and single ranks, against rows that pat_report printed."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path

import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.cli.read.table import depth_heads, text_of
from iolens.errors import UsageError
from iolens.log import read_log
from iolens.log.records import as_records
from iolens.metrics.processor import steps
from iolens.metrics.processor.ask import Ask, asked_levels, conditions, imbalance, imbalance_percent, mean_over_most
from iolens.metrics.processor.io.ranks import file_input, file_output
from iolens.metrics.processor.sampled import profile_time
from iolens.metrics.processor.sampled.drill import TOGETHER, Measures, drill
from iolens.metrics.processor.traced import functions
from iolens.metrics.processor.traced.calls import traced_calls, tracing_cost
from iolens.metrics.processor.usage import memory, program_time
from iolens.pages.base import words
from iolens.pages.base.blocks import Table
from iolens.pages.base.columns import guarded_seconds
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.text.tabular import plain_table
from processor_example import every_rank, job

DATA = Path(__file__).parents[1] / "data"
LOG = DATA / "iolens" / "mpi_calls.darshan"
LOGS = sorted(DATA.rglob("*.darshan"))


@pytest.mark.parametrize(
    ("most", "mean", "ranks", "said"),
    [
        (112538, 73456.9, 768, "34.8 %"),  # Row of pat_report: the function MPI_ALLREDUCE of VASP on 768 processors.
        (100 / (100 - 50.01), 1, 768, "50.1 %"),  # Row of pat_report: the function MPI_REDUCE.
        (100 / (100 - 99.87), 1, 768, "100.0 %"),  # Row of pat_report: the function for_write_seq_fmt.
        (100 / (100 - 18.24), 1, 16, "19.5 %"),  # Row of pat_report: the function main of a halo exchange.
        (556.742885 + 14.817686, 556.742885, 2048, "2.6 %"),  # Row of pat_report: the function rhsf.
        (1, 1, 1, "--"),
        (0, 0, 4, "--"),
    ],
)
def test_imbalance_as_pat_report_printed_it(most: float, mean: float, ranks: int, said: str) -> None:
    assert words.points(imbalance_percent(most, mean, ranks)) == said


def test_other_measures_of_imbalance() -> None:
    assert imbalance(112538, 73456.9) == pytest.approx(39081.1)
    assert imbalance_percent(8.0, 2.0, 4) == 100.0  # One of four ranks does all the work.
    assert imbalance_percent(2.0, 2.0, 4) == 0.0
    assert mean_over_most(8.0, 2.0) == 0.25


TIMES = pd.DataFrame(
    [
        (rank, group, function, seconds, 2)
        for rank in range(4)
        for group, function, seconds in (
            ("USER", "solve", 50.0 + 2 * rank),
            ("USER", "tiny", 0.1),
            ("MPI", "MPI_Send", 1.0 + rank),
            ("MPI", "MPI_Recv", 2.0),
        )
    ]
    + [(3, "IO", "write", 12.0, 1)],
    columns=["rank", "group", "function", "time", "calls"],
)
MEASURES = Measures("time", ("calls",))


def test_total_group_function_and_single_ranks() -> None:
    rows = drill(as_records(TIMES), ("group", "function", "pe"), MEASURES, 4, 0.95)
    found = rows.frame().set_index("name")
    assert list(found.index) == [
        *("Total", "USER", "solve", "pe.3 (max)", "pe.1 (median)", "pe.0 (min)"),
        *("MPI", "MPI_Send", "pe.3 (max)", "pe.1 (median)", "pe.0 (min)"),
        *("MPI_Recv", "pe.0 (max)", "pe.2 (median)", "pe.3 (min)", "IO", "write", "pe.3"),
    ]
    assert rows.left_out == 1
    assert found.loc["Total", "time"] == pytest.approx(53.1 + 4.5 + 3.0)
    assert found.loc["Total", "share"] == 100.0
    # Functions below the threshold are hidden, but count in their group.
    assert found.loc["USER", "time"] == pytest.approx(53.1)
    assert found.loc["solve", ["time", "imbalance", "most", "most_rank"]].tolist() == [53.0, 3.0, 56.0, 3.0]
    assert found.loc["solve", "imbalance_percent"] == pytest.approx(100 * 3 / 56 * 4 / 3)
    assert found.loc["write", ["time", "imbalance_percent", "calls"]].tolist() == [3.0, 100.0, 0.25]
    assert pd.isna(found.loc[["Total", "MPI"], "imbalance_percent"]).all()
    # The group has one visible function.
    assert found.loc["USER", "imbalance_percent"] == found.loc["solve", "imbalance_percent"]


def test_nothing_is_left_out_without_a_threshold_and_all_ranks_on_request() -> None:
    rows = drill(as_records(TIMES), ("function", "pe=all"), MEASURES, 4, 0.0)
    found = rows.frame()
    assert "tiny" in set(found["name"])
    assert rows.left_out == 0
    assert (found["level"] == "pe").sum() == 4 * 4 + 1


def test_a_level_of_several_columns_and_a_path_that_ends() -> None:
    rows = pd.DataFrame(
        [(0, "f", "a", "main", 3.0), (0, "f", "b", "", 1.0)],
        columns=["rank", "function", "caller 1", "caller 2", "time"],
    )
    found = drill(as_records(rows), ("function", "caller"), Measures("time"), 1, 0).frame()
    assert list(zip(found["depth"], found["name"], strict=True)) == [
        *((0, "Total"), (1, "f"), (2, "a"), (3, "main"), (2, "b")),
    ]
    assert found["imbalance_percent"].isna().all()  # With one rank there is no imbalance.


def test_what_has_no_name_beside_what_has_one_is_a_row_too() -> None:
    """Parts add up to their whole; rows that would have no named parts are left out."""
    rows = pd.DataFrame(
        [(0, "write", "data", 3.0), (0, "write", "", 1.0), (0, "MPI_Send", "", 2.0)],
        columns=["rank", "function", "file", "time"],
    )
    found = drill(as_records(rows), ("function", "file"), Measures("time"), 1, 0)
    assert list(found.rows("depth", "name", "time")) == [
        *((0, "Total", 6.0), (1, "write", 4.0), (2, "data", 3.0), (2, "(no file)", 1.0), (1, "MPI_Send", 2.0)),
    ]
    found = drill(as_records(rows), ("file",), Measures("time"), 1, 0)
    assert list(found.rows("depth", "name", "time")) == [(0, "Total", 6.0), (1, "(no file)", 3.0), (1, "data", 3.0)]


def test_ranks_known_together_have_no_imbalance() -> None:
    rows = pd.DataFrame([(0, "f", 1.0), (-1, "f", 5.0)], columns=["rank", "function", "time"])
    found = drill(as_records(rows), ("function", "pe"), Measures("time"), 4, 0).frame().set_index("name")
    assert found.loc["f", "time"] == 1.5
    assert pd.isna(found.loc["f", "imbalance"])
    assert found.loc[TOGETHER, "time"] == 1.25  # The row's value is a mean over ranks, like that of the row above it.
    assert found.loc["pe.0", "time"] == 1.0
    assert found.loc[["pe.0", TOGETHER], "share"].tolist() == pytest.approx([100 / 6, 500 / 6])
    alone = drill(as_records(rows[1:]), ("function", "pe"), MEASURES_OF_TIME, 4, 0).frame()
    assert alone["time"].tolist() == [1.25] * 3
    assert alone["share"].tolist() == [100.0] * 3


MEASURES_OF_TIME = Measures("time")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
@pytest.mark.parametrize("name", ["load_balance", "profile_time", "mpi_calls", "program_time"])
def test_shares_of_ranks_add_up_to_the_share_above_them(
    log: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compares the rows that `iolens table --json` prints with plain sums, for logs of other versions and of
    Darshan.
    """
    by = "pe=all" if name == "program_time" else "function,pe=all"
    if main(["table", name, str(log), "--by", by, "--json"]):
        return  # Logs that lack this table have nothing to compare.
    rows = json.loads(capsys.readouterr().out)
    for place, row in enumerate(rows):
        shares = shares_below(rows[place:])
        assert row["share"] is None or row["share"] <= 100.001, row
        if shares and row["share"] is not None:
            assert sum(shares) == pytest.approx(row["share"], abs=0.01), row


def shares_below(rows: list[dict[str, float]]) -> list[float]:
    """Returns the shares of the rows one level below the first row, if they have one."""
    depth = rows[0]["depth"]
    below = takewhile(lambda one: one["depth"] > depth, rows[1:])
    return [one["share"] for one in below if one["depth"] == depth + 1 and one["share"] is not None]


def usage(ranks: int) -> pd.DataFrame:
    """Returns the log's table `process`, with a row for each rank."""
    return pd.DataFrame(
        {
            "rank": range(ranks),
            "ranks": 1,
            "max_rss": [(1 + rank) << 20 for rank in range(ranks)],
            "user_time": [1.0 + rank for rank in range(ranks)],
            "system_time": 0.5,
            "major_faults": 0,
            "involuntary_switches": 3,
        }
    )


def test_memory_and_time_of_the_ranks() -> None:
    made = job(4, process=usage(4))
    found = memory(made).frame()
    assert found is not None
    assert found["name"].tolist() == ["Total", "pe.3 (max)", "pe.1 (median)", "pe.0 (min)"]
    assert found["max_rss"].tolist() == [2.5 * (1 << 20), 4 << 20, 2 << 20, 1 << 20]
    assert found.loc[0, "imbalance_percent"] == pytest.approx(50.0)
    few = program_time(made, Ask(where=conditions("pe<2"))).frame()
    assert few is not None
    assert few["time"].tolist() == [2.0, 2.5, 1.5]
    assert memory(job(5, process=usage(4))) is None  # The table lacks the row of one of five ranks.


def file_ranks() -> pd.DataFrame:
    """Makes the private table in which two of four ranks wrote to a file that all ranks opened."""
    return pd.DataFrame(
        {
            "file": [1] * 4,
            "rank": range(4),
            "reads": 0,
            "writes": [4, 0, 2, 0],
            "bytes_read": 0,
            "bytes_written": [4 << 20, 0, 2 << 20, 0],
            "read_time": 0.0,
            "write_time": [2.0, 0.0, 1.0, 0.0],
            "meta_time": 0.25,
            "opens": 1,
        }
    )


def posix(ranks: int) -> pd.DataFrame:
    """Returns one record of all ranks and one of rank 1."""
    kinds = ("READS", "WRITES", "OPENS", "BYTES_READ", "BYTES_WRITTEN", "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
    rows = [(1, -1, 0, 6, 4, 0, 6 << 20, 0.0, 3.0, 1.0), (2, 1, 2, 0, 1, 100, 0, 0.5, 0.0, 0.0)]
    return pd.DataFrame(rows, columns=["id", "rank", *(f"POSIX_{kind}" for kind in kinds)])


def test_files_are_averaged_over_the_ranks_that_used_them() -> None:
    found = file_output(job(4, {"POSIX": posix(4)}, file_ranks=file_ranks()))
    assert found is not None
    total, shared = found.to_dict("records")
    assert total["ranks"] == shared["ranks"] == 2
    assert (shared["seconds"], shared["mib"], shared["rate"], shared["calls"]) == (1.5, 3.0, 2.0, 3.0)
    assert shared["bytes_per_call"] == 1 << 20
    merged = file_output(job(4, {"POSIX": posix(4)}))
    assert merged is not None
    # Only ranks that wrote may count here, but the record names the ranks that opened the file.
    assert pd.isna(merged.loc[1, "ranks"])
    assert merged.loc[1, "rate"] == 2.0
    read = file_input(job(4, {"POSIX": posix(4)}))
    assert read is not None
    assert read[["name", "ranks", "calls"]].to_numpy().tolist() == [["Total", 1, 2], ["record 2", 1, 2]]


def test_io_time_by_rank() -> None:
    made = job(4, {"POSIX": posix(4)}, file_ranks=file_ranks())
    found = functions.load_balance(made).frame()
    assert found is not None
    write = found[found["name"] == "write"].iloc[0]
    assert (write["time"], write["most"], write["most_rank"]) == (0.75, 2.0, 0.0)
    by_file = functions.load_balance(made, Ask(asked_levels("file,pe"), where=conditions("function!=meta"))).frame()
    assert by_file is not None
    assert by_file["name"].tolist()[:2] == ["Total", "record 1"]


def waits_and_writes() -> dict[str, pd.DataFrame]:
    """Returns a job of four ranks that ran for 10 s. Rank 0 waits 3 s in the barrier that is timed before a collective
    call. Each rank moves messages for 1 s and spends a quarter second in dgemm. The function solve takes 6 s including
    the messages. In `file_ranks` ranks 0 and 2 write for 2 and 1 s.
    """
    zero = dict.fromkeys(("bytes_sent", "bytes_received", "messages", *(f"size_{n}" for n in range(7))), 0)
    rows = [
        ("MPI_Allreduce", 0, 5, 1.0, 0.1, 0.3, lambda rank: 3.0 * (rank == 0)),
        ("MPI_Init", 0, 1, 0.5, 0.5, 0.5, 0.0),
    ]
    calls = every_rank(rows, "function region calls time min_time max_time sync_time").assign(**zero)
    traced = [("blas", "dgemm_", 0, -1, 3, 0.25, 0, 0), ("functions", "solve", 0, -1, 1, 6.0, 0, 0)]
    columns = "group function region node calls time bytes throttled"
    return {"mpi_calls": calls, "traced": every_rank(traced, columns), "file_ranks": file_ranks()}


def test_a_profile_by_time_makes_up_the_run_time_of_times_that_overlap_nowhere() -> None:
    made = job(4, {"POSIX": posix(4)}, **waits_and_writes())
    frame = profile_time.profile_time(made, Ask(threshold=0.0)).frame()
    end = int(frame.index[frame["name"] == functions.INSIDE][0])
    found, inside = frame[:end].set_index("name"), frame[end:].set_index("name")
    assert found.loc["Total", "time"] == pytest.approx(made.run_time)
    groups = found[found["level"] == "group"]
    assert set(groups.index) == {"USER", "MPI", "MPI_SYNC", "POSIX", "BLAS"}
    assert groups["share"].sum() == pytest.approx(100.0)
    assert groups["time"].sum() == pytest.approx(made.run_time)
    assert found.loc["MPI", ["time", "calls"]].tolist() == [1.5, 6.0]  # These are the sums of the raw table.
    assert found.loc["MPI_Allreduce(sync)", ["time", "imbalance", "most_rank"]].tolist() == [0.75, 2.25, 0.0]
    assert found.loc["write", ["time", "imbalance"]].tolist() == [0.75, 1.25]
    assert found.loc["dgemm_", ["time", "calls", "share"]].tolist() == [0.25, 3.0, 2.5]
    # The barriers that are timed before collective calls take 0.75 s on average.
    spent = functions.load_balance(made, Ask(threshold=0.0)).frame()["time"][0] + 0.75
    assert found.loc["(not traced)", "time"] == pytest.approx(made.run_time - spent)
    assert inside.loc["solve", ["time", "share"]].tolist() == [6.0, 60.0]
    alone = profile_time.profile_time(made, Ask(where=conditions("function=solve"))).frame()
    assert alone["name"].tolist() == [functions.INSIDE, "USER", "solve"]
    assert alone["share"].tolist()[2] == 60.0  # The share is that of the whole time, and not of the filtered rows.
    assert inside.loc[[functions.INSIDE, "USER"], ["time", "calls", "share"]].isna().all(axis=None)


def test_exclusive_times_are_part_of_the_run_time_and_leave_less_that_was_not_traced() -> None:
    """The function solve takes 6 s, 2 s of them itself; main takes the whole run, 0.25 s itself."""
    tables = waits_and_writes()
    columns = "group function region node calls time exclusive bytes throttled"
    rows = [("blas", "dgemm_", 0, -1, 3, 0.25, 0.25, 0, 0), ("functions", "solve", 0, -1, 2, 6.0, 2.0, 0, 0)]
    tables["traced"] = every_rank([*rows, ("functions", "main", 0, -1, 1, 10.0, 0.25, 0, 0)], columns)
    made = job(4, {"POSIX": posix(4)}, **tables)
    frame = profile_time.profile_time(made, Ask(threshold=0.0)).frame()
    end = int(frame.index[frame["name"] == functions.INSIDE][0])
    found, inside = frame[:end].set_index("name"), frame[end:].set_index("name")
    assert found.loc[["solve", "main"], "time"].tolist() == [2.0, 0.25]
    assert found[found["level"] == "group"]["time"].sum() == pytest.approx(made.run_time)
    assert found.loc["USER", "time"] == pytest.approx(2.25 + found.loc["(not traced)", "time"])
    assert found.loc["(not traced)", "time"] < 5.0
    assert inside.loc[["solve", "main"], "time"].tolist() == [6.0, 10.0]
    rows = traced_calls(made).frame().set_index("function")
    assert list(rows.index) == ["solve", "dgemm_", "main"]
    assert rows.loc["solve", ["exclusive", "time", "per_call", "imbalance_percent"]].tolist() == [2.0, 6.0, 1.0, 0.0]


def test_short_times_are_printed_readably() -> None:
    values = [2.5, 1e-6, 2.34e-7, 0.0]
    assert [guarded_seconds(value) for value in values] == ["2.500000", "0.000001", "0.000000234", "0.000000"]


def test_a_rank_stops_counting_a_function_once() -> None:
    """The table has a row for each region, and for a name that several functions share."""
    columns = "group function region node calls time bytes throttled"
    rows = [("blas", "dgemm_", region, -1, 100_000, 0.1, 0, lambda rank: int(rank > 0)) for region in (0, 1)]
    found = traced_calls(job(4, traced=every_rank(rows, columns)))
    assert found["throttled"].tolist() == [3]
    assert found["calls"].tolist() == [200_000]


def test_each_traced_group_has_its_cost() -> None:
    """The run takes 10 s; each of four ranks has two functions of the heap, one of BLAS, and calls of MPI."""
    columns = "group function region node calls time recording bytes throttled"
    rows = [("heap", "free", 0, -1, 3000, 0.1, 0.03, 0, 0), ("heap", "malloc", 0, -1, 1000, 0.1, 0.01, 0, 0)]
    traced = every_rank([*rows, ("blas", "dgemm_", 0, -1, 10, 0.25, 0.001, 0, 0)], columns)
    messages = waits_and_writes()["mpi_calls"].assign(recording=0.002)
    found = tracing_cost(job(4, traced=traced, mpi_calls=messages))
    assert found is not None
    assert list(found.rows("group", "calls")) == [("heap", 4000), ("mpi", 6), ("blas", 10)]
    assert found["seconds"].tolist() == pytest.approx([0.04, 0.004, 0.001])
    assert found["share"].tolist() == pytest.approx([0.4, 0.04, 0.01])


def test_functions_that_hold_what_they_called_are_in_no_sum_of_the_load_balance() -> None:
    tables = waits_and_writes()
    columns = "group function region node calls time bytes throttled"
    rows = [("hdf5", "H5Dwrite", 0, -1, 2, 4.0, 0, 0), ("heap", "malloc", 0, -1, 9, 0.01, 0, 0)]
    tables["traced"] = pd.concat([tables["traced"], every_rank(rows, columns)])
    made = job(4, {"POSIX": posix(4)}, **tables)
    frame = functions.load_balance(made, Ask(("group", "function"))).frame()
    end = int(frame.index[frame["name"] == functions.INSIDE][0])
    found, inside = frame[:end].set_index("name"), frame[end:].set_index("name")
    assert set(found.index[found["level"] == "group"]) == {"POSIX", "MPI", "BLAS"}
    # The total is the time in files, in MPI and in dgemm.
    assert found.loc["Total", "time"] == pytest.approx(1.125 + 1.5 + 0.25)
    assert inside.loc["H5Dwrite", ["time", "calls", "imbalance"]].tolist() == [4.0, 2.0, 0.0]
    assert inside["share"].isna().all()  # Inclusive times are no parts of the total.
    # The group HEAP and its function malloc have 0.1 % of the run and are hidden.
    assert not {"HEAP", "malloc"} & set(inside.index)
    alone = functions.load_balance(made, Ask(("group", "function"), where=conditions("group=HEAP"))).frame()
    assert alone["name"].tolist() == [functions.INSIDE, "HEAP", "malloc"]
    assert functions.load_balance(made, Ask(("file",), where=conditions("group=HEAP"))).frame().empty
    assert functions.load_balance(job(4, traced=tables["traced"])).frame()["name"][0] == "Total"
    assert "H5Dwrite" not in steps.imbalance_step(made).evidence


def test_a_profile_by_time_of_single_ranks_and_of_a_program_that_threads_kept_busy() -> None:
    tables = waits_and_writes()
    made = job(4, {"POSIX": posix(4)}, **tables)
    ranks = profile_time.profile_time(made, Ask(asked_levels("group,pe=all"), 0.0)).frame()
    assert functions.INSIDE not in set(ranks["name"])  # Inclusive times have no sum over functions.
    each = ranks[ranks["level"] == "pe"].groupby("name")["time"].sum()
    assert each.drop("pe.0").tolist() == pytest.approx([made.run_time] * 3)
    assert each["pe.0"] == pytest.approx(made.run_time)
    tables["mpi_calls"]["time"] *= 10
    busy = profile_time.profile_time(job(4, **tables), Ask(threshold=0.0)).frame().set_index("name")
    assert busy.loc["(not traced)", "time"] == 0.0
    assert busy.loc["Total", "time"] > made.run_time


def test_without_samples_the_profile_is_the_one_by_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "profile", str(LOG), "--no-threshold", "--by", "group,pe"]) == 0
    shown = capsys.readouterr().out
    assert "Imb. Time%" in shown
    assert "| OTHER\n" in shown
    assert "including MPI, because MPI was not traced" in " ".join(shown.split())
    assert main(["table", "profile_time", str(LOG), "--no-threshold", "--by", "group,pe"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["table", "profile", str(LOG), "--by", "line"]) == 2
    assert "no level line; this table has group, function, file, region" in capsys.readouterr().err


def test_a_table_as_text_csv_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "load_balance", str(LOG), "--by", "function,pe", "--filter", "group=POSIX"]) == 0
    text = capsys.readouterr().out
    assert "Imb. Time%" in text
    assert "| Function\n" in text
    assert "100.0 % |" in text
    assert "|  pe.1 (max)" in text
    assert main(["table", "load_balance", str(LOG)]) == 0
    assert "Left out: 2 rows with less than 0.95 % of the total." in " ".join(capsys.readouterr().out.split())
    assert main(["table", "load_balance", str(LOG), "--no-threshold"]) == 0
    assert "Left out" not in capsys.readouterr().out
    assert main(["table", "load_balance", str(LOG), "--json", "--no-threshold"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["name"] == "Total"
    assert {row["level"] for row in rows} == {"total", "group", "function", "pe"}
    assert main(["table", "operations", str(LOG), "--csv"]) == 0
    assert capsys.readouterr().out.startswith("module,operation,count")
    assert main(["table", "operations", str(LOG)]) == 0
    assert "independent write" in capsys.readouterr().out


def test_heads_where_single_ranks_stand_beside_deeper_levels() -> None:
    found = pd.DataFrame(
        {"depth": [0, 1, 2, 3, 1, 2], "level": ["total", "function", "caller", "pe", "function", "pe"]}
    )
    assert depth_heads(found) == ["Function", "Caller", "PE"]


def test_the_names_of_all_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--list"]) == 0
    everything = capsys.readouterr().out
    assert main(["table", "--list", str(LOG)]) == 0
    here = capsys.readouterr().out
    assert {"file_output", "load_balance", "memory"} <= {line.split()[0] for line in everything.splitlines()}
    assert {"profile", "profile_time"} <= {line.split()[0] for line in here.splitlines()}
    assert "memory" not in {line.split()[0] for line in here.splitlines()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["lod_balance", str(LOG)], "no table lod_balance; do you mean load_balance"),
        (["load_balance"], "name a table and a log"),
        (
            ["load_balance", str(LOG), "--by", "frobs"],
            "there is no level frobs; this table has group, function, file, region",
        ),
        (["load_balance", str(LOG), "--by", "group,pe,group"], "the level group is given twice"),
        (["load_balance", str(LOG), "--by", "pe=all,file"], "pe=all can only be the last level"),
        (["load_balance", str(LOG), "--filter", "pe<<3"], "pe is a number"),
        (["load_balance", str(LOG), "--filter", "pe"], "pe is not a condition; write a name, one of"),
        (["load_balance", str(LOG), "--filter", "function<3"], "function is text"),
        (["load_balance", str(LOG), "--filter", "frobs=3"], "no column frobs to filter by"),
        (["operations", str(LOG), "--by", "pe"], "the table operations has no levels"),
        (["file_input", str(LOG), "--by", "pe"], "the table file_input has no levels; leave --by out"),
    ],
)
def test_wrong_questions(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", *options]) == 2
    assert said in capsys.readouterr().err


def test_what_a_log_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "memory", str(LOG)]) == 1
    assert "this log has no data for the table memory; the table needs a log of iolens" in capsys.readouterr().err


def test_a_filter_that_nothing_meets_is_not_taken_for_a_log_without_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["table", "load_balance", str(LOG), "--filter", "function=frob*"]) == 1
    assert "no row of the table load_balance matches --filter 'function=frob*'" in capsys.readouterr().err


def test_conditions_and_levels() -> None:
    one, two = conditions("rank>=3, function != MPI_*")
    assert (one.name, one.relation, one.value) == ("pe", ">=", "3")
    assert two.holds(pd.Series(["MPI_Send", "main"])).tolist() == [False, True]
    assert asked_levels("function, rank") == ("function", "pe")
    with pytest.raises(UsageError):
        conditions("x")


@pytest.mark.parametrize("name", ["mpi_calls", "mpi_callers", "load_balance", "mpi_peers"])
def test_a_table_keeps_to_a_terminal_of_80_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Path(__file__).parents[1] / "advice" / "logs" / "small-messages.darshan"
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["table", name, str(log)]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= 80
    monkeypatch.delenv("COLUMNS")
    assert main(["table", name, str(log)]) == 0
    whole = capsys.readouterr().out
    assert "No room for" not in whole


@pytest.mark.parametrize("name", ["predict/ior-1-stripe", "mpi_calls"])
def test_tables_without_paths_keep_to_80_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = read_log(LOG.parent / f"{name}.darshan")
    monkeypatch.setenv("COLUMNS", "80")
    wide = {}
    for exhibit in JOB_EXHIBITS:
        frame = exhibit.frame(made)
        printed = "" if frame is None else text_of(exhibit, frame, made)
        if not re.search(r"/\S{10}", printed):
            wide[exhibit.name] = max((len(line) for line in printed.splitlines()), default=0)
    assert len(wide) >= 40
    assert {name: width for name, width in wide.items() if width > 80} == {}


def test_texts_of_a_table_take_more_lines_where_there_is_little_room() -> None:
    table = Table("Settings", ["rank", "setting", "value"], [["0", "mca_" + "x" * 20, "a long value " * 6]], "A note.")
    assert max(map(len, plain_table(table, 80).splitlines())) <= 80
    assert max(map(len, plain_table(table).splitlines())) > 80


def test_an_option_in_a_note_stays_whole() -> None:
    table = Table("T", ["n"], [["1"]], "Left out: 3 rows. --no-threshold shows them.")
    assert all("--no-threshold" in plain_table(table, room) for room in range(20, 60))


def test_long_texts_and_then_heads_are_broken_until_a_table_fits() -> None:
    words = "Open MPI v4.1.4, package: Debian"
    wide = Table(
        "T", ["kind", "name", "value", "set by"], [["library", "n" * 30, words, f"the {words}"], ["", "", "", ""]]
    )
    assert max(map(len, plain_table(wide, 66).splitlines())) <= 66
    heads = Table("T", ["longest, s", "cores, s"] * 4, [["1", "2"] * 4])
    assert max(map(len, plain_table(heads, 80).splitlines())) <= 80
    assert max(map(len, plain_table(heads, 100).splitlines())) > 80


def test_columns_of_numbers_for_which_there_is_no_room_are_left_out_and_named() -> None:
    heads = ["pattern", *(f"kind{number}, s" for number in range(12))]
    printed = plain_table(Table("Waits", heads, [["late sender", *["100.25"] * 12]]), 80)
    assert max(map(len, printed.splitlines())) <= 80
    assert "late" in printed
    assert "100.25" in printed
    assert "No room for" in printed
    assert "“kind11, s”: --csv has all columns." in " ".join(printed.split())
    path = "/scratch/" + "f" * 70
    assert path in plain_table(Table("Files", ["rank", "file", "seconds"], [["1", path, "3.5"]]), 80)
