"""`iolens listing LOG --source DIR`: prints the busiest lines in their loop nests, with GCC's remarks on them."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.errors import IolensError
from iolens.foreign import printable_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "First compile with gcc -g -fsave-optimization-record, which writes FILE.opt-record.json.gz next to each "
        "object file. Then record the program with iolens run --sample. In the listing a letter belongs to its line, "
        "or to the last loop of the function that begins before the line. Whole loop nests are shown: each loop has a "
        "column with its "
        "letters, < in its first line and > in its last; + where GCC says nothing."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log recorded with iolens run --sample")
    parser.add_argument("--source", type=Path, metavar="DIR", required=True, help="folder of the source files")
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="folder of GCC's optimization records, if they are not in --source"
    )
    parser.add_argument("--lines", type=int, metavar="N", default=20, help="number of lines (default: 20)")
    parser.add_argument("--csv", action="store_true", help="print only the table, as CSV")


def run(args: argparse.Namespace) -> int:
    """Prints the table and the listing."""
    import sys
    from functools import partial

    from iolens.log import read_log
    from iolens.metrics.processor.sampled.feedback import hot_feedback, loop_tags
    from iolens.metrics.processor.sampled.samples import why_no_lines
    from iolens.pages.job.loopmark import feedback_table, source_listing
    from iolens.pages.text.tabular import plain_table
    from iolens.symbols.opt_records import read_remarks

    remarks = read_remarks(args.records or args.source)
    job = read_log(args.log)
    found = hot_feedback(job, remarks, max(1, args.lines))
    if found is None:
        why = why_no_lines(job) or "not sampled (iolens run --sample)"
        raise IolensError(f"{args.log}: no samples with source lines: {why}")
    if args.csv:
        found.to_csv(sys.stdout, index=False)
        return 0
    print(plain_table(feedback_table(found)))
    print(f"\n{source_listing(found, _sources(args.source, set(found['source'])), partial(loop_tags, remarks))}")
    return 0


def _sources(folder: Path, names: set[str]) -> dict[str, list[str]]:
    """Returns the lines of the source files with these names below a folder. If several files have one name, the first
    by its path is taken.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.name in names and path.name not in found and path.is_file():
            try:
                found[path.name] = _lines_of(path)
            except OSError as error:
                raise IolensError(f"{path}: cannot be read ({error.strerror})") from error
    return found


def _lines_of(path: Path) -> list[str]:
    """Returns the lines of a source file, with only printable characters."""
    text = path.read_text(encoding="utf-8", errors="replace").expandtabs()
    return [printable_text(line) for line in text.splitlines()]
