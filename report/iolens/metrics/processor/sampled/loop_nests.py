"""The loops in a source text in C, C++ or Fortran: the first and last line of each loop that a simple scanner finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

_FORTRAN = (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08")

_HIDDEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M
)
"""Comments, strings, characters and lines for the preprocessor."""

_TOKEN = re.compile(r"[A-Za-z_]\w*|[(){};]")
_HEADED = ("for", "while", "if", "switch")
_KEYWORDS = (*_HEADED, "do", "else")

_DO = re.compile(
    r"(?:\d+\s+)?(?:[a-z]\w*\s*:\s*)?do(?:\s+(?P<label>\d+)\s*,?)?(?:\s+while\b|\s+concurrent\b|\s+\w+\s*=|\s*$)"
)
_END_DO = re.compile(r"(?:\d+\s+)?end\s*do\b")


@dataclass(frozen=True)
class Loop:
    """First and last line of a loop, from 1 on."""

    begin: int
    end: int


def loops_of(name: str, text: Sequence[str]) -> list[Loop]:
    """Returns the loops of a source file in the order of their first lines, outer ones before inner ones."""
    try:
        found = _fortran(text) if PurePosixPath(name).suffix.lower() in _FORTRAN else Scanner("\n".join(text)).loops()
    except RecursionError:
        return []
    return sorted(set(found), key=lambda loop: (loop.begin, -loop.end))


def _fortran(text: Sequence[str]) -> list[Loop]:
    """Returns the loops of a Fortran source; several may end at one label."""
    found: list[Loop] = []
    begun: list[tuple[int, str]] = []
    for number, line in enumerate(text, 1):
        said = "" if line[:1] in "cC*" and line[:1] else line.partition("!")[0].strip().lower()
        if begin := _DO.match(said):
            begun.append((number, begin["label"] or ""))
            continue
        if begun and _END_DO.match(said):
            found.append(Loop(begun.pop()[0], number))
        label = re.match(r"\d+\b", said)
        while begun and label and begun[-1][1] == label[0]:
            found.append(Loop(begun.pop()[0], number))
    return found


class Scanner:
    """The tokens of a C or C++ source that matter for loops, with their lines."""

    def __init__(self, text: str) -> None:
        plain = _HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n") or " ", text)
        newlines = [0, *accumulate(letter == "\n" for letter in plain)]
        self.words, self.lines = list[str](), list[int]()
        for token in _TOKEN.finditer(plain):
            self.words.append(token[0])
            self.lines.append(newlines[token.start()] + 1)
        self.found: list[Loop] = []

    def loops(self) -> list[Loop]:
        """Returns all loops of the text."""
        at = 0
        while at < len(self.words):
            at = max(self.statement(at), at + 1)
        return self.found

    def word(self, at: int) -> str:
        """Returns the token at a position; "" after the last one."""
        return self.words[at] if at < len(self.words) else ""

    def statement(self, at: int) -> int:
        """Adds the loops of the statement that begins at this position, and returns the position after it."""
        word, begin = self.word(at), at
        if word == "{":
            return self.block(at)
        if word == "do":
            at = self.statement(at + 1)
            at = self.statement_end(self.parentheses(at + 1)) if self.word(at) == "while" else at
        elif word in _HEADED:
            at = self.statement(self.parentheses(at + 1))
            if word == "if" and self.word(at) == "else":
                at = self.statement(at + 1)
        else:
            return self.statement_end(at + 1 if word == "else" else at)
        if word in ("for", "while", "do"):
            self.found.append(Loop(self.lines[begin], self.lines[min(at, len(self.lines)) - 1]))
        return at

    def block(self, at: int) -> int:
        """Adds the loops in the braces that open at this position, and returns the position after them."""
        at += 1
        while at < len(self.words) and self.words[at] != "}":
            at = self.statement(at)
        return at + 1

    def parentheses(self, at: int) -> int:
        """Returns the position after the parentheses that open at this position, if any; braces inside them belong to
        lambdas.
        """
        if self.word(at) != "(":
            return at
        at += 1
        while at < len(self.words) and self.words[at] != ")":
            word = self.words[at]
            at = self.parentheses(at) if word == "(" else self.block(at) if word == "{" else at + 1
        return at + 1

    def statement_end(self, at: int) -> int:
        """Returns the position after a plain statement, a definition, or the label in front of another statement."""
        while at < len(self.words):
            word = self.words[at]
            if word == ";":
                return at + 1
            if word == "{":
                return self.block(at)
            if word == "}" or word in _KEYWORDS:
                return at
            at = self.parentheses(at) if word == "(" else at + 1
        return at
