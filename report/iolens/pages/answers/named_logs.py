"""Logs by name, and the questions that a program may ask about them. The program reads the docstrings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iolens.errors import UsageError
from iolens.log import Job
from iolens.pages.answers import tools
from iolens.pages.answers.verified import numbers_in_text


@dataclass(frozen=True)
class NamedLogs:
    """Logs that can be asked about, by the names of their files."""

    jobs: Mapping[str, Job]

    def _job(self, log: str) -> Job:
        """Returns the log with this name; raises UsageError if there is none."""
        if log not in self.jobs:
            raise UsageError(f"there is no log {log} here; the logs are {', '.join(self.jobs)}")
        return self.jobs[log]

    def logs(self) -> list[str]:
        """Returns the names of the logs that can be asked about."""
        return list(self.jobs)

    def overview(self, log: str) -> dict[str, Any]:
        """Returns the facts of a log, its verdict with the confidence, the findings with bounds and remedies, and the
        facts that it cannot tell.
        """
        return tools.overview(self._job(log))

    def tables(self, log: str) -> list[dict[str, Any]]:
        """Returns the tables that this log has: name, title, columns and number of rows."""
        return tools.tables(self._job(log))

    def table(self, log: str, name: str, first: int = 0, count: int = tools.MOST_ROWS) -> dict[str, Any]:
        """Returns rows of a table with full numbers (bytes and seconds), and the definition of its columns."""
        return tools.table_text(self._job(log), name, first, count)

    def verify_answer(self, log: str, text: str) -> list[dict[str, str]]:
        """Returns every number of a text with its source in the log; an empty source means that the log has no such
        number.
        """
        return [{"number": one.text, "source": one.source} for one in numbers_in_text(self._job(log), text)]
