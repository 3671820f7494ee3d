"""The modifier for Ramble records an experiment's programs, and fails the experiment beyond a limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPLICATION = """
from ramble.appkit import OUTPUT_CAPTURE, ExecutableApplication, executable, figure_of_merit
from ramble.appkit import success_criteria, workload, workload_variable

class Writes(ExecutableApplication):
    \"\"\"Writes so many times.\"\"\"

    name = "writes"
    executable("write", PROGRAM + " {count}", use_mpi=True, output_capture=OUTPUT_CAPTURE.ALL)
    workload("standard", executable="write")
    workload_variable("count", default="4", description="number of writes", workloads=["standard"])
    figure_of_merit("end", fom_regex=r"(?P<end>done)", group_name="end")
    success_criteria("ended", mode="string", match="done")
"""
PROGRAM = """
import sys
with open("data", "wb", 0) as file:
    for _ in range(int(sys.argv[1])):
        file.write(bytes(100))
print("done")
"""
WORKSPACE = """
ramble:
  variants: {package_manager: null}
  modifiers: [{name: iolens}]
  variables:
    mpi_command: env
    batch_submit: '{execute_experiment}'
    processes_per_node: 1
    n_ranks: 1
    iolens_against: AGAINST
    iolens_limits: --fail 'posix_calls_write>+50%'
  applications:
    writes:
      workloads:
        standard:
          experiments:
            trial:
              variables: {count: COUNT}
"""


@pytest.mark.skipif(shutil.which("ramble") is None, reason="Ramble is not installed")
def test_a_broken_limit_fails_the_experiment(tmp_path: Path) -> None:
    settings = os.environ | {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def ramble(*words: str | Path) -> None:
        subprocess.run(["ramble", *words], env=settings, check=True, capture_output=True)

    def results(name: str, count: int, against: str) -> str:
        folder = tmp_path / name
        ramble("workspace", "create", "-d", folder)
        text = WORKSPACE.replace("COUNT", str(count)).replace("AGAINST", against)
        (folder / "configs/ramble.yaml").write_text(text)
        for words in (["workspace", "setup"], ["on"], ["workspace", "analyze"]):
            ramble("-D", folder, *words)
        return (folder / "results.latest.txt").read_text()

    (tmp_path / "program.py").write_text(PROGRAM)
    application = tmp_path / "trial/applications/writes/application.py"
    application.parent.mkdir(parents=True)
    (tmp_path / "trial/application_repo.yaml").write_text("repo:\n  namespace: trial\n")
    application.write_text(f"PROGRAM = {f'{sys.executable} -S {tmp_path}/program.py'!r}\n{APPLICATION}")
    ramble("repo", "add", "--type", "applications", tmp_path / "trial")
    ramble("repo", "add", "--type", "modifiers", ROOT / "packaging/ramble")
    base = results("base", 4, "''")
    assert "Status = SUCCESS" in base
    assert "verdict = " in base
    (logs,) = tmp_path.glob("base/experiments/**/iolens")
    assert "Status = SUCCESS" in results("same", 4, str(logs))
    assert "Status = FAILED" in results("more", 8, str(logs))
    (said,) = tmp_path.glob("more/experiments/**/iolens-check.txt")
    assert "1 of 1 limit broken; posix_calls_write +" in said.read_text()
