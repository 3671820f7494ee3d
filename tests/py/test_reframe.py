"""The mixin for ReFrame records a test's program, and fails the test beyond a limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TEST = f"""
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, sanity_function
from iolens_reframe import IolensCheck

@rfm.simple_test
class Writes(rfm.RunOnlyRegressionTest, IolensCheck):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    count = parameter([4, 8])
    executable = {sys.executable!r}
    iolens_against = BASE
    iolens_limits = ["posix_calls_write>+50%"]

    @run_after("init")
    def use_program(self):
        self.executable_opts = ["-S", PROGRAM, str(self.count)]

    @sanity_function
    def has_ended(self):
        return sn.assert_found("done", self.stdout)
"""
PROGRAM = """
import sys
with open("data", "wb", 0) as file:
    for _ in range(int(sys.argv[1])):
        file.write(bytes(100))
print("done")
"""


@pytest.mark.skipif(shutil.which("reframe") is None, reason="ReFrame is not installed")
def test_a_broken_limit_fails_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, test = tmp_path / "program.py", tmp_path / "writes.py"
    program.write_text(PROGRAM)
    test.write_text(f"BASE, PROGRAM = {str(tmp_path / 'base')!r}, {str(program)!r}\n{TEST}")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--output", "base", "--", sys.executable, "-S", str(program), "4"]) == 0
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}/packaging/reframe")
    command = ["reframe", "--nocolor", "-c", test, "-r", "--prefix", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "OK ] (1/2) Writes %count=4" in done.stdout
    assert "iolens check: 1 of 1 limit broken; posix_calls_write" in done.stdout
    assert len(list(tmp_path.glob("output/**/iolens/*.darshan"))) == 1
