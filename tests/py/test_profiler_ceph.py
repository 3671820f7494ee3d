"""Tests layouts on CephFS, which a preloaded library plays; `make cephfs-test` reads those of a real one."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.errors import IolensError
from iolens.lab.predict.recorded import read_recorded
from iolens.lab.predict.settings import ChangedSettings, predicted_layouts
from iolens.log import Job, read_log
from iolens.pages.exhibits.striping import CEPH_LAYOUTS

LAYOUT = "stripe_unit=1048576 stripe_count=4 object_size=8388608 pool=data.fast"


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    harness.build_library()
    target = tmp_path_factory.mktemp("ceph") / "libceph.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", target, harness.ROOT / "tests/c/ceph_shim.c"], check=True)
    return target


def recorded(folder: Path, shim: Path, layout: str, **settings: str) -> Job:
    """Returns the log of a program that writes three files, each of which has this layout."""
    settings |= {"LD_PRELOAD": f"{harness.PRELOAD}:{shim}", "CEPH_LAYOUT": layout}
    assert harness.run(harness.build_program("posix_many"), "3", folder=folder, **settings).returncode == 0
    (log,) = harness.logs(folder)
    return read_log(log)


def rows(job: Job) -> list[Mapping[str, Any]]:
    return list(job.private["ceph_layouts"].drop(columns="file").to_dict("records"))


def test_the_log_has_the_layout_of_each_file(tmp_path: Path, shim: Path) -> None:
    job = recorded(tmp_path, shim, LAYOUT)
    wanted = {"stripe_count": 4, "stripe_unit": 1 << 20, "object_size": 8 << 20, "pool": "data.fast"}
    assert rows(job) == [wanted] * 3
    assert {*job.private["ceph_layouts"]["file"]} == {*job.frames["POSIX"]["id"]}
    (shown,) = CEPH_LAYOUTS.table(job).rows
    assert [*map(str, shown)][:5] == ["4", "1 MiB", "8 MiB", "data.fast", "3"]


@pytest.mark.parametrize(
    ("layout", "pool"),
    [
        ("stripe_unit=65536 stripe_count=2 object_size=131072 pool=a pool_namespace=b", "a"),
        ("stripe_unit=65536 stripe_count=2 object_size=131072 pool=" + 100 * "p", 63 * "p"),
        ("stripe_unit=65536 stripe_count=2 object_size=131072", ""),
    ],
)
def test_pools_are_words_of_the_layout(tmp_path: Path, shim: Path, layout: str, pool: str) -> None:
    assert [row["pool"] for row in rows(recorded(tmp_path, shim, layout))] == [pool] * 3


def test_another_attribute_than_expected_is_no_layout(tmp_path: Path, shim: Path) -> None:
    job = recorded(tmp_path, shim, "nonsense")
    assert "ceph_layouts" not in job.private or job.private["ceph_layouts"].empty


def test_a_file_system_without_such_layouts_is_asked_once(tmp_path: Path, shim: Path) -> None:
    preload = f"{harness.PRELOAD}:{shim}"
    done = harness.run(harness.build_program("posix_many"), "3", folder=tmp_path, LD_PRELOAD=preload)
    assert "asked 1 times" in done.stderr


def test_files_without_known_targets_start_on_consecutive_ones(tmp_path: Path, shim: Path) -> None:
    found = read_recorded(recorded(tmp_path, shim, LAYOUT, IOLENS_DXT="1"))
    layouts = predicted_layouts(found, ChangedSettings(), 12)
    assert sorted((one.start, one.stripe_count, one.stripe_size) for one in layouts.values()) == [
        (start, 4, 1 << 20) for start in (0, 4, 8)
    ]


def test_more_objects_than_stripes_cannot_be_replayed(tmp_path: Path, shim: Path) -> None:
    job = recorded(tmp_path, shim, "stripe_unit=1 stripe_count=1 object_size=1 pool=data", IOLENS_DXT="1")
    with pytest.raises(IolensError, match="more objects than stripes"):
        read_recorded(job)
