"""Runs one command under the profiler: preloads the application, collects the log, and keeps the output."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import IO, Any, NamedTuple

from iolens.errors import IolensError
from iolens.lab.installation import find_library
from iolens.lab.recovery.places import default_folders, spool_files
from iolens.lab.run.command_line import command_name
from iolens.lab.run.inherited import handing_on
from iolens.lab.run.log_place import without_places
from iolens.lab.run.machine import core_clock, cores_since, machine
from iolens.lab.run.one_log import in_one_log
from iolens.lab.run.own_logs import logs_of_run
from iolens.lab.run.preload import Setup, instrumented
from iolens.lab.run.stopping import OTHER_RUN, RUN, end
from iolens.lab.run.waiting_logs import without_waiting
from iolens.lab.say import say

_ENDING = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM)
"""Signals that end a process, except SIGINT, which Python itself turns into KeyboardInterrupt."""


class Outcome(NamedTuple):
    """The outcome of a command: its start (UTC), the load average at that time, its exit code, the wall time in
    seconds, its logs, and its hosts if the launcher knows them.

    `reason` says why it failed if its own output cannot tell, and `batch` holds facts of a batch system about its job.
    `machine` is the result of lab/run/machine.py for the launcher's host: facts at the start, and the cores that were
    busy during the run, `load_after` the load average at
    the end. `records_remain` is true if some processes have no log yet and their records remain; a message to the user
    has said so. `run` is the name that the logs of the run carry, and `joined` the number of logs that became one.
    """

    command: tuple[str, ...]
    started: str
    load_before: float
    exit_code: int
    seconds: float
    logs: tuple[Path, ...]
    hosts: tuple[str, ...] = ()
    reason: str | None = None
    batch: Mapping[str, Any] = {}
    machine: Mapping[str, Any] = {}
    load_after: float | None = None
    records_remain: bool = False
    run: str = ""
    joined: int = 0


def execute(
    words: Sequence[str],
    setup: Setup,
    stdout: Path | None = None,
    stderr: Path | None = None,
    folder: str | None = None,
) -> Outcome:
    """Runs the command until it ends or its time is over; the exit code is the program's own. Output goes to the given
    files, or else to the terminal. The working folder is `folder`, or that of this process.
    """
    run = os.urandom(16).hex()
    with snapshots_on_request(run, setup):
        return _run_to_end(run, words, setup, stdout, stderr, folder)


def _run_to_end(
    run: str,
    words: Sequence[str],
    setup: Setup,
    stdout: Path | None,
    stderr: Path | None,
    working_folder: str | None,
) -> Outcome:
    """Does the work of `execute`; `run` is the name that marks the profiler's spools as those of this run."""
    marked = setup._replace(application={**setup.application, _mark_of(setup): run})
    before = set(setup.logs.glob("*.darshan"))
    moved: list[Path] = []
    moment, load, here = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()), os.getloadavg()[0], machine()
    clock, cores = time.monotonic(), core_clock()
    surroundings = without_places(os.environ) if setup.profiler == "darshan" else dict(os.environ)
    with _folder_of_logs(setup, run, moved) as folder:
        line, recording = instrumented(words, marked._replace(logs=folder))
        try:
            with _opened(stdout) as out, _opened(stderr) as err:
                environment = {**surroundings, **setup.launcher, **recording}
                status, late, pid = _run_process(
                    lambda: _started(line, environment, out, err, working_folder),
                    run,
                    setup.timeout,
                )
        except OSError as error:
            for path in filter(None, (stdout, stderr)):
                path.unlink(missing_ok=True)
            raise IolensError(f"{line[0]} cannot be started: {error.strerror}") from error
        except KeyboardInterrupt:
            for log in _leave_logs(run, setup, f"{command_name(words)} was interrupted")[0]:
                say(f"log: {log}")
            raise
    seconds, load_after, here = time.monotonic() - clock, os.getloadavg()[0], here | cores_since(cores)
    _, lacking = _leave_logs(run, setup, f"{command_name(words)} {ending(status)}")
    if setup.container:
        from iolens.lab.run.containers.container import remove_spool_folder

        remove_spool_folder(run)
    found = without_waiting(logs_of_run(run, setup.logs, before)) if setup.profiler == "iolens" else tuple(moved)
    logs = found if setup.apart or setup.profiler != "iolens" else in_one_log(found, pid, words)
    code = status if status >= 0 else 128 - status
    return Outcome(
        tuple(line),
        moment,
        load,
        code or (1 if late else 0),
        seconds,
        logs,
        reason=late,
        machine=here,
        load_after=load_after,
        records_remain=lacking,
        run=run,
        joined=1 + len(found) - len(logs) if len(logs) < len(found) else 0,
    )


