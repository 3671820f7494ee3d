"""Check that the names in comments exist: `make check` runs it over all files.

A name in backticks that stands in no code, table or document of this project was renamed or removed, or belongs to
another project. A name that a Python file has only with an underscore in front became private to that file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from plain_words import C_TEXT, PYTHON, C, python_texts

QUOTED = re.compile(r"(?<!`)`([A-Za-z_][\w.]{2,})`(?!`)")
WORD = re.compile(r"\w+")
ELSEWHERE = {"rhsf", "MPI_LATESENDER", "MPI_LATERECEIVER", "vVERSION", "x12"}
"""Names of other projects' documents, and examples."""

DOCSTRING = re.compile(r'r?"""(?:\\.|[^\\])*?"""|#[^\n]*', re.DOTALL)


def c_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each comment."""
    for found in C_TEXT.finditer(source):
        if found[0][0] == "/":
            yield source.count("\n", 0, found.start()) + 1, found[0]


def code_of(path: Path, source: str) -> str:
    """Returns a file's text without comments and docstrings; other files whole."""
    if path.suffix in C:
        return C_TEXT.sub(lambda found: "" if found[0][0] == "/" else found[0], source)
    return DOCSTRING.sub("", source) if path.suffix in PYTHON else source


def faults(files: dict[Path, str]) -> Iterator[str]:
    """Yields a line for each name in a comment that no file has."""
    words = {path: set(WORD.findall(code_of(path, source))) for path, source in files.items()}
    known = ELSEWHERE.union(*words.values())
    for path, source in files.items():
        texts = python_texts if path.suffix in PYTHON else c_comments if path.suffix in C else None
        for line, text in texts(source) if texts else ():
            for name in QUOTED.findall(text):
                parts = set(name.strip(".").split("."))
                private = {part for part in parts - words[path] if f"_{part}" in words[path]}
                if private and path.suffix in PYTHON:
                    yield f"{path}:{line}: in this file {name} has an underscore in front"
                elif not parts <= known:
                    yield f"{path}:{line}: no file has the name {name}"


def main() -> int:
    """Checks all files of the repository; returns the exit code."""
    names = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    files = {}
    for path in map(Path, names):
        try:
            files[path] = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    found = list(faults(files))
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
