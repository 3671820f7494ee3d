"""What the toolkit asks of a kind of storage, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.storage.layout import Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import StorageTarget


@dataclass(frozen=True)
class Health:
    """What a job met: the file system's type, whether its timing may be used (None: nobody can tell), why not, and
    whatever else the back end counted, under the names that run.json shall give it."""

    file_system: str
    valid: bool | None = None
    reason: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)


def health_of_mount(directory: Path, job: str) -> Health:
    """Of a file system that keeps no account of its jobs, its type."""
    return Health(file_system(directory)[0])


@dataclass(frozen=True)
class Backend:
    """One kind of storage. A back end is one file with one of these, and a row in `backends.py`.

    `name` is how `storage.kind` of experiment.yaml and run.json call it. `holds(path)`: whether the path lies on it.

    Stripes: `set_stripes(directory, layout)` sets the layout of the files made there from now on, `get_stripes(path)`
    tells a file's or a directory's; both raise UsageError for what cannot be. `stripe_command(count, size, pool)` is
    the line with which a person sets them. None: this storage has no stripes. `pools`: a layout may name a pool of
    targets.
    `targets(path, pool)` are the targets below a path, or those of a pool; None: nobody tells.

    Sweeps: `make(directory, configuration)` turns a plain directory into such storage, with the numbers of that file or
    its usual ones (None); None where it is there or is not.
    `settings(directory)` are the files besides the programs that decide the outcome of a run.

    Jobs, `job` being a name of its own for each: `environment(directory, job)` gives the variables of its processes,
    `libraries` are preloaded into them behind the profiler, `health(directory, job)` judges it when it has ended, and
    `end(directory, job)` removes what is no longer needed. Where `one_node` holds, its ranks must share a node;
    where `times_by_model` does, its speed is that of a model and not of what lies below.
    `as_lustre` are variables by which MPI libraries take it for Lustre; None: it answers nothing that their Lustre
    driver asks.

    Pages: `mark` stands on every page about runs on this storage, `caution` (a sentence or two) before the numbers.
    """

    name: str
    holds: Callable[[Path], bool]
    set_stripes: Callable[[Path, Layout], None] | None = None
    get_stripes: Callable[[Path], Layout] | None = None
    stripe_command: Callable[[int, int | None, str | None], str] | None = None
    pools: bool = False
    targets: Callable[[Path, str | None], tuple[StorageTarget, ...]] | None = None
    make: Callable[[Path, Path | None], object] | None = None
    settings: Callable[[Path], tuple[Path, ...]] = lambda directory: ()
    environment: Callable[[Path, str], Mapping[str, str]] = lambda directory, job: {}
    libraries: tuple[str, ...] = ()
    health: Callable[[Path, str], Health] = health_of_mount
    end: Callable[[Path, str], None] = lambda directory, job: None
    one_node: bool = False
    times_by_model: bool = False
    as_lustre: Mapping[str, str] | None = None
    mark: str | None = None
    caution: str | None = None
