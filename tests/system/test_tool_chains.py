"""Tests the profiler between other tools, languages and users: tools before and behind it see and record the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import darshan
import pytest
from iolens.lab.installation import need_library
from mpi_libraries import ROOT, library
from patience import PATIENCE
from profiler_harness import build_program

C = ROOT / "tests" / "c"
IOLENS = [sys.executable, "-m", "iolens.cli.main"]
NOBODY = 65534


def tool(folder: Path, name: str) -> Path:
    """Builds the preload library of another tool."""
    compiler = library("usual").mpicc if "pmpi" in name else "cc"
    built = folder / f"lib{name}.so"
    command = [compiler, "-D_GNU_SOURCE", "-Wall", "-shared", "-fPIC", C / f"{name}.c", "-o", built]
    subprocess.run([*command, "-ldl"], check=True)
    return built


def counters(log: Path, module: str, ends: str) -> dict[str, int]:
    """Returns the integer counters of the only record of a module whose file name ends in `ends`."""
    report = darshan.DarshanReport(str(log), read_all=True)
    (record,) = [one for one in report.records[module] if report.name_records[one["id"]].endswith(ends)]
    return dict(zip(report.counters[module]["counters"], map(int, record["counters"]), strict=True))


@pytest.mark.parametrize("first", ["theirs", "ours"])
def test_another_preload_library_sees_what_we_see(tmp_path: Path, first: str) -> None:
    chain = [str(tool(tmp_path, "tool_preload")), str(need_library("libiolens.so"))]
    environment = {
        **os.environ,
        "LD_PRELOAD": ":".join(chain if first == "theirs" else chain[::-1]),
        "IOLENS_LOGFILE": str(tmp_path / "log.darshan"),
        "IOLENS_INCLUDE": str(tmp_path),
        "TOOL_FD": "2",
    }
    command = [build_program("posix_many"), "7"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == "7 opens 7 writes 7 closes\n"
    frame = darshan.DarshanReport(str(tmp_path / "log.darshan"), read_all=True).records["POSIX"].to_df()["counters"]
    assert [int(frame[f"POSIX_{name}"].sum()) for name in ("OPENS", "WRITES", "BYTES_WRITTEN")] == [7, 7, 35]


AUDITOR = """
#include <link.h>
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t list, uintptr_t *cookie) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
"""


def test_a_program_starts_where_the_loader_has_an_auditor(tmp_path: Path) -> None:
    """If the loader runs an auditing library, as HPCToolkit and Spindle are, it has little thread-local storage left
    for preloaded libraries.
    """
    (tmp_path / "auditor.c").write_text(AUDITOR, encoding="utf-8")
    auditor = tmp_path / "auditor.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", tmp_path / "auditor.c", "-o", auditor], check=True)
    ours = sorted(need_library("libiolens.so").parent.glob("libiolens-trace-*.so"))
    environment = {
        **os.environ,
        "LD_AUDIT": str(auditor),
        "LD_PRELOAD": ":".join(map(str, [*ours, need_library("libiolens.so")])),
        "IOLENS_LOGFILE": str(tmp_path / "log.darshan"),
        "IOLENS_INCLUDE": str(tmp_path),
    }
    done = subprocess.run(
        [build_program("posix_many"), "7"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    frame = darshan.DarshanReport(str(tmp_path / "log.darshan"), read_all=True).records["POSIX"].to_df()["counters"]
    assert int(frame["POSIX_WRITES"].sum()) == 7


@pytest.mark.mpi
@pytest.mark.parametrize("place", ["before", "behind", "linked", "inside"])
def test_a_tool_on_the_profiling_interface_counts_beside_us(tmp_path: Path, place: str) -> None:
    its = library("usual")
    other = tool(tmp_path, "tool_pmpi")
    flags = {"linked": [str(other), f"-Wl,-rpath,{tmp_path}"], "inside": [str(C / "tool_pmpi.c")]}.get(place, [])
    program = its.compile(C / "mpi_late.c", tmp_path / "mpi_late", *flags)
    chain = {"before": f"{other}:{its.preload}", "behind": f"{its.preload}:{other}"}.get(place, its.preload)
    inner = ["env", f"LD_PRELOAD={chain}", f"IOLENS_LOGFILE={tmp_path}/log.darshan", f"IOLENS_INCLUDE={tmp_path}"]
    environment = {**os.environ, **its.environment("romio321")}
    command = [its.mpirun, "-np", "2", *inner, program, tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.splitlines() == ["tool: 1 opens, 5 writes"] * 2
    found = counters(tmp_path / "log.darshan", "MPI-IO", "/late")
    assert (found["MPIIO_COLL_OPENS"], found["MPIIO_COLL_WRITES"]) == (2, 10)


@pytest.mark.mpi
@pytest.mark.parametrize("way", ["INCLUDE", "MODULE", "F08"])
def test_every_way_from_fortran_to_mpi_is_counted(tmp_path: Path, way: str) -> None:
    its = library("usual")
    compiler = its.mpicc.with_name("mpifort")
    command = [compiler, f"-D{way}", C / "mpi_fortran.F90", "-o", tmp_path / "fortran"]
    if not compiler.exists() or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"no Fortran compiler for MPI, or none that knows this way: {compiler}")
    inner = ["env", f"LD_PRELOAD={its.preload}", f"IOLENS_LOGFILE={tmp_path}/log.darshan", f"IOLENS_INCLUDE={tmp_path}"]
    environment = {**os.environ, **its.environment("romio321")}
    command = [its.mpirun, "-np", "2", *inner, tmp_path / "fortran", tmp_path]
    subprocess.run(command, env=environment, capture_output=True, check=True, timeout=PATIENCE)
    found = counters(tmp_path / "log.darshan", "MPI-IO", "/shared")
    names = "COLL_OPENS COLL_WRITES INDEP_READS BYTES_WRITTEN BYTES_READ".split()
    assert [found[f"MPIIO_{name}"] for name in names] == [2, 2, 2, 1600, 800]
    assert counters(tmp_path / "log.darshan", "POSIX", "/own.txt")["POSIX_BYTES_WRITTEN"] == 10


DROPS = """
import os, sys
open("before.dat", "w").write("x" * 100)
os.chdir("/")
os.setgid(65534), os.setuid(65534)
open(sys.argv[1] + "/after.dat", "w").write("y" * 10)
os.close(2)
"""


@pytest.mark.parametrize("writable", [True, False])
def test_a_program_that_drops_its_privileges_keeps_its_log(tmp_path: Path, writable: bool) -> None:
    """The log is written by the user whom the program has become, or from the spool by the user who started it."""
    if os.geteuid() != 0:
        pytest.skip("only root has privileges to drop")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    for name in ("logs", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777 if writable or name == "open" else 0o755)
    (tmp_path / "drops.py").write_text(DROPS)
    python = os.path.realpath(sys.executable)
    environment = {**os.environ, "IOLENS_INCLUDE": str(tmp_path)}
    command = [*IOLENS, "run", "--", python, "-I", "-S", tmp_path / "drops.py", tmp_path / "open"]
    done = subprocess.run(command, cwd=tmp_path / "logs", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "logs").glob("*.darshan")
    assert log.stat().st_uid == (NOBODY if writable else 0)
    assert counters(log, "POSIX", "/before.dat")["POSIX_BYTES_WRITTEN"] == 100
    assert counters(log, "POSIX", "/after.dat")["POSIX_BYTES_WRITTEN"] == 10
