"""Tests a whole sweep with a storage back end, a launcher and a workload that are defined only in this file."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Generator, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from iolens.errors import UsageError
from iolens.lab.launchers.launcher import Launcher, RunSpec
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run.execute import Outcome, execute
from iolens.lab.run.preload import Setup, instrumented
from iolens.lab.storage.backend import Backend, Health
from iolens.lab.storage.backends import BACKENDS
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.perform.progress import Progress
from iolens.lab.sweep.plan.prepare import Sweep, prepare
from iolens.lab.sweep.read.results import load_results
from iolens.lab.sweep.sweep import run_sweep
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import WORKLOADS
from iolens.log import read_log
from iolens.pages.comparison.sweep_document import write_comparison

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed; `make setup-test` does it")

# The storage back end: its layout is a file in the folder, and the first attempt of one run is invalid.


def set_stripes(directory: Path, layout: Layout) -> None:
    (directory / "layout").write_text(str(layout.stripe_count))


def health(directory: Path, job: str) -> Health:
    tries = directory / f"{job}.tries"
    tries.write_text((tries.read_text() if tries.exists() else "") + "x")
    lost = job == "sc2_rep-1" and tries.read_text() == "x"
    return Health("drumfs", not lost, "the drum was out of tune" if lost else None, {"beats": 4})


DRUM = Backend(
    name="drum",
    holds=lambda path: False,
    set_stripes=set_stripes,
    stripe_command=lambda count, size, pool, object_size: f"drum --heads {count}",
    make=lambda directory, configuration: (directory / "drum").touch(),
    environment=lambda directory, job: {"DRUM_JOB": job},
    health=health,
    one_node=True,
    mark="DRUM STORAGE",
)

# The launcher: keeps two runs going at a time. Runs survive an interruption of the sweep; a file `code` marks those
# that have ended.

RELAY_SCRIPT = 'folder=$1; shift; "$@" >"$folder/stdout.txt" 2>"$folder/stderr.txt"; echo $? >"$folder/code"'


def begin(task: RunSpec) -> None:
    (task.folder / "handed-over").touch()
    line, recording = instrumented(task.words, task.setup)
    words = ["sh", "-c", RELAY_SCRIPT, "relay", str(task.folder), *line]
    subprocess.Popen(words, env={**os.environ, **recording}, start_new_session=True)


def outcome_of(task: RunSpec) -> Outcome:
    code = int((task.folder / "code").read_text())
    logs = tuple(task.folder.glob("*.darshan"))
    return Outcome(task.words, datetime.now(timezone.utc).isoformat(), 0.0, code, 0.1, logs, ("node-1", "node-2"))


def relay(tasks: Iterable[RunSpec]) -> Generator[tuple[RunSpec, Outcome], None, None]:
    left, under_way = iter(tasks), []
    while True:
        while len(under_way) < 2 and (task := next(left, None)):
            if not held(task.folder):
                begin(task)
            under_way.append(task)
        if not under_way:
            return
        time.sleep(0.02)
        for task in under_way.copy():
            if (task.folder / "code").exists() and (task.folder / "code").read_text():
                under_way.remove(task)
                yield task, outcome_of(task)


def held(folder: Path) -> bool:
    return (folder / "handed-over").exists() and not (folder / "run.json").exists()


RELAY = Launcher(name="relay", starter=lambda flavour: "relay", run=relay, holds=held)

# The workload: writes a file and prints made-up times; two stripes are far faster. With `even` the time depends only on
# the point and the repetition, so the order in which parallel runs end is irrelevant.

TOY_SCRIPT = """#!/bin/sh
printf x >> {starts}
printf %s "$1 $DRUM_JOB" > "$5/data"
stripes=$(cat "$5/layout")
slope=3
digit=$(( $(wc -c <{starts}) % 7 / stripes ))
[ "$1" = even ] && slope=0 && digit=$(( 3 * stripes * ${{DRUM_JOB##*-}} % 7 ))
seconds=0.$(( 7 - slope * stripes ))$digit
cat > "$3" <<END
{{"ranks": 1, "files": [{{"stripe_count": $stripes}}],
 "phases": [{{"operation": "write", "bytes": 4096, "seconds": {{"max": $seconds}}}}]}}
END
"""
TOY = Workload(
    program="toy",
    metrics=("write_bandwidth",),
    directory_option="--to",
    hint_option=None,
    refuses=lambda arguments, ranks: "toys play alone" if ranks > 1 else None,
    volume=lambda arguments, ranks: 4096,
)

EVEN = "workload.arguments=[even]"

EXPERIMENT = """name: toys
workload: {{program: {program}, arguments: [play], ranks: 1}}
storage: {{kind: drum}}
launcher: relay
matrix: {{stripe_count: [1, 2]}}
repetitions: 3
confirm: 0
"""


@pytest.fixture
def sweep_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that prepares the same sweep at each call, with changes in the form of `--set`."""
    for table, name, part in ((BACKENDS, "drum", DRUM), (LAUNCHERS, "relay", RELAY), (WORKLOADS, "toy", TOY)):
        monkeypatch.setitem(table, name, part)  # type: ignore[arg-type]
    program = tmp_path / "toy"
    program.write_text(TOY_SCRIPT.format(starts=tmp_path / "starts"))
    program.chmod(0o755)
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT.format(program=program))

    def make(*changes: str) -> Sweep:
        return prepare(load_experiment(tmp_path / "experiment.yaml", changes), tmp_path / "results")

    return make


def records(folder: Path) -> dict[str, Any]:
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("results/points/*/*/run.json"))]
    return {record["id"]: record for record in found}


def test_a_sweep_goes_through_parts_that_are_one_object_each(sweep_of: Any, tmp_path: Path) -> None:
    assert run_sweep(sweep_of(), Progress()) == []
    found = records(tmp_path)
    assert len(found) == 6
    for record in found.values():
        assert record["status"] == "ok", record["reason"]
        assert (record["storage"]["kind"], record["storage"]["file_system"]) == ("drum", "drumfs")
        assert (record["storage"]["beats"], record["launcher"]) == (4, "relay")
        assert record["hosts"] == ["node-1", "node-2"]
        assert record["took_effect"]["stripe_count"] is True
        assert record["log"], "the profiler was in it"
    assert [len(record["lost"]) for name, record in found.items() if name == "sc2/rep-1"] == [1]
    assert (tmp_path / "starts").read_text() == "x" * 7
    assert not (tmp_path / "results" / "data").exists()
    table = (tmp_path / "results" / "runs.csv").read_text().splitlines()
    assert len(table) == 1 + 6
    assert table[0].startswith("stripe_count,run,repetition,status")
    same = parquet.read_table(tmp_path / "results" / "runs.parquet").to_pandas()
    assert [len(same), ",".join(same.columns)] == [6, table[0]]
    summary = write_comparison(load_results(tmp_path / "results"), tmp_path / "comparison.pdf", read_log)
    assert summary.remedy
    assert summary.remedy.stripes in ("drum --heads 1", "drum --heads 2")


@pytest.mark.parametrize(("stage", "fresh"), [("sc", 0), ("confirm/", 2)])
def test_what_the_launcher_goes_on_with_is_waited_for_and_not_begun_again(
    sweep_of: Any, tmp_path: Path, stage: str, fresh: int
) -> None:
    class Interrupting(Progress):
        def __call__(self, done: int, total: int, line: str, left: float) -> None:
            if line.startswith(stage):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep_of(f"confirm={fresh // 2}"), Interrupting())
    assert sum(held(folder) for folder in tmp_path.glob("results/*/*/*")) >= 1
    assert (tmp_path / "results" / "data").exists()
    assert run_sweep(sweep_of(f"confirm={fresh // 2}"), Progress()) == []
    assert len(records(tmp_path)) == 6
    assert (tmp_path / "starts").read_text() == "x" * (7 + fresh)
    assert not (tmp_path / "results" / "data").exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("workload.ranks=2", "workload.ranks: 2: toys play alone"),
        ("report.metric=latency", r"report\.metric: toy has no latency; it has write_bandwidth"),
        ("storage.kind=tape", "'tape' is not one of emulated, lustre, beegfs, cephfs, drum, directory"),
        ("launcher=pigeon", "'pigeon' is not one of local, slurm, relay"),
    ],
)
def test_what_a_part_cannot_do_is_said_before_anything_starts(sweep_of: Any, change: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        sweep_of(change)


def test_storage_of_one_node_takes_no_launcher_of_several(sweep_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAUNCHERS, "relay", Launcher("relay", lambda flavour: "relay", relay, nodes=lambda options: 2))
    with pytest.raises(UsageError, match="drum storage belongs to one node, but relay would use 2 nodes"):
        sweep_of()


def test_points_are_repeated_until_they_are_known_well_enough(sweep_of: Any, tmp_path: Path) -> None:
    assert run_sweep(sweep_of(EVEN, "until.interval=1%", "until.repetitions=5"), Progress()) == []
    assert len(records(tmp_path)) == 10
    before = (tmp_path / "starts").read_text()
    assert run_sweep(sweep_of(EVEN, "until.interval=1%", "until.repetitions=5"), Progress()) == []
    assert (tmp_path / "starts").read_text() == before, "what was added before is known again"


def test_points_that_are_known_well_enough_are_not_repeated(sweep_of: Any, tmp_path: Path) -> None:
    assert run_sweep(sweep_of(EVEN, "until.interval=0.99", "matrix.stripe_count=[1]"), Progress()) == []
    assert len(records(tmp_path)) == 3
    assert (
        run_sweep(sweep_of(EVEN, "until.interval=0.1%", "until.minutes=600", "until.repetitions=4"), Progress()) == []
    )
    assert {name for name in records(tmp_path) if name.endswith("rep-4")} == {"sc1/rep-4", "sc2/rep-4"}


def test_runs_that_warm_up_count_for_nothing(sweep_of: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []

    class Told(Progress):
        def __call__(self, done: int, total: int, line: str, left: float) -> None:
            told.append((done, total, line.split(":")[0]))

    sweep = sweep_of(EVEN, "warm_up=2", "until.ci=0.1%", "until.repetitions=4", "confirm=1")
    assert run_sweep(sweep, Told()) == []
    assert sorted(line for _, _, line in told[:2]) == ["warm-up/rep-1", "warm-up/rep-2"]
    measured = [*[(0, 6)] * 2, *[(done, 6) for done in range(1, 7)], (7, 8), (8, 8)]
    # The best point is run again beside the baseline. If the baseline is best, which depends on the order of the runs,
    # nothing is run again.
    confirmed = [(9, 10), (10, 10)]
    assert [(done, total) for done, total, _ in told] in (measured, measured + confirmed)
    assert len(load_results(sweep.folder).runs) == 8
    before = (tmp_path / "starts").read_text()
    assert run_sweep(sweep_of(EVEN, "warm_up=2", "until.ci=0.1%", "until.repetitions=4", "confirm=1"), Progress()) == []
    assert (tmp_path / "starts").read_text() == before, "nothing is due, so nothing is warmed up"


def test_what_shall_stay_of_a_run_stays_and_the_rest_goes(sweep_of: Any, tmp_path: Path) -> None:
    wanted = ("repetitions=1", "keep.data=always", "keep.log=failed", "keep.output=never", "warm_up=1")
    assert run_sweep(sweep_of(*wanted), Progress()) == []
    found = records(tmp_path)
    assert len(found) == 2
    for name, record in found.items():
        place = tmp_path / "results" / "data" / name.replace("/", "_")
        assert record["storage"]["data"] == str(place)
        assert (place / "data").read_text().startswith("play ")
        left = {path.name for path in (tmp_path / "results" / "points" / name).iterdir()}
        assert {"run.json", "result.json"} <= left
        assert not {path for path in left if path.endswith((".darshan", ".txt"))} - {"hints.txt"}
        assert record["log"] is None
    assert not (tmp_path / "results" / "data" / "warm-up_rep-1").exists()
    lost = tmp_path / "results" / "points" / "sc2" / "rep-1.attempt-1"
    assert list(lost.glob("*.darshan")), "an attempt that was lost is none that is good"
    assert len(load_results(tmp_path / "results").runs) == 2
    assert sweep_of(*wanted).todo == ()
    assert run_sweep(sweep_of("repetitions=1"), Progress()) == [], "it is the same run whatever stays of it"
    assert (tmp_path / "results" / "data" / "sc1_rep-1" / "data").exists()


def test_a_run_that_takes_too_long_is_ended_and_leaves_its_log(tmp_path: Path) -> None:
    program, begun = tmp_path / "slow.sh", tmp_path / "begun"
    made = "".join(f'open("{path}", "w"); ' for path in (tmp_path / "data", begun))
    program.write_text(f"#!/bin/sh\nexec python3 -c '{made}import time; time.sleep(1000)'\n")
    program.chmod(0o755)
    for limit in (3, 30, 300):  # Raise the limit until the program creates its files before the limit ends it.
        setup = Setup(logs=tmp_path, timeout=limit, application={"IOLENS_INCLUDE": str(tmp_path)})
        outcome = execute([str(program)], setup)
        if begun.exists():
            break
    assert outcome.reason == f"it ran longer than {limit} s and was ended"
    assert outcome.exit_code != 0
    assert outcome.seconds < 1000
    assert outcome.logs