def _mark_of(setup: Setup) -> str:
    """Returns the variable that names the run. Without the profiler it is another one: inside a run with the profiler,
    the processes are recorded for that outer run, whose name they must keep.
    """
    return RUN if setup.profiler == "iolens" else OTHER_RUN


def _started(
    line: Sequence[str],
    environment: Mapping[str, str],
    out: IO[bytes] | None,
    err: IO[bytes] | None,
    folder: str | None,
) -> subprocess.Popen[bytes]:
    """Starts a command, which inherits from this process what this process inherited from its caller."""
    handing = handing_on()
    process = subprocess.Popen(
        line,
        env=environment,
        cwd=folder,
        stdout=out,
        stderr=err,
        close_fds=False,
        restore_signals=handing.restore_signals,
        preexec_fn=handing.preexec,
    )
    handing.finish()
    return process


def _folder_of_logs(setup: Setup, run: str, moved: list[Path]) -> AbstractContextManager[Path]:
    """Returns the folder that the profiler writes its logs to; at the end of the run Darshan's logs are moved from it
    to the run's folder, and added to `moved`.
    """
    if setup.profiler != "darshan":
        return nullcontext(setup.logs)
    from iolens.lab.run.site_darshan import staging

    return staging(setup.logs, run, moved)


def _leave_logs(run: str, setup: Setup, why: str) -> tuple[list[Path], bool]:
    """Makes the logs that the run's processes did not write themselves. Returns them, and True if some are missing."""
    if setup.profiler != "iolens" or not any(map(spool_files, default_folders())) or not find_library("libiolens.so"):
        return [], False
    from iolens.lab.recovery.rescue import rescue

    return rescue(run, setup.logs, why)


@contextmanager
def snapshots_on_request(run: str, setup: Setup) -> Iterator[None]:
    """Makes a log of the records so far of each job of the run on SIGUSR1; the run continues even if that fails. Does
    nothing for a caller that ignores the signal, because the program must ignore it too.
    """
    if signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN:
        yield
        return

    def snapshot(_: int, __: FrameType | None) -> None:
        from iolens.lab.recovery.snapshot import running_jobs, take

        held = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        try:
            jobs = [job for job in running_jobs() if job[0].run == run]
            if not jobs:
                say("no snapshot was taken: no process of this run on this node has recorded anything")
            for job in jobs:
                say(f"snapshot: {take(job, setup.logs)}")
        except (IolensError, OSError) as error:
            say(f"no snapshot: {error}")
        finally:
            signal.signal(signal.SIGUSR1, held)

    before = signal.signal(signal.SIGUSR1, snapshot)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def ending(status: int) -> str:
    """Returns how a command ended, as part of a sentence."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit code {status}"


def _run_process(
    start: Callable[[], subprocess.Popen[bytes]], run: str, timeout: float | None
) -> tuple[int, str | None, int]:
    """Starts the process; returns its exit status, a message if it was ended because its time was over, and its number.
    An interruption is passed on, and a launcher gets time to end its ranks before its files are removed.
    """
    process = None
    try:
        with _interrupted_later():
            process = start()
        return process.wait(timeout), None, process.pid
    except subprocess.TimeoutExpired:
        assert process is not None
        return end(process, run), f"it ran longer than {timeout:g} s and was ended", process.pid
    except KeyboardInterrupt:
        if process is not None:
            end(process, run)
        raise


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Delays interruptions until the block has ended: a process that is not registered yet could not be ended."""
    if threading.current_thread() is not threading.main_thread():  # Python delivers interrupts to the main thread only.
        yield
        return
    interruptions: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *_ENDING)}
    with ExitStack() as stack:
        for number in (number for number, handler in handlers.items() if callable(handler)):
            stack.callback(signal.signal, number, handlers[number])
            signal.signal(number, lambda number, _: interruptions.append(number))
        yield
    if interruptions:
        raise KeyboardInterrupt(*interruptions[:1])


@contextmanager
def interruptible() -> Iterator[None]:
    """Turns signals that would end this process into KeyboardInterrupt with their number, so that the command is ended
    in good order and its log is made. A signal that the caller ignores, as nohup does, stays ignored.
    """

    def interrupt(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    heeded = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    with ExitStack() as stack:
        for number in heeded:
            stack.callback(signal.signal, number, signal.signal(number, interrupt))
        yield


def _opened(path: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Returns a file to write to, or None for the terminal."""
    return path.open("wb") if path else nullcontext()
