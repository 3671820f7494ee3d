"""The profiler in a program of an MPI library that no adapter fits says so once, records nothing and does no harm."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

# A substitute for an MPI library that no adapter fits. Its version text is as long as MPICH allows; any call besides
# that ends the program.
FOREIGN = """
#include <stdlib.h>
#include <string.h>
int MPI_Init(int *argc, char ***argv) { (void)argc, (void)argv; return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_File_open(HANDLE comm, const char *path, int mode, HANDLE info, int *file)
{ return comm == (HANDLE)COMM && path && mode == 2 && info == (HANDLE)INFO ? (*file = 4, 0) : 1; }
int PMPI_Get_library_version(char *text, int *length)
{ memset(text, 'v', 8191); memcpy(text, "Foreign MPI 9\\n", 14); text[8191] = 0; *length = 8191; return 0; }
"""
PROGRAM = """
int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_File_open(HANDLE, const char *, int, HANDLE, int *);
int main(int argc, char **argv)
{
    int file = 0, failed = MPI_Init(&argc, &argv) + MPI_File_open((HANDLE)COMM, "x", 2, (HANDLE)INFO, &file);
    return failed + MPI_Finalize() + file + 3;
}
"""


HANDLES = {
    "ints": ["-DHANDLE=int", "-DCOMM=0x44000000", "-DINFO=0x1c000000"],
    "pointers": ["-DHANDLE=void *", "-DCOMM=0x7f1234567890", "-DINFO=0x7f1234567abc"],
}


def build(folder: Path, handles: str) -> Path:
    """Builds the program, linked to the foreign MPI library."""
    calls = re.findall(r"^CALL\((\w+)\)", (harness.ROOT / "profiler/src/mpi/calls.def").read_text(), re.MULTILINE)
    others = [f"int PMPI_{name}(void) {{ abort(); }}\n" for name in calls if name != "Get_library_version"]
    (folder / "mpi.c").write_text(FOREIGN + "".join(others))
    (folder / "main.c").write_text(PROGRAM)
    shared, program = folder / "libforeign.so", folder / "main"
    cc = ["cc", *HANDLES[handles]]
    subprocess.run([*cc, "-shared", "-fPIC", folder / "mpi.c", "-o", shared], check=True)
    subprocess.run([*cc, folder / "main.c", shared, f"-Wl,-rpath,{folder}", "-o", program], check=True)
    return program


@pytest.mark.parametrize("handles", list(HANDLES))
@pytest.mark.parametrize(("rank", "lines"), [(None, 1), ("0", 1), ("3", 0)])
def test_a_foreign_mpi_is_named_once_and_left_alone(tmp_path: Path, handles: str, rank: str | None, lines: int) -> None:
    environment = {**os.environ, "LD_PRELOAD": harness.PRELOAD, "IOLENS_LOGPATH": str(tmp_path)}
    environment |= {"PMI_RANK": rank} if rank else {}
    program = build(tmp_path, handles)
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert (
        done.stderr.count("libforeign.so is an MPI library of an unknown kind, so each process writes a log of its own")
        == lines
    )
    assert len(done.stderr.splitlines()) == lines
