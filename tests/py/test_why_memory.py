"""Tests logs with more events than memory suffices for: the first part of the job is analysed, and the page says so."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iolens import memory
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.log.format import container, private
from iolens.log.format.container import open_container
from iolens.log.format.private import MEMORY_PER_ROW, entries_of, inflated
from iolens.log.rewrite import PrivateRegion, put_together, split_log
from iolens.metrics.why.answers import replays, waits_by_cause, why
from iolens.metrics.why.time_lines import limits
from why_programs import RankLine, events_of

LOG = Path(__file__).parents[1] / "data/iolens/predict/ior-1-stripe.darshan"
BARRIERS, KEPT = 100, 40


def chunk(line: RankLine, rank: int) -> bytes:
    """Returns one rank's events as a log has them."""
    events = events_of(line)
    columns = {name: np.array(events[name], "S32" if events[name].dtype == object else None) for name in events.names}
    columns |= {"rank": np.full(len(events), rank, np.int32)}
    types = [{"name": name, "dtype": values.dtype.str.replace("|", "")} for name, values in columns.items()]
    header = json.dumps({"rows": len(events), "columns": types}).encode()
    return header + b"\n" + b"".join(values.tobytes() for values in columns.values())


def log_with(lines: list[RankLine], folder: Path) -> Path:
    """Returns a log with these events of its ranks."""
    log = open_container(LOG)
    contents = split_log(log)
    region = PrivateRegion("why_events", "table", tuple(chunk(line, rank) for rank, line in enumerate(lines)))
    others = tuple(each for each in contents.private or () if each.name != "why_events")
    path = folder / "events.darshan"
    path.write_bytes(put_together(log, replace(contents, private=(*others, region))))
    return path


def log_of_barriers(folder: Path) -> Path:
    """Returns a log whose ranks meet in a barrier each second."""
    ranks, line = read_log(LOG).nprocs, RankLine()
    for second in range(BARRIERS):
        line.together("MPI_Barrier", second, second + 0.5, ranks)
    line.together("MPI_Finalize", BARRIERS, BARRIERS + 1, ranks)
    return log_with([line] * ranks, folder)


def with_memory_for(rows: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Reads a log as if memory sufficed for only `rows` rows of each rank."""
    share = 0.8 / MEMORY_PER_ROW["why_events"] / read_log(LOG).nprocs
    monkeypatch.setattr(private, "free_memory", lambda: int((rows + 0.5) / share))
    return read_log(path)


def test_the_first_events_of_all_ranks_are_analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of_barriers(tmp_path)
    whole = why(with_memory_for(BARRIERS + 1, path, monkeypatch))
    assert whole is not None
    assert (len(whole.program), whole.until) == (whole.program.ranks * (BARRIERS + 1), None)
    job = with_memory_for(KEPT, path, monkeypatch)
    found = why(job)
    assert found is not None
    assert (len(found.program), found.until) == (job.nprocs * KEPT, KEPT - 0.5)
    beyond = f"{job.nprocs * (BARRIERS + 1 - KEPT):,}"
    assert f"this machine has too little memory for the {beyond} later ones" in limits(job)[0]


def test_an_event_takes_no_more_memory_than_is_counted_for_it(tmp_path: Path) -> None:
    ranks, lines = read_log(LOG).nprocs, []
    for rank in range(ranks):
        line = RankLine()
        for time in range(4000):
            if rank % 2:
                line.receive(time, time + 0.2, rank - 1)
            else:
                line.send(time + 0.1, time + 0.2, rank + 1)
            line.file(time + 0.3, time + 0.4).together("MPI_Barrier", time + 0.5, time + 0.6, ranks)
        lines.append(line)
    replays(read_log(log_of_barriers(tmp_path)))  # Loads modules first, because their memory does not count.
    path = log_with(lines, tmp_path)
    tracemalloc.start()
    job = read_log(path)
    assert waits_by_cause(job) is not None
    assert replays(job) is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 < peak / len(job.tables["why_events"]) / MEMORY_PER_ROW["why_events"] < 1


def test_all_ranks_together_may_have_more_events_than_one_region_may_have_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log_of_barriers(tmp_path)
    (entry,) = (each for each in entries_of(open_container(path)) or () if each.name == "why_events")
    of_each = [len(part) for part in inflated(open_container(path), entry)]
    monkeypatch.setattr(container, "INFLATED_LIMIT", max(of_each))
    assert sum(of_each) > 1.5 * max(of_each)
    assert len(read_log(path, ("why_events",)).tables["why_events"]) == len(of_each) * (BARRIERS + 1)


def test_memory_that_is_free_in_a_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = memory.free_memory()
    assert machine is not None
    assert machine > 1 << 20
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    monkeypatch.setattr(memory, "_CONTROL_GROUPS", tmp_path)
    if "0::" in Path("/proc/self/cgroup").read_text():
        assert memory.free_memory() == 400_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() == pytest.approx(machine, rel=0.5)


def test_a_command_without_memory_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("iolens.log.reader.job_of", no_memory)
    assert main(["table", "job", str(LOG)]) == 1
    assert "there is not enough memory" in capsys.readouterr().err
