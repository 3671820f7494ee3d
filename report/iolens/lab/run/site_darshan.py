"""Uses the site's own Darshan in place of the profiler: finds its library, and moves its logs into a run's folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.files import move_into
from iolens.lab.run.mpi_launch.mpi import mpi_output
from iolens.lab.run.stopping import processes_of
from iolens.lab.say import say

_FOLDER_NAMES = ("DARSHAN_LOGPATH", "DARSHAN_LOG_DIR_PATH")
"""Variables that name the folder of logs: Darshan's own, and the variable that most sites configure Darshan to read."""


def site_darshan() -> Path:
    """Returns the site's libdarshan.so: DARSHAN_LIB, DARSHAN_HOME or `darshan-config`; raises if there is none."""
    named = os.environ.get("DARSHAN_LIB")
    prefixes = [os.environ.get("DARSHAN_HOME") or os.environ.get("DARSHAN_DIR")]
    if shutil.which("darshan-config"):
        prefixes.append(mpi_output("darshan-config", "--prefix").strip())
    candidates = [Path(named)] if named else []
    candidates += [Path(prefix) / "lib" / "libdarshan.so" for prefix in prefixes if prefix]
    for path in candidates:
        if path.is_file():
            return path
    raise IolensError("no Darshan library was found; load its module, or set DARSHAN_LIB to the path of libdarshan.so")


def darshan_settings(library: Path, logs: Path, parallel: bool) -> Mapping[str, str]:
    """Returns variables that make this build of Darshan write to `logs`, whatever variable it was configured to read.

    The variable for programs without MPI is set only if the job is not `parallel`, because with it each rank would
    write its own log.
    """
    script = library.parent.parent / "bin" / "darshan-config"
    text = script.read_text(encoding="utf-8", errors="replace") if script.is_file() else ""
    configured = re.search(r'^DARSHAN_LOG_ENV="([^"]*)"', text, re.MULTILINE)
    names = [name for name in (configured[1] if configured else "").split(",") if name]
    alone = {} if parallel else {"DARSHAN_ENABLE_NONMPI": "1"}
    return {**dict.fromkeys((*_FOLDER_NAMES, *names), str(logs)), **alone}


@contextmanager
def staging(logs: Path, run: str, moved: list[Path]) -> Iterator[Path]:
    """Yields a folder for Darshan to write to. At the end its logs are moved to `logs`, and their paths are added to
    `moved`: Darshan's logs do not name their run, so that only a folder of its own tells whose they are. The folder
    stays if processes of the run go on, which will write their logs into it.

    Without a variable that names the folder, Darshan writes into YEAR/MONTH/DAY, which must exist, by the clock and the
    time zone of the program.
    """
    logs.mkdir(parents=True, exist_ok=True)
    from datetime import date, timedelta
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix=".darshan-", dir=logs))
    try:
        for day in (date.today() + timedelta(days=days) for days in range(-1, 3)):
            (folder / str(day.year) / str(day.month) / str(day.day)).mkdir(parents=True)
        yield folder
    finally:
        moved += [move_into(logs, log) for log in sorted(folder.rglob("*.darshan*"), key=_written)]
        if going_on := processes_of(run):
            say(f"{len(going_on)} processes of the run go on; the logs that they write will be in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _written(path: Path) -> float:
    """Returns the time at which a file was last written."""
    return path.stat().st_mtime
