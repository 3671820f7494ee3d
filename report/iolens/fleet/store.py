"""A store: a folder of Parquet files, its parts, and the questions that SQL asks of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError, UsageError
from iolens.fleet.job_rows import COLUMNS, SCHEMA, Met, Rows, schema_of
from iolens.lazy import pd

if TYPE_CHECKING:
    import duckdb
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


_SUMS = """count(*) AS jobs, sum(nprocs * run_time) / 3600 AS process_hours,
    sum(read_seconds + write_seconds + meta_seconds) / 3600 AS io_hours,
    sum(bytes_read)::BIGINT AS bytes_read, sum(bytes_written)::BIGINT AS bytes_written,
    sum(gain * run_time * nprocs) / 3600 AS saved_hours"""
"""Sums over a group of jobs. saved_hours: process hours that the best single remedy of each job can save at most."""

QUESTIONS: Mapping[str, str] = {
    "totals": f"""SELECT count(DISTINCT "user") AS users, count(DISTINCT application) AS applications,
        min(start) AS first, max(start) AS last, sum(files)::BIGINT AS files, count(*) FILTER (partial) AS partial,
        count(*) FILTER (advised) AS advised, {_SUMS} FROM jobs""",
    "users": f'SELECT "user", {_SUMS} FROM jobs GROUP BY ALL ORDER BY io_hours DESC, "user"',
    "applications": f"""SELECT application, count(DISTINCT "user") AS users, {_SUMS} FROM jobs
        GROUP BY application ORDER BY io_hours DESC, application""",
    "file_systems": """SELECT mount, file_system, count(DISTINCT (part, log_id)) AS jobs, count(DISTINCT path) AS files,
        sum(bytes_read)::BIGINT AS bytes_read, sum(bytes_written)::BIGINT AS bytes_written, sum(opens)::BIGINT AS opens,
        sum(seconds) / 3600 AS io_hours FROM files GROUP BY mount, file_system ORDER BY io_hours DESC, mount""",
    "offenders": """SELECT j.application, j."user", j.jobid, j.start, j.run_time, j.nprocs, j.gain,
        j.gain * j.run_time * j.nprocs / 3600 AS saved_hours, min(f.title) AS remedy_for, j.log
        FROM jobs j JOIN findings f USING (part, log_id) WHERE j.gain > 0 AND f.gain = j.gain
        GROUP BY ALL ORDER BY saved_hours DESC, j.log""",
    "rules": """SELECT f.rule, any_value(f.title) AS title, count(*) AS jobs, count(DISTINCT j.application) AS
    applications, count(*) FILTER (f.gain IS NOT NULL) AS bounded,
    sum(CASE WHEN f.severity = 'low' THEN 0 ELSE f.gain END * j.run_time * j.nprocs) / 3600 AS saved_hours
    FROM findings f JOIN jobs j USING (part, log_id) GROUP BY f.rule ORDER BY saved_hours DESC NULLS LAST,
    f.rule""",
    "trend": f"""SELECT date_trunc('month', start) AS month, {_SUMS} FROM jobs WHERE start IS NOT NULL
        GROUP BY month ORDER BY month""",
    "copies": """SELECT count(*) - count(DISTINCT (l.bytes, j.uid, j.jobid, j.application, j.start, j.run_time,
        j.nprocs, j.files, j.bytes_read, j.bytes_written)) AS logs FROM jobs j JOIN logs l USING (part, log_id)""",
    "damaged": "SELECT log, status, reason FROM logs WHERE status <> 'ok' ORDER BY log",
}
"""The questions of the report; each answer is a table."""


@dataclass(frozen=True, eq=False)
class Store:
    """A store that can be queried; the answers describe its state when it was opened."""

    folder: Path

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Returns a connection with the views logs, jobs, files and findings, each with the latest ingested state of a
        log.
        """
        import duckdb

        link = duckdb.connect()
        link.execute("SET TimeZone = 'UTC'")
        parts = parts_of(self.folder)
        for table, columns in COLUMNS.items():
            files = [str(self.folder / table / f"{part}.parquet") for part in parts]
            rows = "read_parquet($files)" if files else _empty(columns)
            link.execute(f"CREATE VIEW every_{table} AS SELECT * FROM {_query_of_files(rows, files)}")
        link.execute(
            "CREATE TABLE logs AS SELECT * FROM every_logs "
            "QUALIFY row_number() OVER (PARTITION BY log ORDER BY part DESC) = 1"
        )
        for table in COLUMNS:
            if table != "logs":
                now = "(SELECT part, log_id FROM logs)"
                link.execute(
                    f"CREATE VIEW {table} AS SELECT t.* FROM every_{table} t SEMI JOIN {now} USING (part, log_id)"
                )
        return link

    def ask(self, question: str) -> pd.DataFrame:
        """Returns the answer to one of QUESTIONS."""
        return self.sql(QUESTIONS[question])

    def sql(self, query: str) -> pd.DataFrame:
        """Returns the answer to any query; raises UsageError if it is wrong."""
        import duckdb

        try:
            frame: pd.DataFrame = self.connection.sql(query).to_arrow_table().to_pandas()
            return frame
        except AttributeError:
            raise UsageError("the query returns no rows; begin it with SELECT") from None
        except duckdb.Error as error:
            raise UsageError(f"the query cannot be answered: {str(error).splitlines()[0]}") from error


def _query_of_files(rows: str, files: list[str]) -> str:
    """Returns a query of SQL with the names of these files in place of `$files`."""
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in files)
    return rows.replace("$files", f"[{names}]")


def _empty(columns: Mapping[str, str]) -> str:
    """Returns a query of SQL for a table with these columns and no rows."""
    kinds = {"string": "VARCHAR", "int64": "BIGINT", "float64": "DOUBLE", "bool": "BOOLEAN"}
    cells = ", ".join(f'NULL::{kinds.get(kind, "TIMESTAMPTZ")} AS "{name}"' for name, kind in columns.items())
    return f"(SELECT {cells} WHERE false)"


def open_store(folder: Path) -> Store:
    """Returns an existing store; raises IolensError if the folder is not a store."""
    if not is_store(folder):
        raise IolensError(f"{folder}: this folder is not a store; make a store with: iolens ingest LOGS -o {folder}")
    return Store(folder)
