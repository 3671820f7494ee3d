"""`iolens serve LOG …`: answer questions about logs by the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError, UsageError

if TYPE_CHECKING:
    from iolens.pages.answers.named_logs import NamedLogs
    from iolens.pages.answers.sources import Source

_INSTRUCTIONS = """Answers about logs of I/O that iolens or Darshan recorded. Ask `overview` first: it has the verdict,
how sure that is, and what the log cannot tell. Every number in an answer has to come from a table; name the table and
the row with it, and check the text by `verify_answer` before a person sees it. Never guess what a log cannot tell."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "logs",
        type=Path,
        nargs="+",
        metavar="LOG",
        help="a log of iolens or Darshan (3.0 or later), or the folder of a store of `iolens ingest`; "
        "client programs select it by the name of its file or folder",
    )


def run(args: argparse.Namespace) -> int:
    """Serves until the client ends the connection."""
    server(_read(args.logs)).run("stdio")
    return 0


def _read(paths: list[Path]) -> NamedLogs:
    """Returns the logs and stores by the names of their files; raises UsageError if two files have the same name."""
    from iolens.pages.answers.named_logs import NamedLogs

    sources = {path.resolve().name: _source(path) for path in paths}
    if len(sources) < len(paths):
        raise UsageError("two of the logs have the same name; serve them one by one")
    return NamedLogs(sources)


def _source(path: Path) -> Source[Any]:
    """Returns the source of answers at a path: the log, or the store that `iolens ingest` made in the folder."""
    from iolens.pages.answers.sources import of_log, of_store

    if not path.is_dir():
        from iolens.log import read_log

        return of_log(read_log(path))
    from iolens.fleet.job_rows import need
    from iolens.fleet.store import open_store

    need("fleet", "pyarrow", "duckdb")
    return of_store(open_store(path))


def server(logs: NamedLogs) -> Any:
    """Returns the server of these logs; raises IolensError if the package that speaks the protocol is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        from iolens.extras import installation_command

        command = installation_command("serve")
        raise IolensError(f"iolens serve needs the package mcp, version 2; install it: {command}") from error
    served = MCPServer("iolens", instructions=_INSTRUCTIONS)
    for tool in (logs.logs, logs.overview, logs.tables, logs.table, logs.verify_answer):
        served.add_tool(_answering(tool, ToolError))
    return served


def _answering(tool: Callable[..., Any], refusal: type[Exception]) -> Callable[..., Any]:
    """Returns the tool, changed so that the message of an IolensError reaches the client as the tool's error."""

    @wraps(tool)
    def answer(*words: Any, **named: Any) -> Any:
        try:
            return tool(*words, **named)
        except IolensError as error:
            raise refusal(str(error)) from error

    return answer
