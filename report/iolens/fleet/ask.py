"""A store queried by SQL: views of the rows that count, and the questions of the report. Values are in bytes, seconds
and hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError, UsageError
from iolens.fleet.store import is_store, parts_of
from iolens.fleet.tables import COLUMNS
from iolens.lazy import pd

if TYPE_CHECKING:
    import duckdb

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
