"""Tests a folder of logs as one job: every process of scripts, makes, pools and pipelines, with exact sums."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import darshan
import iolens
import numpy as np
import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.forest import files, summary
from iolens.forest.forest import Forest, process_of, read_forest
from iolens.forest.tree import label, process_clocks, tree_of
from iolens.log import read_log
from iolens.metrics.files.overview import all_files
from job_example import job_of
from patience import PATIENCE

DATA = Path(__file__).resolve().parents[1] / "data"
SIZE, SHARDS, EPOCHS, WORKERS = 3000, 4, 3, 2

LOADER = f"""
import multiprocessing, sys
def meet_at(barrier):
    read.barrier = barrier
def read(shard):
    read.barrier.wait()  # no worker takes the tasks of another, however late that one starts
    with open(f"data/shard{{shard}}", "rb", buffering=0) as file:
        return len(file.read(10 * {SIZE}))
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    pool = context.Pool({WORKERS}, meet_at, [context.Barrier({WORKERS})])
    for epoch in range({EPOCHS}):
        assert sum(pool.map(read, range({SHARDS}), 1)) == {SHARDS * SIZE}
    pool.close()
    pool.join()
"""
KILLED = """
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", "victim.py"])
while not os.path.exists("killed.done"):
    time.sleep(0.01)
child.kill()
child.wait()
"""
VICTIM = """
import os, time
with open("killed.dat", "wb", buffering=0) as file:
    file.write(b"x" * 777)
