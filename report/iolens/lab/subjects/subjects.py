"""Turn the paths of a command line into the subjects of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from iolens.errors import IolensError, UsageError
from iolens.foreign import printable_text
from iolens.lab.subjects.runs import (
    LOG,
    OUTPUTS,
    OWN,
    PROCESSES,
    is_log,
    read_json,
    trial_of_file,
    trial_of_processes,
    trial_of_run,
)
from iolens.lab.sweep.read.merged import APART
from iolens.metrics.comparison.settings import describe
from iolens.metrics.subjects.subject import Subject, Subjects, Trial

MOST_SUBJECTS = 12
"""Maximum number of subjects that a reader can distinguish on one page."""


def read_subjects(paths: Sequence[Path]) -> Subjects:
    """Returns one subject per path, and one per setting for the folder of a sweep; raises if there is nothing
    to compare.
    """
    found = [subject for path in paths for subject in subjects_of(path)]
    if len(found) < 2:
        raise UsageError(f"{paths[0]} alone cannot be compared; give two or more logs, outputs or folders")
    if len(found) > MOST_SUBJECTS:
        raise UsageError(
            f"{len(found)} subjects were given, but at most {MOST_SUBJECTS} can be compared; give fewer, or the "
            f"folders of single settings"
        )
    labels = _distinct([one.label for one in found], [one.path for one in found])
    return Subjects(tuple(map(_with_label, labels, found)))


def _with_label(label: str, found: Subject) -> Subject:
    """Returns a subject with this label, in printable characters."""
    left_out = tuple(map(printable_text, found.left_out))
    return Subject(printable_text(label), found.path, found.trials, left_out)


def _distinct(labels: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Returns the labels; a label that is not unique is preceded by its folder, or replaced by its path if that does
    not help.
    """
    for depth in (1, 2, 3):
        counts = Counter(labels)
        longer = ["/".join([*path.parent.parts[-depth:], label]) for label, path in zip(labels, paths, strict=True)]
        if max(counts.values()) == 1:
            return list(labels)
        tried = [long if counts[label] > 1 else label for label, long in zip(labels, longer, strict=True)]
        if len(set(tried)) == len(tried):
            return tried
    return [f"{label} ({n})" for n, label in enumerate(labels, 1)]


def subjects_of(path: Path) -> list[Subject]:
    """Returns the subjects at a path: a log, an output or a run is one subject, a folder of runs has one subject for
    each setting.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist; give a log, a benchmark's output, or a folder of these")
    if not path.is_dir():
        return [Subject(path.name.removesuffix(LOG), path, (trial_of_file(path),))]
    if (path / "run.json").is_file():
        return [Subject(path.name, path, (trial_of_run(path),))]
    if (path / PROCESSES).is_file():
        return [Subject(path.name, path, (trial_of_processes(path),))]
    runs = [run.parent for run in sorted(path.rglob("run.json")) if run.relative_to(path).parts[0] not in APART]
    return _of_runs(path, runs) if runs else [_subject_of_files(path)]


def _of_runs(path: Path, runs: Sequence[Path]) -> list[Subject]:
    """Groups runs by their settings; returns one subject per setting, with its repetitions."""
    groups: dict[str, list[Path]] = {}
    for run in runs:
        try:
            point = dict(read_json(run / "run.json").get("point") or {})
        except IolensError:
            point = {}
        point.pop("repetition", None)
        groups.setdefault(describe(point), []).append(run)
    found = []
    for setting, folders in groups.items():
        trials, left_out = _usable(folders)
        label = path.name if len(groups) == 1 else f"{path.name}: {setting or 'no setting'}"
        if not trials:
            raise IolensError(f"{path}: no run can be used ({left_out[0]})")
        found.append(Subject(label, path, tuple(trials), tuple(left_out)))
    return found


def _usable(folders: Sequence[Path]) -> tuple[list[Trial], list[str]]:
    """Returns the runs that can be read and ended well, and the faults of the others."""
    trials, left_out = [], []
    for folder in folders:
        try:
            trials.append(trial_of_run(folder))
        except IolensError as error:
            left_out.append(str(error))
    return trials, left_out


def _subject_of_files(path: Path) -> Subject:
    """Returns the logs and outputs directly in a folder as repetitions of one run; an output belongs to the log of its
    name.
    """
    files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    outputs = [each for each in files if each.name not in OWN and each.suffix in OUTPUTS and not is_log(each)]
    trials, left_out, used = [], [], set()
    for each in outputs:
        try:
            trials.append(trial_of_file(each))
        except UsageError:
            continue
        if trials[-1].job is not None:
            used.add(trials[-1].job.path)
    for each in files:
        if each.name.endswith(LOG) and each not in used:
            try:
                trials.append(trial_of_file(each))
            except IolensError as error:
                left_out.append(str(error))
    if not trials:
        why = f" ({left_out[0]})" if left_out else ""
        raise UsageError(f"{path}: the folder has no log, no run.json and no output of a benchmark{why}")
    _refuse_unlike(path, trials)
    return Subject(path.name or str(path), path, tuple(trials), tuple(left_out))


def _refuse_unlike(path: Path, trials: Sequence[Trial]) -> None:
    """Raises if the runs of a folder cannot be repetitions of one run."""
    kinds = dict.fromkeys(map(_kind_of_run, trials))
    if len(kinds) > 1:
        raise UsageError(
            f"{path}: the runs in this folder are not repetitions of one run ({'; '.join(list(kinds)[:4])}); put each "
            f"kind into its own folder, or name single files"
        )


def _kind_of_run(trial: Trial) -> str:
    """Returns, in words, what all repetitions of a run have in common: program and number of processes."""
    if trial.job is not None:
        processes = "process" if trial.job.nprocs == 1 else "processes"
        return f"{PurePosixPath(trial.job.exe).name or 'unknown program'} on {trial.job.nprocs} {processes}"
    return trial.output.program if trial.output is not None else ""
