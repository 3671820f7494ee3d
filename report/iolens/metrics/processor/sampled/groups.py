"""The group of a function, and the parts of a rank's time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from iolens.symbols.chains import SOME_CALL

if TYPE_CHECKING:
    import numpy as np


USER, MPI, MPIIO, POSIX, STDIO, BLAS, FFT, MATH, OMP, HEAP, STRING, TOOL, ETC = (
    *("USER", "MPI", "MPI-IO", "POSIX", "STDIO", "BLAS", "FFT", "MATH", "OMP", "HEAP", "STRING", "IOLENS", "ETC"),
)

_CALLS: Mapping[str, str] = {
    POSIX: r"(__libc_|__|_)?(p?(read|write)v?2?|pread64v?2?|pwrite64v?2?|open(at)?|creat|close|l?seek|[lf]?stat|fstatat"
    r"|f(data)?sync|sync_file_range|f?truncate|unlink(at)?|rename(at2?)?|mkdir(at)?|rmdir|mmap|msync|sendfile"
    r"|copy_file_range|fallocate|posix_fadvise|opendir|readdir|fcntl)(64)?(_nocancel)?",
    STDIO: r"_{0,2}(IO_)?f(open|close|read|write|flush|seek|tell|puts|gets|printf|scanf|putc|getc)"
    r"(64|_unlocked|_internal)?|_?v?f?printf(_internal)?|_IO_(new_)?(file_\w+|do_write|flush_all)|puts|putchar|getline|new_do_write",
    HEAP: r"(__libc_)?(malloc|calloc|realloc|free|memalign|posix_memalign|aligned_alloc)|_int_(malloc|free|realloc)"
    r"|malloc_consolidate|sysmalloc|unlink_chunk",
    STRING: r"(__)?(mem|str)(cpy|set|move|cmp|len|chr|cat|dup|ncpy|ncmp)(_\w+)?",
    OMP: r"(GOMP|omp|gomp|__kmpc?|kmp)_\w+",
    BLAS: r"(scipy_)?(cblas_)?[sdcz](gemm|gemv|trsm|trmm|syrk|axpy|dotu?c?|scal|nrm2|copy|swap|ger)_?(64_)?",
}
"""Names of functions by group, for functions whose library does not determine the group: the C library has functions of
several groups, and programs may link it statically.
"""

_OBJECTS: Mapping[str, str] = {
    TOOL: r"libiolens.*|libost\.so.*",
    MPIIO: r"mca_(io|fcoll|fbtl|fs|sharedfp)_.*|libmca_common_ompio.*|libromio.*",
    MPI: r"lib(mpi|mpich|open-pal|open-rte|mca_common|pmix|prrte|psm|fabric|uc[pstm]|ibverbs|hwloc|event).*"
    r"|(mca|pmix)_.*",
    BLAS: r"lib(scipy_)?(open)?blas.*|liblapack.*|libmkl.*|libblis.*|libscalapack.*|libatlas.*",
    FFT: r"libfftw.*",
    MATH: r"libm[-.].*|libmvec.*|libquadmath.*",
    OMP: r"lib(gomp|iomp|omp)\d?.*",
    ETC: r"lib(c|dl|rt|pthread|gfortran|stdc\+\+|gcc_s|z|bz2|crypto|ssl|unwind|dw|elf)[-.].*"
    r"|lib(hdf5|netcdf|pnetcdf)[-_.].*|ld-.*|ld\.so.*|\[?(vdso|linux-).*",
}
"""Names of library files by group."""


@lru_cache(maxsize=1 << 16)
def group_of(function: str, path: str) -> str:
    """Returns the group of a function in the object file `path` (a program or a library; empty: not known)."""
    name = mpi_name(function, path)
    if function == SOME_CALL:
        return MPI
    if name:
        return MPIIO if name.startswith("MPI_File_") else MPI
    owner = _library_of(path)
    if owner in (ETC, USER):
        plain = next((group for group, pattern in _CALLS.items() if re.fullmatch(pattern, function)), owner)
        return plain if owner == ETC or plain in (OMP, BLAS) else owner
    return owner


@lru_cache(maxsize=1 << 12)
def _library_of(path: str) -> str:
    """Returns the group of an object file: a library's group by its name, else USER; ETC if the file is unknown."""
    library = PurePosixPath(path).name
    owner = (group for group, pattern in _OBJECTS.items() if re.fullmatch(pattern, library))
    return next(owner, USER if library else ETC)


def called_name(function: str, path: str) -> str:
    """Returns the name by which programs call a function of the C library whose symbol is `__fopen_internal` or the
    like.
    """
    inside = re.fullmatch(r"__(\w+)_internal", function)
    return inside[1] if inside and _library_of(path) == ETC else function


