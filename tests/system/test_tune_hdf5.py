"""Tests HDF5 settings as a factor of `iolens tune`: each run gets its own value, and its datasets lie where the value
demands.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.log import read_log
from iolens.metrics.job.interfaces.hdf5 import hdf5_settings

LIBRARIES = Path(__file__).resolve().parents[2] / "build/obj/workloads/libraries.mk"

EXPERIMENT = """
name: hdf5
workload: {program: ior, arguments: [-a, HDF5, -c, -w, -b, 300k, -t, 100k, -s, 2], ranks: 2}
storage: {kind: directory}
matrix:
  datasets:
    as they come: {}
    aligned: {hdf5: "*:alignment=64K:threshold=1000"}
keep: {data: always}
confirm: 0
"""

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(shutil.which("h5ls") is None, reason="h5ls is not installed")]


def test_levels_of_hdf5_settings_take_effect_in_a_search(tmp_path: Path) -> None:
    if "HAVE_HDF5" not in LIBRARIES.read_text():
        pytest.skip("no parallel HDF5 for this MPI")
    (tmp_path / "e.yaml").write_text(EXPERIMENT, encoding="utf-8")
    assert main(["tune", str(tmp_path / "e.yaml"), "--results", str(tmp_path)]) == 0
    steps = json.loads((tmp_path / "hdf5/tuning.json").read_text())["steps"]
    assert sorted(step["run"] for step in steps) == ["datasets-aligned/rep-1", "datasets-as-they-come/rep-1"]
    for name, given in (("aligned", {("alignment", "65536"), ("threshold", "1000")}), ("as-they-come", set())):
        (run,) = (tmp_path / "hdf5/points").glob(f"datasets-{name}/rep-1")
        (log,) = run.glob("*.darshan")
        settings = hdf5_settings(read_log(log))
        assert set(settings.rows("key", "effective")) == given if len(settings) else not given
        listed = subprocess.run(
            ["h5ls", "-rva", tmp_path / f"hdf5/data/datasets-{name}_rep-1/testFile"],
            capture_output=True,
            text=True,
            check=True,
        )
        places = [int(place) for place in re.findall(r"Address: *(\d+)", listed.stdout)]
        assert places
        assert {place % 2**16 for place in places} == {0} if given else any(place % 2**16 for place in places)
