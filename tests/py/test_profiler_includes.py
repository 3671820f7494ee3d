"""The #include graph of the profiler: folders in one direction, and no circles."""

from __future__ import annotations

import re
from pathlib import Path

import profiler_harness as harness

SOURCE = harness.ROOT / "profiler/src"
APART = ("mpi", "trace")
"""Folders whose files are built into libraries of their own."""


def includes() -> list[tuple[Path, Path]]:
    """Returns pairs of a source and a file that it includes, without the list of calls shared with storage."""
    found = []
    for path in sorted(SOURCE.rglob("*.[ch]")):
        for name in re.findall(r'^#include "(.+)"', path.read_text(), re.M):
            target = (path.parent / name).resolve()
            if target.exists():
                found.append((path.relative_to(SOURCE), target.relative_to(SOURCE)))
            else:
                assert (harness.ROOT / name).is_relative_to(harness.ROOT / "calls"), f"{path} includes {name}"
    return found


def folders() -> list[str]:
    """Returns the library's folders in order; each may include from itself, from earlier ones, and from the lists and
    interfaces outside these folders.
    """
    makefile = (harness.ROOT / "profiler/Makefile").read_text()
    (line,) = re.findall(r"^FOLDERS := (.+)$", makefile, re.M)
    return [*line.split(), "recover"]


def part(path: Path) -> str:
    """Returns one name for NAME.c and NAME.h."""
    return str(path.with_suffix("") if path.suffix in (".c", ".h") else path)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Returns a way from a node back to itself; empty if there is none."""
    done: set[str] = set()

    def walk(way: list[str]) -> list[str]:
        for name in sorted(graph.get(way[-1], ())):
            if name in way:
                return [*way[way.index(name) :], name]
            if name not in done and (found := walk([*way, name])):
                return found
        done.add(way[-1])
        return []

    for name in sorted(graph):
        if found := walk([name]):
            return found
    return []


def test_no_circle_of_parts() -> None:
    graph: dict[str, set[str]] = {}
    for source, target in includes():
        if part(source) != part(target):
            graph.setdefault(part(source), set()).add(part(target))
    assert not circle(graph), " -> ".join(circle(graph))


def test_no_circle_of_folders() -> None:
    graph: dict[str, set[str]] = {}
    for source, target in includes():
        if source.parent != target.parent:
            graph.setdefault(str(source.parent), set()).add(str(target.parent))
    assert not circle(graph), " -> ".join(circle(graph))


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_folders_include_in_one_direction() -> None:
    order = folders()
    assert {path.name for path in SOURCE.iterdir() if path.is_dir()} == {*order, *APART}
    below = {name: {*order[: index + 1], ""} for index, name in enumerate(order)}
    below |= {name: {name, ""} for name in APART}
    wrong = [
        f"{source} includes {target}"
        for source, target in includes()
        if folder(source) and folder(target) not in below[folder(source)]
    ]
    assert not wrong


def folder(path: Path) -> str:
    """Returns the folder of a file below SOURCE; empty for a file in SOURCE itself, such as the interface to the
    adapters and the lists of modules and tables.
    """
    return path.parts[0] if len(path.parts) > 1 else ""


def test_nothing_includes_modules() -> None:
    """Code outside a module reaches the module only through its row in a table."""
    wrong = [
        f"{source} includes {target}" for source, target in includes() if folder(target) == "modules" != folder(source)
    ]
    assert not wrong
