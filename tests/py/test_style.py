"""The checks of words and of commit messages find the faults that they describe, and accept good texts."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

STYLE = Path(__file__).parents[1] / "style"


def check_of(name: str) -> ModuleType:
    """Imports a check from its folder as a module."""
    spec = importlib.util.spec_from_file_location(name, STYLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LONG = " ".join(["word"] * 36)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.py", '"""Returns all."""\nNAME = "Of an average rank."\n', 'a message begins with "Of"'),
        ("a.py", '"""Whether it is so."""\n', 'begins with "Whether"'),
        ("a.py", '"""Returns all."""\nNAME = f"{1} is heeded"\n', '"heeded"'),
        ("a.py", '"""Returns all."""\n# Of all ranks.\n', 'begins with "Of"'),
        ("a.py", 'def f() -> int:\n    """The ranks of a job."""\n    return 1\n', 'begins with "The"'),
        ("a.py", 'RANKS = 4\n"""Returns the ranks."""\n', '"Returns" below a constant'),
        ("a.py", 'def f() -> None:\n    """Returns the ranks."""\n', '"Returns" on a function that returns None'),
        (
            "a.py",
            'def f() -> None:\n    """Yields the ranks."""\n    yield 1\n',
            '"Yields" on a function that returns None',
        ),
        (
            "a.py",
            'def f() -> Ints:\n    """Returns the ranks."""\n    yield 1\n',
            '"Returns" on a function that yields',
        ),
        ("a.py", 'def f() -> Ints:\n    """Yields the ranks."""\n    return g()\n', '"Yields" on a function'),
        ("a.c", 'int f(void) { return say("whence"); }\n', '"whence"'),
        ("a.c", "/* Returns the\n * rank. */\nstatic void f(int *rank)\n{\n}\n", '"Returns" on a function of type'),
        ("a.h", "/* Reads a piece; returns when the data is there. */\ndouble f(void);\n", '"returns when"'),
        ("a.c", "/* What it is. */\n", 'begins with "What"'),
        ("a.h", "int bytes; /* of one transfer */\n", 'begins with "of"'),
        ("a.md", f"# Title\n\nShort. {LONG}.\n", "36 words"),
        ("a.md", "It heeds them.\n", '"heeds"'),
    ],
)
def test_a_fault_is_found(name: str, text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    (found,) = check_of("plain_words").faults(tmp_path / name)
    assert fault in found


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.py", 'X = 1\n"""Used by `gone_name`."""\n', ["no file has the name gone_name"]),
        ("a.py", '_ROWS = 1\n"""Least of `ROWS`."""\n', ["in this file ROWS has an underscore in front"]),
        ("a.c", "/* See `gone_name`. */\nint x;\n", ["no file has the name gone_name"]),
        ("a.py", '_USED = 1\n"""Read by `b.used`, in `_USED`."""\n', []),
    ],
)
def test_a_name_in_a_comment_exists(name: str, text: str, fault: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(STYLE))
    files = {Path(name): text, Path("b.c"): "/* Not `a`. */ int used, X1, b;\n"}
    assert [found.split(": ", 1)[1] for found in check_of("comment_names").faults(files)] == fault


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", '"""Returns the ranks of a job."""\nNAME = "Which ranks wait?"\n'),
        ("a.py", 'def f() -> int:\n    """Returns a sum."""\n    def g():\n        yield 1\n    return sum(g())\n'),
        ("a.c", "/* The ranks of a job. */\n"),
        ("a.h", "/* Returns the ranks. */\nvoid *f(void);\n\n/* Returns 1. */\nint g(void);\nvoid h(void);\n"),
        (
            "a.md",
            f"# Of titles\n\n| Of a table | {LONG} |\n\n```\n{LONG}\n```\n\nA word (`{LONG}`) and:\n- {LONG[:99]}\n",
        ),
    ],
)
def test_plain_text_has_no_fault(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert check_of("plain_words").faults(tmp_path / name) == []


@pytest.mark.parametrize(
    ("message", "count"),
    [
        ("sampling: hold the signal back\n\nIt came too early.\n", 0),
        ("advise, log: follow the words\n\nThey changed.\n", 0),
        ("sampling: hold the signal back\n", 1),
        ("hold the signal back\n\nIt came too early.\n", 1),
        (f"sampling: {'x' * 70}\n\nIt came too early.\n", 1),
    ],
)
def test_a_commit_names_its_part_and_its_reason(message: str, count: int) -> None:
    assert len(check_of("commits").faults("abc", message)) == count


def test_the_commits_since_the_rule_keep_it() -> None:
    done = subprocess.run(
        [sys.executable, STYLE / "commits.py"], cwd=STYLE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
