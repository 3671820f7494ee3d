"""Reads record versions that this package does not know by libdarshan-util, if PyPI's `darshan` is installed. That
library runs in a process of its own, `python -m iolens.log.format.fallback LOG MODULE`, because a damaged log may
crash it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from iolens.lazy import pd

_SECONDS = 600


def read_with_darshan(path: Path, module: str) -> tuple[pd.DataFrame | None, str]:
    """Returns the module's frame, or None and the reason."""
    command = [sys.executable, "-m", "iolens.log.format.fallback", str(path), module]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return None, f"the Python package darshan could not read it in {_SECONDS} s"
    except ValueError:
        return None, f"the Python package darshan failed on it (exit code {done.returncode})"
    if found["reason"]:
        return None, found["reason"]
    return pd.DataFrame(found["rows"]), ""


def _module_rows(path: str, module: str) -> tuple[list[dict[str, Any]], str]:
    """Returns the module's records, or none and the reason."""
    try:
        from darshan.backend import cffi_backend as backend
    except (ImportError, OSError, RuntimeError):  # The package raises RuntimeError if its library is missing.
        return [], "install the Python package darshan with its library to read this module"
    log = backend.log_open(path)
    rows: list[dict[str, Any]] = []
    try:
        while (record := backend.log_get_generic_record(log, module, dtype="dict")) is not None:
            rows.append({"id": record["id"], "rank": record["rank"], **record["counters"], **record["fcounters"]})
    except Exception as error:
        return [], f"the Python package darshan cannot read it either ({error})"
    return rows, "" if rows else "the Python package darshan finds no record of this module"


if __name__ == "__main__":
    found, why = _module_rows(*sys.argv[1:])
    print(json.dumps({"rows": found, "reason": why}, default=lambda number: number.item()))
