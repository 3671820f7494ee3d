"""A command without MPI leaves one log, which holds what the logs of its processes held."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iolens.cli.main import main
from iolens.forest import summary
from iolens.forest.forest import read_forest
from iolens.lab.run.one_log import in_one_log
from iolens.log import read_log
from iolens.log.format.container import open_container
from iolens.log.processes import main_process, only_process, processes_of
from iolens.log.rewrite import put_together, split_log

darshan = pytest.importorskip("darshan", reason="PyPI's darshan reads logs without code of iolens")

SCRIPT = (
    "for i in 1 2 3; do dd status=none if=/dev/zero of=part$i bs=1000 count=$i; done; sleep 0.3;"
    "cat part1 part2 part3 > whole; sh -c 'echo x >> log; kill -9 $$'; exit 3"
)


def iolens(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iolens.cli.main", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def as_darshan_reads_it(log: Path) -> dict[str, Counter[object]]:
    """Returns the sum of each counter for each file of a log, and of the bytes in its heat maps."""
    report = darshan.DarshanReport(str(log), read_all=True)
    found: dict[str, Counter[object]] = {"heat": Counter()}
    for name in ("POSIX", "STDIO"):
        if name not in report.records:
            continue
        sums = found.setdefault(name, Counter())
        for record in report.records[name]:
            path = report.name_records[record["id"]]
            for counter, value in zip(report.counters[name]["counters"], record["counters"], strict=True):
                sums[path, counter] += int(value)
    for name, heat in report.heatmaps.items():
        for operation in ("read", "write"):
            found["heat"][name, operation] += int(heat.to_df([operation]).to_numpy().sum())
    return found


def added_up(logs: list[Path]) -> dict[str, Counter[object]]:
    """Returns the sums over several logs."""
    total: dict[str, Counter[object]] = {}
    for log in logs:
        for name, sums in as_darshan_reads_it(log).items():
            for key, value in sums.items():
                total.setdefault(name, Counter())[key] += value
    return total


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Returns the single logs of a script, some of whose processes are killed."""
    folder = tmp_path_factory.mktemp("apart")
    done = iolens("run", "--apart", "--output", "out", "--dxt", "--", "bash", "-c", SCRIPT, cwd=folder)
    assert done.returncode == 3, done.stderr
    logs = sorted((folder / "out").glob("*.darshan"))
    assert len(logs) > 4
    return logs


def copied(logs: list[Path], folder: Path) -> list[Path]:
    """Returns copies of logs in another folder."""
    return [Path(shutil.copy(log, folder / log.name)) for log in logs]


def test_a_joined_log_has_the_counters_of_its_parts(apart: list[Path], tmp_path: Path) -> None:
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    assert [*tmp_path.iterdir()] == [whole]
    assert as_darshan_reads_it(whole) == added_up(apart)
    assert darshan.DarshanReport(str(whole), read_all=False).metadata["job"]["nprocs"] == len(apart)


def test_each_process_is_what_its_own_log_says(apart: list[Path], tmp_path: Path) -> None:
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    parts = {(job.start, job.command, job.info["pid"]): job for job in map(read_log, apart)}
    found = {(job.start, job.command, job.info["pid"]): job for job in processes_of(read_log(whole))}
    assert found.keys() == parts.keys()
    for key, job in found.items():
        own = parts[key]
        assert job.run_time == pytest.approx(own.run_time)
        for name in ("POSIX", "STDIO", "DXT_POSIX"):
            assert (name in job.frames) == (name in own.frames)
            if name in own.frames:
                ours, theirs = job.frames[name], own.frames[name]
                assert list(ours) == list(theirs)
                numbers = ours.select_dtypes("number").to_numpy()
                assert numbers == pytest.approx(theirs.select_dtypes("number").to_numpy(), abs=1e-7)
        assert job.partial == own.partial
        assert job.metadata == own.metadata
        assert job.info["environment"] == own.info["environment"]


