"""Answers questions that a program (such as an assistant over MCP) asks about logs that it names. The program gets the
docstrings of the methods as descriptions of its tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iolens.errors import UsageError
from iolens.pages.answers import tools
from iolens.pages.answers.sources import Source
from iolens.pages.answers.verified import numbers_in_text


@dataclass(frozen=True)
class NamedLogs:
    """Logs and stores of logs that can be asked about, by the names of their files."""

    sources: Mapping[str, Source[Any]]

    def _source(self, log: str) -> Source[Any]:
        """Returns the source of a log or store with this name; raises UsageError if there is none."""
        if log not in self.sources:
            raise UsageError(f"there is no log {log} here; the logs are {', '.join(self.sources)}")
        return self.sources[log]

    def logs(self) -> list[str]:
        """Returns the names of the logs, and of stores of many logs, that can be asked about."""
        return list(self.sources)

    def overview(self, log: str) -> dict[str, Any]:
        """Returns the facts of a log, its verdict with the confidence, the findings with bounds and remedies, and the
        facts that it cannot tell.
        """
        return tools.overview(self._source(log))

    def tables(self, log: str) -> list[dict[str, Any]]:
        """Returns the tables that this log has: name, title, columns and number of rows."""
        return tools.tables(self._source(log))

    def table(self, log: str, name: str, first: int = 0, count: int = tools.MOST_ROWS) -> dict[str, Any]:
        """Returns rows of a table with full numbers (bytes and seconds), and the definition of its columns."""
        return tools.table_answer(self._source(log), name, first, count)

    def verify_answer(self, log: str, text: str) -> list[dict[str, str]]:
        """Returns every number of a text with its source in the log; an empty source means that the log has no such
        number.
        """
        return [{"number": one.text, "source": one.source} for one in numbers_in_text(self._source(log), text)]
