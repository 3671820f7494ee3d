"""The batch script of some runs of a sweep, made from slurm/job.sh."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from iolens.lab.installation import batch_folder
from iolens.lab.launchers.launcher import RunSpec

_NOTICE = 60
"""Number of seconds before the time limit at which Slurm signals the script."""

TIME = 600
"""Default time limit of one run in seconds."""

DIRECTIVES: Mapping[str, str] = {
    "partition": "--partition={}",
    "account": "--account={}",
    "qos": "--qos={}",
    "constraint": "--constraint={}",
    "reservation": "--reservation={}",
}
"""Options that are passed on to sbatch as they are."""


def script(name: str, tasks: Sequence[RunSpec], output: str) -> str:
    """Returns the script that performs these runs one after the other. `name` is the name of the job; of several jobs
    with the same name, Slurm runs only one at a time.
    """
    options = tasks[0].options
    folder = batch_folder()
    template = Template((folder / "job.sh").read_text(encoding="utf-8"))
    return template.substitute(
        directives="\n".join(f"#SBATCH {line}" for line in _directives(name, tasks, output)),
        modules="\n".join(f"module load {shlex.quote(module)}" for module in options.get("modules", ())) or ":",
        folder=shlex.quote(str(folder)),
        iolens=shlex.quote(str(Path(sys.executable).parent / "iolens")),
        runs="\n".join(f"# {shlex.join(task.words)}\nperform {shlex.quote(str(task.folder))}" for task in tasks),
    )


def _directives(name: str, tasks: Sequence[RunSpec], output: str) -> list[str]:
    """Returns the job's requests to Slurm."""
    options = tasks[0].options
    nodes = nodes_of(options)
    seconds = len(tasks) * options.get("time", TIME) + _NOTICE
    lines = [
        f"--job-name={name}",
        "--dependency=singleton",
        f"--nodes={nodes}",
        f"--ntasks={tasks[0].ranks}",
        f"--ntasks-per-node={options.get('ranks_per_node', -(-tasks[0].ranks // nodes))}",
        f"--time={-(-seconds // 60)}",
        f"--signal=B:TERM@{_NOTICE}",
        "--no-requeue",
        f"--output={output}",
    ]
    lines += ["--exclusive"] if options.get("exclusive") else []
    lines += [text.format(options[key]) for key, text in DIRECTIVES.items() if key in options]
    return lines + list(options.get("options", ()))


def nodes_of(options: Mapping[str, Any]) -> int:
    """Returns the number of nodes over which a run is spread."""
    return int(options.get("nodes", 1))
