"""The interface that every kind of storage provides to the other parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.storage.layout import Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import StorageTarget


@dataclass(frozen=True)
class Health:
    """The conditions of a job: the file system's type, whether its timing may be used (None if unknown), the reason why
    not, and further counts of the back end under their names in run.json.
    """

    file_system: str
    valid: bool | None = None
    reason: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)


def _health_of_mount(directory: Path, job: str) -> Health:
    """Returns the health of a file system without per-job accounting: only its type is known."""
    return Health(file_system(directory)[0])


@dataclass(frozen=True)
class Backend:
    """One kind of storage. A back end is one file with one of these objects, and a row in `backends.py`.

    `name` is its `storage.kind` in experiment.yaml and run.json. `holds(path)` returns True if the path lies on it.

    Stripes: `set_stripes(directory, layout)` sets the layout of files that are created there later, `get_stripes(path)`
    returns that of a file or directory; both raise UsageError for an impossible layout. `stripe_command(count, size,
    pool, object_size)` is the command line that sets them; None means that this storage has no stripes. `pools` is True
    if a layout may name a pool of targets, `objects` if it may have an object size; objects are then placed by a hash
    of their names, and a file may have more stripes than there are targets. `targets(path, pool)` returns the targets
    below a path, or those of a pool; None if unknown. `spread(directory, names, layout)` makes empty files of which all
    stripes lie on different targets as far as possible; None if the file system spreads files by itself.

    Sweeps: `make(directory, configuration)` turns a plain directory into this storage, with the parameters in that file
    or with the defaults (None); the field is None for storage that cannot be made. `settings(directory)` returns the
    files, apart from programs, that decide the outcome of a run.

    Jobs, each with its own name `job`: `environment(directory, job)` returns the variables of its processes,
    `libraries` are preloaded after the profiler, `health(directory, job)` judges the job after its end, and
    `end(directory, job)` removes state that is no longer needed. If `one_node` is True, a job's ranks must share a
    node. If `times_by_model` is True, the storage has the speed of a model and not of the disk below. `as_lustre` are
    variables that make MPI libraries treat it as Lustre; None if their Lustre driver does not work on it.

    Pages: `mark` stands on every page about runs on this storage, `caution` (a sentence or two) precedes the numbers.
    """

    name: str
    holds: Callable[[Path], bool]
    set_stripes: Callable[[Path, Layout], None] | None = None
    get_stripes: Callable[[Path], Layout] | None = None
    stripe_command: Callable[[int, int | None, str | None, int | None], str] | None = None
    pools: bool = False
    objects: bool = False
    targets: Callable[[Path, str | None], tuple[StorageTarget, ...]] | None = None
    spread: Callable[[Path, Sequence[str], Layout], None] | None = None
    make: Callable[[Path, Path | None], object] | None = None
    settings: Callable[[Path], tuple[Path, ...]] = lambda directory: ()
    environment: Callable[[Path, str], Mapping[str, str]] = lambda directory, job: {}
    libraries: tuple[str, ...] = ()
    health: Callable[[Path, str], Health] = _health_of_mount
    end: Callable[[Path, str], None] = lambda directory, job: None
    one_node: bool = False
    times_by_model: bool = False
    as_lustre: Mapping[str, str] | None = None
    mark: str | None = None
    caution: str | None = None
