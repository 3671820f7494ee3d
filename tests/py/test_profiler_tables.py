"""Each row of the tables of wrapped functions is exported and called by a test, and nothing else is exported."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from mpi_libraries import library as mpi_library

MODULES = harness.ROOT / "profiler/src/modules"
LIBC = [harness.ROOT / "calls" / f"{name}.def" for name in ("posix", "stdio")]
SAMPLING = sorted((harness.ROOT / "profiler/src/sampling").glob("*.def"))
OTHERS = [MODULES / name for name in ("posix/async.def", "posix/fresh.def", "hdf5/hdf5.def", "pnetcdf/pnetcdf.def")]
PROFILER_KINDS = [MODULES / "posix/posix_kinds.h", MODULES / "stdio/stdio_wrap.c"]
STORAGE_KINDS = [harness.ROOT / "storage/src/kinds.h"]
NEEDED = {
    "libc.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
BY_HAND = {
    "dlsym",
    *("_exit", "_Exit", "vfork", "syscall", "prctl"),  # These functions do not return, or not in the usual way.
    # These functions install signal handlers.
    *("__sigaction", "bsd_signal", "ssignal", "sysv_signal", "__sysv_signal", "sigset"),
    *(
        "pthread_create",
        "thrd_create",
        "sigaction",
        "sigaltstack",
        "signal",
        "sigprocmask",
        "pthread_sigmask",
        "sigpending",
        "setsockopt",
        "dlclose",
        "dlopen",
        "dlmopen",
        "signalfd",
        "connect",
        "curl_easy_perform",
        "curl_multi_info_read",
    ),
    *("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"),
    *("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat", "fexecve"),
    *("posix_spawn", "posix_spawnp"),
}
MARKS = {
    f"PAT_{name}" for name in "region_begin region_end record flush_buffer".split()
} | {  # Names of CrayPAT's functions for C, and of those in its include file for Fortran.
    f"pat_{name}_{kind}"
    for name, kinds in {
        "region_begin": ["", "i4_", "i8_", "i4ns_", "i8ns_"],
        "region_end": ["", "i4_", "i8_", "i4ns_", "i8ns_"],
        "record": ["", "i4_", "i8_", "ns_"],
        "flush_buffer": ["", "i4_", "i8_", "ns_"],
    }.items()
    for kind in kinds
}

# Rows that no test program calls, each with the reason.
WAIVED = {
    "io_uring_submit_and_wait_min_timeout": "liburing since 2.8 has it",
    "io_uring_wait_cqes_min_timeout": "liburing since 2.8 has it",
    "io_uring_submit_and_wait_reg": "liburing since 2.9 has it",
    "io_uring_resize_rings": "liburing since 2.9 has it",
    "H5Oopen_by_token": "HDF5 since 1.12 has it",
    "__isoc23_fscanf": "a C library since 2.38 has it",
    "__isoc23_fwscanf": "a C library since 2.38 has it",
    "__isoc23_scanf": "a C library since 2.38 has it",
    "__isoc23_wscanf": "a C library since 2.38 has it",
    "__isoc23_vfscanf": "a C library since 2.38 has it",
    "__isoc23_vfwscanf": "a C library since 2.38 has it",
    "__isoc23_vscanf": "a C library since 2.38 has it",
    "__isoc23_vwscanf": "a C library since 2.38 has it",
    "__isoc99_fscanf": "what fscanf is compiled to",
    "__isoc99_fwscanf": "what fwscanf is compiled to",
    "__isoc99_scanf": "what scanf is compiled to",
    "__isoc99_wscanf": "what wscanf is compiled to",
    "__isoc99_vfscanf": "what vfscanf is compiled to",
    "__isoc99_vfwscanf": "what vfwscanf is compiled to",
    "__isoc99_vscanf": "what vscanf is compiled to",
    "__isoc99_vwscanf": "what vwscanf is compiled to",
}


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def rows(tables: list[Path]) -> set[tuple[str, str]]:
    """Returns kind and name of each function in the tables of calls, which calls/row.h describes."""
    text = "".join(table.read_text() for table in tables)
    plain = re.findall(r"^(?:CALL|VARIADIC) *\((\w+), *[^,]+, *(\w+)", text, re.MULTILINE)
    twins = re.findall(r"^CALL64\((\w+), *[^,]+, *(\w+), *(\w+)", text, re.MULTILINE)
    return {*plain, *((kind, name) for kind, *names in twins for name in names)}


def wrapped(kinds: list[Path]) -> set[str]:
    """Returns the functions of the C library that a part wraps: those whose kind has an action there."""
    text = "".join(path.read_text() for path in kinds)
    known = set(re.findall(r"^#define ON_(\w+)\(.*\)(?=[ \\]+\S)", text, re.MULTILINE))
    return {name for kind, name in rows(LIBC) if kind in known}


def profiler_rows() -> set[str]:
    return wrapped(PROFILER_KINDS) | {name for _, name in rows(OTHERS)}


def waits() -> set[str]:
    """Returns the calls that wait, which the profiler wraps because its sampling signal could end them early."""
    text = "".join(table.read_text() for table in SAMPLING)
    return set(re.findall(r"^(?:GIVING_)?WAIT\(\w+, *(\w+)", text, re.MULTILINE))


def pnetcdf_accesses() -> set[str]:
    """Returns PnetCDF's functions that move data; each short row of pnetcdf.def stands for many of them."""
    types = "text schar uchar short ushort int uint long float double longlong ulonglong".split()
    verbs = [("put", ""), ("put", "_all"), ("get", ""), ("get", "_all"), ("iput", ""), ("iget", ""), ("bput", "")]
    forms = ["var", "var1", "vara", "vars", "varm", "varn"]
    kinds = ["", *(f"_{name}" for name in types)]
    typed = {f"ncmpi_{verb}_{form}{kind}{end}" for verb, end in verbs for form in forms for kind in kinds}
    ways = [(verb, end) for verb in ("put", "get") for end in ("", "_all")]
    several = {f"ncmpi_m{verb}_{form}{kind}{end}" for verb, end in ways for form in forms[:-1] for kind in kinds}
    return typed | several | {f"ncmpi_{verb}_vard{end}" for verb, end in ways}


