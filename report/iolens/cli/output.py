"""Names of documents to write, as options take them."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.errors import UsageError

_FORMATS = {"pdf": (".pdf",), "html": (".html", ".htm")}
"""Formats of a document, and the endings of its name."""


def add_output(parser: argparse.ArgumentParser, usual: str) -> None:
    """Declares -o and --format; `usual` is the default name, in which FORMAT stands for its suffix."""
    parser.add_argument(
        "-o", "--output", type=_document_name, metavar="FILE", help=f"the PDF or HTML file to write (default: {usual})"
    )
    parser.add_argument("--format", choices=_FORMATS, help="pdf or html (default: by the ending of FILE, else pdf)")


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declares --results, the folder below which runs leave what they measured."""
    text = "write the results into this folder (default: results)"
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help=text)


def add_table_folders(parser: argparse.ArgumentParser) -> None:
    """Declares --csv and --json, folders for all tables."""
    for form in ("CSV", "JSON"):
        parser.add_argument(f"--{form.lower()}", type=Path, metavar="DIR", help=f"write every table as {form} into DIR")


def _document_name(text: str) -> Path:
    """Returns the path of a document to write; raises if its ending stands for another kind of file."""
    path = Path(text)
    if not any(path.suffix.lower() in endings for endings in _FORMATS.values()):
        raise argparse.ArgumentTypeError(f"{text} must end in .pdf or .html, because a PDF or an HTML page is written")
    return path


def output_of(args: argparse.Namespace, usual: Path) -> Path:
    """Returns the file to write: -o, else `usual` with the format's suffix; raises UsageError if -o and
    --format disagree.
    """
    if args.output is None:
        return usual.with_name(f"{usual.name}.{args.format or 'pdf'}")
    path = Path(args.output)
    if args.format and path.suffix.lower() not in _FORMATS[args.format]:
        raise UsageError(f"--format {args.format} and --output {path} name different formats; leave one of them out")
    return path
