"""`iolens run [options] -- mpirun -np 4 ./app …`: run a program under the profiler."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iolens.cli.numbers import whole_number
from iolens.errors import IolensError, UsageError, short_reason
from iolens.lab.installation import find_library, how_to_get_libraries, need_library
from iolens.lab.io_components import IO_COMPONENTS, LUSTRE
from iolens.lab.run import preload
from iolens.lab.run.command_line import command_name, take_apart
from iolens.lab.run.containers.container_names import ANY, RUNTIME_NAMES
from iolens.lab.run.echo import echoed
from iolens.lab.run.execute import Outcome, ending, execute, interruptible
from iolens.lab.run.log_place import LogPlace, log_place, name_logs
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.no_log import why_no_log
from iolens.lab.run.preload import Setup
from iolens.lab.say import say

_DEFAULT_HZ = 100.0
LEAST_HZ, LARGEST_HZ = 0.1, 10000.0
"""The range of IOLENS_SAMPLE that the profiler accepts."""
MOST_CALLERS = 64
_DEFAULT_WHY_MIB = 64
"""Default memory of a process for the events of --why, in MiB: room for two million events."""
_LARGEST_WHY_MIB = 2**10
"""Largest memory for --why, in MiB: its events are 3.4 GiB in the log before compression, and the reader accepts 4 GiB.
"""
_BEFORE = "; write -- before the command"
"""End of the error message if the command's first word stands where an option expects a number."""
LARGEST_EVENTS = 2**63 - 1
"""The largest IOLENS_TIMELINE that the profiler accepts."""

_DEFAULT_EVENTS = 100_000
"""The default length of a time line."""


_VARIABLES = {
    "DXT_ENABLE_IO_TRACE": "dxt",
    "IOLENS_HINTS": "hints",
    "IOLENS_HDF5": "hdf5",
    "IOLENS_HWPC": "hwpc",
    "IOLENS_TRACE": "trace",
    "IOLENS_CALLERS": "callers",
    "IOLENS_IO_CALLERS": "callers",
    "IOLENS_MPI_SYNC": "mpi_sync",
    "IOLENS_LATE_RECEIVES": "late_receives",
    "IOLENS_SAMPLE": "sample",
    "IOLENS_TIMELINE": "timeline",
}
"""Environment variables of the profiler, each with the option of `iolens run` that sets it."""


def _groups_of_functions(text: str) -> str:
    """Converts a list of groups to the profiler's form."""
    from iolens.lab.run.settings.groups import known_groups

    try:
        return ",".join(known_groups(text.split(",")))
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _hints_of_files(text: str) -> str:
    """Converts MPI-IO hints by file to the profiler's form."""
    from iolens.lab.given_hints import hints_of_files

    return hints_of_files(text)


def _hdf5_of_files(text: str) -> str:
    """Returns HDF5 settings by file, as the profiler takes them."""
    from iolens.lab.given_hints import hdf5_of_files

    return hdf5_of_files(text)


def _samples_per_second(text: str) -> float:
    """Returns the rate of samples that the option gives; raises if the rate is not a number, or outside the permitted
    range.
    """
    try:
        rate = float(text)
    except ValueError:
        said = f"{text} is not a number of samples per second; if the command begins here, write -- before it"
        raise argparse.ArgumentTypeError(said) from None
    if not LEAST_HZ <= rate <= LARGEST_HZ:
        raise argparse.ArgumentTypeError(f"{text} is not from {LEAST_HZ:g} to {LARGEST_HZ:g} samples per second")
    return rate


def _counters_to_keep(text: str) -> str:
    """Returns the names of groups or events of the processor, which the profiler will check; raises if there are
    none.
    """
    if not text.replace(",", " ").split():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a group nor an event; --list-hwpc prints all")
    return text


