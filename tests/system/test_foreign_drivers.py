"""A comparison names the MPI-IO driver of a program that is not bundled from its log, as for a bundled program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.perform.progress import Lines
from iolens.lab.sweep.plan.prepare import prepare
from iolens.lab.sweep.read.results import load_results
from iolens.lab.sweep.sweep import run_sweep
from iolens.metrics.comparison.results import compare
from iolens.pages.wording.sweep_cautions import origins
from iolens.pages.wording.sweep_remedy import driver_marks, remedy
from mpi_libraries import library

EXPERIMENT = """name: {component}
workload: {{program: {program}, arguments: [{arguments}], ranks: 2}}
storage: {{kind: directory, directory: {data}}}
mpi: {{io_component: {component}}}
matrix: {{aggregators: [1, 2]}}
repetitions: 1
confirm: 0
report: {{metric: run_time}}
"""
MPI4PY = """import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
shared = MPI.File.Open(world, sys.argv[1] + "/shared", MPI.MODE_CREATE | MPI.MODE_WRONLY)
shared.Write_at_all(world.rank * 65536, bytearray(65536))
shared.Close()
"""
CDL = "netcdf shared { dimensions: x = 1000; variables: double v(x); data: v = 1, 2; }\n"
HDF5 = """#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static double values[1000];
    char path[4096];
    hsize_t size = 1000;
    MPI_Init(&argc, &argv);
    snprintf(path, sizeof path, "%s/shared.h5", argv[1]);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), move = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(move, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, space, space, move, values);
    H5Dclose(set);
    H5Fclose(file);
    MPI_Finalize();
    return 0;
}
"""


def _mpi4py(folder: Path) -> tuple[str, str]:
    """Returns a program of PyPI's mpi4py and its arguments."""
    if find_spec("mpi4py") is None:
        pytest.skip("no mpi4py; `make setup-test` installs it from PyPI")
    (folder / "shared.py").write_text(MPI4PY)
    return sys.executable, f"{folder}/shared.py, '{{directory}}'"


def _ncmpigen(folder: Path) -> tuple[str, str]:
    """Returns PnetCDF's own ncmpigen and its arguments."""
    program = shutil.which("ncmpigen")
    if program is None:
        pytest.skip("no ncmpigen; Debian's package pnetcdf-bin has it")
    (folder / "shared.cdl").write_text(CDL)
    return program, f"-o, '{{directory}}/shared.nc', {folder}/shared.cdl"


def _hdf5(folder: Path) -> tuple[str, str]:
    """Returns a program linked with parallel HDF5 and its arguments."""
    compiler = shutil.which("h5pcc")
    if compiler is None:
        pytest.skip("no h5pcc; Debian's package libhdf5-openmpi-dev has it")
    (folder / "shared.c").write_text(HDF5)
    subprocess.run([compiler, "shared.c", "-o", "shared"], cwd=folder, check=True, capture_output=True)
    return str(folder / "shared"), "'{directory}'"


def _bundled(folder: Path) -> tuple[str, str]:
    """Returns the bundled ior and its arguments. A comparison must name the driver of the other programs in the same
    words.
    """
    return "ior", "-a, MPIIO, -c, -w, -b, 64k, -t, 64k"


@pytest.mark.mpi
@pytest.mark.parametrize("component", ["romio321", "ompio"])
@pytest.mark.parametrize("make", [_mpi4py, _ncmpigen, _hdf5, _bundled])
def test_the_caution_comes_from_the_run(tmp_path: Path, make: object, component: str) -> None:
    if library("usual").flavour != "openmpi":
        pytest.skip("only Open MPI has two MPI-IO components to tell apart")
    program, arguments = make(tmp_path)  # type: ignore[operator]
    path = tmp_path / "experiment.yaml"
    data = tmp_path / "data"
    path.write_text(EXPERIMENT.format(component=component, program=program, arguments=arguments, data=data))
    sweep = prepare(load_experiment(path), tmp_path / "results")
    assert [bad.reason for bad in run_sweep(sweep, Lines()) if bad.status == "failed"] == []
    results = load_results(sweep.folder)
    comparison = compare(results.runs, results.settings, results.measure)
    wanted, mark = {
        "romio321": ("The data was moved by ROMIO's generic driver, whose", "ROMIO'S GENERIC DRIVER"),
        "ompio": ("The data was moved by Open MPI's own MPI-IO (ompio), which takes no hints file", "OMPIO"),
    }[component]
    assert any(wanted in note for note in origins(results, comparison))
    assert [text.partition(":")[0] for text in driver_marks(results.runs)] == [mark]
    found = remedy(results, comparison)
    assert found is None or wanted.split(" by ")[1].split(",")[0] in found.holds_for
