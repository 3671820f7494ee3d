"""`iolens calibrate DIR -o model.yaml`: fit the model of storage to a file system, from a few IOR runs."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.numbers import explained, positive
from iolens.errors import UsageError
from iolens.lab.say import say
from iolens.lab.sizes import parse_size

if TYPE_CHECKING:
    from iolens.lab.predict.calibrate import Calibration
    from iolens.lab.predict.model import StorageModel

_LEAST = 2**20

_TRUSTED = 0.5
"""Maximum error of the model in the calibration's own runs; with a larger error it does not describe the storage."""

_DOUBT = "Do not trust predictions made with it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "Runs seven kinds of short IOR tests. The model is fitted to five of them, and its error is measured on the "
        "other two. Start the command where the ranks would run: on the compute nodes, in a batch job. Then use the "
        "model: iolens predict LOG --model FILE."
    )
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="directory on the file system, for the files of the runs"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", default=Path("model.yaml"), help="write the model here"
    )
    parser.add_argument(
        "--size", type=_size_from_1_mib, default="256M", help="bytes that each large run moves (default: 256M)"
    )
    parser.add_argument(
        "--repeat",
        type=positive,
        default=3,
        metavar="N",
        help="runs of each kind, of which the fastest counts (default: 3)",
    )
    parser.add_argument(
        "--start",
        type=Path,
        metavar="FILE",
        help="model to begin with: number of targets, sizes, first values (default: ost.yaml)",
    )
    parser.add_argument(
        "--targets",
        type=positive,
        metavar="N",
        help="number of the file system's targets, in place of the number in --start",
    )
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep logs and output of the runs in this folder")


@explained
def _size_from_1_mib(text: str) -> int:
    """Returns a size of at least 1 MiB."""
    value = parse_size(text)
    if value < _LEAST:
        raise ValueError(f"{text} is less than 1M")
    return value


def run(args: argparse.Namespace) -> int:
    """Performs the runs, fits the model to them, writes it, and prints how well it describes the storage."""
    from dataclasses import replace

    from iolens.lab.predict.calibrate import calibrate
    from iolens.lab.predict.model import read_model
    from iolens.pages.output.document import need_parent, written_aside

    if not args.directory.is_dir():
        raise UsageError(f"{args.directory} is not a directory")
    need_parent(args.output)
    start = read_model(args.start)
    if args.targets:
        start = replace(start, values={**start.values, "targets": args.targets})
    with tempfile.TemporaryDirectory() as scratch:
        logs = args.logs or Path(scratch)
        found = calibrate(args.directory.resolve(), start, args.size, args.repeat, logs, say)
    with written_aside(args.output) as aside:
        aside.write_text(_model_text(found, start), encoding="utf-8")
    print(_fit_table(found, start))
    print(f"calibrate: {args.output}")
    return 0


def _model_text(found: Calibration, start: StorageModel) -> str:
    """Returns the text of the model's file, with the fitted parameters and the errors of the fit."""
    from iolens.lab.predict.fit import FITTED
    from iolens.lab.predict.model import ERRORS, model_text

    values = found.fit.model.values
    seen = [key for key in FITTED if key not in found.fit.unseen]
    lines = [
        "# Written by iolens calibrate. Fitted: " + ", ".join(seen) + ".",
        f"# All other keys are those of {start.origin}.",
        "# Errors (predicted over measured I/O time, less 1): of the fitted runs, "
        + ", ".join(f"{name}: {100 * error:+.1f} %" for name, error in found.fit.errors.items())
        + "; of others, "
        + ", ".join(f"{name}: {100 * error:+.1f} %" for name, error in found.held_out.items())
        + ".",
    ]
    sizes = found.errors
    middle = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
    errors = dict(zip(ERRORS, (middle, sizes[-1]), strict=True))
    lines += [f"# The model does not describe this storage. {_DOUBT}"] if found.largest > _TRUSTED else []
    return "\n".join(lines) + "\n" + model_text(values) + model_text(errors)


def _fit_table(found: Calibration, start: StorageModel) -> str:
    """Returns the fitted parameters and the errors of the fit as a table for the terminal."""
    from iolens.lab.predict.fit import FITTED
    from iolens.metrics.comparison.settings import three_digits

    lines = [f"{'parameter':16} {'fitted':>12}"]
    for key in FITTED:
        note = "  these runs do not determine it; unchanged" if key in found.fit.unseen else ""
        lines.append(f"{key:16} {three_digits(found.fit.model.values[key]):>12}{note}")
    lines += ["", f"{'run':32} {'error of I/O time':>18}"]
    lines += [f"{name:32} {100 * error:>+16.1f} %" for name, error in found.fit.errors.items()]
    lines += [f"{name:32} {100 * error:>+16.1f} %  not fitted" for name, error in found.held_out.items()]
    if found.largest > _TRUSTED:
        lines += [
            "",
            f"The model does not describe this storage: for one of these runs its error is "
            f"{100 * found.largest:.0f} %. {_DOUBT}",
        ]
    lines += [
        "",
        f"All other parameters are those of {start.origin}; write-behind and copies in memory are not fitted.",
    ]
    return "\n".join(lines)