_OPTIONS: Mapping[str, dict[str, Any]] = {
    "--output": {
        "type": Path,
        "metavar": "DIR",
        "help": "write log, run.json and a copy of the output into this folder",
    },
    "--summary": {
        "action": "store_true",
        "help": "end with a summary of the run on standard error, as in a terminal",
    },
    "--quiet": {
        "action": "store_true",
        "help": "print no summary; with --output, do not show the program's output either",
    },
    "--profiler": {
        "choices": preload.PROFILERS,
        "default": "iolens",
        "help": "iolens, the site's Darshan, or none",
    },
    "--storage-mount": {
        "type": Path,
        "metavar": "DIR",
        "help": "emulate object storage targets in this folder",
    },
    "--hints": {
        "type": _hints_of_files,
        "metavar": "PATTERN:KEY=VALUE,...",
        "help": "MPI-IO hints for the files that match, such as '*.nc:cb_nodes=4,cb_buffer_size=16M'",
    },
    "--hdf5": {
        "type": _hdf5_of_files,
        "metavar": "PATTERN:KEY=VALUE,...",
        "help": "HDF5 settings for the files that match, such as '*.h5:alignment=1M,coll_metadata=1'; also threshold, "
        "meta_block, small_data, sieve, chunk_cache, libver and locking",
    },
    "--io-component": {
        "choices": IO_COMPONENTS,
        "help": "MPI-IO layer: ROMIO's Lustre driver, for files on Lustre or on emulated storage (installs Intel MPI "
        "at first use unless the program's own MPI has the driver), or Open MPI's own MPI-IO",
    },
    "--container": {
        "nargs": "?",
        "const": ANY,
        "choices": (ANY, *RUNTIME_NAMES),
        "metavar": "RUNTIME",
        "help": f"record inside the container that the command starts with {', '.join(RUNTIME_NAMES)}; name the "
        f"RUNTIME if its command has another name",
    },
    "--dxt": {
        "action": "store_true",
        "help": "record every single transfer (DXT), in addition to counters",
    },
    "--sample": {
        "type": _samples_per_second,
        "nargs": "?",
        "const": _DEFAULT_HZ,
        "metavar": "HZ",
        "help": f"interrupt every thread HZ times a second (default: {_DEFAULT_HZ:g}) and record the function where "
        f"it is; with PYTHONPERFSUPPORT=1 in the environment, CPython 3.12 or later gives the names of Python "
        f"functions",
    },
    "--timer": {
        "choices": ("wall", "cpu"),
        "default": "wall",
        "help": "clock of --sample: elapsed time (wall) or processor time (cpu)",
    },
    "--timeline": {
        "type": whole_number(1, LARGEST_EVENTS, _BEFORE),
        "nargs": "?",
        "const": _DEFAULT_EVENTS,
        "metavar": "N",
        "help": f"also keep the times of the first N samples and MPI calls of each process (default: "
        f"{_DEFAULT_EVENTS})",
    },
    "--why": {
        "type": whole_number(1, _LARGEST_WHY_MIB, _BEFORE),
        "nargs": "?",
        "const": _DEFAULT_WHY_MIB,
        "metavar": "MIB",
        "help": f"record which calls of MPI and of the file system wait for which: who held up whom, the critical "
        f"path, and the time that faster storage would save (in at most {_DEFAULT_WHY_MIB} MiB of each process)",
    },
    "--list-groups": {
        "action": "store_true",
        "help": "print the groups of --trace, and say which of them this machine has",
    },
    "--hwpc": {
        "type": _counters_to_keep,
        "metavar": "GROUP,...",
        "help": "count these events of the processor, or groups of events (by number or name), for each rank, each "
        "region, and each function of --trace",
    },
    "--list-hwpc": {
        "action": "store_true",
        "help": "print the groups of events, and say which events this machine can count",
    },
    "--trace": {
        "type": _groups_of_functions,
        "metavar": "GROUP,...",
        "help": "count and time the calls of these groups of functions, such as mpi,blas,heap; --list-groups prints "
        "all groups",
    },
    "--apa": {
        "type": Path,
        "metavar": "FILE",
        "help": "trace and count as this file of iolens apa says; --trace and --hwpc take precedence",
    },
    "--callers": {
        "type": whole_number(0, MOST_CALLERS),
        "metavar": "N",
        "help": f"number of callers to record for each call, 0 to {MOST_CALLERS} (default: 1 for MPI, 0 for I/O "
        f"functions)",
    },
    "--mpi-sync": {
        "action": "store_true",
        "help": "with --trace mpi: time an added barrier before each collective call",
    },
    "--late-receives": {
        "action": "store_true",
        "help": "with --trace mpi: count receives that began after their message had arrived",
    },
    "--apart": {
        "action": "store_true",
        "help": "write a log for each process instead of one for the run. The ranks of an MPI job then do not use MPI "
        "to write it; this is needed if some of them run without the profiler, because the others would wait for them",
    },
    "command": {
        "nargs": argparse.REMAINDER,
        "help": argparse.SUPPRESS,
    },
}
"""Options with their arguments for argparse."""


