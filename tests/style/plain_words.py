"""Check the words of comments and docstrings: `make check` runs it over the product, or over the files named.

A comment is a sentence that a reader understands without the code. Two faults can be seen by a machine: beginnings such
as "Of the …", "What is …" or "Whether …", which leave a sentence without a verb, and words that today's English has
given up.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

HEADLESS = re.compile(r"(Of|What|Whether|Which)\b(?![^.]*\?)")
ARCHAIC = re.compile(r"\b(heeds?|heeded|unasked|hitherto|whence|thereof|therein|nought|betwixt)\b")
C_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
PYTHON, C = (".py",), (".c", ".h", ".def")


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each docstring and of each comment on a line of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            if token.start[0] != before + 1:
                yield token.start[0], token.string.lstrip("# ")
            before = token.start[0]


def c_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each comment of C; of several `//` lines only the first."""
    before = -1
    for found in C_TEXT.finditer(source):
        if found[0][0] in "\"'":
            continue
        line = source.count("\n", 0, found.start()) + 1
        if line != before + 1 or found[0].startswith("/*"):
            yield line, re.sub(r"^/[/*]+\s*|\s*\*+/$", "", found[0])
        before = line if found[0].startswith("//") else -1


def faults(path: Path) -> list[str]:
    """Returns a line for each fault in a file: where it stands, and what to write instead."""
    source = path.read_text(encoding="utf-8")
    texts = python_texts(source) if path.suffix in PYTHON else c_texts(source)
    found = []
    for line, text in sorted(texts):
        head, word = HEADLESS.match(text.strip()), ARCHAIC.search(text)
        if head:
            found.append(f'{path}:{line}: begins with "{head[1]}": begin with the subject, or with a verb')
        if word:
            found.append(f'{path}:{line}: "{word[0]}": use a word that everybody uses')
    return found


def tracked() -> list[Path]:
    """Returns the tracked files outside of the tests in the languages that are checked."""
    listed = subprocess.run(["git", "ls-files", ":!tests"], capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    return [Path(name) for name in listed if name.endswith(PYTHON + C) and Path(name).exists()]


def main(names: list[str]) -> int:
    """Prints the faults of the files named, or of all; returns 1 if there are any."""
    found = [fault for path in ([Path(name) for name in names] or tracked()) for fault in faults(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
