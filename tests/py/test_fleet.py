"""Tests many logs as one data set: sums equal those of the logs, no log is read twice or missed, and SQL queries
work.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import iolens
import pytest
from advice_invariants import QUIET
from iolens import extras
from iolens.advise import diagnosis, findings
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.fleet import job_rows
from iolens.fleet.ingest import Taken, ingest
from iolens.fleet.job_rows import Met, read_rows, rows_of
from iolens.fleet.store import NewRows, make_store, open_store, parts_of
from iolens.log import LogError, read_log
from iolens.metrics.files.overview import all_files
from iolens.metrics.job.share import io_mean_seconds
from patience import PATIENCE
from random_jobs import random_job
from test_advice_invariants import FIRST, JOBS

pytest.importorskip("duckdb", reason="duckdb is not installed; `make setup-test` does it")
pytest.importorskip("pyarrow", reason="pyarrow is not installed; `make setup-test` does it")

DATA = Path(__file__).resolve().parents[1] / "data"
SOME = (
    *("darshan/imbalanced-io", "darshan/mpi-io-test-ppc64-3.0.0", "darshan/mpi-io-test-x86_64-3.1.0"),
    *("darshan/partial_data_stdio", "darshan/noposix", "darshan/empty_log", "iolens/mpi_calls", "iolens/hdf5_calls"),
    "darshan/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1",
)
"""Sample logs: old and new versions, both byte orders, with and without findings."""


def test_a_store_has_the_advice_of_every_sample_log() -> None:
    """A quick look at a log decides which rules are evaluated; it must leave out no rule that would find something."""
    compared = 0
    for path in sorted([*DATA.rglob("*.darshan"), *(DATA.parent / "advice/logs").glob("*.darshan")]):
        try:
            job = read_log(path)
        except LogError:
            continue
        quick = read_rows(Met(str(path), 1, 1), advice=True)
        whole = [one for one in findings(job) if one.severity != "note"]
        assert [(one["rule"], one["gain"]) for one in quick.findings] == [(one.id, one.gain) for one in whole], path
        assert quick.job["gain"] == pytest.approx(diagnosis(job).gain), path
        spent = sum(quick.job[f"{kind}_seconds"] for kind in ("read", "write", "meta"))
        assert spent == pytest.approx((io_mean_seconds(job) or 0.0) * max(job.nprocs, 1)), path
        compared += bool(whole)
    assert compared >= 40


def test_a_log_with_advice_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log, read = DATA / "darshan/imbalanced-io.darshan", Path.read_bytes
    opened: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", lambda path: opened.append(path) or read(path))
    assert read_rows(Met(str(log), 1, 1), advice=True).findings
    assert opened == [log]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Copies some sample logs to a folder of their own."""
    folder = tmp_path_factory.mktemp("logs")
    return sorted(Path(shutil.copy(DATA / f"{name}.darshan", folder)) for name in SOME)


@pytest.fixture(scope="module")
def store(logs: list[Path]) -> Path:
    """Fills a store with all logs, in several processes."""
    folder = logs[0].parent.parent / f"{logs[0].parent.name}-store"
    assert ingest([logs[0].parent], folder, processes=2) == Taken(read=len(logs))
    return folder


