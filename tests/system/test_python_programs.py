"""Tests Python programs whose wheels bring their own HDF5 and netCDF and load MPI late; such libraries are visible to
one module only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import darshan
import pytest
from iolens.log import read_log
from iolens.symbols.chains import with_rows
from mpi_libraries import library
from patience import PATIENCE

pytestmark = pytest.mark.mpi

HDF5 = """
import h5py, numpy
with h5py.File("a.h5", "w") as file:
    file.create_dataset("x", data=numpy.arange(1000, dtype="f8"))
    file.create_group("g")["y"] = numpy.zeros((10, 20), dtype="i4")
"""
HDF5_AGAIN = """
with h5py.File("a.h5", "r") as file:
    print(file["x"][10:20].sum(), file["g/y"][:].shape)
"""
NETCDF = """
import netCDF4, numpy
with netCDF4.Dataset("b.nc", "w") as file:
    file.createDimension("t", None), file.createDimension("x", 50)
    file.createVariable("v", "f8", ("t", "x"))[0:3, :] = numpy.ones((3, 50))
with netCDF4.Dataset("b.nc") as file:
    print(file["v"][1:2, :].sum())
"""
MPI = """
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
block = numpy.full(1024, world.rank, dtype="b")
file = MPI.File.Open(world, "shared.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(world.rank * 1024, block)
file.Sync()
world.Barrier()
file.Read_at((world.size - 1 - world.rank) * 1024, block)
file.Close()
assert block[0] == world.size - 1 - world.rank

other = 1 - world.rank
numbers = numpy.zeros(100)
for turn in range(3):
    if world.rank == 0:
        world.Send(numbers, dest=1)
    else:
        world.Recv(numbers, source=0)
request = world.Irecv(numbers, source=other)
world.Send(numbers[:10], dest=other)
request.Wait()
world.Allreduce(MPI.IN_PLACE, numbers)
half = world.Split(world.rank)
half.Bcast(numbers[:5])
"""


def needs(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; `make setup-test` does it")


def profiled(
    folder: Path, script: str, launcher: Sequence[object] = (), **settings: str
) -> tuple[str, Mapping[tuple[str, str], Mapping[str, int]]]:
    """Runs a script under `iolens run`; returns its output and the integer counters by module and name of file or
    dataset.
    """
    (folder / "program.py").write_text(script)
    command = [*map(str, launcher), sys.executable, "program.py"]
    run = [sys.executable, "-m", "iolens.cli.main", "run", "--output", "run", "--", *command]
    environment = {**os.environ, "IOLENS_INCLUDE": str(folder), **settings}
    done = subprocess.run(
        run, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    (log,) = (folder / "run").glob("*.darshan")
    report = darshan.DarshanReport(str(log), read_all=True)
    found = {
        (module, report.name_records[record["id"]].removeprefix(f"{folder}/")): dict(
            zip(report.counters[module]["counters"], map(int, record["counters"]), strict=True)
        )
        for module in ("POSIX", "MPI-IO", "H5F", "H5D")
        if module in report.records
        for record in report.records[module]
    }
    return (folder / "run/stdout.txt").read_text(), found


def moved(record: Mapping[str, int], module: str) -> tuple[int, ...]:
    """Returns the numbers of opens, reads and writes of a record, and its bytes read and written."""
    return tuple(record[f"{module}_{what}"] for what in ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"))


def check_hdf5(found: Mapping[tuple[str, str], Mapping[str, int]]) -> None:
    assert found["H5F", "a.h5"]["H5F_OPENS"] == 2
    assert moved(found["H5D", "a.h5:/x"], "H5D") == (2, 1, 1, 80, 8000)
    assert moved(found["H5D", "a.h5:/g/y"], "H5D") == (2, 1, 1, 800, 800)
    assert found["H5D", "a.h5:/x"]["H5D_DATASPACE_NPOINTS"] == 1000


def check_netcdf(found: Mapping[tuple[str, str], Mapping[str, int]]) -> None:
    assert found["H5F", "b.nc"]["H5F_OPENS"] == 2
    assert moved(found["H5D", "b.nc:/v"], "H5D")[1:] == (1, 1, 400, 1200)


def test_h5py(tmp_path: Path) -> None:
    needs("h5py")
    printed, found = profiled(tmp_path, HDF5 + HDF5_AGAIN)
    assert printed == "145.0 (10, 20)\n"
    check_hdf5(found)


def test_netcdf4(tmp_path: Path) -> None:
    needs("netCDF4")
    printed, found = profiled(tmp_path, NETCDF)
    assert printed == "50.0\n"
    check_netcdf(found)


@pytest.mark.parametrize("first", ["h5py", "netCDF4"])
def test_two_private_hdf5_libraries_in_one_process(tmp_path: Path, first: str) -> None:
    """Calls of h5py and of netCDF4 reach the HDF5 library that each package brings, and both are recorded."""
    needs("h5py", "netCDF4")
    printed, found = profiled(tmp_path, f"import {first}\n" + HDF5 + NETCDF + HDF5_AGAIN)
    assert printed == "50.0\n145.0 (10, 20)\n"
    check_hdf5(found)
    check_netcdf(found)


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_mpi4py(tmp_path: Path, name: str) -> None:
    """mpi4py's wheel is not linked to an MPI library: it looks for one when it is imported."""
    needs("mpi4py")
    its = library(name)
    libraries = {} if name == "usual" else {"LD_LIBRARY_PATH": str(its.mpirun.parent.parent / "lib")}
    settings = {**its.environment("romio321"), **libraries, "IOLENS_LIB": str(its.adapter.parent)}
    _, found = profiled(tmp_path, MPI, [its.mpirun, "-np", 2], IOLENS_TRACE="mpi,io", **settings)
    record = found["MPI-IO", "shared.dat"]
    names = "COLL_OPENS COLL_WRITES INDEP_READS SYNCS BYTES_WRITTEN BYTES_READ".split()
    assert [record[f"MPIIO_{name}"] for name in names] == [2, 2, 2, 2, 2048, 2048]
    assert found["POSIX", "shared.dat"]["POSIX_BYTES_WRITTEN"] == 2048
    check_messages(tmp_path)


def check_messages(folder: Path) -> None:
    """Checks the log's calls, bytes sent and received, and messages of each rank. mpi4py itself calls a few more
    functions of communicators, which are not compared.
    """
    (log,) = (folder / "run").glob("*.darshan")
    tables = read_log(log).private
    calls = tables["mpi_calls"]
    found = {(row.rank, row.function): row for row in calls.itertuples()}
    wanted = {
        (0, "MPI_Send"): (4, 2480, 0, 4),
        (1, "MPI_Send"): (1, 80, 0, 1),
        (1, "MPI_Recv"): (3, 0, 2400, 0),
        **{(rank, "MPI_Irecv"): (1, 0, 0, 0) for rank in range(2)},
        **{(rank, "MPI_Wait"): (1, 0, 80, 0) for rank in range(2)},
        **{(rank, "MPI_Allreduce"): (1, 800, 800, 1) for rank in range(2)},
        **{(rank, "MPI_Comm_split"): (1, 0, 0, 0) for rank in range(2)},
        **{(rank, "MPI_Bcast"): (1, 40, 0, 1) for rank in range(2)},
        **{(rank, "MPI_Barrier"): (1, 0, 0, 0) for rank in range(2)},
    }
    assert {
        key: (found[key].calls, found[key].bytes_sent, found[key].bytes_received, found[key].messages)
        for key in wanted
        if key in found
    } == wanted
    peers = {
        (row.rank, row.peer): (row.messages, row.bytes, row.received_bytes) for row in tables["mpi_peers"].itertuples()
    }
    assert peers == {(0, 1): (4, 2480, 80), (1, 0): (1, 80, 2480)}
    sites = with_rows(tables["mpi_sites"], tables["call_nodes"], "node")
    objects = with_rows(sites, tables["objects"], "object").query("function != 'MPI_Finalize'")["path"]
    assert objects.str.contains("mpi4py").all()
