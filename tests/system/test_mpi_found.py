"""The profiler finds the MPI in the process: one library is preloaded, whatever starts a program, and whichever MPI the
program has, from the start or later.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.lab.installation import find_library
from iolens.log import read_log
from mpi_libraries import ROOT, MpiLibrary, library, need_several_programs
from patience import PATIENCE

RANKS = 2
BYTES = 1000  # Of each rank in mpi_part.c.


def program_of(its: MpiLibrary, folder: Path) -> Path:
    return its.compile(ROOT / "tests/c/mpi_part.c", folder / "part")


def asking_program(folder: Path, compiler: str | Path = "gcc", *flags: str) -> Path:
    """Compiles mpi_asked.c, with MPI or without."""
    source, target = ROOT / "tests/c/mpi_asked.c", folder / "asked"
    subprocess.run([compiler, "-std=gnu11", "-w", "-o", target, source, *flags, "-ldl"], check=True)
    return target


def recorded(
    its: MpiLibrary, folder: Path, words: Sequence[str | Path], variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command with `iolens run`, whose logs go to `folder`/out."""
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--output", folder / "out", "--", *words]
    surroundings = {**os.environ, **its.environment(None), "IOLENS_LIB": str(its.adapter.parent), **(variables or {})}
    surroundings["IOLENS_INCLUDE"] = str(folder)
    return subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def assert_one_job(done: subprocess.CompletedProcess[str], folder: Path, others: Sequence[str] = ()) -> None:
    """The command left one log, of all ranks, with their MPI-IO, and logs of these other programs."""
    printed = "".join(path.read_text() for path in (folder / "out").glob("std*.txt"))
    assert done.returncode == 0, done.stderr + printed
    jobs = sorted(map(read_log, (folder / "out").glob("*.darshan")), key=lambda job: -job.nprocs)
    assert [Path(job.exe).name for job in jobs[1:]] == list(others)
    job = jobs[0]
    assert job.nprocs == RANKS
    assert int(job.frames["MPI-IO"]["MPIIO_BYTES_WRITTEN"].sum()) == RANKS * BYTES
    assert (folder / "data").stat().st_size == RANKS * BYTES


BEFORE = {
    "timeout": ["timeout", "60"],
    "env": ["env", "FOO=1"],
    "nice": ["nice", "-n", "1"],
    "shell": ["bash", "-c", 'sleep 0; "$@"; exit $?', "bash"],
    "nested": ["env", "A=1", "timeout", "60", "nice", "sh", "-c", '"$@"; true', "sh"],
}


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5"])
@pytest.mark.parametrize("before", BEFORE)
def test_words_before_the_launcher(name: str, before: str, tmp_path: Path) -> None:
    its = library(name)
    program = program_of(its, tmp_path)
    words = [*BEFORE[before], its.mpirun, "-np", str(RANKS), program, tmp_path / "data"]
    assert_one_job(recorded(its, tmp_path, words), tmp_path)


def test_the_log_of_a_process_that_did_something_of_its_own_stays(tmp_path: Path) -> None:
    """It makes connections, without a file and with little computing; the shell and the sleep beside it do nothing."""
    its = library("usual")
    connecting, job = harness.build_program("network_connections"), program_of(its, tmp_path)
    script = f"{shlex.quote(str(connecting))} >&2; sleep 0.7; {its.mpirun} -np {RANKS} {job} {tmp_path / 'data'}"
    assert_one_job(recorded(its, tmp_path, ["bash", "-c", script]), tmp_path, ["network_connections"])


STAND_INS = {
    "ibrun": ("-n 2 -o 0 task_affinity", "shift 5"),
    "jsrun": ("--nrs 2 --tasks_per_rs 1 --smpiargs=none", "shift 5"),
    "flux": ("run -n 2 -o cpu-affinity=off", "shift 5"),
    "lrun": ("-N 1 -T 2", "shift 4"),
    "mpirun.other": ("-np 2 --site-option value", "shift 4"),
    "start-my-job": ("small", "shift"),
}
"""Launchers that are not packaged, with options and how a script skips these."""