def test_jobs_files_and_findings_are_those_of_the_logs(store: Path, logs: list[Path]) -> None:
    link = open_store(store)
    jobs = link.sql("SELECT * FROM jobs").set_index("log")
    files = link.sql("SELECT log, f.* FROM files f JOIN jobs USING (part, log_id)")
    found = link.sql("SELECT log, rule, f.gain FROM findings f JOIN jobs USING (part, log_id)")
    assert sorted(jobs.index) == [str(log) for log in logs]
    for log in logs:
        job = iolens.open(log)
        row, own = jobs.loc[str(log)], files[files["log"] == str(log)]
        table = all_files(job).frame()
        assert (row["nprocs"], row["jobid"], row["run_time"]) == (job.nprocs, job.jobid, job.run_time)
        assert row["start"].timestamp() == pytest.approx(job.start, abs=1e-5)
        assert sorted(own["path"]) == sorted(table["path"])
        for name in ("bytes_read", "bytes_written"):
            assert row[name] == own[name].sum() == table[name].sum()
        spent = row["read_seconds"] + row["write_seconds"] + row["meta_seconds"]
        assert spent == pytest.approx((io_mean_seconds(job) or 0.0) * job.nprocs)
        assert own["seconds"].sum() <= spent * 1.000001
        seen = findings(job)
        said = sorted(one.id for one in seen if one.severity != "note")
        assert sorted(found.loc[found["log"] == str(log), "rule"]) == said, log
        assert row["gain"] == pytest.approx(diagnosis(job).gain)
        if row["gain"]:
            assert any(one.gain == pytest.approx(row["gain"]) for one in seen if one.worth_it), log


def test_sums_over_a_fleet_of_random_jobs_are_sums_of_what_they_say(tmp_path: Path) -> None:
    made = [random_job(seed) for seed in range(FIRST, FIRST + min(JOBS, 1000))]
    make_store(tmp_path / "store")
    with NewRows(tmp_path / "store", "part") as part:
        for number, job in enumerate(made):
            met = Met(f"{number}.darshan", number, 1)
            part.add(met, rows_of(met, job, advice=True))
    link = open_store(tmp_path / "store")
    (total,) = link.ask("totals").to_dict("records")
    assert (total["jobs"], total["advised"]) == (len(made), len(made))
    each = [diagnosis(job).gain * job.run_time * job.nprocs for job in made]
    spent = [(io_mean_seconds(job) or 0.0) * job.nprocs for job in made]
    assert total["saved_hours"] == pytest.approx(sum(each) / 3600)
    assert total["io_hours"] == pytest.approx(sum(spent) / 3600)
    assert total["bytes_read"] == sum(int(all_files(job)["bytes_read"].sum()) for job in made)
    for question in ("users", "applications", "trend", "offenders"):
        assert link.ask(question)["saved_hours"].sum() == pytest.approx(total["saved_hours"]), question
    assert len(link.ask("offenders")) == sum(diagnosis(job).gain > 0 for job in made)
    quiet = [job for job in made if diagnosis(job).verdict.sentence.startswith(QUIET)]
    assert quiet
    assert {diagnosis(job).gain for job in quiet} == {0.0}


def test_a_job_that_began_at_no_plausible_time_is_in_no_month(tmp_path: Path) -> None:
    make_store(tmp_path / "store")
    with NewRows(tmp_path / "store", "part") as part:
        for number, start in enumerate((1e9, 253402300800.0, -1.0)):
            met = Met(f"{number}.darshan", number, 1)
            part.add(met, rows_of(met, replace(random_job(FIRST), start=start), advice=False))
    link = open_store(tmp_path / "store")
    assert link.ask("totals")["jobs"].tolist() == [3]
    assert link.ask("trend")["jobs"].tolist() == [1]
    assert main(["fleet", str(tmp_path / "store")]) == 0


