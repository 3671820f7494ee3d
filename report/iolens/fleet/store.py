"""A store: a folder of Parquet files. Parts are added and never changed; a part counts once its `logs` file is
there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError, UsageError
from iolens.fleet.rows import Met, Rows
from iolens.fleet.tables import COLUMNS, SCHEMA, schema_of

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_MARK = "store.json"
_MOST_ROWS = 100_000
"""Maximum number of rows of files that are held in memory before they are written."""


def make_store(folder: Path) -> None:
    """Creates a store, or returns the existing one; raises UsageError if the folder holds something else."""
    if is_store(folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder}: this folder is neither a store nor empty; name another folder")
        for table in COLUMNS:
            (folder / table).mkdir(exist_ok=True)
        (folder / _MARK).write_text(json.dumps({"iolens_store": SCHEMA}) + "\n")
    except OSError as error:
        raise IolensError(f"{folder}: the store cannot be made ({error.strerror})") from error


def is_store(folder: Path) -> bool:
    """Returns True if the folder is a store that this version can read; raises IolensError if it is a store of another
    version.
    """
    try:
        found = json.loads((folder / _MARK).read_text())
        version = found["iolens_store"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if version != SCHEMA:
        raise IolensError(
            f"{folder}: this store has schema {version}, but this version reads {SCHEMA}; make a new "
            f"store with iolens ingest"
        )
    return True


def parts_of(folder: Path) -> list[str]:
    """Returns the names of the parts that are whole, oldest first."""
    return sorted(path.stem for path in (folder / "logs").glob("[!.]*.parquet"))


def known_logs(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns size and time of change of every log when it was last read. A log that could not be opened is missing."""
    import pyarrow.parquet as pq

    found: dict[str, tuple[int, int]] = {}
    for part in parts_of(folder):
        table = pq.read_table(folder / "logs" / f"{part}.parquet", columns=["log", "bytes", "mtime_ns", "status"])
        columns = (table[name].to_pylist() for name in ("log", "bytes", "mtime_ns", "status"))
        found.update(
            (log, (size, time)) for log, size, time, status in zip(*columns, strict=True) if status != "closed"
        )
    return found


class NewRows:
    """Writes the new rows of all tables to files with temporary names, and renames the files at the end, `logs` last;
    after an error no file is kept.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.writers: dict[str, pq.ParquetWriter] = {}
        self.rows: dict[str, list[Mapping[str, Any]]] = {"logs": [], "jobs": [], "findings": []}
        self.files: list[Mapping[str, Any]] = []
        self.held = 0

    def __enter__(self) -> NewRows:
        import pyarrow.parquet as pq

        try:
            for table in COLUMNS:
                self.writers[table] = pq.ParquetWriter(self.aside(table), schema_of(table), compression="zstd")
        except BaseException:
            self.clear_away()
            raise
        return self

    def clear_away(self) -> None:
        """Removes files that were not completed and so still have their temporary names."""
        for table in COLUMNS:
            with suppress(OSError):
                self.aside(table).unlink()

    def aside(self, table: str) -> Path:
        """Returns the temporary name that a file has until it is complete."""
        return self.folder / table / f".{self.name}.parquet"

    def add(self, met: Met, rows: Rows | None, status: str = "ok", reason: str = "") -> None:
        """Adds a log, with its rows if it was read, otherwise with the reason why it could not be read."""
        state = {"log_id": met.key, "log": met.name, "bytes": met.bytes, "mtime_ns": met.mtime_ns}
        self.rows["logs"].append({**state, "status": status, "reason": reason})
        if rows is None:
            return
        self.rows["jobs"].append(rows.job)
        self.rows["findings"] += rows.findings
        self.files.append(rows.files)
        self.held += len(rows.files["path"])
        if self.held > _MOST_ROWS:
            self.write_files()

    def write_files(self) -> None:
        """Writes the pending rows of files."""
        import numpy as np
        import pyarrow as pa

        schema = schema_of("files")
        columns = []
        for field in schema:
            each = [part[field.name] for part in self.files] if field.name != "part" else []
            lists = bool(each) and isinstance(each[0], list)
            values: Any = [self.name] * self.held if field.name == "part" else _joined_lists(each) if lists else []
            columns.append(pa.array(values if lists or not each else np.concatenate(each), type=field.type))
        self.writers["files"].write_table(pa.Table.from_arrays(columns, schema=schema))
        self.files, self.held = [], 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import pyarrow as pa

        try:
            if error is None:
                self.write_files()
                for table, rows in self.rows.items():
                    named = [{"part": self.name, **row} for row in rows]
                    self.writers[table].write_table(pa.Table.from_pylist(named, schema=schema_of(table)))
            for writer in self.writers.values():
                writer.close()
            if error is None:
                for table in sorted(COLUMNS, key=lambda one: one == "logs"):
                    os.replace(self.aside(table), self.folder / table / f"{self.name}.parquet")
        finally:
            self.clear_away()


def _joined_lists(lists: Iterable[list[Any]]) -> list[Any]:
    """Returns the values of all lists as one list."""
    return [value for each in lists for value in each]
