"""Measures the errors of `iolens predict`: BT-IO, IOR and a checkpoint run on emulated storage, and every setting of a
matrix is predicted from one traced run at another setting.

    .venv/bin/python tests/bench/predict.py [--repeat N] [--most N] [--matrix NAME …] [--driver lustre|generic]
                                            [--out DIR]

The problems are small (BT-IO class W), and so is the storage: storage/ost.yaml with sizes divided by 16 (stripes of 64
KiB stand for 1 MiB) and bandwidths by 100, so that times are 6.25 times those of a problem 16 times as large. Times are
then those of the model and not of the machine, and a few seconds are enough. The comparison was fixed before any run,
in RULES, which the script prints before its numbers. The rows of all settings go to DIR/errors.csv, the traces lie
beside it.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.predict.model import read_model
from iolens.lab.predict.predict import PredictedTimes, recorded_times, replay
from iolens.lab.predict.recorded import Recorded, read_recorded
from iolens.lab.predict.replay import exchange_bandwidth
from iolens.lab.predict.settings import ChangedSettings
from iolens.lab.storage.emulated import forget_job, make_mount, set_emulated_stripes
from iolens.lab.storage.layout import Layout
from iolens.log import read_log

RULES = """\
- Every setting is run {repeat} times; where these I/O times lie more than {apart:.0%} of their median apart, {most}
  times. Only runs in which the machine kept the storage's pace count; others are made again, up to twice as many tries.
- Measured is the median of the runs, and their interval from the least to the most.
- A matrix's first setting is the traced one. The run whose I/O time is its median (of an even number the slower of the
  two in the middle) predicts all other settings of the matrix, the held-out ones; no other run does.
- Predicted is the median over the orders in which ranks may come first, with the least and the most.
- Error: predicted over measured, less 1. Beyond: how far the prediction lies outside the interval of the runs, over the
  median; 0 inside. Both are stated of every held-out setting, and the largest of each.
