"""Tests sweeps and searches of programs that nobody prepared: a command behind `--`, or as a key of experiment.yaml.

Witnesses are what the programs themselves write and print, and PyDarshan's reading of their logs.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.installation import find_program
from iolens.lab.launchers.around import Around
from iolens.lab.run.execute import Outcome
from iolens.lab.sweep.define.command import filled, ranks_in
from iolens.lab.sweep.define.experiment_file import load_experiment, to_yaml

APP = """#!/bin/sh
echo "$# in $(pwd)" >> "$WITNESS"
test "$1" = in.txt || { echo "no such option $1" >&2; exit 4; }
cat in.txt sub/mesh.txt > /dev/null || exit 5
mkdir -p out
dd if=/dev/zero of=out/data.bin bs=1M count=32 2>/dev/null
echo one line more >> state.txt
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a working folder with a program, its input, and a file to which it adds a line."""
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "app").write_text(APP)
    (folder / "app").chmod(0o755)
    for name in ("in.txt", "sub/mesh.txt", "state.txt"):
        (folder / name).write_text("first\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WITNESS", str(tmp_path / "witness"))
    return folder


def starts(folder: Path) -> list[str]:
    """Returns the folders in which the program says that it ran."""
    path = folder.parent / "witness"
    return [line.split(" in ")[1] for line in path.read_text().splitlines()] if path.exists() else []


def test_a_command_is_swept_without_a_file(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--stripes", "1 4", "--repeat", "2", "--confirm", "0", "--", "./app", "in.txt"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "I/O bandwidth of the logs" in said or "compared by run time" in said
    first, *others = starts(app)
    assert first == str(app), "one run in the program's own folder"
    assert len(set(others)) == 4, "then each run in a folder of its own; a busy machine repeats runs"
    assert (app / "state.txt").read_text() == "first\none line more\n", "runs of the sweep leave the user's files alone"
    content = yaml.safe_load((app / "results/app/experiment.yaml").read_text())
    assert content["workload"]["command"] == ["./app", "in.txt"]
    assert content["workload"]["outputs"] == ["out"], "the folder was not there before the program"
    assert content["workload"]["copy"] == ["state.txt"]
    assert content["matrix"] == {"stripe_count": [1, 4]}

    records = [json.loads(path.read_text()) for path in app.glob("results/app/points/*/*/run.json")]
    assert main(words) == 0
    if all(record["status"] == "ok" for record in records):
        assert len(starts(app)) == 1 + len(others), "neither the survey nor a run is repeated"
    assert starts(app).count(str(app)) == 1

    assert main(["sweep", "results/app/experiment.yaml", "--dry-run"]) == 0, "the file that it made is an experiment"


def test_a_command_that_fails_makes_no_sweep(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("sweep", "tune"):
        assert main([command, "--stripes", "1 4", "--", "./app", "wrong"]) == 1
        assert "no such option wrong" in capsys.readouterr().err
    assert len(starts(app)) == 2
    assert not (app / "results/app/points").exists()


def test_a_command_is_tuned_without_a_file(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "tune",
        "--stripes",
        "1 2 4",
        "--budget",
        "2",
        "--set",
        "confirm=0",
        "--no-report",
        "--",
        "./app",
        "in.txt",
    ]
    assert main(words) in (0, 1), "on a busy machine no run may count"
    assert "2 of 3 settings were run" in capsys.readouterr().out
    assert len(set(starts(app))) == 3


def test_what_would_change_nothing_is_left_out(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--stripes", "1 2", "--aggregators", "1 2", "--dry-run", "--", "./app", "in.txt"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "aggregators would change nothing and are left out" in said.err
    assert "6 runs" in said.out
    assert main(["sweep", "--aggregators", "1 2", "--", "./app", "in.txt"]) == 2
    assert "moves no byte through MPI-IO" in capsys.readouterr().err


def test_data_outside_the_folder_becomes_a_word_of_the_command(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from iolens.lab.sweep.plan import survey

    monkeypatch.setattr(survey, "_ELSEWHERE", ("/dev/", "/proc/", "/sys/"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (app / "far").write_text("#!/bin/sh\ndd if=/dev/zero of=$1/x bs=1M count=8 2>/dev/null\n")
    (app / "far").chmod(0o755)
    assert main(["sweep", "--stripes", "1 2", "--dry-run", "--", "./far", str(scratch)]) == 0
    content = yaml.safe_load((app / "results/far/survey/experiment.yaml").read_text())
    assert content["workload"]["command"] == ["./far", "{directory}"]
    (app / "hidden").write_text(f"#!/bin/sh\nexec ./far {scratch}\n")
    (app / "hidden").chmod(0o755)
    capsys.readouterr()
    assert main(["sweep", "--stripes", "1 2", "--", "./hidden"]) == 2
    assert "write {directory} in its place" in " ".join(capsys.readouterr().err.split())


CHANGER = """import mmap, os, sys
with open("mapped.bin", "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[0] += 1
    mapped.flush()
open("emptied.txt", "w").close()
os.rename("moved.txt", "target.txt")
open("moved.txt", "w").close()
assert open("given.txt").read()
with open(sys.argv[1], "wb") as file:
    file.write(bytes(1 << 20))
"""


def test_what_a_log_does_not_show_is_copied_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program stores to mapped memory, empties a file, and moves one over another; its output has a whole path."""
    monkeypatch.chdir(tmp_path)
    contents = {"mapped.bin": "\1bcd", "emptied.txt": "word", "moved.txt": "new", "target.txt": "old", "given.txt": "x"}
    for name, text in contents.items():
        Path(name).write_text(text)
    Path("changer.py").write_text(CHANGER)
    options = ["--repeat", "1", "--confirm", "0", "--no-report"]
    words = ["sweep", "--stripes", "1", *options, "--", sys.executable, "changer.py", str(tmp_path / "big.out")]
    assert main([*words[:1], "--dry-run", *words[1:]]) == 0
    surveyed = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.is_file()}
    path = tmp_path / "results/changer/survey/experiment.yaml"
    workload = yaml.safe_load(path.read_text())["workload"]
    assert workload["copy"] == ["emptied.txt", "mapped.bin", "moved.txt", "target.txt"]
    assert workload["outputs"] == ["big.out"]
    assert workload["reads"] == ["changer.py", "given.txt"]
    assert workload["command"][-1] == "./big.out"
    main(words)
    assert list(tmp_path.glob("results/changer/points/*/rep-1/run.json"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == surveyed
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.is_file()} == times


def test_a_run_that_changes_the_users_file_fails(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "sub/mesh.txt").write_text(str(app / "out.log"))
    (app / "stubborn").write_text("#!/bin/sh\ndate +%N >> $(cat sub/mesh.txt)\n")
    (app / "stubborn").chmod(0o755)
    words = ["sweep", "--stripes", "1 2", "--repeat", "1", "--confirm", "0", "--", "./stubborn"]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert f"the program wrote to {app / 'out.log'} instead of its working folder" in said


def test_a_changed_input_makes_new_runs(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mesh is no word of the command; only the log tells that the program reads it."""
    words = ["sweep", "--stripes", "1", "--repeat", "1", "--confirm", "0", "--no-report", "--", "./app", "in.txt"]
    main(words)
    first = len(starts(app))
    (app / "sub/mesh.txt").write_text("finer\n")
    main(words)
    assert len(starts(app)) >= first + 2, "one more survey, and the run again"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun was found")
def test_the_numbers_are_those_of_the_program_and_of_pydarshan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ior = str(find_program("ior"))
    command = [
        "mpirun",
        "--oversubscribe",
        "-np",
        "2",
        ior,
        "-a",
        "MPIIO",
        "-c",
        "-w",
        "-b",
        "8m",
        "-t",
        "1m",
        "-o",
        "./f",
    ]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    levels = ["--stripes", "1 4", "--aggregators", "1 2", "--repeat", "1", "--confirm", "0"]
    assert main(["sweep", *levels, "--", *command]) == 0
    runs = sorted(Path("results/ior/points").glob("*/rep-1"))
    assert len(runs) == 4
    content = yaml.safe_load(Path("results/ior/experiment.yaml").read_text())
    assert content["workload"]["ranks"] == 2
    with Path("results/ior/runs.csv").open(newline="") as file:
        rows = {row["folder"]: row for row in csv.DictReader(file)}
    for run in runs:
        text = (run / "stdout.txt").read_text()
        printed = [float(found) for found in re.findall(r"^write +([0-9.]+) ", text, re.MULTILINE)]
        assert float(rows[str(run)]["bandwidth"]) == pytest.approx(printed[0], rel=0.06)
        record = json.loads((run / "run.json").read_text())
        assert record["requested"]["cb_nodes"] in (1, 2)
        _same_as_pydarshan(run / record["log"], record["observed"])


def _same_as_pydarshan(log: Path, observed: dict[str, float]) -> None:
    """Compares bytes and speed of a run with those that PyDarshan derives, if it is installed."""
    darshan = pytest.importorskip("darshan", reason="PyDarshan is not installed; `make setup-test` does it")
    report = darshan.DarshanReport(str(log), read_all=True)
    module = observed["io_layer"]
    records = report.records[module].to_df()
    from darshan.backend.cffi_backend import accumulate_records

    derived = accumulate_records(records, module, report.metadata["job"]["nprocs"]).derived_metrics
    assert observed["io_bytes"] == derived.total_bytes
    assert observed["io_bandwidth"] == pytest.approx(derived.agg_perf_by_slowest, rel=1e-6)


def test_steps_around_a_run_are_done_in_its_folder(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("any.yaml").write_text(
        "name: any\nworkload:\n  command: ./app in.txt\n  copy: [state.txt]\n  outputs: [out]\n"
        "  before: test ! -e out && echo begun > begun\n  check: test -s out/data.bin -a -s begun\n"
        f"  after: pwd >> {app}/after\n"
        "storage: {kind: directory}\nmatrix: {variant: {a: {}, b: {environment: {ANY: 1}}}}\n"
        "repetitions: 1\nconfirm: 0\nreport: {metric: run_time}\n"
    )
    assert main(["sweep", "any.yaml", "--no-report"]) == 0
    assert sorted((app / "after").read_text().split()) == sorted(starts(app))
    assert not (app / "begun").exists()
    changed = ["--set", "workload.check=test -e missing", "--set", "name=other"]
    assert main(["sweep", "any.yaml", "--no-report", *changed]) == 1
    assert "workload.check: 'test -e missing' ended with exit code 1" in capsys.readouterr().out


def test_a_program_may_succeed_with_another_exit_code(tmp_path: Path) -> None:
    def run(code: int) -> Outcome:
        return Outcome((), "", 0.0, code, 1.0, ())

    around = Around(exit_code=3)
    assert around.perform(lambda: run(3), tmp_path / "x").exit_code == 0
    assert "instead of 3" in str(around.perform(lambda: run(0), tmp_path / "x").reason)
    assert around.perform(lambda: run(4), tmp_path / "x").exit_code == 4
    begun = []
    failing = Around(before="echo no room; exit 9")
    reason = failing.perform(lambda: begun.append(1) or run(0), tmp_path / "x").reason  # type: ignore[func-returns-value]
    assert reason == "workload.before: 'echo no room; exit 9' ended with exit code 9: no room"
    assert not begun


def test_paths_are_relative_to_the_file_with_or_without_a_dot(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    path = app / "any.yaml"
    for program in ("app", "./app"):
        path.write_text(f"name: any\nworkload: {{program: {program}, ranks: 1}}\nmatrix: {{stripe_count: [1]}}\n")
        assert load_experiment(path).program == str(app / "app")
    path.write_text("name: any\nworkload: {command: ./app in.txt, inputs: .}\nmatrix: {stripe_count: [1]}\n")
    experiment = load_experiment(path)
    assert (experiment.program, experiment.inputs) == (str(app / "app"), app)
    path.write_text(to_yaml(experiment))
    assert load_experiment(path) == experiment


def test_commands_that_cannot_be_run_are_refused(app: Path) -> None:
    wrong = {
        "{command: ./missing}": "was not found",
        "{command: ./app, arguments: [x]}": "has no such key",
        '{command: "./app \'"}': "is not a command",
    }
    path = app / "any.yaml"
    for workload, reason in wrong.items():
        path.write_text(f"name: any\nworkload: {workload}\nmatrix: {{stripe_count: [1]}}\n")
        with pytest.raises(UsageError, match=reason):
            load_experiment(path)
    path.write_text("name: any\nworkload: {command: ./app}\nmatrix: {ranks: [1, 2]}\n")
    with pytest.raises(UsageError, match=r"write \{ranks\}"):
        load_experiment(path)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("mpirun -np 4 ./app -n 9", 4),
        ("mpirun --oversubscribe -n 3 python3 x.py", 3),
        ("srun --ntasks=6 ./app", 6),
        ("srun -n8 ./app", 8),
        ("./app -n 9", 1),
    ],
)
def test_the_ranks_of_a_command(text: str, ranks: int, app: Path) -> None:
    assert ranks_in(text.split()) == ranks


def test_only_known_words_in_braces_are_filled_in() -> None:
    found = filled(["{directory}/x", "{a}", "awk {print}", "-n{ranks}"], {"directory": "/d", "ranks": 4})
    assert found == ("/d/x", "{a}", "awk {print}", "-n4")


LOADER = """import os
if not os.path.exists("samples"):
    os.makedirs("samples")
    for number in range(40):
        with open(f"samples/{number}", "wb") as file:
            file.write(bytes(100_000))
total = sum(len(open(f"samples/{name}", "rb").read()) for name in os.listdir("samples"))
print("read", total, "bytes")
"""

SAVER = """import h5py, os
with h5py.File("field.h5", "w") as file:
    for number in range(20):
        file[f"x{number}"] = [number] * 25_000
print("saved", os.path.getsize("field.h5"))
"""


@pytest.mark.parametrize(("name", "text", "said"), [("loader", LOADER, "read 4000000"), ("saver", SAVER, "saved 4")])
def test_a_python_script_does_the_same_in_every_run(
    name: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader makes its samples only if their folder is not there, so an empty folder would change what it does."""
    if "h5py" in text:
        pytest.importorskip("h5py", reason="h5py is not installed; `make setup-test` does it")
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.py").write_text(text)
    options = ["--stripes", "1 4", "--repeat", "1", "--confirm", "0", "--no-report"]
    assert main(["sweep", *options, "--", sys.executable, f"{name}.py"]) == 0
    outputs = [path.read_text() for path in Path(f"results/{name}/points").glob("*/rep-1/stdout.txt")]
    assert len(outputs) == 2
    assert all(output.startswith(said) for output in outputs)