_C_NAME = re.compile(r"P?(MPI_[A-Z](?=\w*[a-z])\w*?)(_f|_f08|_f08ts)?")
_FORTRAN_NAME = re.compile(r"(?:p?mpi_(\w+?)(?:_f|_f08|_f08ts)?_{0,2}|ompi_(\w+)_f)", re.IGNORECASE)
_FORTRAN_2008_NAME = re.compile(r"p?mpi_(\w+)_f08(ts)?_{1,2}")


@lru_cache(maxsize=1 << 16)
def mpi_name(function: str, path: str = "") -> str:
    """Returns the C name of an MPI function, however Fortran or the profiling interface spell it; empty for others.

    The libraries of MPI have one function under several names, of which any may be found: MPI_WAITALL, mpi_waitall_,
    ompi_waitall_f. A program may have a subroutine mpi_exchange_ of its own.
    """
    if plain := _C_NAME.fullmatch(function):
        return plain[1]
    names = _FORTRAN_NAME if not path or _library_of(path) in (MPI, MPIIO, TOOL) else _FORTRAN_2008_NAME
    fortran = names.fullmatch(function)
    return f"MPI_{(fortran[1] or fortran[2]).capitalize()}" if fortran else ""


COMPUTE = "computing"
UNTRACED = "computing or MPI"
"""On a core outside I/O. `UNTRACED` stands for `COMPUTE` in a program with MPI whose calls were not timed."""

RUNNABLE, ASLEEP = "waiting for a core", "asleep or blocked"
OFF_CORE = "not on a core"
"""Asleep, blocked or waiting for a core; the log cannot distinguish these."""

UNKNOWN = "not attributed"
"""Time outside I/O and timed MPI calls for which the log does not tell whether the rank was on a core."""

OPENMP = "in OpenMP's library"
"""Time in barriers, of idle workers and at the start of parallel regions."""

POINT, COLLECTIVE, SYNC, OTHER = (
    "MPI point-to-point",
    "MPI collective",
    "MPI synchronisation",
    "MPI one-sided and other",
)
ANY_MPI = "MPI"
"""MPI calls of all kinds together, of which a log has only the sum (Darshan's module APMPI)."""

IO = {POSIX: "I/O in POSIX", STDIO: "I/O in STDIO", MPIIO: "I/O in MPI-IO", "DFS": "I/O in DFS", "DAOS": "I/O in DAOS"}
"""The part for each layer of I/O; the layers do not overlap."""

START = "start and end"
"""Time in MPI_Init and MPI_Finalize, and time in which other ranks of the job had begun and this one had not."""

PROFILER = "the profiler"

MPI_PARTS = (POINT, COLLECTIVE, SYNC, OTHER, ANY_MPI)
IO_PARTS = tuple(IO.values())
OUTSIDE = (COMPUTE, UNTRACED, OPENMP, RUNNABLE, ASLEEP, OFF_CORE, UNKNOWN)
PARTS = (*OUTSIDE, *MPI_PARTS, *IO_PARTS, START, PROFILER)


def beyond(is_untraced: bool) -> str:
    """Returns the calls that the parts of `OUTSIDE` leave out: MPI is among them only if its calls were timed."""
    return "outside I/O" if is_untraced else "outside I/O and MPI"


_STARTS = r"MPI_(Init|Init_thread|Finalize|Session_init|Session_finalize)"

_FUNCTIONS = {
    SYNC: r"MPI_(I?barrier(_init)?|Win_(fence|lock(_all)?|unlock(_all)?|flush\w*|start|complete|post|wait|test|sync))",
    COLLECTIVE: r"MPI_(I?(bcast|reduce\w*|all(gather|reduce|toall)\w*|gatherv?|scatterv?|scan|exscan|neighbor_\w+)"
    r"|Comm_(i?dup\w*|split\w*|create\w*|free|accept|connect|disconnect|spawn\w*)"
    r"|Cart_(create|sub)|Graph_create|Dist_graph_create\w*|Intercomm_(create\w*|merge)"
    r"|Win_(create|allocate\w*|create_dynamic|free))",
    POINT: r"MPI_(I?([bsr]?send|m?recv|sendrecv)(_replace)?(_init)?|I?m?probe|Wait(all|any|some)?|Test(all|any|some)?"
    r"|Start(all)?|Request_\w+|P(send|recv)_init|Pready\w*|Parrived|Buffer_\w+|(Comm|Session)_\w+_buffer)",
}
"""Patterns of function names. A wait for a request counts as point-to-point, because the log does not tell the kind of
the request.
"""


def mpi_part(functions: np.ndarray) -> np.ndarray:
    """Returns, for each call, the part of the time that its MPI function belongs to."""
    parts = {name: part_of(name) for name in set(functions.tolist())}
    import numpy as np

    return np.array([parts[name] for name in functions.tolist()], object)


def part_of(function: str) -> str:
    """Returns the part of the time that a call of this MPI function belongs to."""
    if re.fullmatch(_STARTS, function):
        return START
    return next((part for part, names in _FUNCTIONS.items() if re.fullmatch(names, function, re.IGNORECASE)), OTHER)
