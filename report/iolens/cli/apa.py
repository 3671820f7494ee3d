"""`iolens apa LOG > app.apa`: from a sampled run, the file that says what the next run is to trace."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError

if TYPE_CHECKING:
    import pandas as pd

MOST_FUNCTIONS = 200
LEAST_SHARE, CUMULATED, LEAST_BYTES = 1.0, 90.0, 200
"""pat_report's thresholds: per cent of the samples of one function, of those before it, and bytes of its code."""

HEAD = """\
# What to trace in the next run of {program}: edit this, then
#   iolens run --apa FILE -- COMMAND
# Proposed from the samples of {log}.

# Groups of functions (iolens run --list-groups) and of counters (--list-hwpc; -Drtenv=PAT_RT_HWPC=none: no counters).
-g {groups}
-Drtenv=PAT_RT_HWPC=1

# Functions of the program's own, by their share of the samples; with their size and file. They can be timed where the
# file was built with -finstrument-functions; C++ also with -finstrument-functions-exclude-file-list=/usr/include, for
# the small functions of its headers make it many times slower. Left out by a # are those with less than {share:g} % of
# the samples or {size} bytes of code, and what comes behind {sum:g} % of the samples."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = "The steps: iolens run --sample, iolens apa, look at its file, iolens run --apa."
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --sample")


def run(args: argparse.Namespace) -> int:
    """Prints the file."""
    from iolens.log import read_log
    from iolens.metrics.processor.own_functions import own_functions

    job = read_log(args.log)
    found = own_functions(job)
    if found is None:
        raise IolensError(f"{args.log}: there are no samples in this log (iolens run --sample takes them)")
    groups = "mpi,io" if job.nprocs > 1 else "io"
    program = Path(job.exe.split(" ")[0]).name
    print(HEAD.format(program=program, log=args.log, groups=groups, share=LEAST_SHARE, size=LEAST_BYTES, sum=CUMULATED))
    print("\n".join(lines(found.head(MOST_FUNCTIONS))) or "# None was met by a sample, or no name is known.")
    return 0


def lines(found: pd.DataFrame) -> list[str]:
    """Returns a line for each function; of those not worth it, in a comment."""
    said, before = ["-w"], 0.0
    for symbol, path, share, size in zip(*(found[name] for name in found), strict=True):
        worth = share >= LEAST_SHARE and before < CUMULATED and (size >= LEAST_BYTES or not size)
        before += share
        length = f"{size} bytes" if size else "size n/a"
        said.append(f"{'' if worth else '# '}-T {symbol}  # {share:.2f}%  {length}  {Path(path).name}")
    return said if len(found) else []
