"""Plants one fault at a time into functions that are drawn by seed, and counts how many the nearest tests notice.

    python tests/mutate.py -n 20 --seed 1 [--only report/iolens/advise]

A fault is an operator, a constant, a condition or a returned value that is changed. The sources are copied first, so
that the checkout stays as it is. Tests that fail without a fault are left out; tests/nearest.py finds the nearest ones.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nearest import Tests

ROOT = Path(__file__).resolve().parents[1]
C_PARTS = ("workloads", "storage")
"""Parts in C whose build takes seconds."""

NEAREST = 5
"""Number of test files that are run for a fault."""

SWAPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.FloorDiv: "*", ast.Mod: "*", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
"""The operator that takes the place of another one in Python."""

C_FAULTS = (
    (r" == ", " != "), (r" != ", " == "), (r" <= ", " < "), (r" >= ", " > "), (r" < ", " <= "), (r" > ", " >= "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* (?=[a-z0-9(])", " / "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r" \+= ", " -= "),
    (r"\breturn (?!0;)[^;]+;", "return 0;"), (r"\bif \((?!!)", "if (!"),
)  # fmt: skip
"""Patterns in a line of C, and their replacements. A function whose fault does not compile is drawn anew."""


@dataclass(frozen=True)
class Fault:
    """One changed place: the file, its function and line, the text before and after, and the whole changed source."""

    path: str
    function: str
    line: int
    before: str
    after: str
    source: str


def python_faults(path: str, text: str) -> Iterator[Fault]:
    """Yields the faults of the functions of a Python file."""
    lines = text.encode().splitlines(keepends=True)

    def place(row: int, column: int) -> int:
        return sum(map(len, lines[: row - 1])) + column

    whole = text.encode()
    for function in [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(function):
            for begin, end, after in _python_changes(node, place):
                before = whole[begin:end].decode()
                source = (whole[:begin] + after.encode() + whole[end:]).decode()
                if "\n" not in before and before != after:
                    yield Fault(path, function.name, getattr(node, "lineno", 0), before, after, source)


def _python_changes(node: ast.AST, place: Callable[[int, int], int]) -> Iterator[tuple[int, int, str]]:
    """Yields begin, end and new text of the changes at a node."""

    def span(one: ast.expr) -> tuple[int, int]:
        return place(one.lineno, one.col_offset), place(one.end_lineno or 0, one.end_col_offset or 0)

    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield span(node.left)[1], span(node.comparators[0])[0], f" {SWAPPED[type(node.ops[0])]} "
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not isinstance(node.left, ast.Constant):
        yield span(node.left)[1], span(node.right)[0], f" {SWAPPED[type(node.op)]} "
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        yield (*span(node), str(node.value + 1))
    if isinstance(node, (ast.If, ast.IfExp)):
        begin, _ = span(node.test)
        yield begin, begin, "not "
    if isinstance(node, ast.Return) and node.value is not None:
        yield (*span(node.value), "None")


def c_faults(path: str, text: str) -> Iterator[Fault]:
    """Yields the faults of the functions of a C file, whose bodies begin and end with a brace at the left margin."""
    lines, function = text.splitlines(keepends=True), ""
    for number, line in enumerate(lines):
        if line.startswith("{"):
            function = re.sub(r"\(.*", "", lines[number - 1]).split()[-1].lstrip("*") if number else ""
        elif line.startswith("}"):
            function = ""
        if not function or line.lstrip().startswith(("*", "/*", "//")) or '"' in line:
            continue
        for pattern, after in C_FAULTS:
            found = re.search(pattern, line)
            if found:
                changed = line[: found.start()] + after + line[found.end() :]
                if pattern.startswith(r"\bif") and not changed.rstrip().endswith(")"):
                    continue
                if pattern.startswith(r"\bif"):
                    changed = re.sub(r"if \(!(.*)\)$", r"if (!(\1))", changed.rstrip("\n")) + "\n"
                source = "".join([*lines[:number], changed, *lines[number + 1 :]])
                yield Fault(path, function, number + 1, line.strip(), changed.strip(), source)


class Copy:
    """A copy of the checkout, in which faults are planted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tests = Tests(root)
        self.sound: dict[str, bool] = {}
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        shutil.copytree(ROOT / "build", root / "build", symlinks=True)
        (root / ".venv").symlink_to(ROOT / ".venv")

    def passes(self, tests: list[str], seconds: int) -> bool:
        """Returns whether tests pass. Tests that do not end in time count as failed."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        settings = dict(os.environ, PYTHONPATH=str(self.root / "report"), PYTHONDONTWRITEBYTECODE="1")
        try:
            done = subprocess.run(
                command, cwd=self.root, env=settings, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, 5)

    def build(self, path: str) -> bool:
        """Builds the part of a C file; returns whether that worked."""
        part = path.split("/")[0]
        done = subprocess.run(["make", "-s", "-C", part, "all"], cwd=self.root, capture_output=True, check=False)
        return done.returncode == 0

    def try_out(self, fault: Fault, seconds: int) -> str:
        """Returns what came of a fault: killed, survived, or a reason why it does not count."""
        tests = self.tests.nearest(fault.path, NEAREST)
        tests = [test for test in tests if self._is_sound(test, seconds)]
        if not tests:
            return "no test"
        target = self.root / fault.path
        whole = target.read_text()
        target.write_text(fault.source)
        try:
            if fault.path.endswith(".c") and not self.build(fault.path):
                return "not built"
            return "survived" if self.passes(tests, seconds) else "killed"
        finally:
            target.write_text(whole)
            if fault.path.endswith(".c"):
                self.build(fault.path)

    def _is_sound(self, test: str, seconds: int) -> bool:
        """Returns whether a test file passes without a fault."""
        if test not in self.sound:
            self.sound[test] = self.passes([test], seconds)
        return self.sound[test]


def drawn_faults(only: str, seed: int) -> Iterator[Fault]:
    """Yields faults in drawn order: a function is drawn first, then one of its faults."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    functions: dict[tuple[str, str], list[Fault]] = {}
    for path in listed:
        is_python = path.startswith("report/iolens/") and path.endswith(".py")
        is_c = path.split("/")[0] in C_PARTS and path.endswith(".c")
        if path.startswith(only) and (is_python or is_c):
            for fault in (python_faults if is_python else c_faults)(path, (ROOT / path).read_text()):
                functions.setdefault((path, fault.function), []).append(fault)
    chance = random.Random(seed)
    names = sorted(functions)
    chance.shuffle(names)
    for name in names:
        yield chance.choice(functions[name])


def main() -> None:
    """Plants faults until enough of them count, and prints each of them and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20, help="number of faults (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="beginning of the paths of the sources")
    parser.add_argument("--seconds", type=int, default=300, help="time limit of the tests of a fault")
    given = parser.parse_args()
    counts = {"killed": 0, "survived": 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # The copy is then removed.
    with tempfile.TemporaryDirectory(prefix="iolens-mutate-") as folder:
        copy = Copy(Path(folder))
        for fault in drawn_faults(given.only, given.seed):
            result = copy.try_out(fault, given.seconds)
            counts[result] = counts.get(result, 0) + 1
            print(
                f"{result:9s} {fault.path}:{fault.line} {fault.function}: {fault.before!r} -> {fault.after!r}",
                flush=True,
            )
            if counts["killed"] + counts["survived"] >= given.n:
                break
    whole = counts["killed"] + counts["survived"]
    print(f"{counts['killed']} of {whole} faults killed ({100 * counts['killed'] / max(whole, 1):.0f} %); {counts}")


if __name__ == "__main__":
    main()