@pytest.mark.parametrize("launcher", STAND_INS)
def test_launchers_by_other_names(launcher: str, tmp_path: Path) -> None:
    its = library("usual")
    options, skip = STAND_INS[launcher]
    script = tmp_path / "bin" / launcher
    script.parent.mkdir()
    script.write_text(f'#!/bin/bash\n{skip}\n"{its.mpirun}" -np {RANKS} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    words = [script, *options.split(), program_of(its, tmp_path), tmp_path / "data"]
    others = ["bash"] if launcher == "start-my-job" else []  # The log of a script has the script among its files.
    assert_one_job(recorded(its, tmp_path, words), tmp_path, others)


def test_the_launcher_of_debians_mpich(tmp_path: Path) -> None:
    its = library("mpich")
    (tmp_path / "mpirun.mpich").symlink_to(its.mpirun)
    (tmp_path / "hydra_pmi_proxy").symlink_to(its.mpirun.with_name("hydra_pmi_proxy"))
    words = [tmp_path / "mpirun.mpich", "-np", str(RANKS), program_of(its, tmp_path), tmp_path / "data"]
    assert_one_job(recorded(its, tmp_path, words), tmp_path)


@pytest.mark.parametrize("options", ["--cpus-per-proc 1", "--max-restarts 0", "--default-hostfile hosts"])
def test_options_of_open_mpi_that_nobody_listed(options: str, tmp_path: Path) -> None:
    its = library("usual")
    if its.flavour != "openmpi":
        pytest.skip("this machine's usual MPI is another one")
    (tmp_path / "hosts").write_text("localhost slots=4\n", encoding="utf-8")
    words = [its.mpirun, *options.split(), "-np", str(RANKS), program_of(its, tmp_path), tmp_path / "data"]
    assert_one_job(recorded(its, tmp_path, words), tmp_path)


@pytest.mark.parametrize(
    ("name", "option", "line"),
    [("usual", "--app", "-np 1 {0} {1}\n-np 1 {0} {1}\n"), ("mpich", "-configfile", "-n 1 {0} {1} : -n 1 {0} {1}\n")],
)
def test_files_of_commands(name: str, option: str, line: str, tmp_path: Path) -> None:
    its = library(name)
    need_several_programs(str(its.mpirun))
    (tmp_path / "commands").write_text(line.format(program_of(its, tmp_path), tmp_path / "data"), encoding="utf-8")
    assert_one_job(recorded(its, tmp_path, [its.mpirun, option, tmp_path / "commands"]), tmp_path)


@pytest.mark.parametrize("name", ["usual", "mpich", "mpiabi", "openmpi5"])
def test_an_mpi_that_is_loaded_later_and_seen_by_few(name: str, tmp_path: Path) -> None:
    """As a plug-in or a Python module loads it."""
    its = library(name)
    plugin = its.compile(ROOT / "tests/c/mpi_part.c", tmp_path / "part.so", "-shared", "-fPIC", "-DLIBRARY")
    words = [its.mpirun, "-np", str(RANKS), asking_program(tmp_path), "symbols", plugin, tmp_path / "data"]
    assert_one_job(recorded(its, tmp_path, words), tmp_path)


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_an_mpi_library_that_is_asked_for_its_functions(name: str, tmp_path: Path) -> None:
    """As Julia and Python's ctypes do; the library has the same functions with the profiler and without."""
    its = library(name)
    program = asking_program(tmp_path)
    path = next(path for path in loaded_by(program_of(its, tmp_path)) if "libmpi" in Path(path).name)
    words = [its.mpirun, "-np", "1", program, "handle", path]
    plain = subprocess.run(
        words, env={**os.environ, **its.environment(None)}, capture_output=True, text=True, check=True
    )
    done = recorded(its, tmp_path, words, {"IOLENS_TRACE": "mpi,io"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/stdout.txt").read_text() == plain.stdout
    assert plain.stdout.count("handle MPI_") > 150
    (log,) = (tmp_path / "out").glob("*.darshan")
    assert "Finalize" in set(read_log(log).private["mpi_calls"]["function"].str.removeprefix("MPI_"))


def loaded_by(program: Path) -> list[str]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [line.split("=> ")[1].split(" (")[0] for line in listed.splitlines() if "=> /" in line]


@pytest.mark.parametrize("name", ["usual", "mpich", "mpiabi", "openmpi5"])
@pytest.mark.parametrize("flags", ["-fPIE -pie", "-fPIE -pie -Wl,-z,now", "-no-pie", "-fPIC -fno-plt"])
def test_programs_that_ask_which_functions_exist(name: str, flags: str, tmp_path: Path) -> None:
    """Weak references and dlsym answer as without the profiler, although it has a function for each."""
    its = library(name)
    program = asking_program(tmp_path, its.mpicc, "-DWITH_MPI", *flags.split())
    words = [its.mpirun, "-np", "1"]
    surroundings = {**os.environ, **its.environment(None)}
    plain = subprocess.run([*words, program], env=surroundings, capture_output=True, text=True, check=True)
    assert recorded(its, tmp_path, [*words, program]).returncode == 0
    assert (tmp_path / "out/stdout.txt").read_text() == plain.stdout
    assert plain.stdout.count("reference MPI_") > 150


@pytest.mark.parametrize("flags", ["-fPIE -pie", "-fPIE -pie -Wl,-z,now", "-no-pie", "-fPIC -fno-plt"])
def test_a_program_without_mpi_has_no_references_to_it(flags: str, tmp_path: Path) -> None:
    program = asking_program(tmp_path, "gcc", *flags.split())
    preload = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_NONMPI": "0"}
    done = subprocess.run([program], env={**os.environ, **preload}, capture_output=True, text=True, check=True)
    assert "reference" not in done.stdout
    assert "table" not in done.stdout
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def run_with(preload: str, its: MpiLibrary, folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {"LD_PRELOAD": preload, "IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder)}
    return subprocess.run(
        [its.mpirun, "-np", str(RANKS), program_of(its, folder), folder / "data"],
        env={**os.environ, **its.environment(None), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_an_adapter_that_is_missing_is_said_once(tmp_path: Path) -> None:
    its, alone = library("usual"), tmp_path / "alone"
    alone.mkdir()
    (alone / "libiolens.so").symlink_to(find_library("libiolens.so") or "")
    done = run_with(f"{alone}/libiolens.so", its, tmp_path)
    assert done.returncode == 0
    assert done.stderr.count(f"the adapter libiolens-{its.flavour}.so for ") == 1
    assert len(list(tmp_path.glob("*.darshan"))) == RANKS


@pytest.mark.parametrize("order", ["before", "behind"])
def test_lists_with_an_adapter_still_work(order: str, tmp_path: Path) -> None:
    """Former versions had a list of two libraries."""
    its, core = library("usual"), str(find_library("libiolens.so"))
    pair = [str(its.adapter), core]
    done = run_with(":".join(pair if order == "before" else reversed(pair)), its, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = tmp_path.glob("*.darshan")
    assert read_log(log).nprocs == RANKS
    assert int(read_log(log).frames["MPI-IO"]["MPIIO_BYTES_WRITTEN"].sum()) == RANKS * BYTES


def test_ranks_with_a_log_each_are_told_at_the_end(tmp_path: Path) -> None:
    """The program has MPI in its own file, where no library can be preloaded before it."""
    its, source = library("usual"), tmp_path / "own.c"
    source.write_text(
        "#include <stdio.h>\nint MPI_Init(void *a, void *b) { return 0; }\n"
        'int main(void) { MPI_Init(0, 0); FILE *f = fopen("written", "a"); fputs("x", f); return fclose(f); }\n'
    )
    subprocess.run(["gcc", "-o", tmp_path / "own", source], check=True)
    done = recorded(its, tmp_path, [its.mpirun, "-np", str(RANKS), "./own"])
    assert done.returncode == 0
    assert (
        done.stderr.count("the ranks of ./own were recorded as processes apart: it has MPI, but MPI_Init did not come")
        == 1
    )
    assert "link its shared library" in done.stderr
