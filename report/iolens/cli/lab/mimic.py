"""`iolens mimic LOG -o FOLDER`: a program of its own that makes the I/O calls of a traced run."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.foreign import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "FOLDER gets a C file with MPI, a Makefile, an experiment.yaml for iolens sweep, and a README that says what "
        "of the run is kept and what is not. Record the run with iolens run --dxt --why --trace mpi: without --why, "
        "what ranks exchange is not known, and the mini-app waits instead."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --dxt")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder for the program, which is made"
    )
    parser.add_argument(
        "--names", action="store_true", help="give the files their own names, without folders (default: numbers)"
    )


def run(args: argparse.Namespace) -> int:
    """Writes the mini-app."""
    from iolens.lab.mimic.mimic import mimic, write_program
    from iolens.log import read_log

    app = mimic(read_log(args.log), args.names)
    write_program(app, args.output)
    print_line(f"{args.output}: {app.steps} steps for {app.calls} calls. README.md says what is kept.")
    print_line(f"Next: make -C {args.output} run")
    return 0
