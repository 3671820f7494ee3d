"""`iolens predict LOG --stripes 16`: what a traced run would take at other settings, by the model of storage."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.sweep import numbers
from iolens.lab.sizes import parse_size

if TYPE_CHECKING:
    from iolens.lab.predict.predict import Times
    from iolens.lab.predict.what_if import WhatIf

DRIVERS = ("lustre", "generic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Lists (1,4,16) give every combination. The model is that of the emulated targets (storage/ost.yaml) unless "
        "--model names another one, such as `iolens calibrate` writes. Trace the run with: iolens run --dxt."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --dxt")
    parser.add_argument("--stripes", type=numbers(int), metavar="LIST", help="stripe counts")
    parser.add_argument("--stripe-size", type=numbers(parse_size), metavar="LIST", help="stripe sizes")
    parser.add_argument("--aggregators", type=numbers(int), metavar="LIST", help="aggregators, cb_nodes")
    parser.add_argument("--cb-buffer", type=numbers(parse_size), metavar="LIST", help="cb_buffer_size")
    parser.add_argument("--driver", choices=DRIVERS, help="ROMIO's Lustre driver, or its generic one")
    parser.add_argument("--model", type=Path, metavar="FILE", help="parameters of the storage")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the JSON there, for `iolens compare`")


def run(args: argparse.Namespace) -> int:
    """Predict every combination."""
    from iolens.lab.predict.model import read_model
    from iolens.lab.predict.predict import predict
    from iolens.lab.predict.recorded import read_recorded
    from iolens.lab.predict.settings import Settings
    from iolens.lab.predict.what_if import as_json, what_if
    from iolens.log import read_log

    model = read_model(args.model)
    recorded = read_recorded(read_log(args.log))
    lists = (args.stripes, args.stripe_size, args.aggregators, args.cb_buffer)
    points = [
        Settings(count, size, aggregators, buffer, args.driver)
        for count, size, aggregators, buffer in product(*(each or (None,) for each in lists))
    ]
    predictions = [predict(recorded, model, point) for point in points]
    found = what_if(predictions, recorded, args.log, model)
    if args.output:
        from iolens.pages.output import written_aside

        with written_aside(args.output) as aside:
            aside.write_text(as_json(found), encoding="utf-8")
    print(as_json(found).rstrip() if args.json else table(found))
    return 0


def table(found: WhatIf) -> str:
    """Text for a person."""
    measured = found.recorded
    rows = [("settings", "I/O s", "by order", "run s", "I/O time")]
    rows += [("as recorded, measured", f"{measured.io:.3f}", "", f"{measured.run:.3f}", "")]
    rows += [row_of("as recorded, replayed", found.replayed, measured.io)]
    rows += [row_of(words_of(settings), times, found.replayed.io) for settings, times in found.points]
    width = max(len(row[0]) for row in rows)
    lines = [f"{name:{width}}  {io:>8}  {by:>15}  {whole:>8}  {change:>9}" for name, io, by, whole, change in rows]
    errors = found.model_errors
    fitted = f"; its calibration missed {errors[0]:.1%} at the median, {errors[1]:.1%} at most" if errors else ""
    lines += [
        "",
        "I/O s: in I/O calls on striped files, closes included, of the slowest rank. Predicted, not measured.",
        f"Model: {found.model}{fitted}.",
        "By order: least and most I/O time, by which of the ranks that arrive together is served first; I/O s is the "
        "median.",
        "Changes are against the replay at the recorded settings, whose own difference from the measurement is there.",
    ]
    if found.exchange:
        lines.append(f"Exchange between ranks and aggregators goes on at {found.exchange / 1e6:.0f} MB/s, as recorded.")
    return "\n".join([*lines, *found.remarks])


def row_of(name: str, times: Times, other: float) -> tuple[str, str, str, str, str]:
    """A row of the table, with the change of the I/O time against another one."""
    change = times.io / other - 1 if other else 0.0
    order = f"{times.least:.3f} to {times.most:.3f}" if times.most > times.least else ""
    return name, f"{times.io:.3f}", order, f"{times.run:.3f}", f"{100 * change:+.1f} %"


def words_of(settings: Mapping[str, int | str]) -> str:
    """The settings that differ, for a person."""
    from iolens.metrics.settings import level_text, name_text

    return ", ".join(f"{name_text(name)} {level_text(name, value)}" for name, value in settings.items())
