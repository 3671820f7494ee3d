"""Programs of every kind end, print and write the same with and without the profiler; `make harm` runs all kinds."""

from __future__ import annotations

import sys
from pathlib import Path

import profiler_harness as harness
import pytest

sys.path.insert(0, str(harness.ROOT / "tests/harm"))
from compare import WAYS, Way, differences
from kinds import KINDS

QUICK = [
    "exit code",
    "pipes",
    "redirections",
    "background jobs",
    "descriptors: watches_itself",
    "traps",
    "perl forks",
    "alternate stacks",
    "processes: many_threads",
    "mapped: in_handler",
    "mapped: moved",
    "rings: closed_by_dup",
    "rings: closed_by_number",
    "rings: deep",
    "rings: garbage",
    "rings: wrong_positions",
]
CHOSEN = [way for way in WAYS if way.name in ("plain", "sample", "together")]


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("name", QUICK)
def test_nothing_differs(name: str, tmp_path: Path) -> None:
    (kind,) = [kind for kind in KINDS if kind.name == name]
    ((_, cells),) = differences([kind], CHOSEN, tmp_path)
    if cells[0].startswith("skipped"):
        pytest.skip(cells[0])
    assert cells == [""] * len(CHOSEN)


def test_a_difference_is_found(tmp_path: Path) -> None:
    """A setting makes the profiler print on standard error, which must be reported as a difference."""
    (kind,) = [kind for kind in KINDS if kind.name == "exit code"]
    ((_, cells),) = differences([kind], [Way("speaks", settings=(("IOLENS_DUMP_CONFIG", "1"),))], tmp_path)
    assert cells == ["stderr"]


def test_kinds_have_names_of_their_own() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) > 50
