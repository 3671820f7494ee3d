"""Ingests new and changed logs into a store, in batches, by several processes or a Dask cluster."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError, UsageError
from iolens.fleet.job_rows import Met, read_rows
from iolens.fleet.store import NewRows, known_logs, make_store
from iolens.log.format.container import LogError

if TYPE_CHECKING:
    from distributed import Client

_SUFFIX = ".darshan"
_SNAPSHOT = ".snapshot-"
"""Part of the name of a log that was made while its job was running; the job's own log comes later."""
_BATCH_LOGS, _BATCH_BYTES = 500, 64 << 20
"""Maximum number of logs in a batch, which becomes one part of the store, and of their bytes."""
_PR_SET_PDEATHSIG = 1
"""Linux's number of the request for a signal when the parent ends (prctl)."""
PATIENCE = "30s"
"""Time that a scheduler may take to answer before `ingest` gives up."""


@dataclass(frozen=True)
class Batch:
    """The work of one worker: logs to read into a part of a store."""

    store: str
    part: str
    logs: tuple[Met, ...]
    advice: bool


@dataclass(frozen=True)
class Taken:
    """The number of logs that were read, that could not be read, and that were already there unchanged."""

    read: int = 0
    damaged: int = 0
    unchanged: int = 0

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.read + other.read, self.damaged + other.damaged, self.unchanged + other.unchanged)


def ingest(
    folders: Sequence[Path], store: Path, processes: int = 1, advice: bool = True, scheduler: str | None = None
) -> Taken:
    """Reads new and changed logs into the store, which is made if it does not exist. `scheduler` is the address of a
    Dask scheduler, or the file that it wrote.
    """
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: this folder does not exist")
    make_store(store)
    known = known_logs(store)
    skipped = [0]
    batches = _batches_of(_changed_logs(folders, known, skipped), store, advice)
    run = _on_dask(scheduler) if scheduler else _on_processes(processes) if processes > 1 else _map_here
    try:
        taken = sum(run(batches), Taken())
    except OSError as error:
        raise IolensError(
            f"{store}: cannot be written ({error.strerror or error}); run the same command again to continue"
        ) from error
    return taken + Taken(unchanged=skipped[0])


def _logs_in(folder: str) -> Iterator[Met]:
    """Yields the logs in a folder and below it, in order, without links to folders.

    Paths that cannot be examined, folders among them, are yielded as well, and are later listed as unreadable.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError:
        yield Met(folder, 0, 0)
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _logs_in(entry.path)
        elif entry.name.endswith(_SUFFIX) and _SNAPSHOT not in entry.name:
            yield _met(entry)


def _met(entry: os.DirEntry[str]) -> Met:
    """Returns the present state of a log; a log that cannot be examined has size 0 and time 0."""
    try:
        state = entry.stat()
    except OSError:
        return Met(entry.path, 0, 0)
    return Met(entry.path, state.st_size, state.st_mtime_ns)


def _changed_logs(folders: Sequence[Path], known: dict[str, tuple[int, int]], skipped: list[int]) -> Iterator[Met]:
    """Yields each log that the store does not have, or has in an older state, once. `skipped` counts the others."""
    seen: set[str] = set()
    for folder in folders:
        for log in _logs_in(str(folder.resolve())):
            if log.log in seen:
                continue
            seen.add(log.log)
            if known.get(log.name) == (log.bytes, log.mtime_ns):
                skipped[0] += 1
            else:
                yield log


def _batches_of(logs: Iterable[Met], store: Path, advice: bool) -> Iterator[Batch]:
    """Yields the logs in batches, each with the name of the part of the store that it becomes; later parts have names
    that sort later.
    """
    begin = f"{time.time_ns():020d}-{os.getpid()}"
    held: list[Met] = []
    number = size = 0
    for log in logs:
        if held and (len(held) >= _BATCH_LOGS or size + log.bytes > _BATCH_BYTES):
            yield Batch(str(store.resolve()), f"{begin}-{number:06d}", tuple(held), advice)
            held, size, number = [], 0, number + 1
        held.append(log)
        size += log.bytes
    if held:
        yield Batch(str(store.resolve()), f"{begin}-{number:06d}", tuple(held), advice)


def _take_batch(batch: Batch) -> Taken:
    """Reads the logs of a batch into a part. A damaged log is listed; a log that may not be opened is tried again by
    the next ingest.
    """
    read = damaged = 0
    with NewRows(Path(batch.store), batch.part) as part:
        for met in batch.logs:
            try:
                part.add(met, read_rows(met, batch.advice))
                read += 1
            except LogError as error:
                reason = str(error).removeprefix(f"{met.log}: ")
                part.add(met, None, "closed" if reason.startswith("cannot be read") else "damaged", reason)
                damaged += 1
    return Taken(read, damaged)


def _map_here(batches: Iterable[Batch]) -> Iterator[Taken]:
    """Ingests one batch after the other in this process."""
    return map(_take_batch, batches)


def _begin_reader(parent: int) -> None:
    """Makes a reader process end with its parent, for which it would wait for ever if a signal killed that process. It
    ignores interrupts: its parent is interrupted and lets it finish its current work.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _on_processes(count: int) -> Any:
    """Returns a function that ingests batches by several processes, each with two batches at a time, so that memory
    stays bounded.
    """

    def run(batches: Iterable[Batch]) -> Iterator[Taken]:
        from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        with ProcessPoolExecutor(count, get_context("spawn"), _begin_reader, (os.getpid(),)) as pool:
            waiting: set[Future[Taken]] = set()
            try:
                for batch in batches:
                    waiting.add(pool.submit(_take_batch, batch))
                    if len(waiting) >= 2 * count:
                        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        yield from (each.result() for each in done)
                yield from (each.result() for each in waiting)
            except BrokenProcessPool:
                raise IolensError(
                    "a process that read logs was killed, perhaps because memory ran out; use fewer processes: -j 1"
                ) from None
            finally:
                pool.shutdown(cancel_futures=True)

    return run


def _on_dask(scheduler: str) -> Any:
    """Returns a function that ingests batches on the workers of a Dask cluster, which see logs and store under the same
    paths.
    """

    def run(batches: Iterable[Batch]) -> Iterator[Taken]:
        from distributed import as_completed

        with _connected(scheduler) as client:
            work = as_completed(client.map(_take_batch, list(batches), pure=False))
            for each in work:
                yield each.result()

    return run


def _connected(scheduler: str) -> AbstractContextManager[Client]:
    """Returns a client of the scheduler; raises IolensError if it does not answer."""
    from distributed import Client

    try:
        where = {"scheduler_file" if Path(scheduler).is_file() else "address": scheduler}
        client: AbstractContextManager[Client] = Client(**where, timeout=PATIENCE)
        return client
    except (OSError, ValueError, TimeoutError) as error:
        raise IolensError(f"no Dask scheduler answers at {scheduler} ({error})") from error