_KILLED = 128
"""Exit codes above this number belong to a program that a signal ended; a summary would only delay the prompt."""

_SHORT = {"--output": ("-o",)}
"""Short names of options."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens run`."""
    parser.usage = "iolens run [options] -- [launcher …] program [arguments …]"
    parser.epilog = (
        "Without --output the log is written into the current folder, or into the folder that IOLENS_LOGPATH (or "
        "DARSHAN_LOGPATH) names. IOLENS_LOGFILE (or DARSHAN_LOGFILE) gives its full name and takes precedence."
    )
    for name, about in _OPTIONS.items():
        parser.add_argument(*_SHORT.get(name, ()), name, **about)


def run(args: argparse.Namespace) -> int:
    """Runs the command; the exit code is the program's."""
    if args.list_groups:
        from iolens.lab.run.settings.groups import group_listing

        print(group_listing())
        return 0
    if args.list_hwpc:
        return _list_hwpc()
    words = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not words:
        raise UsageError("no command was given; write it after --, for example: iolens run -- mpirun -np 4 ./app")
    if args.container:
        _refuse_beside_container(args)
    if args.profiler == "iolens" and find_library("libiolens.so") is None:
        remedy = f"{how_to_get_libraries()}, or run without the profiler: --profiler none"
        raise IolensError(f"libiolens.so was not found, so nothing was started; {remedy}")
    settings: Mapping[str, str] = {}
    if args.io_component == LUSTRE:
        from iolens.lab.run.mpi_launch.lustre_driver import under_driver

        words, settings = under_driver(words)
    with log_place(args.output, os.environ).made() as place:
        return _run_in_place(args, words, place, settings)


def _run_in_place(args: argparse.Namespace, words: list[str], place: LogPlace, settings: Mapping[str, str]) -> int:
    """Runs the command with its logs in this place; returns the program's exit code, or 1 if only the work after it
    failed.
    """
    setup = _setup_of(args, words, place.folder.resolve(), settings)
    _refuse_settings(args, setup.application)
    output = place.folder if args.output else None
    streams = (output / "stdout.txt", output / "stderr.txt") if output else (None, None)
    with interruptible(), echoed(_shown_streams(args, output)):
        outcome = execute(words, setup, *streams)
    try:
        _tell(args, words, place, setup, outcome)
    except (IolensError, OSError) as error:
        say(str(error))
        return outcome.exit_code or 1
    return outcome.exit_code


def _tell(args: argparse.Namespace, words: list[str], place: LogPlace, setup: Setup, outcome: Outcome) -> None:
    """Gives the logs their names, writes run.json and tables, and says where all of it is. The program has ended, and
    an error here must not take the place of its exit code.
    """
    output = place.folder if args.output else None
    outcome = outcome._replace(logs=name_logs(outcome.logs, place))
    if output:
        from iolens.lab.run.record import write_single

        try:
            write_single(output, outcome, setup)
        except OSError as error:
            say(f"{output / 'run.json'} cannot be written: {error.strerror}")
    if not args.quiet and (args.summary or sys.stderr.isatty()) and outcome.exit_code <= _KILLED:
        from iolens.cli.record.run_ending import print_summary

        print_summary(outcome.logs)
    _say_where_log_is(outcome, args.profiler, output, _program_name(words, args.container))


