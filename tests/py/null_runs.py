"""Makes repetitions of equal runs, whose only differences are chance, in each form that the comparing commands read.

    python tests/py/null_runs.py [COMPARISONS]

prints the table of report/STATISTICS.md: how often the commands call a number of equal runs different. A form writes
the runs of two subjects below a folder and returns the paths of a command. The scatter of a run is log-normal.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
from comparison_example import change, write_run
from iolens.cli.main import main
from iolens.log.format.container import open_container
from iolens.log.format.layouts import MODULES, dtype_of
from iolens.log.rewrite import put_together, split_log

DATA = Path(__file__).resolve().parents[1] / "data"
LOG = DATA / "darshan/mpi-io-test-x86_64-3.5.0.darshan"
START = datetime(2026, 11, 21, 10, tzinfo=timezone.utc)
JOB_NUMBERS = struct.Struct("<7q")
LEVELS = (1, 2)
WITHIN = 0.01
"""Standard deviation of the logarithms of the measurements within one run."""


class Chance:
    """Random factors around 1; `spread` is the standard deviation of their logarithms from run to run."""

    def __init__(self, seed: int, spread: float = 0.05) -> None:
        self.random, self.spread = np.random.default_rng(seed), spread

    def run(self) -> float:
        """Returns the factor of a run."""
        return math.exp(self.spread * float(self.random.standard_normal()))

    def within(self) -> float:
        """Returns the factor of one measurement within a run."""
        return math.exp(WITHIN * float(self.random.standard_normal()))


Form: TypeAlias = Callable[[Path, int, Chance], list[Path]]


def run_folders(root: Path, name: str, runs: int, chance: Chance) -> Path:
    """Writes runs as `iolens run --output` does: without a setting, and without a number of the repetition."""
    for number in range(runs):
        begun = START + timedelta(minutes=10 * number + ord(name[-1]) % 7)
        folder = root / name / f"run-{number}"
        write_run(folder, {}, 1, 100.0 * chance.run(), started=begun.isoformat())
        change(folder / "run.json", point={})
    return root / name


def benchmark_outputs(root: Path, name: str, runs: int, chance: Chance) -> Path:
    """Writes the JSON of IOR with three repetitions inside each run."""
    (root / name).mkdir(parents=True)
    for number in range(runs):
        speed = 100.0 * chance.run()
        each = [speed * chance.within() for _ in range(3)]
        rows = [{"access": "write", "bwMiB": one, "totalTime": 6400.0 / one} for one in each]
        text = json.dumps({"Version": "4.0.0", "tests": [{"Options": {"api": "POSIX"}, "Results": rows}]})
        (root / name / f"run-{number}.json").write_text(text)
    return root / name


def darshan_logs(root: Path, name: str, runs: int, chance: Chance) -> Path:
    """Writes copies of one real log, in which run time and the times in calls scatter."""
    (root / name).mkdir(parents=True)
    log = open_container(LOG)
    whole = split_log(log)
    versions = {region.name: region.version for region in log.modules}
    for number in range(runs):
        modules = dict(whole.modules)
        for module in ("POSIX", "MPI-IO"):
            records = np.frombuffer(modules[module], dtype_of(MODULES[module], versions[module], "<")).copy()
            records["f"] *= chance.run()
            modules[module] = records.tobytes()
        uid, start, _, _, _, ranks, job = JOB_NUMBERS.unpack_from(whole.job)
        seconds = 20.0 * chance.run()
        numbers = JOB_NUMBERS.pack(uid, start, 0, start + int(seconds), int(seconds % 1 * 1e9), ranks, job + number)
        made = whole.__class__(numbers + whole.job[JOB_NUMBERS.size :], whole.names, modules, whole.private)
        (root / name / f"run-{number}.darshan").write_bytes(put_together(log, made))
    return root / name


def sweep_of_equals(root: Path, runs: int, chance: Chance) -> list[Path]:
    """Writes a sweep whose settings are equally fast, while the machine becomes faster with every repetition."""
    for number, level in product(range(1, runs + 1), LEVELS):
        folder = root / f"sweep/points/stripe_count{level}/rep-{number}"
        write_run(folder, {"stripe_count": level}, number, 100.0 * 1.2**number * chance.run())
    return [root / "sweep"]


def pair(make: Callable[[Path, str, int, Chance], Path]) -> Form:
    """Returns the form whose two subjects `make` writes."""
    return lambda root, runs, chance: [make(root, name, runs, chance) for name in ("a", "b")]


FORMS: Mapping[str, Form] = {
    "folders of iolens run": pair(run_folders),
    "outputs": pair(benchmark_outputs),
    "logs": pair(darshan_logs),
    "settings of a sweep": sweep_of_equals,
}


def differences_told(paths: Sequence[Path]) -> list[bool]:
    """Returns, for each number that `iolens diff` finds scattered, whether it calls the number different."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["diff", "--json", *map(str, paths)]) == 0
    rows = json.loads(printed.getvalue())["numbers"]
    letters = [name.removeprefix("standing ") for name in rows[0] if name.startswith("standing ")]
    standings = [row[f"standing {letter}"] for row in rows for letter in letters]
    return [one in ("more", "less") for one in standings if one in ("more", "less", "inconclusive")]


def told(form: str, runs: int, comparisons: int, root: Path, seed: int = 1) -> list[list[bool]]:
    """Returns `differences_told` of many comparisons of equal subjects, each with this number of runs."""
    found = []
    for number in range(comparisons):
        folder = root / f"{form}-{runs}-{number}".replace(" ", "-")
        found.append(differences_told(FORMS[form](folder, runs, Chance(10_000 * seed + 100 * runs + number))))
        shutil.rmtree(folder)
    return found


def main_table(comparisons: int) -> None:
    """Prints the share of numbers that are called different, and of comparisons that do so with any number."""
    print("| runs | repetitions | numbers called different | comparisons with such a number |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for form, runs in product(FORMS, (3, 5, 10)):
            found = told(form, runs, comparisons, Path(folder))
            rows = [one for each in found for one in each]
            some = sum(map(any, found)) / len(found)
            print(f"| {form} | {runs} | {sum(rows) / len(rows):.1%} | {some:.1%} |", flush=True)


if __name__ == "__main__":
    main_table(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
