"""Tells which features work on this machine, and why others do not: each is tried on the log of a trial, or the library
that it needs is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from iolens.errors import IolensError, UsageError
from iolens.extras import installation_command
from iolens.lab.doctor.finding import CheckResult
from iolens.lab.doctor.program_libraries import program_libraries
from iolens.lab.doctor.trials import FeatureTrial
from iolens.lab.doctor.tried import FILES, kinds_of_calls
from iolens.lab.recovery.snapshot import running_jobs
from iolens.log import Job
from iolens.log.records import Records


def features(trial: FeatureTrial) -> Iterator[CheckResult]:
    """Yields a result for each feature."""
    if trial.job is None:
        yield CheckResult("kinds of calls", "not tried, because the trial left no log")
    else:
        yield from kinds_of_calls(trial.job, trial.said)
        yield from _log_features(trial.job)
    yield from program_libraries()
    yield _live()
    yield _server()


def _live() -> CheckResult:
    """Looks for running jobs, as `iolens live` does."""
    try:
        running = len(running_jobs())
    except IolensError as error:
        return CheckResult("iolens live", "running jobs cannot be seen", None, str(error))
    seen = f"sees {running} running job{'' if running == 1 else 's'} on this node; --prometheus writes their numbers"
    return CheckResult("iolens live", seen, works=True)


def _server() -> CheckResult:
    """Checks the package that `iolens serve` needs."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        found = ""
    if found.startswith("2."):
        return CheckResult("iolens serve", f"answers programs through the Python package mcp {found}", works=True)
    lacks = f"the Python package mcp is {f'version {found}' if found else 'not there'}"
    return CheckResult("iolens serve", lacks, None, installation_command("serve"))


def _log_features(job: Job) -> Iterator[CheckResult]:
    """Yields the results of the features that need certain data in a log."""
    yield _feature_result(
        "families of files", _largest_family(job) == FILES, f"{FILES} files with numbered names share one row"
    )
    sampled = job.tables.get("sampling", Records({}))
    by_time = len(sampled) > 0 and "wall" in sampled["timer"].astype(str).tolist()
    yield _feature_result("training jobs", by_time, "samples are taken by elapsed time, which shows waits")
    yield _feature_result("periods of I/O", _has_bytes_over_time(job), "logs have bytes over time")
    yield _feature_result("iolens check", _limit_holds(job), "checks limits on the numbers of logs")


def _feature_result(name: str, works: bool, found: str) -> CheckResult:
    """Returns the result for a feature that should work on every machine."""
    return CheckResult(name, found if works else "the trial's log lacks the data", works or None)


def _largest_family(job: Job) -> int:
    """Returns the number of files in the largest family: files whose names differ only in numbers."""
    from iolens.metrics.files.costly_files import file_families

    return int(file_families(job)["files"].max(initial=0))


def _has_bytes_over_time(job: Job) -> bool:
    """Returns whether the log has a heat map of the layer that the trial used."""
    from iolens.metrics.times.timespans import has_heatmap

    return has_heatmap(job, "POSIX")


def _limit_holds(job: Job) -> bool:
    """Compares the log with itself, and returns whether `iolens check` finds that its written bytes have not grown."""
    from iolens.metrics.subjects.gate import HELD, judge_limit, limit_of
    from iolens.metrics.subjects.subject import Subject, Trial

    subject = Subject("trial", job.path, (Trial(job.path, job),))
    try:
        (verdict,) = judge_limit([limit_of("posix_written>+0%")], subject, subject)
    except UsageError:
        return False
    return verdict.outcome == HELD
