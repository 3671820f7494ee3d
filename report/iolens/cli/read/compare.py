"""`iolens compare …`: sweeps, or logs, runs and outputs, side by side as PDF or HTML, and their tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.output import add_output, add_table_folders, output_of
from iolens.errors import UsageError
from iolens.foreign import print_line

if TYPE_CHECKING:
    from iolens.pages.comparison.audit_page import ComparisonSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "With the folder of one sweep, compares its settings. With several sweeps of the same settings, the sweep is "
        "one more setting. With sweeps of different settings, every setting of all is shown beside the others. "
        "Otherwise takes two or more logs, folders of runs or of repetitions, and outputs of NPB and its BT-IO, BTIO, "
        "IOR (text, JSON, CSV), mdtest, MAPL's simulators and OSU micro-benchmarks, and compares each with the first."
    )
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="the folder of a sweep, or two or more logs, outputs or folders",
    )
    add_output(
        parser,
        "PATH/comparison.FORMAT for one sweep, else comparison.FORMAT in the current folder",
    )
    parser.add_argument(
        "--device-rate",
        type=float,
        default=0.0,
        metavar="MIB_PER_S",
        help="the highest rate of the real storage in MiB/s, drawn as a line over the bars",
    )
    add_table_folders(parser)
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="write every table as Parquet into DIR")


def run(args: argparse.Namespace) -> int:
    """Writes the document and the tables, and prints the verdict; returns 0."""
    from dataclasses import replace

    from iolens.lab.subjects.subjects import read_subjects
    from iolens.lab.sweep.read.merged import can_be_paired, is_sweep, merged
    from iolens.lab.sweep.read.results import load_results
    from iolens.log import read_log
    from iolens.pages.comparison.subjects_document import write_subjects
    from iolens.pages.comparison.sweep_document import write_comparison
    from iolens.pages.output.export import export, need_folders

    if args.device_rate < 0:
        raise UsageError(f"--device-rate {args.device_rate:g} is not a rate; give MiB/s, more than 0")
    if len(args.paths) == 1 and args.paths[0].is_file():
        raise UsageError(
            f"{args.paths[0]} alone cannot be compared; give the folder of a sweep, or two or more logs or outputs"
        )
    alone = len(args.paths) == 1
    sweeps = [load_results(path) for path in args.paths] if alone or all(map(is_sweep, args.paths)) else []
    need_folders(_folders(args))
    output = output_of(args, args.paths[0] / "comparison" if alone else Path("comparison"))
    if sweeps and can_be_paired(sweeps):
        results = sweeps[0] if alone else merged(sweeps)
        summary = write_comparison(results, output, read_log, args.device_rate)
    else:
        subjects = replace(read_subjects(args.paths), device_rate=args.device_rate * 2**20)
        summary = write_subjects(subjects, output)
    export(summary.frames, "comparison-", _folders(args))
    tell(summary)
    print_line(f"comparison: {output}")
    return 0


def _folders(args: argparse.Namespace) -> dict[str, Path | None]:
    """Returns the folder for each kind of table."""
    return {"csv": args.csv, "json": args.json, "parquet": args.parquet}


def tell(summary: ComparisonSummary) -> None:
    """Prints the points as a table, the verdict, warnings, and text to paste into a report."""
    from iolens.pages.job.job_screen import screen

    out = screen()
    if summary.points is not None:
        out.table(summary.points)
        print()
    for doubt in summary.doubts:
        out.say(f"caution: {doubt}")
    for sentence in summary.verdict.split("\n"):
        out.say(sentence, "1")
    for caution in summary.cautions:
        out.say(f"note: {caution}")
    if summary.remedy is not None:
        lines = [line for line in (summary.remedy.stripes, *summary.remedy.hints, *summary.remedy.own) if line]
        print(f"{summary.remedy.lead}: " + "; ".join(lines))
