"""Tests the places from which I/O functions are called: the direct caller, or chains of callers."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from iolens.symbols.chains import call_chains
from iolens.symbols.resolve import resolve

PROGRAM = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int store(int fd, int n) { return write(fd, "0123456789", n) + 1; }
__attribute__((noinline)) static int often(int fd) {
    int done = 0;
    for (int i = 0; i < 5; i++) done += store(fd, 10);
    return done;
}
__attribute__((noinline)) static int once(int fd) { return store(fd, 3) + 1; }
__attribute__((noinline)) static int print(FILE *file) { return fprintf(file, "%d\\n", 12345) + 1; }
int main(void) {
    int fd = open("data", O_CREAT | O_RDWR, 0600);
    int done = often(fd) + once(fd);
    FILE *file = fopen("text", "w");
    done += print(file);
    fclose(file);
    close(fd);
    return done == 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("io_sites")
    harness.build_library()
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-U_FORTIFY_SOURCE", "-o", "program", "program.c"], cwd=folder, check=True)
    return folder / "program"


def sites(program: Path, callers: int, folder: Path) -> Counter[tuple[object, ...]]:
    """Returns how often each row occurs: function, its callers from the outermost inwards, calls and bytes."""
    assert harness.run(program, folder=folder, IOLENS_IO_CALLERS=str(callers)).returncode == 0
    (log,) = harness.logs(folder)
    private = read_log(log).private
    chains = call_chains(resolve(private["call_nodes"], private["objects"]))
    rows = private["io_sites"]
    assert (rows["time"] > 0).all()
    assert set(rows["module"]) == {"POSIX", "STDIO"}
    return Counter(
        (row.function, *(place.function for place in chains[row.rank, row.node]), int(row.calls), int(row.bytes))
        for row in rows.itertuples()
    )


def test_the_caller_of_each_function_is_known(program: Path, tmp_path: Path) -> None:
    found = sites(program, 1, tmp_path)
    wanted = [("write", "store", 6, 53), ("fprintf", "print", 1, 6), ("open", "main", 1, 0), ("fopen", "main", 1, 0)]
    assert all(found[row] == 1 for row in wanted), found


def test_chains_of_several_callers_are_told_apart(program: Path, tmp_path: Path) -> None:
    found = sites(program, 3, tmp_path)
    wanted = [("write", "main", "often", "store", 5, 50), ("write", "main", "once", "store", 1, 3)]
    assert all(found[row] == 1 for row in wanted), found


def test_without_being_asked_nothing_is_kept(program: Path, tmp_path: Path) -> None:
    assert harness.run(program, folder=tmp_path).returncode == 0
    assert "io_sites" not in read_log(harness.logs(tmp_path)[0]).private


LIBRARY = """
void pass_on(void (*on)(void)) {
    volatile char room[ROOM];
    for (int i = 0; i < ROOM; i++) room[i] = i;
    on();
    room[0] = 1;
}
"""

LOADS = """
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
static int fd;
static void store(void) { write(fd, "x", 1); }
__attribute__((noinline)) static int through_small(void (*pass_on)(void (*)(void))) { pass_on(store); return fd; }
__attribute__((noinline)) static int through_large(void (*pass_on)(void (*)(void))) { pass_on(store); return fd + 1; }
int main(void) {
    int done = 0;
    fd = open("data", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 10; i++) {
        void *library = dlopen(i % 2 ? "./large.so" : "./small.so", RTLD_NOW);
        void *pass_on = dlsym(library, "pass_on");
        done += i % 2 ? through_large(pass_on) : through_small(pass_on);
        dlclose(library);
    }
    return done == 0;
}
"""


def test_callers_through_libraries_that_take_one_anothers_place(tmp_path: Path) -> None:
    """Two functions of the program lie at the same address, one after the other, and differ only in the size of their
    stack frame.
    """
    harness.build_library()
    (tmp_path / "library.c").write_text(LIBRARY)
    (tmp_path / "loads.c").write_text(LOADS)
    compile_it = ["gcc", "-O1", "-g", "-fomit-frame-pointer", "-fno-stack-protector"]
    for name, room in (("small", 40), ("large", 80)):
        library = [*compile_it, "-shared", "-fPIC", f"-DROOM={room}", "-o", f"{name}.so", "library.c"]
        subprocess.run(library, cwd=tmp_path, check=True)
    subprocess.run([*compile_it, "-o", "loads", "loads.c", "-ldl"], cwd=tmp_path, check=True)
    assert harness.run(tmp_path / "loads", folder=tmp_path, IOLENS_IO_CALLERS="5").returncode == 0
    private = read_log(harness.logs(tmp_path)[0]).private
    chains = call_chains(resolve(private["call_nodes"], private["objects"]))
    writes = [row for row in private["io_sites"].itertuples() if row.function == "write"]
    found = Counter({[place.function for place in chains[row.rank, row.node]][-3]: int(row.calls) for row in writes})
    assert found == {"through_small": 5, "through_large": 5}


def test_places_without_room_are_said(program: Path, tmp_path: Path) -> None:
    """Chains longer than three places are cut; the sums over calls stay the same."""
    assert harness.run(program, folder=tmp_path, IOLENS_IO_CALLERS="3", IOLENS_CALL_NODES="3").returncode == 0
    job = read_log(harness.logs(tmp_path)[0])
    (lacks,) = job.partial
    assert lacks == (
        "On 1 rank(s) the program called from more places than the profiler has room for; later places share one "
        "entry. Raise IOLENS_CALL_NODES."
    )
    rows = job.private["io_sites"]
    assert int(rows["calls"][rows["function"] == "write"].sum()) == 6
    assert (rows["node"] == -2).any()
