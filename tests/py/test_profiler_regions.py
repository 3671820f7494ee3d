"""Tests regions that a program marks: nested, repeated, by threads, wrongly, in Fortran, by CrayPAT's names, and
without the profiler; and recording that a program switches off.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.lab.run.settings.groups import libraries
from iolens.log import Job, read_log

INCLUDE = harness.ROOT / "profiler/include"
RECOVER = harness.BUILD / "bin/iolens-recover"


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def paths(job: Job) -> dict[int, str]:
    """Maps each region's number to its nesting path, such as outer/inner; a region without a label has its id there."""
    names = job.private["region_names"].drop_duplicates("region").set_index("region")
    found = {0: ""}

    def path(region: int) -> str:
        if region not in found:
            name = names["label"][region] or str(names["id"][region])
            found[region] = f"{path(int(names['parent'][region]))}/{name}".lstrip("/")
        return found[region]

    return {region: path(region) for region in names.index}


def rows(job: Job) -> dict[tuple[int, str], dict[str, Any]]:
    """Maps thread and path to a row of the table `regions`."""
    named, table = paths(job), job.private["regions"]
    return {(row["thread"], named[row["region"]]): row for row in table.to_dict("records")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs the program under the profiler and returns the folder."""
    folder = tmp_path_factory.mktemp("regions")
    done = harness.run(harness.build_program("region_marks"), folder=folder, IOLENS_SPOOL=str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def jobs(folder: Path) -> list[Job]:
    """Returns the jobs of the program and of its child."""
    return sorted(map(read_log, harness.logs(folder)), key=lambda job: job.start)


def test_regions_are_told_apart_by_path_and_thread(jobs: list[Job]) -> None:
    parent, child = jobs
    calls = {key: row["calls"] for key, row in rows(parent).items()}
    assert calls == {
        (0, "outer"): 12,
        (0, "outer/inner"): 10,
        (0, "outer/lost"): 1,
        (0, "inner"): 1,
        (0, "8"): 1,
        (0, "8/8"): 1,
        (0, "8/8/8"): 1,
        (0, "off"): 1,
        (1, "thread"): 1,
        (2, "thread"): 1,
    }
    assert {key: row["calls"] for key, row in rows(child).items()} == {(0, "child"): 1}


def test_times_nest(jobs: list[Job]) -> None:
    found = rows(jobs[0])
    outer, inner = found[0, "outer"], found[0, "outer/inner"]
    assert inner["time"] > 10 * 0.002
    assert outer["time"] - inner["time"] > 10 * 0.001
    assert outer["exclusive_time"] == pytest.approx(
        outer["time"] - inner["time"] - found[0, "outer/lost"]["time"], rel=1e-9
    )
    assert inner["exclusive_time"] == inner["time"]
    assert 0.002 < inner["min_time"] <= inner["max_time"] <= inner["time"]


def test_wrong_marks_are_named(jobs: list[Job]) -> None:
    parent, child = jobs
    assert {key for key, row in rows(parent).items() if row["unended"]} == {(0, "outer/lost")}
    assert parent.remarks == (
        "The program began regions and did not end them, 1 time(s); the column unended of the table regions says "
        "which. A thread ended a region without having begun it, 1 time(s), such as region 99 on rank 0.",
    )
    assert parent.partial == ()
    assert child.remarks == (), "the end of a region that its parent began is no mistake"


def test_nothing_is_counted_while_recording_is_off(folder: Path, jobs: list[Job]) -> None:
    """Files are followed while recording is off, so later calls count for the right file, even if a descriptor was
    reused.
    """
    (log,) = [path for path in harness.logs(folder) if read_log(path).start == jobs[0].start]
    report = harness.read_log(log)
    written = {
        name: harness.counters(report, str(folder / f"{name}.txt")) for name in ("moved", "closed", "stream", "reused")
    }
    assert (written["moved"]["POSIX_WRITES"], written["moved"]["POSIX_BYTES_WRITTEN"]) == (2, 15)
    assert written["moved"]["POSIX_MAX_BYTE_WRITTEN"] == 44
    assert (written["closed"]["POSIX_WRITES"], written["closed"]["POSIX_BYTES_WRITTEN"]) == (1, 10)
    assert (written["reused"]["POSIX_WRITES"], written["reused"]["POSIX_OPENS"]) == (1, 0)
    assert (written["stream"]["STDIO_WRITES"], written["stream"]["STDIO_BYTES_WRITTEN"]) == (1, 4)
    assert not [name for name in report.name_records.values() if "unseen" in name]
    around, within = map(float, (folder / "told.txt").read_text().split())
    assert within > 0.002
    assert rows(jobs[0])[0, "off"]["time"] <= around - within + 1e-6


def test_a_killed_process_leaves_its_regions(tmp_path: Path) -> None:
    harness.run(harness.build_program("region_marks"), "kill", folder=tmp_path, IOLENS_SPOOL=str(tmp_path))
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    subprocess.run([RECOVER, "merge", spool], check=True, stdout=subprocess.DEVNULL)
    found = rows(read_log(harness.logs(tmp_path)[0]))
    assert {key: (row["calls"], row["unended"]) for key, row in found.items()} == {
        (0, "outer"): (1, 0),
        (0, "killed"): (1, 1),
    }
    assert found[0, "killed"]["time"] > 0.001


@pytest.mark.parametrize("words", [(), ("first",)])
def test_a_region_ends_with_its_thread(words: tuple[str, ...], tmp_path: Path) -> None:
    """A thread has its counters in every region, whichever region it enters first."""
    preload = ":".join([*map(str, libraries(["pthreads"])), harness.PRELOAD])
    done = harness.run(
        harness.build_program("region_left"), *words, folder=tmp_path, LD_PRELOAD=preload, IOLENS_HWPC="0"
    )
    seconds, pages = map(float, done.stdout.split())
    job = read_log(harness.logs(tmp_path)[0])
    found = [row for (thread, path), row in rows(job).items() if path == "outer/inner"]
    assert [(row["calls"], row["unended"]) for row in found] == [(1, 1)] * 3
    assert 0 < sum(row["time"] for row in found) <= seconds
    assert sum(row["time"] for (thread, path), row in rows(job).items() if path == "outer") <= seconds
    named, counters = paths(job), job.private["counters"].to_dict("records")
    inner = {row["event"]: row for row in counters if named.get(row["region"]) == "outer/inner"}
    assert pages <= inner["minor-faults"]["value"] < pages + 100
    assert all(row["value"] >= 0 or row["unavailable"] for row in inner.values()), inner


@pytest.mark.parametrize(
    "compiler",
    [["gcc", "-std=c99", "-pedantic"], ["gcc", "-no-pie"], ["g++", "-x", "c++"], ["gcc", "-DIOLENS_OFF", "-static"]],
)
def test_a_program_with_marks_needs_nothing_of_ours(compiler: list[str], tmp_path: Path) -> None:
    if not shutil.which(compiler[0]):
        pytest.skip(f"there is no {compiler[0]}")
    (tmp_path / "iolens.h").write_text((INCLUDE / "iolens.h").read_text())
    (tmp_path / "pat_api.h").write_text((INCLUDE / "pat_api.h").read_text())
    (tmp_path / "main.c").write_text(
        '#include "pat_api.h"\n'
        'int main(void) { iolens_region_begin(1, "one"); iolens_record(0); iolens_record(1); iolens_flush();\n'
        "unsigned long bytes = 1; PAT_flush_buffer(); PAT_flush_buffer(&bytes); if (bytes) return 1;\n"
        'return iolens_region_end(1), PAT_region_begin(2, "two") - PAT_region_end(2); }\n'
    )
    flags = ["-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"]
    subprocess.run([*compiler, *flags], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


@pytest.mark.parametrize("names", ["iolens", "pat"])
def test_fortran_marks_regions(names: str, tmp_path: Path) -> None:
    """Regions are marked by the Fortran module or by CrayPAT's names. The program finds the latter in a library behind
    the profiler's.
    """
    fortran = shutil.which("gfortran")
    if not fortran:
        pytest.skip("there is no Fortran compiler")
    source, program = harness.ROOT / "tests/c/region_marks.F90", tmp_path / "marks"
    if names == "iolens":
        built = [INCLUDE / "iolens.f90", source]
    else:
        empty = "".join(f"void {name}_(void) {{}}\n" for name in re.findall(r"call (pat_\w+)", source.read_text()))
        (tmp_path / "pat.c").write_text("".join(sorted(set(empty.splitlines(keepends=True)))))
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libpat.so", tmp_path / "pat.c"], check=True)
        built = ["-DPAT", source, tmp_path / "libpat.so", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([fortran, "-o", program, *built], cwd=tmp_path, check=True)
    assert subprocess.run([program], cwd=tmp_path, check=False).returncode == 0, "without the profiler"
    assert harness.run(program, folder=tmp_path).returncode == 0
    found = rows(read_log(harness.logs(tmp_path)[0]))
    assert {key: row["calls"] for key, row in found.items()} == {(0, "outer"): 3, (0, "outer/inner"): 3}


def test_a_program_of_regions_alone_has_a_log(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        '#include "iolens.h"\nint main(void) { iolens_region_begin(1, "only"); iolens_region_end(1); return 0; }\n'
    )
    subprocess.run(["gcc", "-o", "main", "main.c", f"-I{INCLUDE}"], cwd=tmp_path, check=True)
    harness.run(tmp_path / "main", folder=tmp_path)
    assert list(rows(read_log(harness.logs(tmp_path)[0]))) == [(0, "only")]


def test_more_regions_than_there_is_room_for(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        '#include "iolens.h"\nint main(void) { for (int i = 0; i < 5000; i++) { iolens_region_begin(i, 0); '
        "iolens_region_end(i); } return 0; }\n"
    )
    subprocess.run(["gcc", "-o", "main", "main.c", f"-I{INCLUDE}"], cwd=tmp_path, check=True)
    harness.run(tmp_path / "main", folder=tmp_path)
    job = read_log(harness.logs(tmp_path)[0])
    assert len(job.private["regions"]) == 4096
    assert job.partial == (
        "A process records at most 4096 different regions; 904 visits to further regions are missing.",
    )
