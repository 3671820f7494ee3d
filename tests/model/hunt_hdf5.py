"""Runs random programs with HDF5 under the profiler and compares its log with the model.

hunt_hdf5.py --build build -n 1000 --seed 1
"""

from __future__ import annotations

import sys
from pathlib import Path

from batches import ACCESS_INTS, common_accesses, hunt, show, wrong_accesses, wrong_ints
from logfile import Record
from meaning import BUCKETS
from model_hdf5 import DIMENSIONS, Hdf5Model, Hdf5Record

HERE = Path(__file__).resolve().parent
H5F_INTS = "OPENS FLUSHES USE_MPIIO".split()
H5D_INTS = (
    "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES REGULAR_HYPERSLAB_SELECTS "
    "IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
).split()
H5D_INTS += [f"SIZE_{kind}_AGG_{bucket}" for kind in ("READ", "WRITE") for bucket in BUCKETS]
ACCESSES_AT = len(H5D_INTS)
H5D_INTS += [f"ACCESS{i}_{j}" for i in range(4) for j in range(ACCESS_INTS)] + [f"ACCESS{i}_COUNT" for i in range(4)]
H5D_INTS += "DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE".split()
H5D_INTS += [f"CHUNK_SIZE_D{i}" for i in range(1, DIMENSIONS + 1)]
H5D_INTS += "USE_MPIIO_COLLECTIVE USE_DEPRECATED".split()


def wrong_records(
    want: dict[str, Hdf5Record], records: list[Record], names: dict[int, str], ints: list[str]
) -> list[str]:
    found = {
        Path(names[record.id]).name if ints is H5F_INTS else names[record.id].rpartition("/w/")[2]: record
        for record in records
    }
    errors = [f"{name}: {'no record' if name in want else 'a record'}" for name in want.keys() ^ found.keys()]
    for name in want.keys() & found.keys():
        wrong = wrong_ints(want[name], found[name], ints)
        if ints is H5D_INTS:
            wrong += wrong_accesses(want[name].accesses, common_accesses(found[name], ACCESSES_AT))
        errors += [f"{name} {words}" for words in wrong]
    return errors


def run_batch(build: Path, first: int, count: int, seed: int) -> list[str]:
    """Returns the errors in the log of one process that ran these programs."""
    model = Hdf5Model()

    def command(folder: Path, journal: Path, log: Path) -> list[object]:
        words = ["env", f"LD_PRELOAD={build / 'lib/libiolens.so'}", f"IOLENS_LOGFILE={log}", f"IOLENS_INCLUDE={folder}"]
        return [*words, sys.executable, HERE / "hdf5_programs.py", journal, first, count, seed]

    found = show(model, command, silent=True)
    if isinstance(found, str):
        return [found]
    return [
        *wrong_records(model.files, found.records["H5F"], found.names, H5F_INTS),
        *wrong_records(model.datasets, found.records["H5D"], found.names, H5D_INTS),
    ]


if __name__ == "__main__":
    sys.exit(hunt(__doc__, run_batch))
