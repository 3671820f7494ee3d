"""The most that each subject's storage could give: by the model below emulated storage, or by a device's given rate."""

from __future__ import annotations

from statistics import median

from iolens.log.job import EMULATED
from iolens.metrics.files.bound import MIB, bandwidth_bound, known
from iolens.metrics.subjects.subject import Subject, Subjects


def bounds(subjects: Subjects, device_rate: float = 0.0) -> dict[str, float]:
    """Returns the bound in MiB/s by the subjects' letters, without subjects that have none. For emulated storage it
    is that of `metrics.files.bound.bandwidth_bound` for the requested stripes and the observed writers (medians over
    the runs), for other storage `device_rate`, in bytes per second, if it is given.
    """
    found = {}
    for letter, subject in zip(subjects.letters, subjects.all, strict=True):
        most = _of_model(subject) or (device_rate / MIB if not _emulated(subject) else 0.0)
        if most:
            found[letter] = most
    return found


def _emulated(subject: Subject) -> bool:
    """Returns whether a run of it was on emulated storage."""
    kinds = {(trial.record.get("storage") or {}).get("kind") for trial in subject.trials}
    return EMULATED in kinds or any(job.emulated for job in subject.jobs)


def _of_model(subject: Subject) -> float:
    """Returns the bound by the model, MiB/s; 0 if the runs do not tell what it needs."""
    limits = next((trial.limits for trial in subject.trials if known(trial.limits)), None)
    records = [trial.record for trial in subject.trials]
    stripes = [int((record.get("requested") or {}).get("stripe_count") or 0) for record in records]
    seen = [record.get("observed") or {} for record in records]
    writers = [int(one.get("writers") or one.get("aggregators") or 0) for one in seen]
    share = median(float(one.get("file_share") or 1.0) for one in seen)
    if limits is None or not all(stripes) or not all(writers):
        return 0.0
    return bandwidth_bound(limits, int(median(stripes)), int(median(writers)), share)[0]
