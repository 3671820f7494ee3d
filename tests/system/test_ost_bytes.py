"""Compares the bytes per storage target in the log with the accounts of the emulated storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from iolens.figures.job_transfers import byte_bars
from iolens.lab.storage.backends import set_stripes
from iolens.lab.storage.emulated import EMULATED, JobStatus, job_status, make_mount
from iolens.lab.storage.layout import Layout
from iolens.log import Job, read_log
from iolens.metrics.files.stripes.ost import stripe_ranks, target_bytes
from iolens.pages.exhibits.striping import TARGET_BYTES
from mpi_libraries import ROOT, library
from own_words import complaints
from test_profiler_mpi import programs, start, the_log

__all__ = ["programs"]

SHIM = ROOT / "build" / "lib" / "libost.so"

pytestmark = pytest.mark.mpi


def on_stripes(folder: Path, command: Path, ranks: int, **settings: str) -> tuple[Job, JobStatus]:
    """Runs an MPI program on four stripes of 64 KiB; returns the log and the storage's accounts."""
    (folder / "mnt").mkdir()
    mount = make_mount(folder / "mnt", ROOT / "storage" / "ost.yaml")
    set_stripes(mount, Layout(4, 65536, start=10))
    storage: Mapping[str, str] = EMULATED.environment(mount, "job")
    done = start(
        mount,
        ranks,
        command,
        mount,
        preload=f"{library(command.parent.name).preload}:{SHIM}",
        **{**storage, **settings},
    )
    assert done.returncode == 0, done.stderr
    return read_log(the_log(mount)), job_status(mount, "job")


def test_they_are_those_that_the_storage_moved(programs: Path, tmp_path: Path) -> None:
    job, books = on_stripes(tmp_path, programs / "mpi_stripes", 3, IOLENS_DXT="1")
    assert complaints(books) == []
    found = target_bytes(job)
    assert found.table is not None
    ours = {int(row.ost): int(row.bytes_read + row.bytes_written) for row in found.table.frame().itertuples()}
    assert ours == {index: target.bytes for index, target in enumerate(books.targets) if target.bytes}
    assert sum(ours.values()) == 3 * 2 * 1_000_000

    without = replace(job, private={})
    traced = target_bytes(without)
    assert traced.table is not None
    assert traced.table.frame().equals(found.table.frame())
    untraced = replace(without, frames={key: frame for key, frame in job.frames.items() if "DXT" not in key})
    assert target_bytes(untraced).table is None
    assert "DXT" in target_bytes(untraced).reason

    stripes = stripe_ranks(job).frame()
    assert stripes is not None
    (shared,) = [row for row in stripes.itertuples() if row.path.endswith("/shared")]
    assert (shared.stripes, shared.fewest_ranks, shared.most_ranks) == (4, 3, 3)
    assert len(TARGET_BYTES.table(job).rows) == 4
    assert byte_bars(found.table) is not None
