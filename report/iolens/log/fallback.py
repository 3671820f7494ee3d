"""Record versions unknown to the reader: libdarshan-util reads them where PyPI's `darshan` is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def read_with_darshan(path: Path, module: str) -> tuple[pd.DataFrame | None, str]:
    """The module's frame, or None and the reason."""
    try:
        from darshan.backend import cffi_backend as backend
    except ImportError:
        return None, "install the Python package darshan to read it"
    import pandas as pd

    log = backend.log_open(str(path))
    rows: list[dict[str, Any]] = []
    try:
        while (record := backend.log_get_generic_record(log, module, dtype="dict")) is not None:
            rows.append({"id": record["id"], "rank": record["rank"], **record["counters"], **record["fcounters"]})
    except Exception as error:
        return None, f"the Python package darshan cannot read it either ({error})"
    finally:
        backend.log_close(log)
    if not rows:
        return None, "the Python package darshan finds no record of it"
    return pd.DataFrame(rows), ""
