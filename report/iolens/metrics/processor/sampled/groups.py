"""The group of a function: MPI, MPI-IO, POSIX, STDIO, BLAS, MATH, OMP, the user's own, or the rest (ETC)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from iolens.symbols.chains import SOME_CALL

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
