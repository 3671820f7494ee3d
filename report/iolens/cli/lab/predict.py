"""`iolens predict LOG --stripes 16`: predicts the duration of a traced run at other settings, by the model of
storage.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.experiment import number_list
from iolens.cli.numbers import explained
from iolens.lab.installation import MACHINES, storage_config_of
from iolens.lab.sizes import parse_size

if TYPE_CHECKING:
    from iolens.lab.predict.what_if import WhatIf
    from iolens.lab.storage.layout import Layout

_DRIVERS = ("lustre", "generic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "Lists such as 1,4,16 give every combination. The model is the ost.yaml of the emulated "
        "mount on which the run was made, else the default one (storage/ost.yaml), unless --model names another, for "
        "example from `iolens calibrate`. Trace the run with "
        "iolens run --dxt."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --dxt")
    parser.add_argument(
        "--recorded",
        type=explained(_layout_of),
        metavar="COUNT:SIZE",
        help="stripes that the run's files had, on file systems whose stripes the log does not hold (BeeGFS); "
        "all traced files are assumed to have them",
    )
    parser.add_argument("--stripes", type=number_list(int), metavar="LIST", help="stripe counts")
    parser.add_argument("--stripe-size", type=number_list(parse_size), metavar="LIST", help="stripe sizes")
    parser.add_argument("--aggregators", type=number_list(int), metavar="LIST", help="aggregators, cb_nodes")
    parser.add_argument("--cb-buffer", type=number_list(parse_size), metavar="LIST", help="cb_buffer_size")
    parser.add_argument("--driver", choices=_DRIVERS, help="ROMIO's Lustre driver or its generic driver")
    parser.add_argument(
        "--model",
        type=storage_config_of,
        metavar="FILE",
        help=f"file with the parameters of the storage, or {', '.join(MACHINES)}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the predictions as JSON to this file, for `iolens compare`",
    )


def run(args: argparse.Namespace) -> int:
    """Predicts the run at every combination of the given settings, and prints or writes the results; returns 0."""
    from iolens.lab.predict.model import model_of
    from iolens.lab.predict.predict import predict
    from iolens.lab.predict.recorded import read_recorded
    from iolens.lab.predict.settings import ChangedSettings
    from iolens.lab.predict.what_if import prediction_json, what_if_predictions
    from iolens.log import read_log

    job = read_log(args.log)
    model = model_of(job, args.model)
    recorded = read_recorded(job, args.recorded)
    lists = (args.stripes, args.stripe_size, args.aggregators, args.cb_buffer)
    points = [
        ChangedSettings(count, size, aggregators, buffer, args.driver)
        for count, size, aggregators, buffer in product(*(each or (None,) for each in lists))
    ]
    found = what_if_predictions(predict(recorded, model, points), recorded, args.log, model)
    if args.output:
        from iolens.pages.output.document import written_aside

        with written_aside(args.output) as aside:
            aside.write_text(prediction_json(found), encoding="utf-8")
    if args.json:
        print(prediction_json(found).rstrip())
    else:
        _tell(found)
    return 0


def _layout_of(text: str) -> Layout:
    """Returns the layout that `COUNT:SIZE` stands for, such as 4:1M, on the first targets."""
    from iolens.lab.storage.layout import Layout

    count, _, size = text.partition(":")
    if not count.isdecimal() or int(count) < 1 or not size:
        raise ValueError(f"{text} is not a number of stripes and their size, such as 4:1M")
    return Layout(int(count), parse_size(size), 0)


def _tell(found: WhatIf) -> None:
    """Prints the predictions as a table, and how accurate they are."""
    from iolens.pages.base.blocks import Table
    from iolens.pages.exhibits.sweep_answers import WHAT_IF
    from iolens.pages.job.job_screen import screen

    table = WHAT_IF.table(found)
    if isinstance(table, Table):
        screen().table(table)