def _shown_streams(args: argparse.Namespace, output: Path | None) -> list[tuple[Path, int]]:
    """Returns the files with the program's output that are shown on the screen, each with its descriptor."""
    if output is None or args.quiet:
        return []
    return [(output / "stdout.txt", 1), (output / "stderr.txt", 2)]


def _program_name(words: list[str], container: str | None) -> str:
    """Returns the name of the command's program, also inside a container; else the command's first word."""
    if container is None:
        return take_apart(words).application or words[0]
    from iolens.lab.run.containers.container import contained_program

    return contained_program(words, container) or words[0]


def _setup_of(args: argparse.Namespace, words: list[str], logs: Path, settings: Mapping[str, str]) -> Setup:
    """Returns the surroundings that the options ask for, with logs in that folder and these variables for the
    launcher.
    """
    application = _analysis(args.apa, take_apart(words).application or words[0]) if args.apa else {}
    application |= _recording(args)
    if args.why:
        application |= _why_settings(args.why, application)
    storage = None
    if args.storage_mount:
        from iolens.lab.storage.emulated import EMULATED

        storage = EMULATED
        application |= storage.environment(args.storage_mount, f"job-{os.urandom(6).hex()}")
        if args.io_component == LUSTRE:
            application |= storage.as_lustre or {}
    command = take_apart(words)
    # Only a launcher is asked for its version, and only if the settings of MPI-IO depend on it.
    starter = words[0] if command.launcher and (args.io_component or args.hints) else None
    if args.hints and starter and mpi.has_romio_of_5(starter):
        say(
            "--hints will have no effect: Open MPI 5 does not pass hints on to its MPI-IO; name a file of `KEY VALUE` "
            "lines in ROMIO_HINTS instead, with --io-component romio321"
        )
    launcher = mpi.environment(preload.flavour_of(command), 1, args.io_component, launcher=starter)
    return Setup(args.profiler, logs, storage, application, {**launcher, **settings}, None, args.container, args.apart)


def _recording(args: argparse.Namespace) -> dict[str, str]:
    """Returns the environment variables for the options that choose the recorded data."""
    values = {variable: getattr(args, option) for variable, option in _VARIABLES.items()}
    values |= {"IOLENS_SAMPLE_TIMER": args.timer if args.sample else None}
    found = {variable: value for variable, value in values.items() if value is not None and value is not False}
    return {name: f"{value:g}" if isinstance(value, bool | float) else str(value) for name, value in found.items()}


