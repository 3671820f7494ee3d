"""Runs many random programs in one process and compares their records with a model; the hunts of HDF5 and PnetCDF use
this file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hunt import scratch
from logfile import Log, Record, read_log
from meaning import TRACKED_VALUES
from model_hdf5 import DIMENSIONS, Access, Hdf5Record

BATCH = 100
ACCESS_INTS = 1 + 2 * DIMENSIONS
FREE = {"MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"}


class RecordModel(Protocol):
    """A model of one library's records, to which the calls are given one after the other."""

    def see(self, call: Mapping[str, Any]) -> None: ...


def show(
    model: RecordModel, command: Callable[[Path, Path, Path], Sequence[object]], silent: bool = False, **settings: str
) -> Log | str:
    """Runs a command in an empty folder, and compares its journal with the log, or returns the reason why there is no
    log. The command gets three paths: the folder, the journal and the log. If `silent`, the command must print nothing
    on standard error.
    """
    with tempfile.TemporaryDirectory(prefix="iolens-model-", dir=scratch()) as top:
        folder, journal, log = (Path(top).resolve() / name for name in ("w", "journal", "log"))
        folder.mkdir()
        words = list(map(str, command(folder, journal, log)))
        surroundings = {**os.environ, **settings}
        done = subprocess.run(words, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
        if done.returncode or not log.exists() or (silent and done.stderr):
            return f"the program ended with {done.returncode}: {done.stderr[-1000:]}"
        for line in journal.read_text().splitlines():
            model.see(json.loads(line))
        return read_log(log)


def wrong_ints(want: Hdf5Record, got: Record, names: list[str]) -> list[str]:
    compared = [(name, i) for i, name in enumerate(names) if name not in FREE and not name.startswith("ACCESS")]
    return [
        f"{name}: calls say {want.ints.get(name, 0)}, the log says {got.ints[i]}"
        for name, i in compared
        if want.ints.get(name, 0) != got.ints[i]
    ]


def common_accesses(got: Record, begin: int) -> Counter[Access]:
    """Returns the common accesses of a record. Their counters begin at the integer with the number `begin`."""
    found: Counter[Access] = Counter()
    for i in range(4):
        at = begin + i * ACCESS_INTS
        size, *rest = got.ints[at : at + ACCESS_INTS]
        count = got.ints[begin + 4 * ACCESS_INTS + i]
        if count:
            found[size, tuple(rest[:DIMENSIONS]), tuple(rest[DIMENSIONS:])] += count
    return found


def wrong_accesses(want: Counter[Access], got: Counter[Access]) -> list[str]:
    """Returns the errors in the four most frequent accesses; any of equally frequent ones may be listed."""
    if len(want) > TRACKED_VALUES:
        return []
    counts = sorted(want.values(), reverse=True)[:4]
    errors = [f"ACCESS {a}: calls say {want[a]} times, the log says {n}" for a, n in got.items() if want[a] != n]
    if sorted(got.values(), reverse=True) != [n for n in counts if n]:
        errors.append(f"ACCESS1-4_COUNT: calls say {counts}, the log says {sorted(got.values(), reverse=True)}")
    return errors


def hunt(description: str | None, run_batch: Callable[[Path, int, int, int], list[str]]) -> int:
    """Runs as many programs as the command line asks for; returns 1 if anything is wrong.

    `run_batch` gets the build folder, the number of its first program, the number of programs, and the seed.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=Path, required=True, help="folder with lib/libiolens.so")
    parser.add_argument("-n", type=int, default=1000, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    errors: list[str] = []
    for first in range(0, options.n, BATCH):
        errors += run_batch(options.build.resolve(), first, min(BATCH, options.n - first), options.seed)
    print("\n".join(errors) if errors else f"nothing found in {options.n} programs of seed {options.seed}")
    return 1 if errors else 0
