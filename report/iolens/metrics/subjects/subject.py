"""The subjects of a comparison: logs, results that benchmarks printed, and repetitions of either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.log import Job


@dataclass(frozen=True)
class Value:
    """One number of a run, in its `unit`: s, µs, B, MiB/s, share (0 to 1), or the name of the counted things. `better`:
    1 if a larger number is better, -1 if a smaller one is, 0 if neither.
    """

    group: str
    name: str
    unit: str
    value: float
    better: int = 0


@dataclass(frozen=True)
class Output:
    """The printed result of a benchmark: its name with its version, facts in its own words, and numbers.

    A benchmark that repeats its test within one run gives the same group and name several times.
    """

    program: str
    facts: Mapping[str, str]
    values: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Trial:
    """One run: its log, what it printed, and its run.json (report/RUN.md), as far as they exist.

    `limits` are the numbers of the model below emulated storage (`storage/ost.yaml`). A run of several processes may
    leave one log each: `logs` is their number, `job` the log with most I/O time, and `seconds` the time of the whole
    run, 0 if it is unknown.
    """

    path: Path
    job: Job | None = None
    output: Output | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    logs: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Subject:
    """One side of a comparison: a name, and one run or repetitions of it; `left_out` says which runs could not be used,
    and why.
    """

    label: str
    path: Path
    trials: tuple[Trial, ...]
    left_out: tuple[str, ...] = ()

    @property
    def jobs(self) -> list[Job]:
        """Returns the logs of the subject's runs."""
        return [trial.job for trial in self.trials if trial.job is not None]


@dataclass(frozen=True, eq=False)
class Subjects:
    """Two subjects or more; all others are compared with the first.

    `letters` are their short names in figures and tables. `device_rate`: the highest rate of their storage in bytes per
    second, if the user gave it; else 0. `before`: how many letters belong to subjects of earlier figures of the same
    page.
    """

    all: tuple[Subject, ...]
    device_rate: float = 0.0
    before: int = 0

    @property
    def letters(self) -> Sequence[str]:
        """Returns A, B, C … in the order of the subjects; A1, B1 … beyond Z."""
        numbers = range(self.before, self.before + len(self.all))
        return [chr(65 + n % 26) + (str(n // 26) if n >= 26 else "") for n in numbers]

    @property
    def named(self) -> Sequence[tuple[str, Subject]]:
        """Returns each subject with its letter."""
        return list(zip(self.letters, self.all, strict=True))
