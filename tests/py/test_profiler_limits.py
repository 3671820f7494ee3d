"""Programs under small limits see and do the same with and without the recorder, in each way of recording."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.lab.run.settings.groups import libraries
from patience import PATIENCE

KIB = 1024
LIMITS = {
    **{f"stack-{kib}": (resource.RLIMIT_STACK, kib * KIB) for kib in (24, 32, 64, 72, 96, 256)},
    **{f"files-{count}": (resource.RLIMIT_NOFILE, count) for count in (4, 5, 6, 8, 12, 70)},
    **{f"size-{size}": (resource.RLIMIT_FSIZE, size) for size in (0, 1, 4500)},
    **{f"memory-{mib}": (resource.RLIMIT_AS, mib * KIB * KIB) for mib in (48, 64, 128)},
    "processes": (resource.RLIMIT_NPROC, 1),
    "locked": (resource.RLIMIT_MEMLOCK, 0),
}
WAYS: dict[str, dict[str, str]] = {
    "plain": {},
    "dxt": {"IOLENS_DXT": "1"},
    "sample": {"IOLENS_SAMPLE": "500"},
    "counters": {"IOLENS_HWPC": "0"},
    "callers": {"IOLENS_IO_CALLERS": "4"},
    "why": {"IOLENS_TIMELINE": "1000", "IOLENS_DXT": "1", "IOLENS_SAMPLE": "500"},
    "trace": {"IOLENS_TRACE": "io"},
}


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def limited(which: int, most: int) -> Callable[[], None]:
    """Returns a function that sets the limit in a child before the program is loaded."""
    return lambda: resource.setrlimit(which, (most, resource.getrlimit(which)[1]))


def ended(
    program: Path, folder: Path, limit: str, environment: dict[str, str] | None
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [program],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=limited(*LIMITS[limit]),
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limited_program_does_not_notice(limit: str, way: str, tmp_path: Path) -> None:
    program = harness.build_program("limited")
    alone = ended(program, tmp_path / "alone", limit, None)
    environment = harness.environment(tmp_path, **WAYS[way])
    if way == "trace":
        traced = [str(path) for path in libraries(["io", "heap", "pthreads"])]
        environment["LD_PRELOAD"] = ":".join([*traced, environment["LD_PRELOAD"]])
    done = ended(program, tmp_path / "recorded", limit, environment)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), done.stderr
    assert done.returncode == 7
    said = done.stderr.splitlines()
    assert len(said) <= 4, "two processes have no spool and no place for a log"
    assert all(line.startswith("iolens: ") for line in said)
