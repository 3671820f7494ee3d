"""`iolens export LOG --format FORMAT`: samples and traces for other viewers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from iolens.cli.read.table import ALL_THREADS
from iolens.foreign import print_line
from iolens.log import Job

_ENDINGS = {
    "collapsed": ".folded",
    "speedscope": ".speedscope.json",
    "pprof": ".pb.gz",
    "chrome": ".trace.json",
    "hatchet": ".hatchet.json",
}
"""Formats, and how the names of their files end."""

_EPILOG = """formats: collapsed (flamegraph.pl, inferno), speedscope (https://www.speedscope.app: a profile per rank),
pprof (go tool pprof), hatchet (GraphFrame.from_literal) hold the samples of iolens run --sample; chrome (Perfetto,
chrome://tracing) holds a time line: bytes over time, samples and MPI calls with --timeline, transfers
with --dxt."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = _EPILOG
    parser.add_argument("log", type=Path, metavar="LOG", help="a log of iolens")
    parser.add_argument("--format", choices=tuple(_ENDINGS), required=True, help="the viewer's format")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write (default: next to the log, with the log's name; - is standard output)",
    )
    parser.add_argument(
        "--symbols",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder with the program, its libraries or their debug files, if they were moved since the run; may be "
        "repeated",
    )
    parser.add_argument("--all-threads", action="store_true", help=ALL_THREADS)
    parser.add_argument("--running", action="store_true", help="leave out samples of waiting threads")


def run(args: argparse.Namespace) -> int:
    """Writes the samples or the trace in the requested format."""
    from iolens.log import read_log
    from iolens.pages.output.document import written_aside

    content, notes = _exported(read_log(args.log), args)
    target = args.output or args.log.with_name(args.log.name.removesuffix(".darshan") + _ENDINGS[args.format])
    if str(target) == "-":
        sys.stdout.buffer.write(content)
    else:
        with written_aside(target) as aside:
            aside.write_bytes(content)
        print_line(str(target))
    for note in notes:
        print(f"iolens export: {note}", file=sys.stderr)
    return 0


def _exported(job: Job, args: argparse.Namespace) -> tuple[bytes, list[str]]:
    """Returns the content of the file, and remarks about it."""
    from iolens.exports.sampled_stacks import stacks
    from iolens.metrics.processor.sampled.samples import library_threads

    without = frozenset() if args.all_threads else library_threads(job)
    if args.format == "chrome":
        return _time_line(job, args.symbols, without)
    found = stacks(job, args.symbols, args.running, without)
    if args.format == "pprof":
        from iolens.exports.pprof import pprof

        return pprof(found, job.exe, job.start, job.run_time), []
    if args.format == "speedscope":
        from iolens.exports.sampled_stacks import speedscope

        return speedscope(found, Path(job.log_name).stem).encode(), []
    if args.format == "hatchet":
        from iolens.exports.sampled_stacks import hatchet

        return hatchet(found).encode(), []
    from iolens.exports.sampled_stacks import collapsed

    return collapsed(found).encode(), []


def _time_line(job: Job, search: list[Path], without: frozenset[tuple[int, int]]) -> tuple[bytes, list[str]]:
    """Writes Chrome's format; raises IolensError if the log has nothing on a time line."""
    from iolens.errors import IolensError
    from iolens.exports.chrome import chrome
    from iolens.metrics.why.answers import path_pieces

    pieces = path_pieces(job)
    path = [] if pieces is None else list(pieces.rows("rank", "start", "end"))[::-1]
    text, left_out = chrome(job, search, without, path)
    how = (
        "iolens run --dxt traces transfers, --timeline adds samples (--sample) and MPI calls (--trace mpi), and --why "
        "the critical path"
    )
    if '"ph": "X"' not in text and '"ph": "C"' not in text:
        raise IolensError(f"{job.path}: no event of this log has a time of its own; {how}")
    if '"ph": "X"' not in text:
        return text.encode(), [
            f"only bytes over time are exported, because no call of this log has a time of its own; {how}"
        ]
    notes = [f"{left_out} of the shortest events are left out, because viewers cannot open more"] if left_out else []
    return text.encode(), notes
