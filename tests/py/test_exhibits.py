"""Exhibits: each is declared once and listed, and its metrics are computed once per log."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType, ModuleType
from typing import Any

import iolens.metrics
import iolens.pages.exhibits
import numpy as np
import pandas as pd
import pytest
from iolens.figures.job_times import activity_map
from iolens.log import Job, read_log
from iolens.metrics.once import once_per_job
from iolens.pages.base.exhibit import Column, Exhibit, frames
from iolens.pages.exhibits import many_jobs, many_processes
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.exhibits.overview import PERFORMANCE
from iolens.pages.job.job_document import write_job
from iolens.pages.job.job_screen import Screen, show_job
from iolens.pages.output.export import export

DATA = Path(__file__).parents[1] / "data"
LOGS = [
    DATA / "darshan" / "mpi-io-test-x86_64-3.5.0.darshan",
    DATA / "darshan" / "hdf5_diagonal_write_half_ranks_dxt.darshan",
    DATA / "iolens" / "mpi_calls.darshan",
]
METRICS = str(Path(iolens.metrics.__file__).parent)


def metric_calls(run: Any) -> Counter[tuple[Any, ...]]:
    """Counts how often `run` enters each function of `iolens.metrics` that is given a job, by its other
    arguments.

    Functions that are given rows or records as well are parts of a metric.
    """
    calls: Counter[tuple[Any, ...]] = Counter()

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(METRICS) or code.co_varnames[:1] != ("job",):
            return
        others = [frame.f_locals[name] for name in code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]]
        if code.co_name != "answer" and all(isinstance(each, (str, int)) for each in others):
            calls[(str(Path(code.co_filename).relative_to(METRICS)), code.co_name, *others)] += 1

    sys.setprofile(enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_each_metric_is_computed_once_per_log(path: Path, tmp_path: Path) -> None:
    job = read_log(path)

    def everything() -> None:
        write_job(job, tmp_path / "job.pdf")
        tables = [exhibit.table(job) for exhibit in JOB_EXHIBITS]
        show_job(job, [table for table in tables if table is not None], Screen())
        export(frames(JOB_EXHIBITS, job), "job.", {"csv": tmp_path, "json": tmp_path})

    calls = metric_calls(everything)
    wanted = {("job/cost.py", "io_cost"), ("files/overview.py", "all_files"), ("times/timespans.py", "spans")}
    assert wanted <= set(calls)
    looked_up = {("processor/sampled/call_chains.py", "table_records", name) for name in ("regions", "sampling")}
    unkept = {("job/interfaces/operations.py", "sized_layers"), *looked_up}
    assert {call: count for call, count in calls.items() if count > 1 and call not in unkept} == {}


def test_too_many_arguments_of_a_metric_are_refused_as_for_any_function() -> None:
    @once_per_job
    def metric(job: Job, way: str = "all") -> str:
        return way

    job = read_log(LOGS[0])
    assert metric(job, "all") is metric(job)
    with pytest.raises(TypeError, match="positional arguments"):
        metric(job, "all", "all")  # type: ignore[call-arg]


def test_another_log_has_answers_of_its_own() -> None:
    first, second = (read_log(path) for path in LOGS[:2])
    for exhibit in JOB_EXHIBITS:
        here, there = exhibit.frame(first), exhibit.frame(second)
        assert here is None or here is not there
    assert len({tuple(PERFORMANCE.frame(job)["bytes_written"]) for job in (first, second)}) == 2


OTHERS = (
    *("job_exhibits", "many_processes", "many_jobs", "sweep_points", "sweep_latency", "sweep_answers", "subjects"),
)
"""Files of `pages/exhibits` that hold the list, or exhibits of other things than a job."""


def declared() -> list[Exhibit[Any]]:
    """Returns the exhibits of a job that are defined in the files of `pages/exhibits`."""
    exhibits = iolens.pages.exhibits
    names = [one.name.split(".") for one in walk_packages(exhibits.__path__, f"{exhibits.__name__}.")]
    modules = [import_module(".".join(name)) for name in names if name[3] not in OTHERS]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Exhibit)]


def test_every_exhibit_is_listed_under_a_name_of_its_own() -> None:
    assert set(declared()) == set(JOB_EXHIBITS)
    assert len({exhibit.name for exhibit in JOB_EXHIBITS}) == len(JOB_EXHIBITS)


@pytest.mark.parametrize(
    ("module", "listed"), [(many_processes, many_processes.FOREST_EXHIBITS), (many_jobs, many_jobs.FLEET_EXHIBITS)]
)
def test_every_exhibit_of_many_jobs_is_listed_too(module: ModuleType, listed: Sequence[Exhibit[Any]]) -> None:
    assert {value for value in vars(module).values() if isinstance(value, Exhibit)} == set(listed)
    assert len({exhibit.name for exhibit in listed}) == len(listed)


@pytest.mark.parametrize("listed", [JOB_EXHIBITS, many_processes.FOREST_EXHIBITS, many_jobs.FLEET_EXHIBITS])
def test_every_exhibit_has_a_definition(listed: Sequence[Exhibit[Any]]) -> None:
    assert [exhibit.name for exhibit in listed if not inspect.getdoc(exhibit.metric)] == []


def exhibit_of(frame: pd.DataFrame, **given: Any) -> Exhibit[str]:
    """Makes an exhibit whose table is the given frame."""
    return Exhibit("name", "Title", lambda _: frame, **given)


def test_columns_in_words_and_in_numbers() -> None:
    frame = pd.DataFrame({"file": ["a", "b"], "low": [1.5, 2.0], "high": [3.0, 4.0], "note": ["", ""], "inner": [7, 8]})
    columns = [
        Column("file", "file"),
        Column("from to", ("low", "high"), lambda low, high: f"{low:g}-{high:g}"),
        Column("remark", "note", optional=True),
        Column("again", "file", str.upper),
    ]
    exhibit = exhibit_of(frame, columns=columns, note=lambda subject: f"Of {subject}.")
    table = exhibit.table("this")
    assert (list(table.columns), table.note) == (["file", "from to", "again"], "Of this.")
    assert table.rows == [["a", "1.5-3", "A"], ["b", "2-4", "B"]]
    assert frames([exhibit], "this")["name"] is frame
    assert exhibit_of(frame).table("this") is None


def test_what_has_nothing_to_show_gives_its_reason_or_nothing() -> None:
    zero = pd.DataFrame({"count": [0, 0]})
    silent = exhibit_of(zero, columns=[Column("count", "count")], needs="count", draw=lambda *_: 1 / 0)
    assert (silent.table("it"), silent.tables("it"), silent.figures("it")) == (None, [], [])
    assert list(frames([silent], "it")) == ["index"]
    said = exhibit_of(pd.DataFrame(), columns=silent.columns, absent=lambda subject: f"n/a for {subject}")
    assert [block.text for block in said.tables("it")] == ["n/a for it"]


@pytest.mark.parametrize("ranks", [1, 4, 40])
def test_the_ranks_of_a_map_are_whole_numbers(ranks: int) -> None:
    ones = np.ones((ranks, 10))
    axis = activity_map(ones, ones, 0.1, ranks).axes[0]
    marks = [mark for mark in axis.get_yticks() if axis.get_ylim()[0] <= mark <= axis.get_ylim()[1]]
    assert marks
    assert all(mark == round(mark) for mark in marks)
    assert ranks > 4 or marks == list(range(ranks))


def test_every_file_says_what_it_holds_and_every_exhibit_is_documented() -> None:
    package = Path(iolens.metrics.__file__).parents[1]
    files = [path for path in sorted(package.rglob("*.py")) if path.name != "__main__.py"]
    assert [str(path) for path in files if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []
    tables = (package.parent / "TABLES.md").read_text(encoding="utf-8")
    assert [exhibit.name for exhibit in JOB_EXHIBITS if f"| `{exhibit.name}` | {exhibit.title} |" not in tables] == []


def test_the_terminal_needs_no_drawing() -> None:
    code = (
        "import sys; from iolens.cli.main import main; main(['show', sys.argv[1]]); "
        "assert not {'matplotlib', 'reportlab'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(LOGS[0])], check=True, stdout=subprocess.DEVNULL)
