"""The #include graph of the profiler: folders in one direction, and no circles."""

from __future__ import annotations

import re
from pathlib import Path

import profiler_harness as harness

SOURCE = harness.ROOT / "profiler/src"


def includes() -> list[tuple[Path, Path]]:
    """Which headers and sources include which headers and tables."""
    found = []
    for path in sorted(SOURCE.rglob("*.[ch]")):
        for name in re.findall(r'^#include "(.+)"', path.read_text(), re.M):
            target = (path.parent / name).resolve()
            assert target.exists(), f"{path} includes {name}, which is not there"
            found.append((path.relative_to(SOURCE), target.relative_to(SOURCE)))
    return found


def part(path: Path) -> str:
    """NAME.c and NAME.h are one."""
    return str(path.with_suffix("") if path.suffix in (".c", ".h") else path)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A way from a node back to it; empty when there is none."""
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


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
