"""The shell commands before and after a run, and the check of its result. They are neither recorded nor timed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iolens.lab.run.execute import Outcome

_SAID = 200
"""Number of characters of a failed command's message that a reason quotes."""


@dataclass(frozen=True)
class Around:
    """The surroundings of a run's command: its working `folder` (None: that of the caller), shell commands `before` and
    `after` it, a `check` that fails the run if it ends with another exit code than 0, the program's own exit code for
    success, and environment variables of these commands.
    """

    folder: str | None = None
    before: str | None = None
    after: str | None = None
    check: str | None = None
    exit_code: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)

    def perform(self, run: Callable[[], Outcome], log: Path) -> Outcome:
        """Runs the command between its surroundings; their output goes to the end of `log`. A run whose `before` fails
        is not started, and a failed step becomes the reason of the run.
        """
        before = self._step("before", self.before, log)
        if before:
            return Outcome((), "", 0.0, 1, 0.0, (), reason=before)
        outcome = run()
        if outcome.exit_code == self.exit_code:
            outcome = outcome._replace(exit_code=0)
        elif self.exit_code and outcome.exit_code == 0:
            said = f"the program ended with exit code 0 instead of {self.exit_code} (workload.exit_code)"
            outcome = outcome._replace(exit_code=1, reason=said)
        if outcome.exit_code == 0 and not outcome.reason:
            outcome = outcome._replace(reason=self._step("check", self.check, log))
        after = self._step("after", self.after, log)
        return outcome._replace(reason=outcome.reason or after)

    def _step(self, name: str, command: str | None, log: Path) -> str | None:
        """Runs a shell command in the working folder; returns the reason if it fails, else None."""
        if not command:
            return None
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.stdout:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"# workload.{name}\n{done.stdout}")
        if done.returncode == 0:
            return None
        last = (done.stdout.strip().splitlines() or ["no message"])[-1][:_SAID]
        return f"workload.{name}: {command!r} ended with exit code {done.returncode}: {last}"