os.mkdir("killed.done")
time.sleep(1000)
"""
MAKEFILE = "all: a.out b.out c.out\n%.out: data/shard0\n\tcat $< > $@; cat $@ > $@.copy\n"
SCRIPT = f"""
make -s -j 3 -f rules.mk
cat a.out b.out | tee joined
RANK=0 cat joined > rank0
RANK=1 cat joined > rank1
{sys.executable} -I -S loader.py fork
{sys.executable} -I -S loader.py spawn
{sys.executable} -I -S killed.py
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs all programs once and returns the folder of their logs."""
    place = tmp_path_factory.mktemp("forest")
    (place / "data").mkdir()
    for shard in range(SHARDS):
        (place / f"data/shard{shard}").write_bytes(b"line\n" * (SIZE // 5))
    texts = {"loader.py": LOADER, "killed.py": KILLED, "victim.py": VICTIM, "rules.mk": MAKEFILE, "job.sh": SCRIPT}
    for name, text in texts.items():
        (place / name).write_text(text)
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--output", "run", "--", "bash", "job.sh"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def forest(folder: Path) -> Forest:
    return read_forest(folder / "run")


def test_no_process_is_lost_and_each_stands_below_its_parent(forest: Forest) -> None:
    tree = tree_of(forest)
    found = {}
    for number, name in enumerate(tree.labels):
        above = tree.labels[tree.above[number]] if tree.above[number] >= 0 else None
        found[name, above] = int((tree.group == number).sum())
    name = Path(sys.executable).name
    pool = f"{name} loader.py"
    assert found["make", "bash job.sh"] == 1
    assert found["sh -c", "make"] == 3
    assert found["cat", "sh -c"] == 6
    assert found["cat", "bash job.sh"] == 3
    assert found["tee", "bash job.sh"] == 1
    assert found[pool, "bash job.sh"] == 2
    assert found[f"{pool} (forked)", pool] == WORKERS
    assert found[f"{name} (multiprocessing worker)", pool] == WORKERS
    assert found[f"{name} killed.py", "bash job.sh"] == 1
    assert found[f"{name} victim.py", f"{name} killed.py"] == 1
    rows = summary.processes(forest)
    assert set(rows.loc[rows["rank"] != "", "rank"]) == {"0", "1"}
    (victim,) = rows.index[rows["label"] == f"{name} victim.py"]
    assert rows.loc[victim, "bytes_written"] == 777
    assert rows.loc[victim, "partial"] != ""
    assert not (rows["start"] < 0).any()


def test_sums_are_those_of_libdarshan_util(forest: Forest, folder: Path) -> None:
    logs = sorted((folder / "run").glob("*.darshan"))
    assert len(logs) == 1
    sums = dict.fromkeys(("BYTES_READ", "BYTES_WRITTEN", "OPENS"), 0)
    for log in logs:
        report = darshan.DarshanReport(str(log), read_all=True)
        assert len(forest.processes) == report.metadata["job"]["nprocs"]
        for module in {"POSIX", "STDIO"} & set(report.records):
            table = report.records[module].to_df()["counters"]
            for name in sums:
                sums[name] += int(table[f"{module}_{name}"].sum())
    rows = summary.processes(forest)
    assert [int(rows[name].sum()) for name in ("bytes_read", "bytes_written", "opens")] == list(sums.values())
    tree = summary.process_groups(forest)
    assert [int(tree[name].sum()) for name in ("bytes_read", "bytes_written", "opens")] == list(sums.values())
    grids = summary.bytes_over_time(forest)
    assert grids is not None
    assert np.isclose(grids[0].sum(), sums["BYTES_WRITTEN"])
    assert np.isclose(grids[1].sum(), sums["BYTES_READ"])


def test_roles_epochs_and_who_wrote_what_others_read(forest: Forest, folder: Path) -> None:
    found = files.file_rows(forest).set_index("path")
    roles = found["role"]
    assert roles[f"{folder}/data/shard1"] == "input"
    assert roles[f"{folder}/a.out"] == "handed over"
    assert roles[f"{folder}/rank0"] == roles[f"{folder}/killed.dat"] == "output"
    # The processes of fork and of spawn read this file.
    assert found.loc[f"{folder}/data/shard1", "passes"] == 2 * EPOCHS
    # The processes of make read this file as well.
    assert found.loc[f"{folder}/data/shard0", "passes"] == 2 * EPOCHS + 3
    again = files.read_again(forest)
    assert again is not None
    data = again.set_index("folder").loc[f"{folder}/data"]
    assert (data["least"], data["median"], data["most"], data["files"]) == (6, 6, 9, SHARDS)
    pairs = files.handed_over(forest)
    assert pairs is not None
    joined = pairs[(pairs["producer"] == "tee") & (pairs["consumer"] == "3 × cat")]
    assert (joined["files"].item(), joined["bytes_written"].item(), joined["bytes_read"].item()) == (1, 6000, 12000)
    assert joined["wait"].item() >= 0


def test_waiting_is_within_the_processes_time(forest: Forest) -> None:
    found = summary.process_waiting(forest)
    assert found is not None
    assert (found["off_processor"] <= found["wall"] + 1e-9).all()
    assert np.allclose(found["in_io"] + found["elsewhere"], found["off_processor"])
    name = f"{Path(sys.executable).name} killed.py"
    assert found.set_index("name").loc[name, "elsewhere"] > 0


def test_processor_time_is_that_of_the_recorded_time() -> None:
    """A process used 0.3 s of its 0.5 s of processor time before it was recorded: in its loader, or in the program
    before an exec.
    """
    used = pd.DataFrame(
        {"rank": [0], "user_time": [0.4], "system_time": [0.1], "earlier_user": [0.25], "earlier_system": [0.05]}
    )
    found = process_of(job_of(nprocs=1, exe="/bin/app", mounts=(), frames={}, private={"process": used}), "x.darshan")
    assert (found.user_time, found.system_time) == pytest.approx((0.15, 0.05))
    old = process_of(
        job_of(nprocs=1, exe="/bin/app", mounts=(), frames={}, private={"process": used.iloc[:, :3]}), "x.darshan"
    )
    assert (old.user_time, old.system_time) == pytest.approx((0.4, 0.1))


def test_the_command_writes_pages_and_tables(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder / "run", "logs")
    Path("logs/broken.darshan").write_bytes(b"no log")
    Path("logs/1.spool").touch()
    assert main(["report", "logs", "--json", "tables"]) == 0
    assert Path("logs.pdf").read_bytes().startswith(b"%PDF")
    capsys.readouterr()
    assert main(["show", "--all", "logs"]) == 0
    assert "Who wrote what others read" in capsys.readouterr().out
    rows = json.loads(Path("tables/logs.processes.json").read_text())
    assert sum(row["bytes_written"] for row in rows) > 777
    (broken,) = json.loads(Path("tables/logs.damaged.json").read_text())
    assert broken["log"] == "broken.darshan"
    assert "is not a Darshan log" in broken["reason"]
    if not shutil.which("pdftotext"):
        pytest.skip("poppler-utils is not installed")
    text = subprocess.run(["pdftotext", "-layout", "logs.pdf", "-"], capture_output=True, text=True, check=True).stdout
    assert "1 log cannot be read" in text
    assert "They were on a processor for" in text
    assert "1 process left records without a log" in text


def test_a_folder_without_logs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 1
    assert "this folder has no log (.darshan) in it or below it" in capsys.readouterr().err
    (tmp_path / "x.darshan").write_bytes(b"")
    with pytest.raises(IolensError, match="none of the 1 logs can be read"):
        read_forest(tmp_path)


def test_logs_of_any_age_have_the_sums_of_their_own_reports() -> None:
    forest = read_forest(DATA / "darshan")
    rows = summary.processes(forest).set_index("log")
    for log in rows.index:
        found = all_files(iolens.open(DATA / "darshan" / log)).frame()
        for name in ("bytes_read", "bytes_written"):
            assert rows.loc[log, name] == found[name].sum(), (log, name)
        spent = found["seconds_sum"].sum() if len(found) else 0
        assert rows.loc[log, "io_seconds"] == pytest.approx(spent), log


def test_a_job_without_files_has_a_report(tmp_path: Path) -> None:
    shutil.copy(DATA / "darshan/empty_log.darshan", tmp_path)
    assert main(["show", str(tmp_path)]) == 0


def test_logs_of_years_are_no_one_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(DATA / "darshan")]) == 0
    assert "these seem to be several jobs" in capsys.readouterr().out


def test_darshans_tree_of_folders_names_pid_and_host(tmp_path: Path) -> None:
    place = tmp_path / "ann/mpi-io-test/id77/node5"
    place.mkdir(parents=True)
    shutil.copy(DATA / "darshan/mpi-io-test-x86_64-3.4.0.darshan", place / "4711-11-22-29732_1.darshan")
    (found,) = read_forest(tmp_path).processes
    assert (found.pid, found.host) == (4711, "node5")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/gcc -c a.c", "gcc"),
        ("python3 -u /home/ann/train.py --lr 1", "python3 train.py"),
        ("python3 -m torch.distributed.run x", "python3 -m torch.distributed.run"),
        ("/bin/bash -c make", "bash -c"),
        ("python -c from multiprocessing.spawn import spawn_main; spawn_main() --multiprocessing-fork", None),
        ("", "unknown program"),
        ("python", "python"),
    ],
)
def test_processes_are_called_by_what_they_run(command: str, name: str | None) -> None:
    assert label(command, False) == (name or "python (multiprocessing worker)")


def test_a_clock_that_was_set_meanwhile_is_taken_out() -> None:
    one = replace(read_forest(DATA / "iolens").processes[0], host="node1", clock=1000.0)
    later = replace(one, clock=1060.0)
    other = replace(one, host="node2", clock=5000.0)
    unknown = replace(one, clock=None)
    assert process_clocks((one, one, later, other, unknown)).tolist() == [0, 0, -60, 0, 0]


def test_a_process_with_several_logs_counts_once(folder: Path, tmp_path: Path) -> None:
    log = next((folder / "run").glob("*.darshan"))
    for name in ("a.darshan", "a.snapshot-1.darshan"):
        shutil.copy(log, tmp_path / name)
    found = {each.log for each in read_forest(tmp_path).processes}
    assert found == {f"a.snapshot-1.darshan/{rank}" for rank in range(read_log(log).nprocs)}


def test_own_pid_is_no_ancestor(forest: Forest) -> None:
    assert all(each.above[0] != each.pid for each in forest.processes)
    assert all(each.host == os.uname().nodename for each in forest.processes)
