"""The jobs that a recovery selects: the jobs of a folder, named jobs, or all jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.lab.recovery.recover import Spool


@dataclass(frozen=True)
class JobSelection:
    """Selects jobs by `names` (job ids, process ids, or names of runs), if there are any; else by the `batch_job` in
    which they ran; else by the `folder` in which their logs belong, at any depth; without any of these, all jobs.
    """

    names: tuple[str, ...] = ()
    folder: Path | None = None
    batch_job: int | None = None

    @property
    def takes_all(self) -> bool:
        """Returns true if all jobs are selected."""
        return not self.names and self.folder is None and self.batch_job is None

    def takes(self, job: Sequence[Spool]) -> bool:
        """Returns true if the job with these spools is among the chosen ones."""
        if self.names:
            known = {name for one in job for name in (str(one.jobid), str(one.pid), one.run)}
            return not known.isdisjoint(self.names)
        if self.batch_job is not None:
            # A job id that is the process's own number is no batch system's, but the substitute for one.
            return job[0].jobid == self.batch_job != job[0].pid
        return self.folder is None or _lies_below(job[0].folder, self.folder)


def _lies_below(place: str, folder: Path) -> bool:
    """Returns true if an absolute path lies in the folder or below it, by the folders that links lead to."""
    return bool(place) and Path(place).resolve().is_relative_to(folder.resolve())
