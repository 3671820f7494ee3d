"""The adapter of one MPI before a program of another: said once, nothing recorded, the program unharmed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

# An MPI that nobody built an adapter for. Its version is as long as MPICH allows; any other call ends the program.
FOREIGN = """
#include <stdlib.h>
#include <string.h>
int MPI_Init(int *argc, char ***argv) { (void)argc, (void)argv; return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_File_open(int comm, const char *path, int mode, int info, int *file)
{ return comm == 1 && path && mode == 2 && info == 3 ? (*file = 4, 0) : 1; }
int PMPI_Get_library_version(char *text, int *length)
{ memset(text, 'v', 8191); memcpy(text, "Foreign MPI 9\\n", 14); text[8191] = 0; *length = 8191; return 0; }
"""
PROGRAM = """
int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_File_open(int, const char *, int, int, int *);
int main(int argc, char **argv)
{ int file = 0; return MPI_Init(&argc, &argv) + MPI_File_open(1, "x", 2, 3, &file) + MPI_Finalize() + file + 3; }
"""


def build(folder: Path) -> Path:
    """The program, linked to the foreign MPI."""
    calls = re.findall(r"^CALL\((\w+)\)", (harness.ROOT / "profiler/src/mpi/calls.def").read_text(), re.MULTILINE)
    others = [f"int PMPI_{name}(void) {{ abort(); }}\n" for name in calls if name != "Get_library_version"]
    (folder / "mpi.c").write_text(FOREIGN + "".join(others))
    (folder / "main.c").write_text(PROGRAM)
    library, program = folder / "libforeign.so", folder / "main"
    subprocess.run(["cc", "-shared", "-fPIC", folder / "mpi.c", "-o", library], check=True)
    subprocess.run(["cc", folder / "main.c", library, f"-Wl,-rpath,{folder}", "-o", program], check=True)
    return program


@pytest.mark.parametrize(("rank", "lines"), [(None, 1), ("0", 1), ("3", 0)])
def test_a_foreign_mpi_is_named_once_and_left_alone(tmp_path: Path, rank: str | None, lines: int) -> None:
    core = harness.build_library()
    adapter = next((path for path in sorted(core.parent.glob("libiolens-*.so"))), None)
    if adapter is None:
        pytest.skip("no adapter was built: there is no MPI compiler")
    environment = {**os.environ, "LD_PRELOAD": f"{adapter}:{core}", "IOLENS_LOGPATH": str(tmp_path)}
    environment |= {"PMI_RANK": rank} if rank else {}
    done = subprocess.run([build(tmp_path)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert done.stderr.count("the program runs Foreign MPI 9; MPI is not recorded") == lines
    assert len(done.stderr.splitlines()) == lines
