"""`iolens io500`: the phases of IO500 at a small scale, each under the profiler, and IO500's score."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.cli.numbers import explained, positive
from iolens.cli.output import add_results
from iolens.errors import UsageError
from iolens.lab.io500.perform import perform_all
from iolens.lab.io500.phases import PHASES, Scale, options_of
from iolens.lab.io500.score import WHY_INVALID, PhaseResult, outcome_line, score_line, score_of
from iolens.lab.run import preload
from iolens.lab.sizes import parse_size


@explained
def _block(text: str) -> int:
    """Converts the size of a rank's own file to bytes; raises if it is not a multiple of 2 MiB, the size of a
    transfer.
    """
    size = parse_size(text)
    if size == 0 or size % 2**21:
        raise ValueError(f"{text} is not a multiple of 2M, the transfer size of this phase")
    return size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens io500`."""
    usual = Scale()
    parser.epilog = WHY_INVALID
    parser.add_argument(
        "--np", type=positive, default=usual.ranks, metavar="N", help="number of ranks (default: %(default)s)"
    )
    parser.add_argument(
        "--directory", type=Path, default=Path("."), metavar="DIR", help="folder for the data (default: .)"
    )
    add_results(parser)
    amounts = {
        "easy-block": (_block, usual.easy_block, "SIZE", "bytes of each rank's own file"),
        "hard-segments": (
            positive,
            usual.hard_segments,
            "N",
            "transfers of 47008 bytes of each rank to the shared file",
        ),
        "easy-items": (positive, usual.easy_items, "N", "empty files of each rank, in its own folder"),
        "hard-items": (positive, usual.hard_items, "N", "files of 3901 bytes that each rank makes, all in one folder"),
    }
    for name, (convert, default, word, text) in amounts.items():
        parser.add_argument(
            f"--{name}", type=convert, default=default, metavar=word, help=f"{text} (default: %(default)s)"
        )
    parser.add_argument(
        "--profiler", choices=preload.PROFILERS, default="iolens", help="iolens, the site's Darshan, or none"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command of each phase, and run none")


def run(args: argparse.Namespace) -> int:
    """Runs all phases and prints their values and the score; the lines are kept in io500/result_summary.txt."""
    scale = Scale(args.np, args.easy_block, args.hard_segments, args.easy_items, args.hard_items)
    directory = args.directory.resolve()
    if not directory.is_dir():
        raise UsageError(f"--directory {args.directory} is not a folder; make it first")
    if args.dry_run:
        for phase in PHASES:
            print(f"{phase.name}: {phase.program} {' '.join(options_of(phase, scale, directory / 'io500-data'))}")
        return 0
    results = args.results.resolve() / "io500"
    print(f"IO500's phases, {scale.ranks} ranks, in {directory} ({WHY_INVALID})")
    outcomes = perform_all(scale, directory, results, args.profiler, _show)
    last = score_line(score_of(outcomes))
    print(last)
    lines = [*map(outcome_line, outcomes), last, WHY_INVALID]
    (results / "result_summary.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"logs and results: {results}")
    return 0


def _show(outcome: PhaseResult) -> None:
    """Prints the result of a phase as soon as it is over."""
    print(outcome_line(outcome), flush=True)
