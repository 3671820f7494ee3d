"""Check the words of comments, docstrings, messages and documents: `make check` runs it over all files, or those named.

A reader understands a sentence without the code. A machine can see these faults: beginnings such as "Of the …",
"What is …" or "Whether …", which leave a comment without a verb; beginnings such as "of each …" or "its …", which only
the code completes; a noun at the beginning of a function's docstring; "Returns", "Returns whether" or "Yields" where
the function's signature says otherwise, or below a constant; words that today's English has given up; and sentences of
documents that are too long to follow.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

HEADLESS = re.compile(r"(Of|What|Whether|Which)\b(?![^.]*\?)")
FRAGMENT = re.compile(
    r"(of|that|which|its|their|those|these|the|a|an|where|when|only|so that|called|made|true|false)\b(?=[ ,;])"
)
"""Beginnings of a comment beside code that only a reader of the code can complete: "of each iteration"."""
ARCHAIC = re.compile(
    r"\b(heeds?|heeded|unasked|hitherto|whence|thither|hither|thereof|therein|thereby|whereof|wherein|nought|betwixt"
    r"|notwithstanding|aught|lest|amongst|whilst)\b"
)
HEADLESS_MESSAGE = re.compile(r"(Of|Whether) [a-z]\w* \w+")
VERB = re.compile(r"[A-Z][a-z-]*s\b")
NOUN = re.compile(
    r"(Addresses|Bars|Batches|Bytes|Cells|Columns|Counters|Fields|Files|Folders|Functions|Hosts|Inches|Letters|Libraries"
    r"|Lines|Logs|Middles|Operations|Parts|Periods|Ranks|Rows|Seconds|Spools|Stripes|Times|Totals"
    r"|Values|Variables|Variants|Ways|Widths|Words|(Labels|Names|Numbers|Records|Marks|Counts) (of|and|in))\b"
)
"""Beginnings of a function's docstring that look like a verb and are a plural."""
TRUTH = re.compile(r"Returns (whether|True|False)\b")
TRUTHS = re.compile(r"bool|ndarray|Series|Array|TypeGuard|TypeIs")
"""Types of results that are, or hold, truth values."""
MOMENT = re.compile(r"[Rr]eturns when\b")
"""Words that could say that a function waits, or that it gives back a time."""
VOID = re.compile(
    r"/\*\s*(Returns|Yields)\b(?:(?!\*/).)*\*/\s*\n(?:(?:static|extern|inline|[A-Z_]+) )*void \w", re.DOTALL
)
TESTS = "tests"
LONGEST_SENTENCE = 35
"""Largest number of words in a sentence of a document."""

C_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
PYTHON, C, DOCUMENTS = (".py",), (".c", ".h", ".def"), (".md",)


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


