"""Lists the commands of all documents; for commands that walk.py does not run, the test that runs them, or the reason
why no test can.

Commands stand in blocks marked `sh`, calls of the package in blocks marked `python`. walk.py runs each of them but for

- a block behind a comment `<!-- not run: why -->`, or `<!-- long: why -->`, which is run with --long alone,
- a line for which elsewhere.csv has a row: patterns of the shell for the document and for the line, and which test runs
  the line, `long`, or else why it is not run.

`commands.py` prints the list of them all.
"""

from __future__ import annotations

import csv
import fnmatch
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from pages import ROOT, documents, page_of

TABLE = ROOT / "docs/tools/elsewhere.csv"
LONG = "long"
COMMENT = re.compile(r"<!-- *(not run|long): *(.+?) *-->")
BLOCK = re.compile(r"(?:^<!--([^>]*)-->\n)?^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class CommandRow:
    """Row of elsewhere.csv: patterns of documents and of their commands. `run_by` is the test that runs these commands,
    `long`, or empty; `why` is the reason why walk.py does not run them.
    """

    document: str
    command: str
    run_by: str
    why: str

    def fits(self, document: Path, command: str) -> bool:
        """Returns true if this row is about a command of a document."""
        return fnmatch.fnmatchcase(str(document), self.document) and fnmatch.fnmatchcase(command, self.command)


@dataclass(frozen=True)
class DocumentedCommand:
    """A command of a document, with all of its lines; `kept` is the reason why walk.py does not run it (empty if it
    does).
    """

    text: str
    kept: str = ""
    long: bool = False


@dataclass(frozen=True)
class Block:
    """A block of a document: commands that stand together."""

    language: str
    commands: tuple[DocumentedCommand, ...]


def rows() -> list[CommandRow]:
    """Reads the table of commands that other tests run, or that no test runs."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [CommandRow(**row) for row in csv.DictReader(file)]


def blocks(text: str, document: Path, table: list[CommandRow]) -> list[Block]:
    """Returns the blocks of a document in order."""
    found = []
    for comment, language, lines in BLOCK.findall(text):
        mark = COMMENT.match(f"<!--{comment}-->")
        parts = joined(lines) if language == "sh" else [lines]
        if mark:
            every = tuple(DocumentedCommand(part, mark[2], mark[1] == LONG) for part in parts)
        else:
            every = tuple(looked_up(part, document, table) for part in parts)
        found.append(Block(language, every))
    return found


def looked_up(command: str, document: Path, table: list[CommandRow]) -> DocumentedCommand:
    """Returns a command together with the reason in the first row that is about the command; without a reason if there
    is none.
    """
    row = next((row for row in table if row.fits(document, command.partition("\n")[0])), None)
    if row is None:
        return DocumentedCommand(command)
    return DocumentedCommand(
        command, f"{row.run_by}: {row.why}" if row.why and row.run_by else row.run_by or row.why, row.run_by == LONG
    )


def joined(lines: str) -> list[str]:
    """Splits the lines of a block into commands; a line that ends in a backslash goes on in the next. Empty lines are
    left out.
    """
    return [part for part in re.findall(r"(?:.*\\\n)*.*\n", lines) if part.strip()]


def commands_of(document: Path, table: list[CommandRow]) -> list[DocumentedCommand]:
    """Returns all commands of a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [command for block in blocks(text, document, table) for command in block.commands]


def pages() -> list[str]:
    """Returns the names of all documents that have commands to run, such as `tutorial` or `storage/README`, the
    tutorial first.
    """
    table = rows()
    found = [d for d in documents() if any(not c.kept or c.long for c in commands_of(d, table))]
    return sorted((str(page_of(d).with_suffix("")) for d in found), key=lambda page: (page != "tutorial", page))


def main() -> int:
    """Prints the list, with a row for each command: document, how the command is run, command."""
    table = rows()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["document", "run by", "command"])
    for document in documents():
        for command in commands_of(document, table):
            how = f"make docs-test LONG=yes ({command.kept})" if command.long else command.kept or "make docs-test"
            out.writerow([document, how, command.text.rstrip("\n")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
