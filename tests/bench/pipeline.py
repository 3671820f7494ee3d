"""Checks on training jobs with planted times that the report names the stage that holds up the others.

`python tests/bench/pipeline.py [--kind KIND ...] [--format FORMAT ...] [--python PYTHON] [--bounds] [N] [SEED]` records
N jobs (60) and prints for how many of them the report names the slowest stage. This stage is reading, decoding and
training in turn, and takes 1.5 to 3 times as long as the others. The kind `torch` needs a PYTHON that has PyTorch; the
formats `zarr` and `safetensors` need one that has these packages. For formats that need a package, workers are forked.
With --bounds, each job is recorded twice more: without the planted reading, and with twice the workers. The seconds
that these runs save are printed beside the bounds.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/py"))

from iolens.forest.forest import read_forest  # noqa: E402
from iolens.forest.pipeline import input_pipeline  # noqa: E402
from training_formats import FORMATS, LIGHT  # noqa: E402
from training_loader import SLOW_READS, WORKERS  # noqa: E402

_STAGES = ("reading", "decoding", "training")
_KINDS = ("fork", "spawn", "forkserver", "pool")
_SHORT = 0.03
"""Seconds of the shortest stage of the pipeline."""


def times(stage: str, factor: float) -> tuple[float, float, float]:
    """Returns seconds of reading, decoding and a step, of which `stage` is the slowest by `factor`."""
    if stage == "training":
        return _SHORT, _SHORT, factor * 2 * _SHORT / WORKERS
    slow, quick = factor * _SHORT, _SHORT
    step = (slow + quick) / WORKERS / factor
    return (slow, quick, step) if stage == "reading" else (quick, slow, step)


def recorded(
    folder: Path,
    library: Path,
    python: str,
    kind: str,
    seconds: tuple[float, float, float],
    ahead: int = 1,
    options: tuple[str, ...] = ("--sample",),
    format: str = "raw",
    workers: int = WORKERS,
) -> None:
    """Records a training job into the folder `run`; `library` makes the calls that read take the planted time."""
    data = folder / "data"
    data.mkdir(parents=True)
    loader = [python, str(ROOT / "tests/py/training_loader.py")]
    program = [*loader, kind, *map(str, seconds), str(ahead), str(data), format]
    iolens = [sys.executable, "-m", "iolens.cli.main", "run", *options, "--output", str(folder / "run")]
    environment = os.environ | {"LD_PRELOAD": str(library), "SLOW_READ": "0", "WORKERS": str(workers)}
    subprocess.run([*iolens, "--", *program], check=True, capture_output=True, env=environment)


def row_of(folder: Path) -> dict[str, Any]:
    """Returns the only row of the table `input_pipeline` of a recorded job."""
    rows = input_pipeline(read_forest(folder / "run"))
    assert rows is not None
    (row,) = rows.to_dict("records")
    return dict(row)


def _named(row: dict[str, Any], kind: str, format: str) -> str:
    """Prints the numbers of a recorded job, and returns the stage that its report names."""
    print(
        f"  {kind:10} {format:11} waits {row['waits']:.2f} of {row['seconds']:.2f} s; "
        f"a worker: reading {row['reading']:.2f}, decoding {row['decoding']:.2f}, queue {row['handing_over']:.2f}",
        end=" ",
    )
    return str(row["limit"] or row["reason"])


def gains(folder: Path, record: Callable[..., None], seconds: tuple[float, float, float]) -> Mapping[str, float]:
    """Records the job again, once without the planted reading and once with twice the workers. Returns the seconds that
    each of these two runs saves, by the bound that must hold for it.
    """
    before = row_of(folder)["seconds"]
    record(folder / "quick", seconds=(0.0, *seconds[1:]))
    record(folder / "many", seconds=seconds, workers=2 * WORKERS)
    found = {"faster_storage": folder / "quick", "more_workers": folder / "many"}
    return {bound: before - row_of(place)["seconds"] for bound, place in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--kind", nargs="+", default=_KINDS)
    parser.add_argument("--format", nargs="+", choices=FORMATS, default=LIGHT)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--bounds", action="store_true")
    given = parser.parse_args()
    draw, right = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory() as place:
        library = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", f"{place}/slow.so"]
        subprocess.run(library, input=SLOW_READS, text=True, check=True)
        for number in range(given.count):
            folder = Path(place) / str(number)
            folder.mkdir()
            stage = _STAGES[number % len(_STAGES)]
            kind, format = draw.choice(given.kind), draw.choice(given.format)
            if format not in LIGHT and "torch" not in given.kind:
                kind = draw.choice(("fork", "pool"))
            seconds = times(stage, draw.uniform(1.5, 3))
            record = partial(recorded, library=Path(place, "slow.so"), python=given.python, kind=kind, format=format)
            record(folder, seconds=seconds)
            row = row_of(folder)
            found = _named(row, kind, format)
            print(f"planted {stage}, named {found}", flush=True)
            right += found == stage
            for bound, saved in gains(folder, record, seconds).items() if given.bounds else ():
                print(f"    {bound}: at most {row[bound]:.2f} s, {saved:.2f} s saved", flush=True)
    print(f"{right} of {given.count} named")


if __name__ == "__main__":
    main()