def test_what_is_there_is_not_read_again_and_what_changed_takes_its_place(tmp_path: Path) -> None:
    folder, store = tmp_path / "logs", tmp_path / "store"
    folder.mkdir()
    for name in ("mpi-io-test-x86_64-3.4.0.darshan", "mpi-io-test-x86_64-3.5.0.darshan"):
        shutil.copy(DATA / "darshan" / name, folder / name)
    (folder / "broken.darshan").write_bytes(b"no log")
    for unread in (".hidden.darshan", "job.snapshot-1.darshan"):
        (folder / unread).write_bytes(b"no log")
    (folder / "link.darshan").symlink_to("nowhere")
    assert ingest([folder], store, advice=False) == Taken(read=2, damaged=2)
    assert ingest([folder, folder], store, advice=False) == Taken(damaged=1, unchanged=3)
    (folder / "link.darshan").unlink()
    shutil.copy(DATA / "darshan/imbalanced-io.darshan", folder / "mpi-io-test-x86_64-3.4.0.darshan")
    shutil.copy(DATA / "iolens/mpi_calls.darshan", folder / "broken.darshan")
    assert ingest([folder], store, advice=False) == Taken(read=2, unchanged=1)
    link = open_store(store)
    assert link.sql("SELECT count(*) AS n FROM every_jobs")["n"].item() == 4
    assert link.sql("SELECT count(*) AS n, count(DISTINCT log) AS logs FROM jobs").iloc[0].tolist() == [3, 3]
    assert link.ask("damaged")["status"].tolist() == ["closed"]
    read = link.sql("SELECT sum(bytes_read)::BIGINT AS n FROM jobs")["n"].item()
    assert read == sum(all_files(iolens.open(log)).frame()["bytes_read"].sum() for log in folder.glob("[bm]*"))


def test_a_part_that_was_not_finished_does_not_count(store: Path, logs: list[Path], tmp_path: Path) -> None:
    place = tmp_path / "store"
    shutil.copytree(store, place)
    first = parts_of(place)[0]
    os.rename(place / f"logs/{first}.parquet", place / f"logs/.{first}.parquet")
    assert open_store(place).sql("SELECT * FROM jobs").empty
    assert ingest([logs[0].parent], place, advice=False) == Taken(read=len(logs))
    assert len(open_store(place).sql("SELECT * FROM jobs")) == len(logs)


