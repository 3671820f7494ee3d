"""Transfers by libaio are recorded; for io_submit without libaio, the log says that they are missing. Signals of
sampling end no wait in a ring.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import Job, read_log
from iolens.pages.base.blocks import Text, laid_out
from iolens.pages.job.job_document import PAGES


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def has_header(name: str, function: str = "") -> bool:
    """Returns True if the compiler finds a header or, if `function` is given, a header that declares this function."""
    command = ["gcc", "-E", "-x", "c", "-"]
    done = subprocess.run(command, input=f"#include <{name}>", capture_output=True, text=True, check=False)
    return done.returncode == 0 and function in done.stdout


def job_of(folder: Path, program: Path) -> tuple[Job, str]:
    """Runs a program; returns its log and its output."""
    done = harness.run(program, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    if done.stdout.startswith("none: "):
        pytest.skip(f"this kernel makes no rings ({done.stdout[6:].strip()})")
    (path,) = harness.logs(folder)
    return read_log(path), done.stdout


def test_requests_of_libaio_count_when_they_complete(tmp_path: Path) -> None:
    if not has_header("libaio.h"):
        pytest.skip("libaio.h is not installed")
    job, said = job_of(tmp_path, harness.build_program("posix_libaio", "-Wl,--no-as-needed", "-laio"))
    report = harness.read_log(job.path)
    for expectation in harness.expectations(said):
        found = harness.counters(report, expectation.path)
        for name in [n for n in found if n.startswith(("POSIX_ACCESS", "POSIX_STRIDE", "POSIX_FASTEST", "POSIX_MAX_"))]:
            expectation.counters.setdefault(name, harness.ANY)
        assert harness.differences(expectation, found) == {}
    unfollowed = job.private["unfollowed"].to_dict("list")
    assert {name: counts for name, counts in unfollowed.items() if counts != [0]} == {"io_submit": [1]}
    (sentence,) = job.unfollowed
    texts = [block.text for page in laid_out(PAGES, job) for block in page.blocks if isinstance(block, Text)]
    assert any(sentence in text for text in texts)


def test_waits_for_either_end_no_earlier_under_sampling(tmp_path: Path) -> None:
    if not has_header("liburing.h", "io_uring_enter2") or not has_header("libaio.h", "io_pgetevents"):
        pytest.skip("liburing.h of 2.3 or later, or libaio.h with io_pgetevents, is not installed")
    program = harness.build_program("sampling_rings", "-Wl,--no-as-needed", "-luring", "-laio")
    done = harness.run(program, folder=tmp_path, IOLENS_SAMPLE="1000")
    if done.stdout.startswith("none: "):
        pytest.skip(f"this kernel makes no rings ({done.stdout[6:].strip()})")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_waits_of_a_static_liburing_end_no_earlier_under_sampling(tmp_path: Path) -> None:
    """Its system calls pass every wrapper."""
    if not has_header("liburing.h", "io_uring_enter2") or not has_header("libaio.h", "io_pgetevents"):
        pytest.skip("liburing.h of 2.3 or later, or libaio.h with io_pgetevents, is not installed")
    source, program = harness.ROOT / "tests/c/sampling_rings.c", tmp_path / "static_rings"
    command = ["gcc", "-D_GNU_SOURCE", "-w", "-o", program, source, "-l:liburing.a", "-laio"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no static liburing")
    done = harness.run(program, folder=tmp_path, IOLENS_SAMPLE="1000")
    if done.stdout.startswith("none: "):
        pytest.skip(f"this kernel makes no rings ({done.stdout[6:].strip()})")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_without_them_says_nothing(tmp_path: Path) -> None:
    job, _ = job_of(tmp_path, harness.build_program("posix_pattern"))
    assert "unfollowed" not in job.private
    assert job.unfollowed == ()
