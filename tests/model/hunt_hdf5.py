"""Runs random programs with HDF5 under the profiler and holds its log to the model.

hunt_hdf5.py --build build -n 1000 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hunt import scratch
from logfile import Record, read_log
from meaning import BUCKETS, TRACKED_VALUES
from model_hdf5 import DIMENSIONS, Access, Hdf5Model, Hdf5Record

HERE = Path(__file__).resolve().parent
BATCH = 100
H5F_INTS = "OPENS FLUSHES USE_MPIIO".split()
H5D_INTS = (
    "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES REGULAR_HYPERSLAB_SELECTS "
    "IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
).split()
H5D_INTS += [f"SIZE_{kind}_AGG_{bucket}" for kind in ("READ", "WRITE") for bucket in BUCKETS]
ACCESSES_AT, ACCESS_INTS = len(H5D_INTS), 1 + 2 * DIMENSIONS
H5D_INTS += [f"ACCESS{i}_{j}" for i in range(4) for j in range(ACCESS_INTS)] + [f"ACCESS{i}_COUNT" for i in range(4)]
H5D_INTS += "DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE".split()
H5D_INTS += [f"CHUNK_SIZE_D{i}" for i in range(1, DIMENSIONS + 1)]
H5D_INTS += "USE_MPIIO_COLLECTIVE USE_DEPRECATED".split()
FREE = {"MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"}


def wrong_ints(want: Hdf5Record, got: Record, names: list[str]) -> list[str]:
    compared = [(name, i) for i, name in enumerate(names) if name not in FREE and not name.startswith("ACCESS")]
    return [
        f"{name}: calls say {want.ints.get(name, 0)}, the log says {got.ints[i]}"
        for name, i in compared
        if want.ints.get(name, 0) != got.ints[i]
    ]


def common_accesses(got: Record, begin: int) -> Counter[Access]:
    """Those of a record, which begin at that one of its integers."""
    found: Counter[Access] = Counter()
    for i in range(4):
        at = begin + i * ACCESS_INTS
        size, *rest = got.ints[at : at + ACCESS_INTS]
        count = got.ints[begin + 4 * ACCESS_INTS + i]
        if count:
            found[size, tuple(rest[:DIMENSIONS]), tuple(rest[DIMENSIONS:])] += count
    return found


def wrong_accesses(want: Counter[Access], got: Counter[Access]) -> list[str]:
    """The four that came most often; of equally frequent ones, any."""
    if len(want) > TRACKED_VALUES:
        return []
    counts = sorted(want.values(), reverse=True)[:4]
    errors = [f"ACCESS {a}: calls say {want[a]} times, the log says {n}" for a, n in got.items() if want[a] != n]
    if sorted(got.values(), reverse=True) != [n for n in counts if n]:
        errors.append(f"ACCESS1-4_COUNT: calls say {counts}, the log says {sorted(got.values(), reverse=True)}")
    return errors


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


def run_batch(library: Path, first: int, count: int, seed: int) -> list[str]:
    """What is wrong in the log of one process that ran these programs."""
    with tempfile.TemporaryDirectory(prefix="iolens-model-", dir=scratch()) as top:
        folder, journal, log = (Path(top).resolve() / name for name in ("w", "journal", "log"))
        folder.mkdir()
        words = [sys.executable, HERE / "hdf5_programs.py", journal, first, count, seed]
        settings = {"LD_PRELOAD": str(library), "IOLENS_LOGFILE": str(log), "IOLENS_INCLUDE": str(folder)}
        done = subprocess.run(
            list(map(str, words)),
            cwd=folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or done.stderr:
            return [f"the program ended with {done.returncode}: {done.stderr[-1000:]}"]
        model, found = Hdf5Model(), read_log(log)
        for line in journal.read_text().splitlines():
            model.see(json.loads(line))
        return [
            *wrong_records(model.files, found.records["H5F"], found.names, H5F_INTS),
            *wrong_records(model.datasets, found.records["H5D"], found.names, H5D_INTS),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder with lib/libiolens.so")
    parser.add_argument("-n", type=int, default=1000, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    library = options.build.resolve() / "lib/libiolens.so"
    errors: list[str] = []
    for first in range(0, options.n, BATCH):
        errors += run_batch(library, first, min(BATCH, options.n - first), options.seed)
    print("\n".join(errors) if errors else f"nothing found in {options.n} programs of seed {options.seed}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