def _why_settings(mib: int, settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment variables for --why: its events come from the trace of MPI, so MPI is traced as well."""
    groups = (settings.get("IOLENS_TRACE") or os.environ.get("IOLENS_TRACE", "")).split(",")
    return {"IOLENS_WHY": str(mib), "IOLENS_TRACE": ",".join([*filter(None, groups), *({"mpi"} - {*groups})])}


def _refuse_settings(args: argparse.Namespace, settings: Mapping[str, str]) -> None:
    """Raises an error for settings that the profiler would refuse, before each process prints the same message."""
    if args.profiler != "iolens":
        recorded = ("hwpc", "trace", "apa", "sample", "timeline", "why", "callers", "mpi_sync", "late_receives")
        for name in ("hdf5", *recorded):
            if getattr(args, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} works only with the profiler iolens")
    counted = "--hwpc" if args.hwpc else f"{args.apa}: -Drtenv=PAT_RT_HWPC"
    for name, needed in _without_effect(args, settings):
        raise UsageError(f"{name} has no effect without {needed}; add it")
    if not settings:
        return
    from iolens.lab.run.settings.judged import refuse_unknown

    options = {**_VARIABLES, "IOLENS_SAMPLE_TIMER": "timer", "IOLENS_WHY": "why"}
    named = {variable: f"--{option.replace('_', '-')}" for variable, option in options.items()}
    refuse_unknown(settings, {**named, "IOLENS_HWPC": counted})


def _without_effect(args: argparse.Namespace, settings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the options that have no effect because the data that they refer to is not recorded, each with the option
    that would record it. Empty if there is a configuration file, which may record the data.
    """
    if any(os.environ.get(name) for name in ("IOLENS_CONFIG_PATH", "DARSHAN_CONFIG_PATH")):
        return []
    groups = (settings.get("IOLENS_TRACE") or os.environ.get("IOLENS_TRACE", "")).split(",")
    traced, sampled = "mpi" in groups, bool(args.sample or os.environ.get("IOLENS_SAMPLE"))
    asked = (
        (args.mpi_sync and not traced, "--mpi-sync", "--trace mpi"),
        (args.late_receives and not traced, "--late-receives", "--trace mpi"),
        (args.timer != "wall" and not sampled, "--timer", "--sample"),
        (args.timeline and not (sampled or traced), "--timeline", "--sample or --trace mpi"),
    )
    return [(name, needed) for vain, name, needed in asked if vain]


def _refuse_beside_container(args: argparse.Namespace) -> None:
    """Raises UsageError for options that need more inside the container than the profiler's libraries."""
    if args.profiler != "iolens":
        raise UsageError("--container works only with the profiler iolens")
    for name in ("apa", "storage_mount", "io_component", "apart"):
        if getattr(args, name):
            raise UsageError(
                f"--{name.replace('_', '-')} does not work with --container, because the container lacks what it needs"
            )


def _analysis(file: Path, program: str) -> dict[str, str]:
    """Returns the profiler's settings for the requests in a file of `iolens apa`; prints which of the requested
    functions cannot be traced.
    """
    from iolens.lab.run.settings import apa

    asked = apa.read_apa(file)
    found = apa.find_functions(asked.functions, program)
    for sentence in apa.untraced(found.reasons):
        say(sentence)
    return apa.settings_of(asked, found)


def _list_hwpc() -> int:
    """Prints the groups of counters, as the profiler finds them on this machine."""
    libraries = preload.preload_value([need_library("libiolens.so")])
    program = [sys.executable, "-I", "-S", "-c", ""]
    environment = {**os.environ, "LD_PRELOAD": libraries, "IOLENS_HWPC": "list", "IOLENS_NONMPI": "0"}
    return subprocess.run(program, env=environment, check=False).returncode


def _say_where_log_is(outcome: Outcome, profiler: str, output: Path | None, program: str) -> None:
    """Says where the log is, or that there is none; many logs are merged in one folder."""
    if profiler == "none":
        return
    if not outcome.logs:
        if not outcome.records_remain:
            how = f"{command_name(outcome.command)} {ending(outcome.exit_code)}"
            say(f"no log was written: {how}; {why_no_log(outcome.exit_code, profiler)}")
        return
    apart = None
    if outcome.joined or len(outcome.logs) > 1:
        from iolens.lab.run.separate_ranks import why_ranks_are_apart

        apart = why_ranks_are_apart(outcome.logs)
    if len(outcome.logs) == 1:
        whole = outcome.logs[0]
        joined = f" ({outcome.joined} processes; --apart writes a log for each)" if outcome.joined else ""
        say(f"log: {whole}{joined}")
    else:
        from iolens.lab.run.processes import collect_processes

        try:
            whole = collect_processes(outcome.logs, output, program)
        except (IolensError, OSError) as error:
            whole = outcome.logs[0].parent
            reason = f"processes.csv or files.csv cannot be written: {short_reason(error)}"
            say(f"the {len(outcome.logs)} logs are in {whole}; {reason}")
    if apart:
        say(apart)
    if profiler == "iolens":
        say(f"next: iolens report {shlex.quote(str(whole))}")
