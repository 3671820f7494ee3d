"""Samples in a library that was unloaded before the program ended get the function's name, which the loader knew."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.metrics.processor.ask import Ask, asked_levels
from iolens.metrics.processor.sampled.samples import profile

LIBRARY = """
static volatile double sum;
void works_in_a_library(void) { for (int i = 0; i < 100000; i++) sum += 1; }
"""

PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void (*work)(void);
    Dl_info info;
    char name[64];
    *(void **)&work = library ? dlsym(library, "works_in_a_library") : NULL;
    if (!work || !dladdr(*(void **)&work, &info))
        return 1;
    snprintf(name, sizeof name, "%s", info.dli_sname);
    for (int i = 0; i < 200; i++)
        work();
    int result = dlclose(library);
    printf("%s\\n", name); /* no call that is recorded came before this one */
    return result;
}
"""


ALTERNATING = """
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}
int main(int argc, char **argv) {
    void *places[4];
    double seconds[2] = {0};
    for (int turn = 0; turn < 4; turn++) {
        void *library = dlopen(argv[argc - 1 - turn % 2], RTLD_NOW);
        void (*work)(void);
        *(void **)&work = places[turn] = library ? dlsym(library, turn % 2 ? "second_work" : "first_work") : NULL;
        double begin = now();
        for (int i = 0; i < (turn % 2 ? 50 : 150); i++)
            work();
        seconds[turn % 2] += now() - begin;
        if (dlclose(library) != 0)
            return 1;
    }
    printf("%d %.9f %.9f\\n", places[0] == places[1] && places[1] == places[2], seconds[0], seconds[1]);
    return 0;
}
"""


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def test_functions_of_libraries_at_the_same_address_are_told_apart(tmp_path: Path) -> None:
    """Each of two libraries is loaded twice, in turns; the loader puts both at the same place."""
    gcc = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1"]
    for name in ("first", "second"):
        (tmp_path / f"{name}.c").write_text(LIBRARY.replace("works_in_a_library", f"{name}_work"))
        command = [*gcc, "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "program.c").write_text(ALTERNATING)
    subprocess.run([*gcc, "-o", "program", "program.c", "-ldl"], cwd=tmp_path, check=True)
    words = [str(tmp_path / "second.so"), str(tmp_path / "first.so")]
    done = harness.run(tmp_path / "program", *words, folder=tmp_path, IOLENS_SAMPLE="1000")
    assert (done.returncode, done.stderr) == (0, "")
    same, *seconds = map(float, done.stdout.split())
    assert same == 1
    found = profile(read_log(harness.logs(tmp_path)[0]), Ask(asked_levels("function"))).frame().set_index("name")
    for name, own in zip(("first_work", "second_work"), seconds, strict=True):
        assert found.loc[name, "share"] == pytest.approx(100 * own / sum(seconds), abs=10)


def test_functions_of_an_unloaded_library_keep_their_names(tmp_path: Path) -> None:
    (tmp_path / "library.c").write_text(LIBRARY)
    (tmp_path / "program.c").write_text(PROGRAM)
    gcc = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-g"]
    subprocess.run([*gcc, "-shared", "-fPIC", "-o", "library.so", "library.c"], cwd=tmp_path, check=True)
    subprocess.run([*gcc, "-o", "program", "program.c", "-ldl"], cwd=tmp_path, check=True)
    done = harness.run(tmp_path / "program", str(tmp_path / "library.so"), folder=tmp_path, IOLENS_SAMPLE="1000")
    assert done.returncode == 0, done.stderr
    (log,) = harness.logs(tmp_path)
    found = profile(read_log(log), Ask(asked_levels("function"))).frame().set_index("name")
    assert found.loc[done.stdout.strip(), "share"] > 80.0
    paths = {Path(path).name for path in read_log(log).private["objects"]["path"]}
    assert "library.so" in paths
