"""The most that each subject's storage could give: by the model below emulated storage, or by a device's given rate."""

from __future__ import annotations

from iolens.lazy import pd
from iolens.log.job import EMULATED
from iolens.metrics.files.stripes.bound import MIB, has_limits, of_runs
from iolens.metrics.subjects.subject import Subject, Subjects


def subject_bounds(subjects: Subjects, device_rate: float = 0.0) -> dict[str, float]:
    """Returns the bound in MiB/s by the subjects' letters, without subjects that have none. For emulated storage the
    bound is that of `metrics.files.stripes.bound.of_runs` for the requested stripes and the observed writers (medians
    over the runs); for other storage it is `device_rate`, in bytes per second, if that is given.
    """
    found = {}
    for letter, subject in subjects.named:
        most = _of_model(subject) or (device_rate / MIB if not _emulated(subject) else 0.0)
        if most:
            found[letter] = most
    return found


def _emulated(subject: Subject) -> bool:
    """Returns whether any run of the subject was on emulated storage."""
    kinds = {(trial.record.get("storage") or {}).get("kind") for trial in subject.trials}
    return EMULATED in kinds or any(job.emulated for job in subject.jobs)


def _of_model(subject: Subject) -> float:
    """Returns the bound by the model in MiB/s; 0 if the runs do not record the numbers that the model needs."""
    limits = next((trial.limits for trial in subject.trials if has_limits(trial.limits)), {})
    found = of_runs(pd.json_normalize([dict(trial.record) for trial in subject.trials]), limits)
    return found[0] if found else 0.0
