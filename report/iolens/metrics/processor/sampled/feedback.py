"""The loops in a source text, and the compiler's treatment of the lines that took most samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.processor.sampled.samples import hot_lines
from iolens.symbols.opt_records import EMPTY_WORDS, MISSED, VAGUE, Remark, name_of, plain_name

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


def hot_feedback(job: Job, remarks: Iterable[Remark], limit: int = 30) -> pd.DataFrame | None:
    """Returns `hot_lines` with `letters`, `loop` (the line of the loop) and `reason` (why it was not vectorised).

    Letters describe the line itself and the loop that contains it, taken to be the last loop before it that GCC
    mentions in the same function. A loop that GCC vectorised in one way does not count as missed, even if other ways
    failed before. Loop 0 and empty texts mean that GCC has no remark. Returns None if no line is known.
    """
    lines = hot_lines(job, limit)
    if lines is None:
        return None
    known = _by_line(remarks)
    functions = _function_loops(known)
    places = zip(lines["source"], lines["line"], lines["function"], strict=True)
    found = [
        _remarks_on_line(str(source), line_number(line), str(function), known, functions)
        for source, line, function in places
    ]
    return lines.assign(
        letters=[letters for letters, _, _ in found],
        loop=[loop for _, loop, _ in found],
        reason=[reason for _, _, reason in found],
    )


def line_number(line: str) -> int:
    """Returns the line number in a text such as `line 31`."""
    return int(line.rpartition(" ")[2] or 0)


Place = tuple[str, int]


def _by_line(remarks: Iterable[Remark]) -> Mapping[Place, list[Remark]]:
    """Returns the remarks by source file (its name) and line."""
    found: dict[Place, list[Remark]] = {}
    for remark in remarks:
        found.setdefault((name_of(remark.source), remark.line), []).append(remark)
    return found


def _function_loops(known: Mapping[Place, Sequence[Remark]]) -> Mapping[tuple[str, str], list[int]]:
    """Returns, by source file and function, the first lines of the loops that GCC analysed.

    GCC reports a remark on a statement inside a loop at the statement's line, and a remark on the loop itself at the
    loop's line.
    """
    found: dict[tuple[str, str], set[int]] = {}
    for (source, line), remarks in known.items():
        for remark in remarks:
            if remark.begins_loop:
                found.setdefault((source, remark.function), set()).add(line)
    return {key: sorted(lines) for key, lines in found.items()}


def _remarks_on_line(
    source: str,
    line: int,
    function: str,
    known: Mapping[Place, Sequence[Remark]],
    loops: Mapping[tuple[str, str], Sequence[int]],
) -> tuple[str, int, str]:
    """Returns the letters, the loop's line (0: none) and the reason for one line."""
    loop = max((one for one in loops.get((source, plain_name(function)), ()) if one <= line), default=0)
    remarks = [one for at in dict.fromkeys((loop, line)) for one in known.get((source, at), ())]
    letters = {remark.letter for remark in remarks}
    if "V" in letters:
        letters.discard(MISSED)
    inside = [one for at in range(loop, line + 1) for one in known.get((source, at), ())] if loop else remarks
    reasons = [remark.reason for remark in inside if remark.letter == MISSED and remark.reason]
    return "".join(sorted(letters)), loop, best(reasons) if MISSED in letters else ""


def best(reasons: Sequence[str]) -> str:
    """Returns the most informative reason: the last one that is neither vague nor only says that the loop was not
    vectorised.
    """
    telling = [reason for reason in reasons if not reason.startswith(EMPTY_WORDS)]
    clear = [reason for reason in telling if not reason.startswith(VAGUE)]
    return (clear or telling or list(reasons) or [""])[-1]


def loop_tags(remarks: Iterable[Remark], source: str, loops: Iterable[Loop]) -> Mapping[int, str]:
    """Returns the compiler's treatment of each loop of a source file, by the loop's first line."""
    known = _by_line(remarks)
    return {loop.begin: _tag_of(known.get((source, loop.begin), ())) for loop in loops}


def _tag_of(remarks: Sequence[Remark]) -> str:
    """Returns the compiler's treatment of a loop: its letters, with the largest factor of unrolling; `+` if the
    compiler did nothing.
    """
    letters = {remark.letter for remark in remarks if remark.begins_loop}
    if "V" in letters:
        letters.discard(MISSED)
    factor = max((remark.factor for remark in remarks), default=0)
    return "".join(f"{letter}{factor or ''}" if letter == "u" else letter for letter in sorted(letters)) or "+"