def test_times_count_from_the_start_of_the_first_process(apart: list[Path], tmp_path: Path) -> None:
    """The file `whole` is written after a sleep of 0.3 s by a process that lives for a few milliseconds."""
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    report = darshan.DarshanReport(str(whole), read_all=True)
    written = {
        Path(report.name_records[record["id"]]).name: dict(
            zip(report.counters["POSIX"]["fcounters"], record["fcounters"], strict=True)
        )
        for record in report.records["POSIX"]
    }
    assert written["whole"]["POSIX_F_WRITE_START_TIMESTAMP"] - written["part3"]["POSIX_F_WRITE_END_TIMESTAMP"] > 0.29
    job = read_log(whole)
    assert max(report.records["POSIX"][0]["fcounters"]) < 1e6
    assert job.run_time >= max(each.run_time for each in processes_of(job))


def test_a_run_leaves_one_log_and_its_screen_tells_the_processes(tmp_path: Path) -> None:
    done = iolens("run", "--", "bash", "-c", SCRIPT, cwd=tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    assert done.returncode == 3
    assert f"log: {log} (" in done.stderr
    assert not list(tmp_path.glob("*.csv"))
    shown = iolens("show", log, cwd=tmp_path).stdout
    assert len(shown.splitlines()) <= 40
    assert shown.startswith("bash -c ")
    assert "3 × dd" in shown
    assert "rank" not in shown
    tables = iolens("table", "--csv", "processes", log, cwd=tmp_path).stdout
    assert len(tables.splitlines()) == 1 + len(processes_of(read_log(log)))
    assert "iolens table: " not in iolens("table", "performance", log / "0", cwd=tmp_path).stderr


def test_the_bytes_are_those_that_strace_sees(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    words = ["bash", "-c", "for i in 1 2 3; do cat /etc/hostname > out$i; done"]
    strace = ["strace", "-f", "-e", "trace=write,copy_file_range", "-o", "calls"]
    subprocess.run([*strace, *words], cwd=tmp_path, capture_output=True, check=True)
    calls = re.findall(r"(?:write\(1,|copy_file_range\().* = ([0-9]+)$", (tmp_path / "calls").read_text(), re.MULTILINE)
    written = sum(map(int, calls))
    assert written == 3 * len(Path("/etc/hostname").read_bytes())
    iolens("run", "--", *words, cwd=tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    sums = as_darshan_reads_it(log)["POSIX"]
    assert sum(sums[path, name] for path, name in sums if name == "POSIX_BYTES_WRITTEN" and "/out" in path) == written


@pytest.mark.parametrize("others", [0.001, 1.0])
def test_a_program_beside_helpers_is_shown_by_itself(
    apart: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    others: float,
) -> None:
    """Process 2 does most, or as much as each other one. Its times are set here, since a busy machine changes them."""
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    work = [10.0 if rank == 2 else 10.0 * others for rank in range(len(apart))]
    for name in ("_io_seconds", "_sums", "_durations"):
        monkeypatch.setattr(f"iolens.log.processes.{name}", lambda job, counters=(): np.array(work))
    only = only_process(read_log(whole))
    assert (only is not None) == (others < 1.0)
    assert only is None or only.path == whole / "2"
    assert main_process(read_log(whole)).path == whole / "2" or others == 1.0
    assert main(["show", str(whole)]) == 0
    second = capsys.readouterr().out.splitlines()[1]
    assert second.startswith(f"process 2 of {len(apart)} (") == (others < 1.0)


def test_a_shell_that_becomes_the_program_leaves_nothing_out(tmp_path: Path) -> None:
    """The shell's log is made from the records that it kept until exec, which are all that there are."""
    (tmp_path / "data").write_bytes(b"line\n" * 1000)
    script = "while read -r line; do :; done < data; exec cp data copy"
    done = iolens("run", "--", "bash", "-c", script, cwd=tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    job, forest = read_log(log), read_forest(log)
    assert (done.returncode, job.nprocs) == (0, 2)
    assert any("became another program" in reason for reason in job.partial)
    assert [process.partial for process in forest.processes] == [(), ()]
    only = only_process(job)
    assert only is not None
    assert only.command == "cp data copy"


def test_no_bytes_are_shown_after_the_process_that_moved_them(tmp_path: Path) -> None:
    """A bin of the log's heat map is wider than a short process lives."""
    (tmp_path / "data").write_bytes(b"x" * 100_000)
    iolens("run", "--", "bash", "-c", "cp data copy; cat data > other; sleep 0.3; cp data late", cwd=tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    forest = read_forest(log)
    grids = summary.bytes_over_time(forest)
    rows = summary.processes(forest)
    assert grids is not None
    early, late = (rows[rows["command"].str.endswith(name)].iloc[0] for name in ("cat data", "cp data late"))
    quiet = slice(int((early["start"] + early["seconds"]) / grids[2]) + 1, int(late["start"] / grids[2]))
    assert quiet.stop - quiet.start > 10
    assert grids[0][:, quiet].sum() == grids[1][:, quiet].sum() == 0
    assert grids[0].sum() >= 300_000


def test_a_shell_that_writes_does_the_programs_work(tmp_path: Path) -> None:
    script = "for i in $(seq 200); do echo $i >> numbers; done; cp /etc/passwd copy"
    iolens("run", "--", "bash", "-c", script, cwd=tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    assert only_process(read_log(log)) is None


def test_a_log_that_cannot_be_joined_stays(apart: list[Path], tmp_path: Path) -> None:
    logs = copied(apart, tmp_path)
    logs[0].chmod(0o600)
    logs[0].write_bytes(logs[0].read_bytes()[:3000])
    kept = in_one_log(logs, 0, [])
    assert logs[0] in kept
    assert len(kept) == 2


@pytest.mark.parametrize("fault", [{}, {"processes": 7}, {"processes": [{}, {}]}, {"processes": [{"numbers": [1]}]}])
def test_damaged_facts_of_processes_cost_only_themselves(apart: list[Path], tmp_path: Path, fault: object) -> None:
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    log = open_container(whole)
    contents = split_log(log)
    private = tuple(
        replace(region, chunks=(json.dumps(fault).encode(),)) if region.name == "processes" else region
        for region in contents.private or ()
    )
    whole.chmod(0o600)
    whole.write_bytes(put_together(log, replace(contents, private=private)))
    job = read_log(whole)
    assert job.nprocs == len(apart)
    assert any("processes" in reason for reason in job.partial)
    assert processes_of(job) == [job]


def test_without_room_no_log_is_lost(
    apart: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = copied(apart, tmp_path)

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert in_one_log(logs, 0, []) == tuple(logs)
    assert sorted(tmp_path.iterdir()) == sorted(logs)
    assert capsys.readouterr().err.endswith(f"stay apart: {os.strerror(28)}\n")


def test_a_log_that_cannot_be_removed_is_named(
    apart: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = copied(apart, tmp_path)
    kept, unlink = next(log for log in logs if "_cat_" in log.name), Path.unlink

    def refused(self: Path, missing_ok: bool = False) -> None:
        if self == kept:
            raise PermissionError(1, os.strerror(1))
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    (whole,) = in_one_log(logs, 0, [])
    assert sorted(tmp_path.iterdir()) == sorted([whole, kept])
    assert f"{kept} cannot be removed: {os.strerror(1)}; {whole.name} holds" in capsys.readouterr().err


def test_the_exit_code_is_the_programs_where_tables_cannot_be_written(tmp_path: Path) -> None:
    script = "mkdir out/processes.csv; cat /etc/passwd > a; cat a > b; exit 3"
    done = iolens("run", "--apart", "--output", "out", "--", "bash", "-c", script, cwd=tmp_path)
    assert done.returncode == 3
    assert f"processes.csv or files.csv cannot be written: {os.strerror(21)}\n" in done.stderr
    assert "iolens: next: iolens report " in done.stderr


def test_an_anonymized_log_names_nothing_of_any_process(apart: list[Path], tmp_path: Path) -> None:
    (whole,) = in_one_log(copied(apart, tmp_path), 0, ["bash", "job.sh"])
    hidden = tmp_path / "hidden.darshan"
    assert main(["anonymize", str(whole), "-o", str(hidden)]) == 0
    log = open_container(hidden)
    contents = split_log(log)
    words = contents.job + contents.names + b"".join(chunk for one in contents.private or () for chunk in one.chunks)
    commands = [process.command for process in processes_of(read_log(whole))]
    assert len(commands) == len(apart)
    for secret in (str(apart[0].parent), *(command for command in commands if " " in command)):
        assert secret.encode() not in words, secret
    assert sorted(as_darshan_reads_it(hidden)["heat"].values()) == sorted(as_darshan_reads_it(whole)["heat"].values())
