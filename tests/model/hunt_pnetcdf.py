"""Runs random programs with PnetCDF under the profiler and holds its log to the model.

hunt_pnetcdf.py --build build -n 1000 --seed 1
"""

from __future__ import annotations

import argparse
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hunt import scratch
from hunt_hdf5 import common_accesses, wrong_accesses, wrong_ints
from logfile import Record, read_log
from meaning import BUCKETS
from model_hdf5 import DIMENSIONS, Hdf5Record
from model_pnetcdf import PnetcdfModel

HERE = Path(__file__).resolve().parent
BATCH = 100
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
    """The profiler, and PnetCDF with the MPI that it was built for: Debian's builds are for Open MPI."""
    ours = [build / "lib/libiolens-openmpi.so", build / "lib/libiolens.so"]
    return ":".join([*map(str, ours), *filter(None, map(ctypes.util.find_library, ("pnetcdf", "mpi")))])


def run_batch(libraries: str, first: int, count: int, seed: int) -> list[str]:
    """What is wrong in the log of one process that ran these programs."""
    with tempfile.TemporaryDirectory(prefix="iolens-model-", dir=scratch()) as top:
        folder, journal, log = (Path(top).resolve() / name for name in ("w", "journal", "log"))
        folder.mkdir()
        # Without mpirun MPI_Init would start Open MPI's daemon, which would write a log as well.
        words: list[object] = ["mpirun", "-np", "1", "env", f"LD_PRELOAD={libraries}", f"IOLENS_LOGFILE={log}"]
        words += [f"IOLENS_INCLUDE={folder}", sys.executable, HERE / "pnetcdf_programs.py", journal, first, count, seed]
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(
            list(map(str, words)),
            cwd=folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not log.exists():
            return [f"the program ended with {done.returncode}: {done.stderr[-1000:]}"]
        model, found = PnetcdfModel(), read_log(log)
        for line in journal.read_text().splitlines():
            model.see(json.loads(line))
        got = {
            module: {Path(found.names[record.id]).name: record for record in found.records[module]}
            for module in ("PNETCDF_FILE", "PNETCDF_VAR")
        }
        return [
            *wrong_records(model.files, got["PNETCDF_FILE"], FILE_INTS),
            *wrong_records(model.variables, got["PNETCDF_VAR"], VAR_INTS),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder with lib/libiolens.so")
    parser.add_argument("-n", type=int, default=1000, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    libraries = preload(options.build.resolve())
    errors: list[str] = []
    for first in range(0, options.n, BATCH):
        errors += run_batch(libraries, first, min(BATCH, options.n - first), options.seed)
    print("\n".join(errors) if errors else f"nothing found in {options.n} programs of seed {options.seed}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
