"""The command-line tools of file systems."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from iolens.errors import IolensError

PATIENCE = 30.0
"""Maximum time in seconds that a tool may take; if a server is down, the file system's client would let the tool wait
for ever.
"""


def run_tool(words: Sequence[str], where_from: str, given: str | None = None) -> str:
    """Returns the output of a tool, which reads the text `given`; raises IolensError if it is not installed, fails, or
    does not answer.
    """
    if not shutil.which(words[0]):
        raise IolensError(f"the command {words[0]} was not found; {where_from}")
    line = " ".join(words)
    try:
        done = subprocess.run(
            words, input=given, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise IolensError(f"{line}: no answer within {PATIENCE:.0f} s; is a server of the file system down?") from error
    if done.returncode != 0:
        raise IolensError(f"{line}: {done.stderr.strip() or done.stdout.strip() or 'failed'}")
    return done.stdout
