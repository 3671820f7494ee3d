"""Tests the number by which the runs of any program are compared: its own result, its output, its log, or the clock."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from comparison_example import MIB, compared, write_run, write_sweep
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.outputs.e3sm import read_e3sm
from iolens.lab.sweep.define.experiment_file import load_experiment, to_yaml
from iolens.lab.sweep.define.metrics import measure_of_pattern
from iolens.lab.sweep.read.results import Results, load_results
from iolens.pages.wording.sweep_cautions import origins

OUTPUTS = Path(__file__).parents[1] / "data" / "outputs"
LOG = Path(__file__).parents[1] / "data" / "iolens"


def sweep(folder: Path, report: str, output: str = "", observed: dict[str, Any] | None = None) -> Results:
    """Returns two settings with two runs each of a program without a result; run time is 2 s with one stripe, else 1 s.
    `output` has `{}` for the number of stripes.
    """
    for stripes in (1, 2):
        for repetition in (1, 2):
            run = folder / "points" / f"sc{stripes}" / f"rep-{repetition}"
            seen = {key: value * stripes for key, value in (observed or {}).items()}
            changes = {"result": None, "observed": seen, "seconds": 2.0 / stripes}
            write_run(run, {"stripe_count": stripes}, repetition, 100.0, **changes)
            (run / "result.json").unlink()
            (run / "stdout.txt").write_text(output.replace("{}", str(stripes)))
    text = f"name: any\nworkload: {{program: ./app, ranks: 4}}\nreport: {report}\n"
    (folder / "experiment.yaml").write_text(text)
    return load_results(folder)


def values(results: Results) -> list[float]:
    return [float(value) for value in results.runs[results.measure.column]]


def test_without_a_result_the_log_gives_the_bandwidth(tmp_path: Path) -> None:
    found = sweep(tmp_path, "{metric: automatic}", observed={"io_bandwidth": 50.0, "io_bytes": 7})
    assert (found.metric, values(found)) == ("io_bandwidth", [50.0, 50.0, 100.0, 100.0])
    assert "I/O bandwidth of the logs" in origins(found, compared(tmp_path))[0]


def test_without_io_in_every_log_run_time_is_compared(tmp_path: Path) -> None:
    found = sweep(tmp_path, "{metric: automatic}")
    assert (found.metric, values(found)) == ("run_time", [2.0, 2.0, 1.0, 1.0])
    assert "compared by run time" in origins(found, compared(tmp_path))[0]


@pytest.mark.parametrize(("name", "metric"), [("btio_collective.out", "write_bandwidth")])
def test_a_benchmark_that_prints_its_bandwidth_is_understood(name: str, metric: str, tmp_path: Path) -> None:
    text = (OUTPUTS / name).read_text()
    said = float(next(line for line in text.splitlines() if "I/O bandwidth" in line).split(":")[1].split()[0])
    found = sweep(tmp_path, "{metric: automatic}", text, {"io_bandwidth": 1.0})
    assert (found.metric, values(found)) == (metric, [said] * 4)
    assert "that the program itself reports" in origins(found, compared(tmp_path))[0]


E3SM = """==== Benchmarking F case =============================
Total number of MPI processes      = 16
Total write amount                 = 30.00 MiB = 0.03 GiB
I/O bandwidth in MiB/sec (write-only)      = 999.0
I/O bandwidth in MiB/sec (open-to-close)   = 10.0
==== Benchmarking F case =============================
Total write amount                 = 10.00 MiB = 0.01 GiB
I/O bandwidth (open-to-close)      = 5.0 MiB/sec
"""


def test_the_files_of_e3sm_io_add_up() -> None:
    """The first file takes 3 s and the second 2 s: 40 MiB in 5 s."""
    output = read_e3sm(E3SM)
    assert output is not None
    assert {value.name: value.value for value in output.values} == {
        "write time": 5.0,
        "written": 40 * MIB,
        "write": 8.0,
    }
    assert output.facts == {"case": "F", "processes": "16"}
    assert read_e3sm("something else") is None


def test_a_pattern_over_the_output_gives_the_number(tmp_path: Path) -> None:
    report = "{metric: pattern, pattern: 'Elapsed: ([0-9.]+) s'}"
    found = sweep(tmp_path, report, "Elapsed: 99 s\nElapsed: {}.5 s\n")
    assert values(found) == [1.5, 1.5, 2.5, 2.5], "the last match counts"
    assert found.measure.less_is_better
    assert "Elapsed, s" in origins(found, compared(tmp_path))[0]


@pytest.mark.parametrize(
    ("pattern", "others", "expected"),
    [
        (r"I/O bandwidth.*?([0-9.]+) MiB/s", {}, ("I/O bandwidth", "MiB/s", False)),
        (r"^took\s+([0-9]+)\s+ms", {}, ("took", "ms", True)),
        (r"([0-9.]+)", {"unit": "s"}, ("printed number", "s", True)),
        (r"(?:a|b)rate ([0-9.]+) ns/day", {}, ("printed number", "ns/day", False)),
        (r"score ([0-9.]+)", {"better": "less"}, ("score", "", True)),
    ],
)
def test_a_pattern_names_its_number(pattern: str, others: dict[str, str], expected: tuple[str, str, bool]) -> None:
    found = measure_of_pattern({"pattern": pattern, **others})
    assert (found.name, found.unit, found.less_is_better) == expected


def test_any_number_of_the_log_can_be_compared(tmp_path: Path) -> None:
    log = next(LOG.glob("*.darshan"))
    sweep(tmp_path, "{metric: run_time}")
    for run in tmp_path.glob("points/*/*/run.json"):
        shutil.copy(log, run.parent / "run.darshan")
        run.write_text(json.dumps(json.loads(run.read_text()) | {"log": "run.darshan"}))
    yaml = tmp_path / "experiment.yaml"
    yaml.write_text(yaml.read_text().replace("run_time", "log.posix_written"))
    found = load_results(tmp_path)
    assert found.measure.unit == "B"
    assert len(set(values(found))) == 1
    assert values(found)[0] > 0
    yaml.write_text(yaml.read_text().replace("posix_written", "posix_writen"))
    with pytest.raises(UsageError, match=r"did you mean log\.posix_written"):
        load_results(tmp_path)


def prepared(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> str:
    """Makes the program `app` in a folder that becomes the current one; returns the beginning of its experiment."""
    monkeypatch.chdir(folder)
    Path("app").write_text(script)
    Path("app").chmod(0o755)
    return "name: any\nworkload: {program: app, ranks: 1}\nstorage: {kind: directory}\n"


def test_a_metric_that_no_run_has_ends_the_sweep_and_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = prepared(tmp_path, monkeypatch, "#!/bin/sh\necho a run >> ../../../../count\n")
    text += "matrix: {variant: {a: {}, b: {arguments: [x]}}}\nrepetitions: 3\nreport: {metric: write_bandwidth}\n"
    Path("any.yaml").write_text(text)
    assert main(["sweep", "any.yaml", "--no-report"]) == 1
    said = capsys.readouterr().out
    assert "none of 2 finished runs gave a write bandwidth, but all gave a run time" in said
    assert "--set report.metric=run_time" in said
    assert len(list(Path("results/any/points").glob("*/*/run.json"))) == 2, "the first block alone"
    assert main(["sweep", "any.yaml", "--no-report", "--set", "report.metric=run_time", "--set", "confirm=0"]) == 0
    assert len(list(Path("results/any/points").glob("*/*/run.json"))) == 6
    assert not list(Path("results/any/points").glob("*/*attempt*")), "no run is repeated"


def test_a_program_that_always_fails_ends_the_sweep_with_one_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = prepared(tmp_path, monkeypatch, "#!/bin/sh\necho no licence >&2\nexit 3\n")
    text += "matrix: {variant: {a: {}, b: {arguments: [x]}, c: {arguments: [y]}}}\nrepetitions: 5\n"
    Path("any.yaml").write_text(text)
    assert main(["sweep", "any.yaml"]) == 1
    said = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("[")]
    assert sum("no licence" in line for line in said) == 1
    assert any("all 3 runs failed" in line for line in said)
    assert not Path("results/any/comparison.pdf").exists()


def test_the_metric_is_checked_before_a_run(tmp_path: Path) -> None:
    head = "name: any\nworkload: {program: ./app, ranks: 1}\nmatrix: {stripe_count: [1, 2]}\n"
    wrong = {
        "{metric: write_bandwith}": "is not one of",
        "{metric: pattern}": "needs the key report.pattern",
        "{metric: run_time, pattern: '([0-9]+)'}": "is not used by the metric run_time",
        "{pattern: '[0-9]+'}": "has 0 groups",
        "{pattern: '([0-9]+'}": "is not a regular expression",
    }
    path = tmp_path / "any.yaml"
    for report, reason in wrong.items():
        path.write_text(f"{head}report: {report}\n")
        with pytest.raises(UsageError, match=reason):
            load_experiment(path)
    path.write_text(f"{head}report: {{pattern: 'x ([0-9]+) s', better: more}}\n")
    experiment = load_experiment(path)
    path.write_text(to_yaml(experiment))
    assert load_experiment(path) == experiment
    assert experiment.metric == "pattern"


def test_a_sweep_with_a_result_is_read_as_before(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path, {"stripe_count": [1, 2]})
    assert load_results(folder).metric == "write_bandwidth"
    yaml = folder / "experiment.yaml"
    yaml.write_text(yaml.read_text().replace("write_bandwidth", "automatic"))
    assert load_results(folder).metric == "write_bandwidth"


def test_a_search_minimizes_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = prepared(tmp_path, monkeypatch, '#!/bin/sh\necho "cost: $1 s"\n')
    text += "confirm: 1\n"
    text += "matrix: {variant: {a: {arguments: [5]}, b: {arguments: [2]}, c: {arguments: [9]}}}\n"
    Path("any.yaml").write_text(f"{text}report: {{pattern: 'cost: ([0-9]+) s'}}\n")
    assert main(["tune", "any.yaml", "--budget", "3"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2.00 s" in said
    trail = json.loads(Path("results/any/tuning.json").read_text())
    assert trail["measure"]["less_is_better"]
    assert {step["point"]["variant"]: step["bandwidth"] for step in trail["steps"]} == {"a": 5.0, "b": 2.0, "c": 9.0}
    assert all(step["low"] < step["expected"] < step["high"] for step in trail["steps"] if step["expected"])
    assert Path("results/any/confirm/variant-b/rep-1/run.json").exists(), "the shortest time is the best"


def test_a_search_that_measures_nothing_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = prepared(tmp_path, monkeypatch, "#!/bin/sh\n")
    Path("any.yaml").write_text(f"{text}matrix: {{way: {{a: {{}}, b: {{arguments: [x]}}}}}}\n")
    assert main(["tune", "any.yaml", "--set", "report.metric=write_bandwidth"]) == 1
    assert "--set report.metric=run_time" in capsys.readouterr().out
