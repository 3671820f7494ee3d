"""The tables of a store: their columns, which are those of its Parquet files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from iolens.errors import UsageError
from iolens.extras import installation_command

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = 2
"""Version of the store; a store of another version is not read."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "logs": {
        "part": "string",
        "log_id": "int64",
        "log": "string",
        "bytes": "int64",
        "mtime_ns": "int64",
        "status": "string",
        "reason": "string",
    },
    "jobs": {
        "part": "string",
        "log_id": "int64",
        "log": "string",
        "uid": "int64",
        "user": "string",
        "jobid": "int64",
        "application": "string",
        "command": "string",
        "start": "timestamp[us, tz=UTC]",
        "run_time": "float64",
        "nprocs": "int64",
        "hosts": "int64",
        "partial": "bool",
        "storage": "string",
        "files": "int64",
        "opens": "int64",
        "bytes_read": "int64",
        "bytes_written": "int64",
        "read_seconds": "float64",
        "write_seconds": "float64",
        "meta_seconds": "float64",
        "advised": "bool",
        "gain": "float64",
    },
    "files": {
        "part": "string",
        "log_id": "int64",
        "path": "string",
        "mount": "string",
        "file_system": "string",
        "size": "int64",
        "opens": "int64",
        "reads": "int64",
        "writes": "int64",
        "bytes_read": "int64",
        "bytes_written": "int64",
        "seconds": "float64",
    },
    "findings": {
        "part": "string",
        "log_id": "int64",
        "rule": "string",
        "severity": "string",
        "title": "string",
        "evidence": "string",
        "gain": "float64",
    },
}
"""The columns of the tables: `logs` has a row per log that was found, `jobs` per log that was read, `files` per file of
a log, `findings` per finding of the advice. `part` names the Parquet files that contain a row, `log_id` one state of a
log. Bytes and seconds are sums over all ranks; for each file they come from the highest layer that recorded it. `gain`
is the part of the run time (0 to 1) that one remedy may take away, null where the log does not have the time of its
calls or no advice was asked for. A job's `gain` is 0 if no remedy is worth its work.
"""


def need(extra: str, *packages: str) -> None:
    """Raises UsageError with the command that installs the extra here, unless all of the packages are installed."""
    absent = [name for name in packages if find_spec(name) is None]
    if absent:
        who = "install it with" if os.access(sys.prefix, os.W_OK) else f"the owner of {sys.prefix} can install it with"
        raise UsageError(
            f"the Python package {absent[0]} is needed for this command; {who}: {installation_command(extra)}"
        )


def schema_of(table: str) -> pa.Schema:
    """Returns the columns in Arrow's types."""
    import pyarrow as pa

    special = {"timestamp[us, tz=UTC]": pa.timestamp("us", tz="UTC"), "bool": pa.bool_()}
    return pa.schema([(name, special.get(kind) or pa.type_for_alias(kind)) for name, kind in COLUMNS[table].items()])
