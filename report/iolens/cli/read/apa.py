"""`iolens apa LOG > app.apa`: writes, from a sampled run, the list of functions that the next run traces."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from pathlib import Path

from iolens.errors import IolensError
from iolens.foreign import printable_text
from iolens.lazy import pd
from iolens.metrics.processor.sampled.groups import USER

_MOST_FUNCTIONS = 200
_LEAST_SHARE, _CUMULATED, _LEAST_BYTES = 1.0, 90.0, 200
"""Thresholds of pat_report for a function that is traced: its per cent of the program's own samples, the per cent of
all functions before it, and the bytes of its code.
"""

_LEAST_OWN = 5.0
"""Minimum per cent of all samples that lie in the program's own functions; with less, tracing these functions explains
too little of the run.
"""

_HEAD = """\
# What to trace in the next run of {program}: edit this, then
#   iolens run --apa FILE -- COMMAND
# Proposed from the samples of {log}.

# Groups of functions (iolens run --list-groups) and of counters (--list-hwpc; -Drtenv=PAT_RT_HWPC=none: no counters).
-g {groups}
-Drtenv=PAT_RT_HWPC=1
"""

_FUNCTIONS = """
# The program's own functions, by their share of the program's samples ({own:.1f} % of all samples); with their size and
# file. They can be timed where the file was built with -finstrument-functions; C++ also with
# -finstrument-functions-exclude-file-list=/usr/include, for the small functions of its headers make it many times
# slower. A # leaves out functions with less than {share:g} % of these samples or {size} bytes of code, and functions
# after the first {sum:g} % of these samples.
-w"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = "Four steps: iolens run --sample; iolens apa LOG > FILE; edit FILE; iolens run --apa FILE."
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --sample")


def run(args: argparse.Namespace) -> int:
    """Prints the list of functions to trace, as an apa file."""
    from iolens.log import read_log
    from iolens.metrics.processor.sampled.samples import group_shares, own_functions

    job = read_log(args.log)
    found = own_functions(job)
    if found is None:
        raise IolensError(f"{args.log} has no samples; record the program with iolens run --sample")
    groups = "mpi,io" if job.nprocs > 1 else "io"
    program = Path(job.exe.split(" ")[0]).name
    print(_HEAD.format(program=program, log=printable_text(str(args.log)), groups=groups), end="")
    print("\n".join(functions(found.head(_MOST_FUNCTIONS), group_shares(job))))
    return 0


def functions(found: pd.DataFrame, shares: Mapping[str, float]) -> list[str]:
    """Returns the lines on the program's own functions, or a comment that says why none is worth tracing.

    `shares`: per cent of all samples by group of functions, the largest first.
    """
    own = shares.get(USER, 0.0)
    proposed = apa_lines(found)
    if own >= _LEAST_OWN and any(not line.startswith("#") for line in proposed):
        return [_FUNCTIONS.format(own=own, share=_LEAST_SHARE, size=_LEAST_BYTES, sum=_CUMULATED), *proposed]
    most = ", ".join(f"{group} {share:.1f} %" for group, share in list(shares.items())[:3])
    said = f"No function of the program's own is worth tracing: {_nothing_left(found, own)} Samples by group: {most}."
    return ["", *textwrap.wrap(said, 119, initial_indent="# ", subsequent_indent="# ", break_long_words=False)]


def _nothing_left(found: pd.DataFrame, own: float) -> str:
    """Returns the reason why no function of the program's own is worth tracing; `own`: per cent of all samples."""
    if own < _LEAST_OWN:
        return f"its functions have {own:.1f} % of all samples, and less than {_LEAST_OWN:g} % explain too little."
    if not len(found):
        return "no function with samples has a known name (the program's file is missing, was rebuilt, or is stripped)."
    name, share, size = (found[column].iloc[0] for column in ("symbol", "share", "bytes"))
    length = f"{size} bytes of code" if size else "code of unknown size"
    return (
        f"{name}, the busiest, has {share:.1f} % of its samples and {length}, and timing functions with less "
        f"than {_LEAST_SHARE:g} % or {_LEAST_BYTES} bytes costs more than it is worth."
    )


def apa_lines(found: pd.DataFrame) -> list[str]:
    """Returns a line for each function; those not worth tracing are comments."""
    said, before = [], 0.0
    for symbol, path, share, size in zip(*(found[name] for name in found), strict=True):
        worth = share >= _LEAST_SHARE and before < _CUMULATED and (size >= _LEAST_BYTES or not size)
        before += share
        length = f"{size} bytes" if size else "size n/a"
        said.append(f"{'' if worth else '# '}-T {symbol}  # {share:.2f} %  {length}  {Path(path).name}")
    return said
