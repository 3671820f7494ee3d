"""Runs random programs with PnetCDF under the profiler and compares its log with the model.

hunt_pnetcdf.py --build build -n 1000 --seed 1
"""

from __future__ import annotations

import ctypes.util
import sys
from pathlib import Path

from batches import common_accesses, hunt, show, wrong_accesses, wrong_ints
from iolens.lab.run.mpi_launch import openmpi
from logfile import Record
from meaning import BUCKETS
from model_hdf5 import DIMENSIONS, Hdf5Record
from model_pnetcdf import PnetcdfModel

HERE = Path(__file__).resolve().parent
FILE_INTS = "CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN WAIT_FAILURES".split()
FORMS = "VAR VAR1 VARA VARS VARM VARN".split()
VAR_INTS = "OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES".split()
VAR_INTS += "BYTES_READ BYTES_WRITTEN RW_SWITCHES".split()
VAR_INTS += [f"{verb}_{form}" for verb in ("PUT", "GET") for form in [*FORMS, "VARD"]]
VAR_INTS += [f"{verb}_{form}" for verb in ("IPUT", "IGET", "BPUT") for form in FORMS]
VAR_INTS += ["MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"]
VAR_INTS += [f"SIZE_{kind}_AGG_{bucket}" for kind in ("READ", "WRITE") for bucket in BUCKETS]
ACCESSES_AT = len(VAR_INTS)
VAR_INTS += [f"ACCESS{i}" for i in range(4 * (1 + 2 * DIMENSIONS) + 4)]
VAR_INTS += "NDIMS NPOINTS DATATYPE_SIZE IS_RECORD_VAR".split()


def wrong_records(want: dict[str, Hdf5Record], got: dict[str, Record], names: list[str]) -> list[str]:
    errors = [f"{name}: {'no record' if name in want else 'a record'}" for name in want.keys() ^ got.keys()]
    for name in want.keys() & got.keys():
        wrong = wrong_ints(want[name], got[name], names)
        if names is VAR_INTS:
            wrong += wrong_accesses(want[name].accesses, common_accesses(got[name], ACCESSES_AT))
        errors += [f"{name} {words}" for words in wrong]
    return errors


def preload(build: Path) -> str:
    """Returns the libraries to preload: the profiler, and PnetCDF with the MPI library that it was built for, which is
    Open MPI in Debian's packages.
    """
    ours = [build / "lib/libiolens-openmpi.so", build / "lib/libiolens.so"]
    return ":".join([*map(str, ours), *filter(None, map(ctypes.util.find_library, ("pnetcdf", "mpi")))])


def run_batch(build: Path, first: int, count: int, seed: int) -> list[str]:
    """Returns the errors in the log of one process that ran these programs."""
    model = PnetcdfModel()

    def command(folder: Path, journal: Path, log: Path) -> list[object]:
        # Without mpirun MPI_Init would start Open MPI's daemon, which would write a log as well.
        words = ["mpirun", "-np", "1", "env", f"LD_PRELOAD={preload(build)}", f"IOLENS_LOGFILE={log}"]
        words += [f"IOLENS_INCLUDE={folder}", sys.executable]
        return [*words, HERE / "pnetcdf_programs.py", journal, first, count, seed]

    found = show(model, command, **openmpi.openmpi_variables(["as root"], None))
    if isinstance(found, str):
        return [found]
    got = {
        module: {Path(found.names[record.id]).name: record for record in found.records[module]}
        for module in ("PNETCDF_FILE", "PNETCDF_VAR")
    }
    return [
        *wrong_records(model.files, got["PNETCDF_FILE"], FILE_INTS),
        *wrong_records(model.variables, got["PNETCDF_VAR"], VAR_INTS),
    ]


if __name__ == "__main__":
    sys.exit(hunt(__doc__, run_batch))