def test_readers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """The reader waits in a pipe that stands for a slow file. If it outlived its parent, the output had no end."""
    os.mkfifo(tmp_path / "slow.darshan")
    command = [sys.executable, "-m", "iolens", "ingest", tmp_path, "-o", tmp_path / "store", "-j", "2"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    pipe, end = None, time.monotonic() + PATIENCE
    while pipe is None and time.monotonic() < end:
        time.sleep(0.05)
        with suppress(OSError):  # Nobody reads the pipe yet.
            pipe = os.open(tmp_path / "slow.darshan", os.O_WRONLY | os.O_NONBLOCK)
    running.kill()
    assert pipe is not None, running.communicate(timeout=PATIENCE)
    running.communicate(timeout=PATIENCE)
    os.close(pipe)


def test_a_dask_cluster_makes_the_same_store(store: Path, logs: list[Path], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed; `make setup-test` does it")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    place = tmp_path / "store"
    with distributed.LocalCluster(protocol="tcp", **options) as cluster:
        command = ["ingest", str(logs[0].parent), "-o", str(place), "--dask-scheduler", cluster.scheduler_address]
        assert main(command) == 0
    query = "SELECT log, bytes_read, bytes_written, gain FROM jobs ORDER BY log"
    assert open_store(place).sql(query).equals(open_store(store).sql(query))


def test_the_report_in_the_terminal_as_pdf_and_by_sql(
    store: Path, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fleet", str(store)]) == 0
    said = capsys.readouterr().out
    assert f"I/O of {len(logs)} jobs" in said
    assert "Jobs with most to save" in said
    assert main(["fleet", str(store), "-o", "fleet.pdf", "--json", "tables"]) == 0
    assert Path("fleet.pdf").read_bytes().startswith(b"%PDF")
    rows = json.loads(Path(f"tables/{store.name}.applications.json").read_text())
    assert sum(row["jobs"] for row in rows) == len(logs)
    capsys.readouterr()
    assert main(["fleet", str(store), "--sql", "SELECT count(*) AS n FROM jobs"]) == 0
    assert capsys.readouterr().out == f"n\n{len(logs)}\n"
    assert main(["fleet", str(store), "--sql", "SELEC"]) == 2
    assert "cannot be answered" in capsys.readouterr().err


def test_copies_of_logs_are_counted_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same log under two names counts once; a log that changed is read again."""
    for name in ("a", "b", "c"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        shutil.copy(DATA / "darshan/noposix.darshan", tmp_path / "logs" / name / f"{name}.darshan")
    store = tmp_path / "store"
    for log, copies in (("noposix", "2 logs look like copies"), ("empty_log", "1 log looks like a copy")):
        shutil.copy(DATA / f"darshan/{log}.darshan", tmp_path / "logs/c/c.darshan")
        ingest([tmp_path / "logs"], store)
        assert main(["fleet", str(store)]) == 0
        assert copies in " ".join(capsys.readouterr().out.split())


def test_an_empty_store_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    assert main(["ingest", str(tmp_path / "logs"), "-o", str(tmp_path / "store"), "-j", "1"]) == 0
    assert main(["fleet", str(tmp_path / "store"), "-o", str(tmp_path / "x.pdf")]) == 0
    assert main(["fleet", str(tmp_path / "store")]) == 0
    assert "none of the ingested logs could be read" in capsys.readouterr().out


def test_wrong_folders_and_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["ingest", str(tmp_path / "none"), "-o", str(tmp_path / "store")]) == 2
    assert main(["ingest", str(DATA), "-o", str(tmp_path)]) == 2
    assert main(["fleet", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "this folder does not exist" in said
    assert "neither a store nor empty" in said
    assert "make a store with: iolens ingest" in said
    monkeypatch.setattr(job_rows, "find_spec", lambda name: None)
    assert main(["ingest", str(tmp_path), "-o", str(tmp_path / "store")]) == 2
    said = capsys.readouterr().err
    assert f"install it with: {sys.executable} -m pip install " in said
    assert "duckdb" in said
    assert "pyarrow" in said
    monkeypatch.setattr(
        job_rows, "find_spec", lambda name: None if name == "distributed" else importlib.util.find_spec(name)
    )
    assert main(["ingest", str(tmp_path), "-o", str(tmp_path / "store"), "--dask-scheduler", "tcp://x:1"]) == 2
    assert "pip install 'distributed>=2024.1'" in capsys.readouterr().err


def test_an_environment_without_pip_gets_its_own_or_is_filled_by_the_systems_pip() -> None:
    command = extras.installation_command("fleet", spec_of=lambda name: name == "ensurepip" or None)
    assert command.startswith(f"{sys.executable} -m ensurepip && {sys.executable} -m pip install ")
    command = extras.installation_command("fleet", spec_of=lambda _: None)
    assert command.startswith(f"python3 -m pip --python {sys.executable} install ")


def test_the_systems_python_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    made = f"{sys.executable} -m venv --system-site-packages "
    assert extras.installation_command("fleet", spec_of=lambda name: name == "ensurepip" or None).startswith(made)
    command = extras.installation_command("fleet", spec_of=lambda _: None)
    assert command.startswith(f"$(command -v sudo) apt-get install -y python3-venv && {made}")


def test_a_store_that_cannot_be_written_is_named(store: Path, logs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "store")
    shutil.rmtree(tmp_path / "store/jobs")
    touched = shutil.copy(logs[0], tmp_path)
    with pytest.raises(IolensError, match="cannot be written"):
        ingest([Path(touched).parent], tmp_path / "store")
    assert not list((tmp_path / "store").rglob(".*.parquet"))


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text('{"iolens_store": 99}')
    with pytest.raises(IolensError, match="schema 99"):
        open_store(tmp_path)


def test_users_are_counted_by_the_name_under_which_they_are_listed(tmp_path: Path) -> None:
    """Both logs are of user number 1000; the name of one of them says `shane`."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (named,) = (DATA / "darshan").glob("shane_macsio*.darshan")
    for log in (named, DATA / "darshan/mpi-io-test-x86_64-3.1.0.darshan"):
        shutil.copy(log, folder)
    ingest([folder], tmp_path / "store", processes=1)
    link = open_store(tmp_path / "store")
    (total,) = link.ask("totals").to_dict("records")
    assert set(link.sql("SELECT uid FROM jobs")["uid"]) == {1000}
    assert total["users"] == len(link.ask("users")) == 2
