"""`iolens anonymize LOG`: a log that can be given away: the same counters, and pseudonyms for names."""

from __future__ import annotations

import argparse
import os
import secrets
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.foreign import print_line
from iolens.log.pseudonyms import KEEPS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = (
        "Write a log with the same counters and times, in which user, job number, hosts, program, arguments and "
        "every component of every path are pseudonyms. Folders keep their structure. Data that may contain names in "
        "a form unknown to iolens is left out. Darshan's tools read the result."
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="the log to write (default: anonymous-<number>.darshan here)"
    )
    parser.add_argument(
        "--key",
        metavar="KEY",
        help="a secret; the same name has the same pseudonym in all logs written with the "
        "same key (default: a random key)",
    )
    parser.add_argument(
        "--keep",
        type=lambda text: text.split(","),
        default=[],
        metavar="WHAT,...",
        help="do not replace these: extensions (of files), mounts (mount points), program (its name)",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the anonymous log and prints its name; returns 0."""
    unknown = set(args.keep) - set(KEEPS)
    if unknown:
        raise UsageError(f"--keep {','.join(sorted(unknown))} is unknown; choose from {', '.join(KEEPS)}")
    if args.key == "":
        raise UsageError("--key is empty; give a secret, or leave --key out for a random one")
    from iolens.log import read_log
    from iolens.log.anonymize import anonymize
    from iolens.log.format.container import open_container

    read_log(args.log)
    key = args.key.encode() if args.key else secrets.token_bytes(32)
    made = anonymize(open_container(args.log), key, frozenset(args.keep))
    output = args.output or Path(f"anonymous-{made.jobid}.darshan")
    _write_new(output, made.data)
    read_log(output)
    for name in made.left_out:
        print_line(f"anonymize: left out: {name}; it may hold names, and iolens does not know its format")
    print_line(f"anonymize: {output}")
    return 0


def _write_new(path: Path, data: bytes) -> None:
    """Writes a new file, first under a temporary name; raises if a file of its own name exists."""
    from iolens.pages.output.document import need_parent

    need_parent(path)
    aside = path.with_name(f"{path.name}.iolens-partial-{os.getpid()}")
    try:
        with aside.open("xb") as file:
            file.write(data)
        os.link(aside, path)
    except FileExistsError as error:
        raise IolensError(f"{path} exists already; remove it, or name another file with -o") from error
    except OSError as error:
        raise IolensError(f"{path} cannot be written ({error.strerror})") from error
    finally:
        aside.unlink(missing_ok=True)
