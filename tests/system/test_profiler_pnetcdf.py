"""Tests PnetCDF files and variables in the log, compared with values that a program prints; libdarshan-util
reads it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import darshan
import pytest
from iolens.lab.installation import find_library
from iolens.lab.run.mpi_launch import mpi
from iolens.log import read_log
from mpi_library import FLAVOUR, PRELOAD
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "profiler" / "src" / "modules" / "pnetcdf"

# C source that declares the profiler's prototypes after those of PnetCDF, so that the compiler refuses any difference.
PROTOTYPES = """
#include <mpi.h>
#include <pnetcdf.h>
#define IOLENS_MPI_TYPES
typedef MPI_Comm mpi_comm;
typedef MPI_Info mpi_info;
typedef MPI_Datatype mpi_type;
typedef MPI_Offset mpi_offset;
#include "pnetcdf_kinds.h"
#define FN(ret_t, name, params, ...) ret_t name params;
#define FNB(ret_t, name, params, ...) ret_t name params;
#include "pnetcdf.def"
"""

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pnetcdf") / "pnetcdf_calls"
    command = ["mpicc", "-std=gnu11", "-o", target, ROOT / "tests" / "c" / "pnetcdf_calls.c", "-lpnetcdf"]
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("PnetCDF is not installed for mpicc")
    return target


def profiled(program: Path, folder: Path, ranks: int) -> list[list[str]]:
    """Runs the program under the profiler; returns name, module, counter and value of every expectation."""
    environment = {**os.environ, **mpi.environment(FLAVOUR, 64, "romio321")}
    inner = ["env", f"LD_PRELOAD={PRELOAD}", f"IOLENS_LOGFILE={folder}/log.darshan", f"IOLENS_INCLUDE={folder}"]
    command = [mpi.find_launcher(FLAVOUR), "-np", str(ranks), *inner, str(program), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) > 40
    return lines


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_form_of_pnetcdf_is_counted(program: Path, tmp_path: Path, ranks: int) -> None:
    lines = profiled(program, tmp_path, ranks)
    report = darshan.DarshanReport(str(tmp_path / "log.darshan"), read_all=True)
    records = {
        (module, report.name_records[record["id"]].removeprefix(str(tmp_path))): record
        for module in ("PNETCDF_FILE", "PNETCDF_VAR")
        for record in report.records[module]
    }
    found = {
        key: dict(zip(report.counters[key[0]]["counters"], map(int, record["counters"]), strict=True))
        for key, record in records.items()
    }
    assert {(m, n, c): found[m, n][c] for n, m, c, _ in lines} == {(m, n, c): int(v) for n, m, c, v in lines}
    field = records["PNETCDF_VAR", "/calls.nc:field"]
    assert field["rank"] == -1
    assert field["file_rec_id"] == records["PNETCDF_FILE", "/calls.nc"]["id"]
    times = dict(zip(report.counters["PNETCDF_VAR"]["fcounters"], field["fcounters"], strict=True))
    assert 0 < times["PNETCDF_VAR_F_OPEN_START_TIMESTAMP"] < times["PNETCDF_VAR_F_WRITE_START_TIMESTAMP"]
    assert times["PNETCDF_VAR_F_WRITE_END_TIMESTAMP"] < times["PNETCDF_VAR_F_CLOSE_END_TIMESTAMP"]
    assert 0 < times["PNETCDF_VAR_F_MAX_WRITE_TIME"] <= times["PNETCDF_VAR_F_WRITE_TIME"]
    if ranks == 1:
        check_shares(records, report.counters["PNETCDF_VAR"]["fcounters"])


def check_shares(records: dict[tuple[str, str], Any], names: list[str]) -> None:
    """Checks the times of variables that one call moves: the call's time is divided among them, so their sum is no
    more than the calls took.
    """
    variables = [record["fcounters"] for (_, name), record in records.items() if name.startswith("/several.nc:")]
    times = [dict(zip(names, variable, strict=True)) for variable in variables]
    begin = min(time["PNETCDF_VAR_F_WRITE_START_TIMESTAMP"] for time in times)
    end = max(time[f"PNETCDF_VAR_F_{way}_END_TIMESTAMP"] for time in times for way in ("READ", "WRITE"))
    spent = sum(time[f"PNETCDF_VAR_F_{way}_TIME"] for time in times for way in ("READ", "WRITE"))
    assert len(times) == 3
    assert 0 < spent <= (end - begin) * (1 + 1e-9)


def test_our_reader_has_the_numbers_of_pnetcdf(program: Path, tmp_path: Path) -> None:
    lines = profiled(program, tmp_path, 1)
    log = read_log(tmp_path / "log.darshan")
    for name, module, counter, value in lines:
        frame = log.frames[module]
        rows = frame[frame["id"].map(log.names).str.endswith(name)]
        assert list(rows[counter]) == [int(value)]


def test_the_prototypes_are_those_of_pnetcdf(program: Path, tmp_path: Path) -> None:
    source = tmp_path / "prototypes.c"
    source.write_text(PROTOTYPES)
    done = subprocess.run(
        ["mpicc", "-std=gnu11", "-fsyntax-only", "-iquote", HEADERS, "-iquote", ROOT, source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_no_access_of_the_library_is_left_out(program: Path) -> None:
    """The list of functions comes from the installed library, not from the profiler."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    library = re.search(r"libpnetcdf\S* => (\S+)", linked)
    assert library
    listing = subprocess.run(["nm", "-D", library[1]], capture_output=True, text=True, check=True).stdout
    wanted = set(re.findall(r" T (ncmpi_[ibm]?(?:put|get)_var\w*)", listing))
    core = str(find_library("libiolens.so"))
    ours = subprocess.run(["nm", "-D", core], capture_output=True, text=True, check=True).stdout
    assert len(wanted) >= 810
    assert wanted <= set(re.findall(r" T (ncmpi_\w+)", ours))
