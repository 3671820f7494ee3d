"""The label of a process in a forest: its program and, for an interpreter, the script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_INTERPRETER = re.compile(r"(python|pypy|perl|ruby|node|Rscript|julia|lua|bash|dash|sh|zsh|ksh|csh|tcsh)[\d.]*$")
_WORKERS = (
    ("--multiprocessing-fork", "multiprocessing worker"),
    ("multiprocessing.resource_tracker", "multiprocessing resource tracker"),
    ("multiprocessing.forkserver", "multiprocessing fork server"),
)
"""The text in the command of a process that Python's multiprocessing starts anew, and the label of such a process."""


def label(command: str, forked: bool) -> str:
    """Returns a label such as `gcc`, `python train.py`, `python -m pytest` or `bash -c`. `forked` is True for a child
    of fork, which keeps the command of its parent.
    """
    words = command.split()
    if not words:
        return "unknown program"
    name = PurePosixPath(words[0]).name or words[0]
    return f"{name}{_script(name, words[1:])}{' (forked)' if forked else ''}"


def _script(name: str, words: Sequence[str]) -> str:
    """Returns the script (or module, or option such as `-c`) that an interpreter runs, after a space; empty for other
    programs.
    """
    if not _INTERPRETER.match(name.lstrip("-")):
        return ""
    line = " ".join(words)
    for mark, kind in _WORKERS:
        if mark in line:
            return f" ({kind})"
    for place, word in enumerate(words):
        if word == "-m" and place + 1 < len(words):
            return f" -m {words[place + 1]}"
        if word in ("-c", "-e"):
            return f" {word}"
        if not word.startswith("-"):
            return f" {PurePosixPath(word).name}"
    return ""
