"""Any other program: it gets only the experiment's arguments; its result is the file `{json}` or IOR's output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from iolens.lab.files import write_aside
from iolens.lab.workloads.ior_output import result_of_ior
from iolens.lab.workloads.workload import RESULT, Workload, read_workload_result


def _own_result(folder: Path) -> dict[str, Any]:
    """Returns the program's own result, or one made from the output of a user's own IOR, which is then kept as
    `result.json`.
    """
    found = read_workload_result(folder)
    if not found:
        found = result_of_ior((folder / "stdout.txt").read_text(encoding="utf-8", errors="replace"))
        if found:
            write_aside(folder / RESULT, json.dumps(found) + "\n")
    return found


FOREIGN = Workload(
    program="",
    metrics=("automatic", "write_bandwidth", "read_bandwidth", "latency"),
    result_option=None,
    directory_option=None,
    hint_option=None,
    result=_own_result,
)
