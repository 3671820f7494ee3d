"""Functions appear under their names in the source, although compilers change names and split off code."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pandas as pd
import pytest
from iolens.symbols.chains import call_chains
from iolens.symbols.elf import read_elf
from iolens.symbols.function_names import cython_name, demangled, given_name, is_split_part
from iolens.symbols.resolve import lookup


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_103Allreduce", "mpi4py.MPI.Comm.Allreduce"),
        ("__pyx_pf_6mpi4py_3MPI_4Comm_102Allreduce", "mpi4py.MPI.Comm.Allreduce"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_allreduce", "mpi4py.MPI.PyMPI_allreduce"),
        ("__pyx_f_6mpi4py_3MPI_10_p_msg_cco_for_bcast", "mpi4py.MPI._p_msg_cco.for_bcast"),
        ("__pyx_pw_5heat_3", "__pyx_pw_5heat_3"),
        ("__pyx_pymod_exec_heat", "__pyx_pymod_exec_heat"),
    ],
)
def test_names_of_cython(symbol: str, name: str) -> None:
    assert cython_name(symbol) == name
    assert given_name(f"{symbol}.isra.0", {}) == name


def test_functions_that_cython_compiled(tmp_path: Path) -> None:
    cython = shutil.which("cython3") or shutil.which("cython")
    if not cython:
        pytest.skip("no Cython on this machine (Debian: cython3)")
    (tmp_path / "heat.pyx").write_text(
        "cdef double kernel(int n):\n    return n\n\n\ndef step(int n):\n    return kernel(n)\n\n\n"
        "cdef class Grid:\n    cpdef double sweep(self, int n):\n        return kernel(n)\n"
    )
    subprocess.run([cython, "-3", "heat.pyx", "-o", "heat.c"], cwd=tmp_path, check=True)
    built = ["gcc", "-O0", "-w", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}", "-o", "heat.so", "heat.c"]
    if subprocess.run(built, cwd=tmp_path, check=False, capture_output=True).returncode:
        pytest.skip("this Python's headers and this Cython do not go together")
    names = {given_name(symbol, {}) for symbol in read_elf(tmp_path / "heat.so").names}
    assert {"heat.kernel", "heat.step", "heat.Grid.sweep"} <= names


def test_lambdas_have_the_name_of_the_function_that_they_stand_in(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("there is no g++")
    source = (
        "#include <functional>\nnamespace heat { struct Solver { int sweep(int n); }; }\n"
        "int heat::Solver::sweep(int n) { std::function<int(int)> f = [n](int i) { return i + n; };\n"
        "auto g = [&](int i) { return f(i); }; return g(n); }\n"
    )
    subprocess.run(["g++", "-xc++", "-O0", "-c", "-o", tmp_path / "heat.o", "-"], input=source, text=True, check=True)
    printed = subprocess.run(["nm", tmp_path / "heat.o"], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-1] for line in printed.splitlines() if "Ul" in line and "sweep" in line]
    plain = demangled(symbols)
    names = {given_name(symbol, plain) for symbol in symbols if "clE" in symbol or "9_M_invoke" in symbol}
    bodies = {f"heat::Solver::sweep(int)::{{lambda(int)#{number}}}" for number in (1, 2)}
    assert bodies <= names, names
    assert not any("operator()" in name or "_Function_handler" in name for name in names)


def test_a_function_and_the_part_split_from_it_are_one_frame(tmp_path: Path) -> None:
    """GCC leaves an early return in the callers, where it is inlined, and puts the rest into `comm.part.0`."""
    source = 'int rest(int a) __asm__("comm.part.0");\nint rest(int a) { return a * 3; }\n'
    made = tmp_path / "comm.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", "-xc", "-", "-o", made]
    subprocess.run(command, input=source, text=True, check=True)
    elf = read_elf(made)
    begin = int(elf.starts[elf.names.index("comm.part.0")])
    part = lookup(str(made), elf.build_id, [begin], ())[begin]
    assert (part.is_split, part.symbol, part.chain[-1].function) == (True, "comm", "comm")
    assert is_split_part("comm.constprop.0.part.1")
    assert not is_split_part("comm.constprop.0")
    assert is_split_part("__pyx_pf_6mpi4py_3MPI_4Comm_102Allreduce"), "which the function of Python's convention calls"
    assert not is_split_part("__pyx_pw_6mpi4py_3MPI_4Comm_103Allreduce")
    rows = [
        # Columns: node, parent, function, and whether the compiler split the function.
        (0, -1, "main", False),
        (1, 0, "comm", False),
        (2, 1, "comm", True),
        (3, 2, "comm", False),
        (4, 3, "more", False),
    ]
    frame = pd.DataFrame(rows, columns=["node", "parent", "function", "is_split"])
    chains = call_chains(frame.assign(rank=0, source="", line=0, object="/home/me/app", symbol="", inlined=[()] * 5))
    said = [[each.function for each in chains[0, node]] for node in (2, 4)]
    assert said == [["main", "comm"], ["main", "comm", "comm", "more"]], "recursion stays"
