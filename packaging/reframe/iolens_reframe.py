"""A mixin for tests of ReFrame: records the test's program, and fails the test if a number exceeds a limit.

    class MyTest(rfm.RunOnlyRegressionTest, IolensCheck):
        iolens_against = "/path/of/the/base/run"
        iolens_limits = ["run_time>+10%", "posix_calls_write>+0%"]

It was tried with ReFrame 4.10.
"""

from __future__ import annotations

from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, variable

_VERDICT = "iolens-check.txt"


class IolensCheck(rfm.RegressionMixin):
    """Runs the program under `iolens run`. The folder `iolens` in the test's output then holds its log.

    `iolens_against` is a base run, or a folder with repetitions of it, and `iolens_limits` are limits of
    `iolens check`; without both, the program is recorded and nothing is judged. `iolens_options` are options of
    `iolens run`.
    """

    iolens_options = variable(list, value=[])
    iolens_against = variable(str, value="")
    iolens_limits = variable(list, value=[])

    @run_before("run")
    def record_with_iolens(self) -> None:
        """Puts `iolens run` in front of the launcher, and the check of the log behind it."""
        self.prerun_cmds = [*self.prerun_cmds, "mkdir -p iolens"]
        self.env_vars["IOLENS_LOGPATH"] = "iolens"
        self.job.launcher.modifier = "iolens"
        self.job.launcher.modifier_options = ["run", *self.iolens_options, "--"]
        self.keep_files = [*self.keep_files, "iolens"]
        if self.iolens_against and self.iolens_limits:
            limits = " ".join(f"--fail '{limit}'" for limit in self.iolens_limits)
            check = f"iolens check iolens --against '{self.iolens_against}' {limits} > {_VERDICT} 2>&1"
            self.postrun_cmds = [*self.postrun_cmds, check, f'echo "exit code $?" >> {_VERDICT}']
            self.keep_files = [*self.keep_files, _VERDICT]

    @run_after("sanity")
    def fail_beyond_limits(self) -> None:
        """Fails the test if `iolens check` did not end with exit code 0; the message is the last line that it
        printed.
        """
        if self.iolens_against and self.iolens_limits:
            said = Path(self.stagedir, _VERDICT).read_text(encoding="utf-8").strip().splitlines()
            sn.evaluate(sn.assert_eq(said[-1], "exit code 0", " ".join(["iolens check:", *said[-2:-1]])))
