"""Merge several sweeps into one with the sweep itself as the first setting, to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iolens.lab.sweep.define.folders import CONFIRM
from iolens.lab.sweep.read.results import Results
from iolens.lazy import pd
from iolens.metrics.comparison.settings import NamedLevel

APART = (CONFIRM, "first")
"""Folders of a sweep whose runs are not repetitions of its matrix."""

_EXPERIMENT = "experiment"
"""Name of the setting that distinguishes the sweeps."""


def is_sweep(path: Path) -> bool:
    """Returns True if a path is the folder of a sweep: it has an experiment, or runs of more than one setting."""
    if not path.is_dir() or (path / "run.json").is_file():
        return False
    if (path / "experiment.yaml").is_file():
        return True
    settings = {run.parent.parent for run in path.rglob("run.json") if run.relative_to(path).parts[0] not in APART}
    return len(settings) > 1


def can_be_paired(sweeps: Sequence[Results]) -> bool:
    """Returns True if all sweeps vary the same settings and use the same metric, so that points of different sweeps can
    be compared in pairs.
    """
    return all(set(one.settings) == set(sweeps[0].settings) and one.metric == sweeps[0].metric for one in sweeps)


def merged(sweeps: Sequence[Results]) -> Results:
    """Returns the runs of all sweeps, each sweep as one level of `experiment`, the first as baseline; `can_be_paired`
    must hold.

    The complete runs that preceded the sweeps and the runs that confirmed their best settings are left out.
    """
    first = sweeps[0]
    labels = _names_of(sweeps)
    levels = [NamedLevel(label, place) for place, label in enumerate(labels)]
    runs = pd.concat(
        [
            one.runs.assign(**{_EXPERIMENT: pd.Series([level] * len(one.runs), index=one.runs.index, dtype=object)})
            for one, level in zip(sweeps, levels, strict=True)
        ]
    )
    limits = first.limits if all(one.limits == first.limits for one in sweeps) else {}
    return replace(
        first,
        name=" and ".join(labels),
        title=" and ".join(labels),
        settings=(_EXPERIMENT, *first.settings),
        runs=runs.reset_index(drop=True),
        fresh=first.fresh.head(0).assign(**{_EXPERIMENT: None}),
        first=None,
        skipped=tuple(skip for one in sweeps for skip in one.skipped),
        limits=limits,
    )


def _names_of(sweeps: Sequence[Results]) -> list[str]:
    """Returns the names of the sweeps' folders, with the folders above them if two names are equal, and with numbers if
    that does not help.
    """
    names = [one.directory.resolve().name for one in sweeps]
    if len(set(names)) == len(names):
        return names
    names = ["/".join(one.directory.resolve().parts[-2:]) for one in sweeps]
    return names if len(set(names)) == len(names) else [f"{name} ({n})" for n, name in enumerate(names, 1)]
