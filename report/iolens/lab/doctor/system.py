"""The machine: system, limits, file systems, permissions that the kernel gives a program, other tools."""

from __future__ import annotations

import os
import platform
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

from iolens.lab.doctor.finding import CheckResult
from iolens.lab.launchers.slurm_queue import ask_slurm
from iolens.lab.recovery.places import default_folders
from iolens.lab.run.mpi_launch.mpi import mpi_output
from iolens.lab.run.mpi_launch.single_copy import single_copy_works
from iolens.lab.storage.mounts import file_system

_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_DESCRIPTORS = 256
"""Minimum number of open files that a parallel program with its libraries needs."""


def system() -> Iterator[CheckResult]:
    """Lists the system's names and versions."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    except OSError:
        name = "unknown"
    yield CheckResult("system", f"{name}, Linux {platform.release()}, {platform.machine()}")
    yield CheckResult(
        "C library", " ".join(platform.libc_ver()).strip() or "unknown; not glibc, which the profiler needs"
    )
    yield CheckResult("processors", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} for this process")


def check_limits() -> Iterator[CheckResult]:
    """Checks the limits of a process."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    enough = files == resource.RLIM_INFINITY or files >= _DESCRIPTORS
    yield CheckResult("open files", _limit_words(files), enough, "" if enough else "raise it: ulimit -n 1024")
    yield CheckResult("address space", _limit_words(resource.getrlimit(resource.RLIMIT_AS)[0]))


def _limit_words(value: int) -> str:
    """Returns a limit in words."""
    return "unlimited" if value == resource.RLIM_INFINITY else f"{value:,}"


def check_folders() -> Iterator[CheckResult]:
    """Checks the folders of the profiler and of sweeps."""
    for folder in dict.fromkeys([folder.parent for folder in default_folders()]):
        free = shutil.disk_usage(folder).free if folder.is_dir() else 0
        works = os.access(folder, os.W_OK) and free > 0
        what = f"{file_system(folder)[0]}, {free / 1e9:.1f} GB free" if works else "cannot be written to"
        yield CheckResult(
            f"spool in {folder}", what, works, "" if works else "set IOLENS_SPOOL to a folder of this node"
        )
    here = Path.cwd()
    writable = os.access(here, os.W_OK)
    yield CheckResult(
        "this folder",
        f"{file_system(here)[0]}, {shutil.disk_usage(here).free / 1e9:.1f} GB free, {here}",
        writable,
        "" if writable else "logs are written here unless --output or IOLENS_LOGPATH names another folder",
    )


def permissions() -> Iterator[CheckResult]:
    """Checks the kernel's permissions for a program."""
    paranoid = _PARANOID.read_text(encoding="ascii").strip() if _PARANOID.exists() else "no perf events"
    yield CheckResult(
        "perf_event_paranoid", f"{paranoid}; `iolens run --list-hwpc` prints the events that can be counted"
    )
    works = single_copy_works()
    why = (
        "" if works else "the system forbids it, so `iolens run` sets btl_vader_single_copy_mechanism=none for Open MPI"
    )
    yield CheckResult("process_vm_readv", "allowed" if works else "refused", None if not works else True, why)


def tools() -> Iterator[CheckResult]:
    """Checks other tools that are used if they are installed."""
    for name, what in {
        "lfs": "stripes on Lustre",
        "sbatch": "sweeps on a cluster",
        "darshan-parser": "a second reader",
        "make": "`iolens workloads build`",
        "cc": "`iolens workloads build`",
        "reframe": "ReFrame's tests with the mixin IolensCheck",
        "ramble": "Ramble's experiments with the modifier iolens",
    }.items():
        path = shutil.which(name)
        yield CheckResult(name, path or "not there", True if path else None, "" if path else f"for {what}")
    if shutil.which("squeue"):
        answer = ask_slurm("squeue", "--noheader", "--format=%i")
        yield CheckResult(
            "Slurm", "answers" if answer is not None else "squeue does not answer", answer is not None or None
        )
    yield _check_compiler()


def _check_compiler() -> CheckResult:
    """Checks the MPI's compiler command, which on some machines exists without the compiler that it calls."""
    path = shutil.which("mpicc")
    if path is None:
        return CheckResult("mpicc", "not there", None, "for `iolens workloads build`")
    version = mpi_output("mpicc", "--version").partition("\n")[0]
    if not any(letter.isdigit() for letter in version):
        return CheckResult("mpicc", f"{path}, which cannot find a compiler", None, "for `iolens workloads build`")
    return CheckResult("mpicc", f"{path}, {version}", works=True)
