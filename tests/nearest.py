"""Finds the tests that are nearest to a source file, and runs those of all files that were changed.

    python tests/nearest.py [--since REVISION] [--seconds 100] [--list]

A test file is near to a Python module if it imports the module, names its functions, or imports what imports it;
helpers beside the tests count for the tests that import them. It is near to any other file if it names the file, its
folder or its functions. Words that most tests share count little. The files that fit into the time are run, nearest
first, as long as they took in the last run of the tests (tests/conftest.py).
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS_OF_TESTS = ".pytest_cache/v/iolens/seconds"
UNKNOWN = 5.0
"""Seconds that a test file counts for which no run has timed."""

_IMPORTED, _ONE_BETWEEN, _NAMED_FUNCTION, _NAMED_FILE, _SHARED_NAME = 10.0, 3.0, 1.0, 4.0, 3.0
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_C_FUNCTION = re.compile(r"^[A-Za-z_][^\n;={}]*?\b([a-z_][a-z0-9_]{3,})\([^;{}]*\)\n\{", re.M)


def _imports_of(text: str) -> set[str]:
    """Returns the modules that a source imports; `from a import b` may mean the module a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _defined(path: str, text: str) -> set[str]:
    """Returns the names of the functions and classes of a source."""
    if path.endswith(".py"):
        kinds = (ast.FunctionDef, ast.ClassDef)
        return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds) and len(node.name) > 3}
    return set(_C_FUNCTION.findall(text))


class Tests:
    """The test files of a checkout, with the words in them and what they import."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def texts(self) -> dict[Path, str]:
        """Returns each test file with its text and the text of the helpers that it imports."""
        helpers = {path.stem: path.read_text() for path in self.root.glob("tests/*/*.py") if path.stem[:5] != "test_"}
        texts = {}
        for path in sorted([*self.root.glob("tests/py/test_*.py"), *self.root.glob("tests/system/test_*.py")]):
            own = path.read_text()
            texts[path] = "\n".join([own, *(helpers[name] for name in sorted(_imports_of(own) & helpers.keys()))])
        return texts

    @cached_property
    def imports(self) -> dict[Path, set[str]]:
        """Returns the modules that each test file and its helpers import."""
        return {path: _imports_of(text) for path, text in self.texts.items()}

    @cached_property
    def words(self) -> dict[Path, set[str]]:
        """Returns the words of each test file."""
        return {path: set(_WORD.findall(text)) for path, text in self.texts.items()}

    @cached_property
    def known(self) -> Counter[str]:
        """Returns the number of test files that have each word."""
        return Counter(word for words in self.words.values() for word in words)

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """Returns the modules of iolens that import each module."""
        found: dict[str, set[str]] = {}
        for path in self.root.glob("report/iolens/**/*.py"):
            for name in _imports_of(path.read_text()):
                found.setdefault(name, set()).add(_module_of(str(path.relative_to(self.root))))
        return found

    @cached_property
    def parts(self) -> dict[Path, set[str]]:
        """Returns the words of each test file's name."""
        return {path: _parts(path.name.removeprefix("test_")) for path in self.texts}

    @cached_property
    def quoted(self) -> dict[Path, set[str]]:
        """Returns the names with a hyphen in each test file, such as those of rules."""
        return {path: set(re.findall(r"\b[a-z0-9]+(?:-[a-z0-9]+)+\b", text)) for path, text in self.texts.items()}

    def _rare(self, word: str) -> float:
        """Returns how much a word in a test file's name tells."""
        having = sum(word in parts for parts in self.parts.values())
        return math.log(len(self.parts) / having) / math.log(len(self.parts))

    def _weight(self, word: str) -> float:
        """Returns how much a word tells: all of it if one file has it, and nothing if all have it."""
        return math.log(len(self.texts) / self.known[word]) / math.log(len(self.texts)) if self.known[word] else 0.0

    def scores(self, path: str) -> dict[Path, float]:
        """Returns how near each test file is to a source; those that have nothing to do with it are left out."""
        if Path(path).name.startswith("test_"):
            return {test: math.inf for test in self.texts if test == self.root / path}
        source = self.root / path
        functions = _defined(path, source.read_text()) if source.suffix in (".py", ".c", ".h") else set()
        names = {Path(path).stem, Path(path).parent.name}
        parts = _parts(path)
        module = _module_of(path)
        between = self.importers.get(module, set())
        found = {}
        for test, words in self.words.items():
            score = sum(_NAMED_FUNCTION * self._weight(word) for word in functions & words)
            score += sum(_NAMED_FILE * self._weight(word) for word in names & words)
            score += sum(_SHARED_NAME * self._rare(word) for word in parts & self.parts[test])
            score += _NAMED_FILE * (Path(path).stem.replace("_", "-") in self.quoted[test])
            if path.endswith(".py"):
                score += _IMPORTED * (module in self.imports[test]) + _ONE_BETWEEN * bool(between & self.imports[test])
            if score > 0.5:
                found[test] = score
        return found

    def nearest(self, path: str, number: int) -> list[str]:
        """Returns the test files that are nearest to a source, nearest first."""
        scores = self.scores(path)
        return [str(test.relative_to(self.root)) for test in sorted(scores, key=lambda one: -scores[one])[:number]]


def _module_of(path: str) -> str:
    """Returns the name by which a Python file is imported; helpers of tests are imported by their stem."""
    if not path.startswith("report/"):
        return Path(path).stem
    return path.removeprefix("report/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _parts(path: str) -> set[str]:
    """Returns the words of a path, in the singular."""
    return {word.removesuffix("s") for word in re.split(r"[/_.]", path) if len(word) > 2}


def changed_files(since: str) -> list[str]:
    """Returns the files that differ from a revision, and those that git does not know yet."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    lines = [
        line
        for command in commands
        for line in subprocess.run(
            ["git", *command], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\n")
    ]
    return sorted({line for line in lines if line and (ROOT / line).is_file()})


def chosen(paths: list[str], seconds: float) -> list[str]:
    """Returns the test files to run for changed files: the nearest of each in turn, until the time is used up."""
    tests = Tests(ROOT)
    timed = ROOT / SECONDS_OF_TESTS
    took: dict[str, float] = json.loads(timed.read_text()) if timed.is_file() else {}
    rows = [tests.nearest(path, len(tests.texts)) for path in paths]
    found: list[str] = []
    for place in range(max(map(len, rows), default=0)):
        for row in rows:
            if place < len(row) and row[place] not in found and took.get(row[place], UNKNOWN) <= seconds:
                found.append(row[place])
                seconds -= took.get(row[place], UNKNOWN)
    return found


def main() -> int:
    """Runs the nearest tests of what was changed; returns pytest's exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--since", default="", help="revision to compare with (default: HEAD, or its parent if all is committed)"
    )
    parser.add_argument("--seconds", type=float, default=100, help="time that the tests may take (default: 100)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    parser.add_argument("--list", action="store_true", help="print the files of the tests alone")
    given = parser.parse_args()
    paths = changed_files(given.since or "HEAD") or ([] if given.since else changed_files("HEAD~1"))
    files = chosen(paths, given.seconds * given.jobs)
    if given.list or not files:
        print("\n".join(files) if files else "no test is near to what was changed")
        return 0
    command = [sys.executable, "-m", "pytest", "-n", str(given.jobs), "--dist", "loadfile", *files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
