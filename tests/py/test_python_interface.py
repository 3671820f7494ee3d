"""Tests `import iolens`: a log as frames, the tables of the report, and the notebook that shows them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import iolens
import pytest
from iolens.log import LogError

ROOT = Path(__file__).parents[2]
LOG = ROOT / "tests" / "data" / "darshan" / "mpi-io-test-x86_64-3.5.0.darshan"
NOTEBOOK = ROOT / "course" / "a-log-in-python.ipynb"


def test_a_log_is_frames() -> None:
    log = iolens.open(str(LOG))
    assert (log.nprocs, log.frames["POSIX"]["POSIX_BYTES_WRITTEN"].sum()) == (4, 67108864)
    with pytest.raises(LogError, match="cannot be read"):
        iolens.open("/no/such.darshan")


def test_the_tables_of_the_report_are_frames() -> None:
    found = iolens.tables(iolens.open(LOG))
    assert set(found["index"]["name"]) | {"index"} == set(found)
    assert found["job"]["nprocs"].tolist() == [4]


def test_importing_it_costs_nothing() -> None:
    code = "import iolens, sys; assert not {'numpy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_types_go_with_it() -> None:
    assert (Path(iolens.__file__).parent / "py.typed").exists()


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    said = capsys.readouterr().out
    assert "496 processes ran 1479 s" in said
    assert "GiB" in said.splitlines()[1]
    assert "% of the run" in said