def exported(library: Path) -> set[str]:
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def mpi_names() -> set[str]:
    """Returns the MPI functions that any adapter may wrap, with both prefixes."""
    source = f'#define NAME(name) name\n#include "{harness.ROOT}/profiler/src/dispatch/names.h"\n'
    listed = subprocess.run(["gcc", "-E", "-P", "-"], input=source, capture_output=True, text=True, check=True).stdout
    return {f"{prefix}_{name}" for name in listed.split() for prefix in ("MPI", "PMPI")}


def test_exports_are_the_rows() -> None:
    names = {name for name in exported(harness.LIBRARY) if not name.startswith("iolens_")}
    assert len(pnetcdf_accesses()) == 810
    assert names == profiler_rows() | waits() | pnetcdf_accesses() | mpi_names() | BY_HAND | MARKS
    assert len(profiler_rows()) > 200
    assert len(waits()) > 20


def test_exports_of_the_storage_are_the_rows() -> None:
    library = harness.BUILD / "lib/libost.so"
    subprocess.run(["make", "-s", "-C", harness.ROOT / "storage", f"BUILD={harness.BUILD}", library], check=True)
    assert exported(library) == wrapped(STORAGE_KINDS)
    assert len(wrapped(STORAGE_KINDS)) > 80


def test_exports_of_the_adapter_are_the_rows() -> None:
    text = (harness.ROOT / "profiler/src/mpiio_calls.def").read_text()
    plain = set(re.findall(r"^(?:CALL|OTHER)\([^,]+, *(?:int, *)?(File_\w+)", text, re.MULTILINE))
    plain |= set(re.findall(r"^SPLIT_END\((File_\w+)", text, re.MULTILINE))
    transfers = set(re.findall(r"^TRANSFER\([^,]+, *[^,]+, *(File_\w+)", text, re.MULTILINE))
    names = exported(mpi_library("usual").adapter)
    found = {name.removeprefix("MPI_") for name in names if name.startswith("MPI_File_")}
    assert (len(plain), len(transfers)) == (18, 28)
    assert found - plain - transfers in (set(), {f"{name}_c" for name in transfers})
    assert plain | transfers <= found
    assert {f"PMPI_{name}" for name in found} <= names
    assert names - {"iolens_adapter_name"} <= mpi_names()


def test_every_row_is_called_by_a_test_program() -> None:
    folders = (harness.ROOT / "tests/c", harness.ROOT / "tests/model")
    text = "".join(path.read_text() for folder in folders for path in folder.glob("*.c"))
    names = profiler_rows() | waits() | wrapped(STORAGE_KINDS)
    missing = {name for name in names if not re.search(rf"\b{name}\b", text)}
    assert missing == set(WAIVED)


def test_the_library_needs_little() -> None:
    listing = subprocess.run(["readelf", "-d", harness.LIBRARY], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED.*\[(.*)\]", listing)) <= NEEDED


def test_every_setting_is_explained() -> None:
    rows = (harness.ROOT / "profiler/src/runtime/settings.def").read_text()
    text = (harness.ROOT / "profiler/manual/environment.md").read_text()
    names = re.findall(r'SETTING\(\w+, "IOLENS_(\w+)"', rows)
    assert len(names) > 25
    assert [name for name in names if not re.search(rf"`(IOLENS_)?{name}\b", text)] == []


def test_every_table_is_explained() -> None:
    command = [harness.BUILD / "bin/iolens-recover", "tables"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (harness.ROOT / "profiler/TABLES.md").read_text() == printed.stdout, "run make -C profiler TABLES.md"


def test_tables_are_weighed_by_columns_that_they_have() -> None:
    """A misspelt column name would have no weight, so the order of rows would decide which ones stay."""
    found = 0
    for path in MODULES.rglob("*.c"):
        text = path.read_text()
        columns = text + "".join((path.parent / name).read_text() for name in re.findall(r'#include "(\w+\.h)"', text))
        for names in re.findall(r"\.weighed_by = \{(.+)\}", text):
            for name in re.findall(r'"(\w+)"', names):
                assert re.search(rf'\b(?:MERGED|COLUMN)\({name}, "<[fi]8"', columns), (
                    f"{path.name} has no column {name}"
                )
                found += 1
    assert found > 10
