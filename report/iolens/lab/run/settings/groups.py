"""Groups of functions that `iolens run --trace` records, by CrayPAT's names, and the groups that can be traced on this
machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.installation import find_library, how_to_get_libraries, need_library

_ALWAYS = "recorded always, by file"


@dataclass(frozen=True)
class FunctionGroup:
    """Functions of one kind. `libraries` names the libraries that contain the functions, and one of them is enough; if
    it is empty, the C library has the functions. A group without a preload library of its own is `part` of the
    profiler.
    """

    name: str
    about: str
    libraries: tuple[str, ...] = ()
    part: str = ""


GROUPS = (
    FunctionGroup("mpi", "messages, collectives, waits", part="the profiler's adapter for the program's MPI"),
    FunctionGroup("io", "stdio and sysio: file functions of the C library", part=_ALWAYS),
    FunctionGroup("mpiio", "MPI-IO", part=_ALWAYS),
    FunctionGroup("pnetcdf", "PnetCDF", ("pnetcdf",)),
    FunctionGroup("hdf5", "HDF5", ("hdf5", "hdf5_openmpi", "hdf5_mpich", "hdf5_serial")),
    FunctionGroup("netcdf", "netCDF", ("netcdf", "netcdf_mpi")),
    FunctionGroup("blas", "BLAS", ("blas", "openblas", "mkl_rt", "blis")),
    FunctionGroup("lapack", "LAPACK", ("lapack", "openblas", "mkl_rt")),
    FunctionGroup("fftw", "FFTW", ("fftw3", "fftw3f", "mkl_rt")),
    FunctionGroup("pthreads", "locks, conditions, barriers, joins of threads"),
    FunctionGroup("heap", "malloc and related functions, with bytes"),
    FunctionGroup("omp", "OpenMP: parallel regions, barriers, critical sections", ("gomp", "omp", "iomp5")),
    FunctionGroup("system", "processes, waiting, time"),
    FunctionGroup("math", "libm, except calls that the compiler replaced"),
    FunctionGroup("lustre", "Lustre's library for users", ("lustreapi",)),
    FunctionGroup("functions", "the program's own functions, if it was built with -finstrument-functions"),
)

_KNOWN = {group.name: group for group in GROUPS}

_STANDS_FOR = {"stdio": "io", "sysio": "io", "omp-rtl": "omp"}
"""CrayPAT's names of groups, with the group of iolens that contains their functions."""

_REFUSED = {
    "blacs": "not traced: iolens has no wrappers for BLACS; --trace mpi records its messages, --sample its time",
    "scalapack": "not traced: iolens has no wrappers for ScaLAPACK; --trace blas,lapack,mpi records the calls that "
    "it makes, --sample its time",
    "shmem": "not traced: iolens has no wrappers for OpenSHMEM; --sample records its time",
}
"""CrayPAT's names of groups that cannot be traced, and why not."""


def known_groups(names: Iterable[str]) -> list[str]:
    """Returns the groups by the names that iolens uses, each once; raises UsageError for a group that cannot be
    traced.
    """
    found = [_STANDS_FOR.get(name, name) for name in names]
    for name in found:
        if name in _REFUSED:
            raise UsageError(f"the group {name} is {_REFUSED[name]}")
        if name not in _KNOWN:
            raise UsageError(
                f"{name!r} is not a group of functions; choose from {', '.join((*_KNOWN, *_STANDS_FOR))} "
                "(iolens run --list-groups says more)"
            )
    return list(dict.fromkeys(found))


def libraries(names: Sequence[str]) -> list[Path]:
    """Returns the libraries to preload for these groups; unknown names are skipped."""
    mine = [_KNOWN[name] for name in names if name in _KNOWN and not _KNOWN[name].part]
    return [need_library(f"libiolens-trace-{group.name}.so") for group in mine]


def _support_words(group: FunctionGroup) -> str:
    """Returns a phrase that says that the group's functions can be traced on this machine, or why they cannot."""
    if group.part:
        return group.part
    if find_library(f"libiolens-trace-{group.name}.so") is None:
        return f"does not work: libiolens-trace-{group.name}.so was not found; {how_to_get_libraries()}"
    import ctypes.util

    found = [name for name in group.libraries if ctypes.util.find_library(name)]
    if found or not group.libraries:
        return f"works here{f' (lib{found[0]})' if found else ''}"
    wanted = " or ".join(f"lib{name}" for name in group.libraries)
    return f"no {wanted} on this machine; a copy that a program brings is traced"


def group_listing() -> str:
    """Returns a line per group, for a terminal."""
    rows = [(group.name, group.about, _support_words(group)) for group in GROUPS]
    rows += [(name, f"the same as {group}", _support_words(_KNOWN[group])) for name, group in _STANDS_FOR.items()]
    rows += [(name, "", why) for name, why in _REFUSED.items()]
    return "\n".join(f"{name:10} {about:60} {why}" for name, about, why in rows)
