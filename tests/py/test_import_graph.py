"""Imports in report/iolens go one way: the test names which folder may import which, and finds circles."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import iolens
import pytest

ROOT = Path(iolens.__file__).parent

LAB = {
    "lab",
    "lab.recovery",
    "lab.storage",
    "lab.workloads",
    "lab.outputs",
    "lab.run",
    "lab.launchers",
    "lab.sweep",
    "lab.sweep.define",
    "lab.sweep.plan",
    "lab.sweep.perform",
    "lab.sweep.read",
    "lab.io500",
    "lab.doctor",
    "lab.subjects",
    "lab.tune",
    "lab.predict",
    "lab.mimic",
}

SWEEP = ("lab.sweep.define", "lab.sweep.plan", "lab.sweep.perform", "lab.sweep.read")
"""The folders of a sweep's steps; each may import only earlier ones."""

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "extras": set(),
    "foreign": {"errors"},
    "lazy": set(),
    "memory": set(),
    "missing": set(),
    "places": set(),
    "log": {"errors"},
    "symbols": {"errors"},
    "metrics": {"errors", "log", "symbols"},
    "exports": {"errors", "log", "symbols"},
    "advise": {"errors", "log", "metrics"},
    "forest": {"errors", "log", "metrics"},
    "fleet": {"errors", "log", "metrics", "advise", "forest"},
    "figures": {"errors", "metrics"},
    "lab": {"errors"},
    "lab.recovery": {"errors", "log", "lab"},
    "lab.storage": {"errors", "lab"},
    "lab.workloads": {"errors", "lab"},
    "lab.outputs": {"errors", "metrics", "lab.workloads"},
    "lab.run": {"errors", "log", "symbols", "metrics", "lab", "lab.recovery", "lab.storage"},
    "lab.launchers": {"errors", "lab", "lab.run", "lab.storage"},
    "lab.sweep.define": {
        *("errors", "metrics", "lab", "lab.storage", "lab.workloads", "lab.run", "lab.launchers"),
    },
    "lab.sweep.plan": {
        *("errors", "log", "lab", "lab.storage", "lab.workloads", "lab.run", "lab.launchers", "lab.sweep.define"),
        "lab.mimic",
    },
    "lab.sweep.perform": {
        *("errors", "log", "metrics", "lab.storage", "lab.workloads", "lab.run", "lab.launchers", "lab"),
        *("lab.sweep.define", "lab.sweep.plan"),
    },
    "lab.sweep.read": {"errors", "log", "metrics", "lab", "lab.outputs", "lab.run", "lab.sweep.define"},
    "lab.sweep": {"errors", "lab.run", *SWEEP},
    "lab.io500": {"errors", "lab", "lab.workloads", "lab.run", "lab.launchers"},
    "lab.subjects": {"errors", "log", "metrics", "lab.outputs", "lab.sweep.read"},
    "lab.tune": {"errors", "metrics", "lab", "lab.run", "lab.sweep", *SWEEP},
    "lab.doctor": {
        *(
            "errors",
            "log",
            "metrics",
            "lab",
            "lab.recovery",
            "lab.storage",
            "lab.workloads",
            "lab.run",
            "lab.launchers",
        ),
    },
    "pages": {
        *("errors", "log", "metrics", "advise", "forest", "fleet", "figures"),
        *("lab.recovery", "lab.storage", "lab.tune", "lab.predict"),
        *("lab.sweep.plan", "lab.sweep.perform", "lab.sweep.read"),
    },
    "course": {"errors", "metrics", "lab", "lab.sweep.define", "lab.sweep.read"},
    "cli": {"errors", "log", "symbols", "metrics", "advise", "forest", "fleet", "exports", "pages", "course", *LAB},
    "lab.predict": {"errors", "log", "metrics", "lab", "lab.storage", "lab.run"},
    "lab.mimic": {"errors", "log", "lab"},
}
"""For each folder of the package, the other folders that its files may import besides those in OPEN: log and symbols →
metrics → figures → pages, metrics → lab → pages, and the command line last. In the lab: shared code, then recovery,
storage and workloads, one run, launchers, sweeps; in a sweep: define → plan → perform → read.
"""


OPEN = {"extras", "foreign", "lazy", "memory", "missing", "places"}
"""Modules that every file may import."""


def name_of(path: Path) -> str:
    """Returns the module name of a file."""
    words = ("iolens", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def room_of(module: str) -> str:
    """Returns the innermost folder of a module; empty for the package itself."""
    inner = module.removeprefix("iolens").removeprefix(".")
    rooms = [room for room in MAY_IMPORT if f"{inner}.".startswith(f"{room}.")]
    return max(rooms, key=len, default="")


@cache
def imports_of(module: str) -> frozenset[str]:
    """Returns the package's own modules that a module imports, also inside functions and for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & FILES.keys() or {node.module}
    return frozenset(found & FILES.keys() - {"iolens"})


@pytest.mark.parametrize("module", FILES)
def test_a_file_imports_earlier_rooms_only(module: str) -> None:
    room = room_of(module)
    if not room:
        assert module in ("iolens", "iolens.__main__")
        return
    later = {other for other in imports_of(module) if room_of(other) not in {room, *OPEN, *MAY_IMPORT[room]}}
    assert not later, f"{module} is in {room}, which does not import {', '.join(sorted(later))}"


def test_pandas_is_imported_in_one_way() -> None:
    """Files take pandas from `iolens.lazy`; the package itself names it for the types of its interface alone."""
    importing = {module for module, path in FILES.items() if "import pandas" in path.read_text(encoding="utf-8")}
    assert importing == {"iolens", "iolens.lazy"}


def test_the_rooms_stand_in_a_line() -> None:
    assert list(TopologicalSorter(MAY_IMPORT).static_order())


def test_no_files_import_one_another() -> None:
    assert list(TopologicalSorter({module: imports_of(module) for module in FILES}).static_order())


@pytest.mark.parametrize("module", FILES)
def test_no_value_is_compared_with_itself(module: str) -> None:
    """Code must call `is_nan`, because a comparison of a value with itself looks like a mistake."""
    if module == "iolens.missing":
        return
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    comparisons = [node for node in ast.walk(tree) if isinstance(node, ast.Compare) and len(node.ops) == 1]
    itself = [ast.unparse(node) for node in comparisons if ast.dump(node.left) == ast.dump(node.comparators[0])]
    assert not itself, f"{module} compares {', '.join(itself)}"


def private_names(path: Path) -> list[str]:
    """Returns the names beginning with `_` that a file imports from modules of the package."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = [node for node in imports if (node.module or "").split(".")[0] == "iolens"]
    names = {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in own for alias in node.names}
    modules = {name for name, full in names.items() if full in FILES}
    found = [full for full in names.values() if re.search(r"\._(?!_)\w+$", full)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found += [f"{node.value.id}.{node.attr}"] if re.match("_(?!_)", node.attr) else []
    return found


def test_private_names_stay_in_their_files() -> None:
    """Files must not import names that begin with `_`, since these may change at any time; tests included."""
    files = [*FILES.values(), *(ROOT.parents[1] / "tests").rglob("*.py")]
    taken = {path.name: found for path in files if (found := private_names(path))}
    assert not taken, f"private names are used elsewhere: {taken}"


def test_a_private_name_taken_from_elsewhere_is_found(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("from iolens.pages import text\nfrom iolens.log.job import _one\ntext._two()\ntext.__doc__\n")
    assert private_names(path) == ["iolens.log.job._one", "text._two"]
