"""A modifier for experiments of Ramble: records their MPI programs, and fails experiments that exceed limits.

    ramble repo add --type modifiers /path/of/iolens/packaging/ramble

    ramble:
      modifiers:
      - name: iolens
      variables:
        iolens_against: /path/of/the/base/experiment/iolens
        iolens_limits: "--fail 'run_time>+10%' --fail 'posix_calls_write>+0%'"

It needs success criteria with `anti_match`, which Ramble 0.5.0 lacks. It was tried with the development version of
23 October 2024 (commit e2d88e88).
"""

from ramble.modkit import (
    BasicModifier,
    archive_pattern,
    default_mode,
    executable_modifier,
    figure_of_merit,
    mode,
    modifier_variable,
    success_criteria,
    tags,
    variable_modification,
)
from ramble.util.executable import CommandExecutable

_LOGS = "{experiment_run_dir}/iolens"
_VERDICT = "{experiment_run_dir}/iolens-verdict.txt"
_CHECK = "{experiment_run_dir}/iolens-check.txt"


class Iolens(BasicModifier):
    """Runs MPI programs under `iolens run`. In the run directory of the experiment, the folder `iolens` has a folder of
    logs for each executable. The verdict on the last executable is a figure of merit. Without `iolens_against`, nothing
    is judged.
    """

    name = "iolens"

    tags("profiler", "io-characterization")

    mode("record", description="Record the MPI programs, and check limits if there are any")
    default_mode("record")

    modifier_variable("iolens_command", default="iolens", description="The command iolens", mode="record")
    modifier_variable("iolens_options", default="", description="Options of iolens run", mode="record")
    modifier_variable(
        "iolens_against",
        default="",
        description="The folder `iolens` in the run directory of the experiment to compare with",
        mode="record",
    )
    modifier_variable("iolens_limits", default="", description="Options --fail of iolens check", mode="record")

    variable_modification("mpi_command", "{iolens_command} run {iolens_options} --", method="prepend", mode="record")
    archive_pattern("{experiment_run_dir}/iolens/*/*")
    executable_modifier("judge_programs")

    figure_of_merit("verdict", fom_regex=r"(?P<verdict>.+)", group_name="verdict", log_file=_VERDICT)
    success_criteria("iolens_limits", mode="string", anti_match=r"exit code [1-9]", file=_CHECK)

    def judge_programs(self, name, executable, app_inst=None):
        """Returns the commands to run before and after an MPI program; none for programs without MPI, which are not
        recorded.
        """
        if not executable.mpi:
            return [], []
        logs = f"{_LOGS}/{name}"
        before = [f'if [ -z "$iolens_began" ]; then rm -rf {_LOGS} {_CHECK}; iolens_began=1; fi']
        before += [f"mkdir -p {logs}", f"export IOLENS_LOGPATH={logs}"]
        behind = [f"{{iolens_command}} show --line {logs}/*.darshan > {_VERDICT}"]
        if self.expander.expand_var_name("iolens_against"):
            check = f"{{iolens_command}} check {logs} --against '{{iolens_against}}/{name}' {{iolens_limits}}"
            behind += [f'{check} >> {_CHECK} 2>&1; echo "exit code $?" >> {_CHECK}']
        return [_commands(f"before-{name}", before)], [_commands(f"behind-{name}", behind)]


def _commands(name, lines):
    """Returns an executable with lines of shell commands that run outside of MPI."""
    return CommandExecutable(name, template=lines, mpi=False, redirect="", output_capture="")