"""

APART = 0.02
"""Largest relative distance of a run from the median of its setting; settings with runs farther apart are repeated."""

GOAL = 0.15
"""Largest error allowed for a single held-out setting, as a share of the measured time."""

ROOT = Path(__file__).resolve().parents[2]
IOLENS = Path(sys.executable).parent / "iolens"
STRIPE = 2**16
MODEL = """\
targets: 12
ost_mb_per_s: 2
ost_rpc_us: 312.5
rpc_size: 256k
rpcs_in_flight: 8
network_us: 625
dirty_per_target: 2M
link_mb_per_s: 12.5
memory_mb_per_s: 40
lock_us: 1250
read_ahead: 1
flush_on_close: 1
ranks_per_client: 1
stripe_count: 1
stripe_size: 64k
"""


@dataclass(frozen=True)
class Matrix:
    """A workload with its arguments and the settings of its runs. The first setting is traced, and its trace predicts
    the others.
    """

    name: str
    program: str
    arguments: tuple[str, ...]
    settings: tuple[ChangedSettings, ...]
    driver: str
    ranks: int = 4
    hints: dict[str, str] = field(default_factory=dict)
    directory: str = "--directory"


def grid(
    stripes: tuple[int, ...], aggregators: tuple[int, ...], buffers: tuple[int, ...]
) -> tuple[ChangedSettings, ...]:
    """Returns all combinations of the values; the one in the middle of each list comes first."""
    every = [ChangedSettings(s, STRIPE, a, b) for s in stripes for a in aggregators for b in buffers]
    middle = ChangedSettings(stripes[len(stripes) // 2], STRIPE, aggregators[len(aggregators) // 2], buffers[-1])
    return (middle, *(one for one in every if one != middle))


def stripes(*counts: int) -> tuple[ChangedSettings, ...]:
    """Returns settings that differ in the stripe count, the traced one first, and one setting with larger stripes."""
    return (*(ChangedSettings(count, STRIPE) for count in counts), ChangedSettings(counts[0], 4 * STRIPE))


def matrices() -> Iterator[Matrix]:
    """Yields all workloads at a small scale."""
    shared = {"romio_cb_write": "enable", "cb_config_list": "*:*"}
    btio = ("--class", "W", "--steps", "50", "--io-only", "--write-only")
    ior = ("-w", "-C")
    for driver, buffers in (("lustre", (16 * STRIPE,)), ("generic", (STRIPE, 16 * STRIPE))):
        yield Matrix("BT-IO", "btio", btio, grid((1, 4, 12), (1, 2, 4), buffers), driver, hints=shared)
        collective = grid((1, 4, 12), (1, 2, 4), buffers[:1])
        for transfer, count in ((STRIPE, 12), (47008, 17)):
            words = (*ior, "-a", "MPIIO", "-c", "-b", str(transfer), "-t", str(transfer), "-s", str(count))
            yield Matrix(f"IOR collective {transfer}", "ior", words, collective, driver, hints=shared, directory="-o")
    posix = (*ior, "-a", "POSIX")
    for name, words in (
        ("IOR shared 64 KiB", ("-b", "64k", "-t", "64k", "-s", "12")),
        ("IOR shared 47008", ("-b", "47008", "-t", "47008", "-s", "17")),
        ("IOR file per process", ("-F", "-b", "768k", "-t", "64k")),
        ("IOR write and read", ("-r", "-b", "64k", "-t", "64k", "-s", "12")),
    ):
        yield Matrix(name, "ior", (*posix, *words), stripes(4, 1, 12), "generic", directory="-o")
    model = ("--nx", "1", "--ny", "1", "--im_world", "90", "--lm", "8", "--num_arrays", "3", "--ntrials", "1")
    for writers in ("1", "6"):
        for name, words in (("levels", ()), ("whole fields", ("--gather_3d",)), ("file per writer", ("--split_file",))):
            arguments = (*model, "--num_writers", writers, *words)
            yield Matrix(
                f"checkpoint {name}, {writers}", "checkpoint_simulator", arguments, stripes(4, 1, 12), "generic", 6
            )


def words_of(matrix: Matrix, settings: ChangedSettings, folder: Path) -> list[str]:
    """Returns the command line of a run."""
    hints = dict(matrix.hints)
    if settings.aggregators:
        hints["cb_nodes"] = str(settings.aggregators)
    if settings.cb_buffer_size:
        hints["cb_buffer_size"] = str(settings.cb_buffer_size)
    words = ["mpirun", *(["--oversubscribe"] if matrix.driver == "generic" else []), "-np", str(matrix.ranks)]
    words += [str(ROOT / "build" / "bin" / matrix.program), *matrix.arguments]
    words += [matrix.directory, str(folder / "f" if matrix.directory == "-o" else folder)]
    if matrix.program == "ior":
        # IOR reads the hints file through a stdio stream, so the file lies outside the emulated storage.
        given = folder.parents[1] / "hints"
        given.write_text("".join(f"{key}={value}\n" for key, value in hints.items()), encoding="utf-8")
        return [*words, "-O", f"hintsFileName={given}"] if hints else words
    return [*words, *(word for key, value in hints.items() for word in ("--hint", f"{key}={value}"))]


def run(matrix: Matrix, settings: ChangedSettings, mount: Path, output: Path) -> Recorded | None:
    """Performs one run. Returns None if the run failed, or if the machine was slower than the emulated storage."""
    folder = mount / "data"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    set_emulated_stripes(folder, Layout(settings.stripe_count or 1, settings.stripe_size or STRIPE))
    component = "lustre" if matrix.driver == "lustre" else "romio321"
    command = [str(IOLENS), "run", "--dxt", "--io-component", component, "--storage-mount", str(mount)]
    command += ["--output", str(output), "--", *words_of(matrix, settings, folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)
    for state in (mount / ".ost" / "jobs").glob("*.state"):
        forget_job(mount, state.stem)
    kept = json.loads((output / "run.json").read_text(encoding="utf-8")) if (output / "run.json").exists() else {}
    if done.returncode != 0 or kept.get("status") != "ok":
        print(
            f"  lost: {matrix.name} {settings.changed}: {kept.get('reason') or done.stderr.strip()[-200:]}", flush=True
        )
        return None
    try:
        return read_recorded(read_log(output / str(kept["log"])))
    except (IolensError, OSError) as error:
        print(f"  lost: {matrix.name} {settings.changed}: {error}", flush=True)
        return None


def measure(
    matrix: Matrix, settings: ChangedSettings, mount: Path, out: Path, repeat: int, most: int
) -> list[Recorded]:
    """Returns the valid runs, ordered by their I/O times."""
    found: list[Recorded] = []
    output = out / matrix.driver / matrix.name.replace(" ", "_") / "-".join(map(str, settings.changed.values()))
    wanted = repeat
    for attempt in range(2 * most):
        recorded = run(matrix, settings, mount, output / str(attempt))
        found += [recorded] if recorded else []
        if len(found) >= repeat and spread([recorded_times(one).io for one in found]) > APART:
            wanted = most
        if len(found) >= wanted or attempt + 1 >= 2 * wanted:
            break
    return sorted(found, key=lambda one: recorded_times(one).io)


def spread(times: Sequence[float]) -> float:
    """Returns the range of the values divided by their median."""
    return (max(times) - min(times)) / statistics.median(times)


@dataclass(frozen=True)
class PredictionRow:
    """One setting with its measured time and interval, and the predicted time and its range over orders of ranks, all
    in seconds. Shares: the error, the distance of the prediction from the measured interval, and that interval's width.
    """

    matrix: str
    driver: str
    settings: str
    traced: bool
    runs: int
    measured: float
    low: float
    high: float
    predicted: float
    least: float
    most: float
    error: float
    beyond: float
    noise: float


def row_of(
    matrix: Matrix, settings: ChangedSettings, times: Sequence[float], predicted: PredictedTimes
) -> PredictionRow:
    """Returns the result for a setting that was both run and predicted."""
    usual, low, high = statistics.median(times), min(times), max(times)
    return PredictionRow(
        matrix.name,
        matrix.driver,
        " ".join(f"{key}={value}" for key, value in settings.changed.items()),
        settings is matrix.settings[0],
        len(times),
        usual,
        low,
        high,
        predicted.io,
        predicted.least,
        predicted.most,
        predicted.io / usual - 1,
        max(0.0, low - predicted.io, predicted.io - high) / usual,
        spread(times),
    )


def rows_of(matrix: Matrix, mount: Path, out: Path, repeat: int, most: int) -> Iterator[PredictionRow]:
    """Runs all settings of a matrix and predicts them from the trace of the first one."""
    model = read_model(mount.parent / "model.yaml")
    traced: Recorded | None = None
    for settings in matrix.settings:
        runs = measure(matrix, settings, mount, out, repeat, most)
        if settings is matrix.settings[0]:
            traced = runs[len(runs) // 2] if runs else None
        if not runs or not traced:
            print(f"  no row: {matrix.driver} {matrix.name} {settings.changed}: no valid run", flush=True)
            continue
        try:
            predicted = replay(traced, model, settings, exchange_bandwidth(traced))
        except IolensError as error:
            print(f"  no row: {matrix.driver} {matrix.name} {settings.changed}: {error}", flush=True)
            continue
        row = row_of(matrix, settings, [recorded_times(one).io for one in runs], predicted)
        print(told(row), flush=True)
        yield row


def told(row: PredictionRow) -> str:
    """Returns a row of results as a line of text."""
    return (
        f"{row.driver:8}{row.matrix:25}{row.settings + ' (traced)' * row.traced:69} {row.runs} runs "
        f"{row.measured:6.3f} [{row.low:.3f}, {row.high:.3f}] predicted {row.predicted:6.3f} "
        f"[{row.least:.3f}, {row.most:.3f}] error {row.error:+6.1%} beyond {row.beyond:5.1%}"
    )


def summary(found: Mapping[tuple[str, str], Sequence[PredictionRow]]) -> list[str]:
    """Returns the errors by matrix and driver over the held-out settings, the errors over all of them, and the settings
    that miss the goal.
    """
    form = "{:12}{:9}{:>9}{:>9}{:>9}{:>10}{:>9}"
    lines = [form.format("matrix", "driver", "held out", "median", "largest", "beyond", "noise")]
    held = {key: [row for row in rows if not row.traced] for key, rows in found.items()}
    every = [row for rows in held.values() for row in rows]
    for (name, driver), rows in [*held.items(), (("all", ""), every)]:
        if rows:
            errors = [abs(row.error) for row in rows]
            shares = (statistics.median(errors), max(errors), max(row.beyond for row in rows))
            noise = statistics.median(row.noise for row in rows)
            lines.append(form.format(name, driver, len(rows), *(f"{share:.1%}" for share in (*shares, noise))))
    far = [row for row in every if abs(row.error) > GOAL]
    lines += [f"more than {GOAL:.0%} off: {len(far)} of {len(every)}", *map(told, far)]
    return lines


def main() -> int:
    """Runs the chosen matrices and prints the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="valid runs of each setting (default 3)")
    parser.add_argument("--most", type=int, default=7, help="of those that lie apart (default 7)")
    parser.add_argument("--matrix", action="append", default=[], help="a name's beginning; default: all")
    parser.add_argument("--driver", choices=("lustre", "generic"))
    parser.add_argument("--out", type=Path, default=Path("/tmp/iolens-predict"), help="logs and errors.csv")
    parser.add_argument("--data", type=Path, default=Path("/dev/shm"), help="where the files go")
    args = parser.parse_args()
    place = args.data / f"iolens-predict-{args.out.name}"
    place.mkdir(parents=True, exist_ok=True)
    args.out.mkdir(parents=True, exist_ok=True)
    (place / "model.yaml").write_text(MODEL, encoding="utf-8")
    (place / "mount").mkdir(exist_ok=True)
    mount = make_mount(place / "mount", place / "model.yaml")
    print(RULES.format(repeat=args.repeat, most=args.most, apart=APART), flush=True)
    began = time.monotonic()
    found: dict[tuple[str, str], list[PredictionRow]] = defaultdict(list)
    for matrix in matrices():
        if (args.matrix and not any(map(matrix.name.startswith, args.matrix))) or args.driver not in (
            None,
            matrix.driver,
        ):
            continue
        for row in rows_of(matrix, mount, args.out, args.repeat, args.most):
            found[matrix.name.split(" ")[0], matrix.driver].append(row)
    shutil.rmtree(place, ignore_errors=True)
    with (args.out / "errors.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(PredictionRow.__annotations__)
        writer.writerows([vars(row).values() for rows in found.values() for row in rows])
    print("\n" + "\n".join(summary(found)))
    print(f"took {(time.monotonic() - began) / 60:.1f} min")
    return 0


if __name__ == "__main__":
    sys.exit(main())
