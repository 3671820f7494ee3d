"""The tables of wrapped functions: each row exported, nothing else exported, each row called by a test."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

MODULES = harness.ROOT / "profiler/src/modules"
TABLES = [MODULES / f"{name}.def" for name in ("posix", "async", "stdio", "hdf5", "pnetcdf")]
NEEDED = {
    "libc.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
BY_HAND = {"_exit", "_Exit", "vfork", "syscall", "prctl"}  # they do not return as functions do, or not always

# Rows that no test program calls, each with the reason.
WAIVED = {
    "H5Oopen_by_token": "HDF5 since 1.12 has it",
    "__isoc23_fscanf": "a C library since 2.38 has it",
    "__isoc23_scanf": "a C library since 2.38 has it",
    "__isoc23_vfscanf": "a C library since 2.38 has it",
    "__isoc23_vscanf": "a C library since 2.38 has it",
    "__isoc99_fscanf": "what fscanf is compiled to",
    "__isoc99_scanf": "what scanf is compiled to",
    "__isoc99_vfscanf": "what vfscanf is compiled to",
    "__isoc99_vscanf": "what vscanf is compiled to",
}


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def rows() -> set[str]:
    """Names of all wrapped functions, from the tables."""
    row = re.compile(r"^(?:FN[BV]? ?\([^,]+, *|(?:WROTE|READ)\([^,]+, *|(?:FORMAT|SCAN|FNZ)\()(\w+)", re.MULTILINE)
    return {name for table in TABLES for name in row.findall(table.read_text())}


def pnetcdf_accesses() -> set[str]:
    """The functions of PnetCDF that move data, of which the short rows of pnetcdf.def stand for many each."""
    types = "text schar uchar short ushort int uint long float double longlong ulonglong".split()
    verbs = [("put", ""), ("put", "_all"), ("get", ""), ("get", "_all"), ("iput", ""), ("iget", ""), ("bput", "")]
    forms = ["var", "var1", "vara", "vars", "varm", "varn"]
    kinds = ["", *(f"_{name}" for name in types)]
    typed = {f"ncmpi_{verb}_{form}{kind}{end}" for verb, end in verbs for form in forms for kind in kinds}
    return typed | {f"ncmpi_{verb}_vard{end}" for verb in ("put", "get") for end in ("", "_all")}


def dynamic_symbols(*flags: str) -> set[str]:
    listing = subprocess.run(["nm", "-D", *flags, harness.LIBRARY], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def test_exports_are_the_rows() -> None:
    exported = {name for name in dynamic_symbols("--defined-only") if not name.startswith("iolens_")}
    assert len(pnetcdf_accesses()) == 550
    assert exported == rows() | pnetcdf_accesses() | BY_HAND
    assert len(rows()) > 140


def test_every_row_is_called_by_a_test_program() -> None:
    text = "".join(path.read_text() for path in (harness.ROOT / "tests/c").glob("*.c"))
    missing = {name for name in rows() if not re.search(rf"\b{name}\b", text)}
    assert missing == set(WAIVED)


def test_the_library_needs_little() -> None:
    listing = subprocess.run(["readelf", "-d", harness.LIBRARY], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED.*\[(.*)\]", listing)) <= NEEDED


def test_every_setting_is_explained() -> None:
    rows = (harness.ROOT / "profiler/src/core/settings.def").read_text()
    text = (harness.ROOT / "profiler/README.md").read_text()
    names = re.findall(r'SETTING\(\w+, "IOLENS_(\w+)"', rows)
    assert len(names) > 25
    assert [name for name in names if not re.search(rf"`(IOLENS_)?{name}\b", text)] == []