def verbless(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and first word of each function's docstring that begins with no verb such as "Returns"."""
    for node in ast.walk(ast.parse(source)):
        text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if text and (not VERB.match(text) or NOUN.match(text)):
            yield node.body[0].lineno, text.split()[0]


def misnamed_values(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and fault of each text below a constant that begins like the docstring of a function."""
    for node in ast.walk(ast.parse(source)):
        body = node.body if isinstance(node, ast.Module | ast.ClassDef) else []
        for value, text in pairwise(body):
            if not isinstance(value, ast.Assign | ast.AnnAssign) or not isinstance(text, ast.Expr):
                continue
            words = ast.unparse(text.value).strip("\"' ").split()
            if words[0] in ("Returns", "Yields", "Raises"):
                yield text.lineno, f'"{words[0]}" below a constant: write what the constant holds'


def misnamed(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and fault of each function whose docstring begins with a verb that its signature refutes."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        first = (ast.get_docstring(node) or "").partition(" ")[0]
        if first not in ("Returns", "Yields"):
            continue
        own, yields = list[ast.AST](node.body), False
        while own:
            part = own.pop()
            yields |= isinstance(part, (ast.Yield, ast.YieldFrom))
            if not isinstance(part, (ast.FunctionDef, ast.Lambda)):
                own += ast.iter_child_nodes(part)
        if isinstance(node.returns, ast.Constant) and node.returns.value is None:
            yield node.body[0].lineno, f'"{first}" on a function that returns None: write what it does'
        elif TRUTH.match(ast.get_docstring(node) or "") and not TRUTHS.search(ast.unparse(node.returns or node)):
            yield node.body[0].lineno, "promises a truth value, and returns something else"
        elif yields != (first == "Yields"):
            yield node.body[0].lineno, f'"{first}" on a function that {"yields" if yields else "returns a value"}'


def misnamed_in_c(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and fault of each comment of C that says "Returns" above a function of type void."""
    for found in VOID.finditer(source):
        yield source.count("\n", 0, found.start()) + 1, f'"{found[1]}" on a function of type void: write what it does'


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


def python_messages(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each string that is no docstring: messages, captions and help texts."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def c_messages(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each string of C."""
    for found in C_TEXT.finditer(source):
        if found[0].startswith('"'):
            yield source.count("\n", 0, found.start()) + 1, found[0].strip('"')


def sentences(document: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each sentence of a Markdown document, without code, brackets, tables, headings."""
    prose = re.sub(r"```.*?```|<!--.*?-->", lambda code: "\n" * code[0].count("\n"), document, flags=re.DOTALL)
    for paragraph in re.finditer(r"(?:^(?!\s*$|\||#| {4}).+\n?)+", prose, re.MULTILINE):
        line = prose.count("\n", 0, paragraph.start()) + 1
        for item in re.split(r"\n(?=\s*(?:[-*+]|\d+\.) )", paragraph[0]):
            shown = re.sub(r" \([^()]*\)", "", re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", item)))
            for sentence in re.split(r"(?<=[.:;?!])\s+", shown):
                yield line, " ".join(sentence.split())
            line += item.count("\n") + 1


def faults(path: Path) -> list[str]:
    """Returns a line for each fault in a file: where it stands, and what to write instead."""
    source = path.read_text(encoding="utf-8")
    if path.suffix in DOCUMENTS:
        found = [_archaic(path, line, text) for line, text in enumerate(source.splitlines(), 1)]
        for line, text in sentences(source):
            words = len(re.findall(r"[\w'-]*\w", text))
            if words > LONGEST_SENTENCE:
                found.append(f"{path}:{line}: {words} words in a sentence: make two of it: {text[:60]} …")
        return [fault for fault in found if fault]
    python = path.suffix in PYTHON
    comments, messages = (python_texts, python_messages) if python else (c_texts, c_messages)
    checks = (misnamed, misnamed_values) if python else (misnamed_in_c,)
    found = [f"{path}:{line}: {fault}" for check in checks for line, fault in check(source)]
    found += [fault for line, text in sorted(comments(source)) for fault in _comment_faults(path, line, text.strip())]
    for line, word in verbless(source) if python and TESTS not in path.parts else ():
        found.append(f'{path}:{line}: a docstring of a function begins with "{word}": begin with a verb, "Returns …"')
    for line, text in messages(source) if TESTS not in path.parts else ():
        head = HEADLESS_MESSAGE.match(text)
        if head:
            found.append(f'{path}:{line}: a message begins with "{head[1]}": begin with the subject')
        found.append(_archaic(path, line, text))
    return [fault for fault in found if fault]


def _comment_faults(path: Path, line: int, text: str) -> Iterator[str]:
    """Yields a line for each fault of a comment, which may be empty."""
    if head := HEADLESS.match(text):
        yield f'{path}:{line}: begins with "{head[1]}": begin with the subject, or with a verb'
    if part := FRAGMENT.match(text):
        yield f'{path}:{line}: begins with "{part[1]}": name what the comment is about'
    if MOMENT.search(text):
        yield f'{path}:{line}: "returns when": "waits until …", or "returns the moment at which …"'
    yield _archaic(path, line, text)


def _archaic(path: Path, line: int, text: str) -> str:
    """Returns the fault of a text with a word that is out of use, or an empty text."""
    word = ARCHAIC.search(text)
    return f'{path}:{line}: "{word[0]}": use a word that everybody uses' if word else ""


def tracked() -> list[Path]:
    """Returns the tracked files in the languages that are checked, without the list of old changes."""
    listed = subprocess.run(["git", "ls-files", ":!CHANGELOG.md"], capture_output=True, text=True, check=False)
    return [
        Path(name)
        for name in listed.stdout.split("\n")
        if name.endswith(PYTHON + C + DOCUMENTS) and Path(name).exists()
    ]


def main(names: list[str]) -> int:
    """Prints the faults of the files named, or of all; returns 1 if there are any."""
    found = [fault for path in ([Path(name) for name in names] or tracked()) for fault in faults(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
