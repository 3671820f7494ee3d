"""The experiment of a command that somebody gives without a file.

The command runs once in its own folder, as its user would run it. That run's log, and the folder before and after it,
say which files the program makes, changes and reads, how much it writes and through which layer. An experiment.yaml is
written from that, beside the results, so that the sweep can be repeated and changed like any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

import iolens
from iolens.errors import IolensError, UsageError
from iolens.lab.files import State, state_of, write_aside
from iolens.lab.run.command_line import command_name, take_apart
from iolens.lab.run.complaint import complaint
from iolens.lab.run.execute import execute, interruptible
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup, flavour_of
from iolens.lab.say import say
from iolens.lab.storage.backends import BACKENDS, DIRECTORY, backend_at
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.sweep.define.command import filled, program_in, ranks_in
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.values import slug
from iolens.log import read_log
from iolens.log.job import Job

_FOLDER, _SEEN, _FILE = "survey", "survey.json", "experiment.yaml"

_ELSEWHERE = ("/dev/", "/proc/", "/sys/", "/tmp/", "/var/")
"""Folders whose files are not the data of a program."""

_FACTORS_OF_MPI_IO = ("aggregators", "cb_buffer_size")

_STRIPES, _AGGREGATORS = (1, 2, 4), (1, 2, 4)
"""Levels that are tried if the user names none."""

_MOST_KNOWN = 100_000
"""Maximum number of paths that are looked up to know which files the program makes and changes."""

_MOST_READ = 1000
"""Maximum number of files that the program reads whose change makes earlier runs invalid."""


@dataclass(frozen=True)
class Wanted:
    """The wishes of the command line: levels of factors, numbers of runs, the folder of data, and changes of keys."""

    levels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    directory: Path | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """The surveyed run's files: those that it made, changed and only read are paths below its folder, `outside` has the
    bytes written to each folder elsewhere. `written` are all bytes; `collective`: some of them went through MPI-IO.
    """

    made: tuple[str, ...]
    changed: tuple[str, ...]
    read: tuple[str, ...]
    outside: Mapping[str, int]
    written: int
    collective: bool


def surveyed(words: Sequence[str], wanted: Wanted, results: Path) -> Experiment:
    """Returns the experiment of a command in the current folder. Raises IolensError with the program's own message if
    the command fails, because no run of a sweep could then succeed.
    """
    here = Path.cwd()
    if not words:
        raise UsageError("no command stands behind --; write it as for a shell, such as -- mpirun -np 4 ./app")
    name = name_of(words, program_in(words, here))
    place = results / name / _FOLDER
    seen = _seen_before(words, place) or _survey(words, place)
    content = experiment_content(name, words, here, seen, wanted)
    path = place / _FILE
    write_aside(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110))
    return load_experiment(path, wanted.changes)


def name_of(words: Sequence[str], program: Path) -> str:
    """Returns the name of an experiment: that of the program, or of the script that an interpreter runs."""
    scripts = [word for word in words if word.endswith((".py", ".sh", ".R", ".jl", ".pl"))]
    stem = Path(scripts[0]).stem if scripts else program.name
    return slug(stem).lstrip(".") or "command"


def _stamp(words: Sequence[str], read: Sequence[str]) -> str:
    """Returns a text that tells whether an earlier survey still holds: command, folder, version, and the state of the
    files that the program reads.
    """
    states = [(path, state_of(path) if os.path.exists(path) else None) for path in read]
    return hashlib.sha256(repr((tuple(words), os.getcwd(), iolens.__version__, states)).encode()).hexdigest()


def _seen_before(words: Sequence[str], place: Path) -> Seen | None:
    """Returns the result of an earlier survey of the same command in the same folder; None if there is none."""
    try:
        content = json.loads((place / _SEEN).read_text(encoding="utf-8"))
        if content.pop("stamp") != _stamp(words, content["read"]):
            return None
        return Seen(**{**content, **{name: tuple(content[name]) for name in ("made", "changed", "read")}})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _survey(words: Sequence[str], place: Path) -> Seen:
    """Runs the command once in its own folder, and returns what its logs show."""
    here = Path.cwd()
    before = _state_below(here)
    place.mkdir(parents=True, exist_ok=True)
    say(f"{shlex.join(words)} runs once in {here}, so that its log tells which files it makes")
    out, err = place / "stdout.txt", place / "stderr.txt"
    with interruptible():
        # The placeholders of a sweep have no meaning here, except the folder of data: the current one.
        command = filled(words, {"directory": here})
        launcher = mpi.environment(flavour_of(take_apart(command)), 1, None)
        outcome = execute(command, Setup(logs=place.absolute(), launcher=launcher), out, err)
    if outcome.exit_code or outcome.reason:
        why = outcome.reason or complaint(err)
        raise IolensError(f"{command_name(words)} ended with exit code {outcome.exit_code}, so no sweep is made: {why}")
    if not outcome.logs:
        raise IolensError(f"{command_name(words)} left no log, so nothing is known of its files (iolens doctor)")
    seen = seen_in([read_log(log) for log in outcome.logs], here, before, _state_below(here), place.absolute())
    write_aside(place / _SEEN, json.dumps({"stamp": _stamp(words, seen.read), **asdict(seen)}, indent=1) + "\n")
    return seen


def _state_below(folder: Path) -> State | None:
    """Returns the state of each path below a folder; None if there are too many."""
    found: dict[str, tuple[int, int]] = {}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            with suppress(FileNotFoundError):
                found[path] = state_of(path)
        if len(found) > _MOST_KNOWN:
            say(f"{folder} has over {_MOST_KNOWN} files, so only the log tells which of them the program changes")
            return None
    return found


def seen_in(jobs: Sequence[Job], here: Path, before: State | None, after: State | None, without: Path) -> Seen:
    """Returns what a run did by its logs, and by the state of the current folder `before` and `after` it: a log does
    not show files that are changed in memory, emptied, or changed by a static program. Files in `without` and the
    folders around it are those of the survey itself.
    """
    own = {str(without), *map(str, without.parents)}
    wrote, read = _moved(jobs, "WRITTEN"), _moved(jobs, "READ")
    inside = {path for path in wrote if path.startswith(f"{here}/")}
    there = inside if before is None else before.keys()
    new = {path for path in inside if path not in there}
    changed = {path for path in inside if path in there and os.path.isfile(path)}
    if before is not None and after is not None:
        new |= after.keys() - before.keys()
        changed |= {path for path, state in after.items() if before.get(path, state) != state and os.path.isfile(path)}
    new, changed = ({path for path in paths if not _is_in(path, own, without)} for paths in (new, changed))
    outside: dict[str, int] = {}
    for path, moved in wrote.items():
        if path not in inside and not path.startswith(_ELSEWHERE):
            folder = os.path.dirname(path)
            outside[folder] = outside.get(folder, 0) + moved
    made = {_topmost_new(path, here, set(there)) for path in new}
    reads = {path for path in read if path.startswith(f"{here}/") and path in there and path not in changed}
    collective = any("MPI-IO" in job.records for job in jobs)
    made_names, changed_names, read_names = (
        tuple(sorted(os.path.relpath(path, here) for path in paths)) for paths in (made, changed, reads)
    )
    return Seen(made_names, changed_names, read_names[:_MOST_READ], outside, sum(wrote.values()), collective)


def _is_in(path: str, own: Collection[str], without: Path) -> bool:
    return path in own or path.startswith(f"{without}/")


def _moved(jobs: Sequence[Job], direction: str) -> dict[str, int]:
    """Returns the bytes that logs show for each file; `direction` is WRITTEN or READ, as in the names of counters."""
    found: dict[str, int] = {}
    for job in jobs:
        for module in ("POSIX", "STDIO"):
            records = job.records.get(module)
            for record, moved in () if records is None else records.rows("id", f"{module}_BYTES_{direction}"):
                path = job.names.get(int(record), "")
                if moved > 0 and path.startswith("/") and not path.startswith(_ELSEWHERE[:3]):
                    found[path] = found.get(path, 0) + int(moved)
    return found


def _topmost_new(path: str, here: Path, before: set[str]) -> str:
    """Returns a new file, or the topmost folder around it that is new: a program that finds its folder there may skip
    making what is in it.
    """
    above = [str(folder) for folder in Path(path).parents if here in folder.parents]
    return next((folder for folder in reversed(above) if folder not in before), path)


def experiment_content(name: str, words: Sequence[str], here: Path, seen: Seen, wanted: Wanted) -> dict[str, Any]:
    """Returns the experiment of a command as the content of an experiment.yaml."""
    command, data = _with_data_folder(words, here, seen)
    matrix = _matrix(wanted.levels, seen, ranks_in(words))
    workload: dict[str, Any] = {"command": list(command), "inputs": str(here)}
    workload |= {"outputs": list(seen.made)} if seen.made else {}
    workload |= {"copy": list(seen.changed)} if seen.changed else {}
    workload |= {"reads": list(seen.read)} if seen.read else {}
    workload |= {"volume": seen.written} if seen.written else {}
    return {
        "name": name,
        "title": shlex.join(words)[:80],
        "workload": workload,
        "storage": _storage(wanted.directory or data, "stripe_count" in matrix, wanted.directory),
        **({} if seen.collective else {"mpi": {"hints": {}}}),
        "matrix": {factor: list(levels) for factor, levels in matrix.items()},
        "repetitions": 3,
        **wanted.numbers,
        "report": {"metric": "automatic"},
    }


def _with_data_folder(words: Sequence[str], here: Path, seen: Seen) -> tuple[tuple[str, ...], Path]:
    """Returns the command, and the folder in which its data lies. If most bytes went to a folder outside the current
    one, its path in the command becomes `{directory}`; raises UsageError if no word of the command has that path.
    """
    words = tuple(_below(word, here) for word in words)
    if any("{directory}" in word for word in words) or not seen.outside:
        return words, here
    folder = max(seen.outside, key=lambda path: seen.outside[path])
    if seen.outside[folder] * 2 < seen.written:
        say(f"the program also writes into {folder}, where all runs then write to the same files")
        return words, here
    replaced = tuple(word.replace(folder, "{directory}") for word in words)
    if replaced == words:
        raise UsageError(
            f"the program wrote {seen.outside[folder] / 1e6:.1f} MB into {folder}, which lies outside the folder in "
            "which it runs, and every run would write there; make that path a part of the command, and write "
            "{directory} in its place"
        )
    return replaced, Path(folder)


def _below(word: str, here: Path) -> str:
    """Returns a word of the command with paths below the current folder relative to it: each run has a folder of its
    own.
    """
    return re.sub(rf"(?<![\w./-]){re.escape(str(here))}(?=/|$)", ".", word)


def _matrix(levels: Mapping[str, tuple[int, ...]], seen: Seen, ranks: int) -> dict[str, tuple[int, ...]]:
    """Returns the factors and their levels: the user's, else some of stripes and, for MPI-IO, of aggregators."""
    if not levels:
        counts = tuple(count for count in _AGGREGATORS if count <= ranks)
        return {"stripe_count": _STRIPES, **({"aggregators": counts} if seen.collective and len(counts) > 1 else {})}
    idle = [] if seen.collective else [factor for factor in _FACTORS_OF_MPI_IO if factor in levels]
    left = {factor: values for factor, values in levels.items() if factor not in idle}
    if idle and not left:
        raise UsageError(f"the program moves no byte through MPI-IO, so {' and '.join(idle)} would change nothing")
    if idle:
        say(f"the program moves no byte through MPI-IO, so {' and '.join(idle)} would change nothing and are left out")
    return left


def _storage(folder: Path, striped: bool, directory: Path | None) -> dict[str, Any]:
    """Returns the storage of the runs: the file system of the data if it has stripes, else emulated targets, or the
    file system as it is if the matrix varies no stripes.
    """
    backend = backend_at(folder)
    own = {"directory": str(directory.absolute())} if directory else {}
    if backend.set_stripes is not None and backend.name in BACKENDS:
        return {"kind": DIRECTORY, **(own or {"directory": str(folder / "iolens-runs")})}
    if striped:
        say(f"{folder} has no stripes, so the runs are made on {EMULATED.name} storage targets")
    return {"kind": EMULATED.name if striped else DIRECTORY, **own}
