"""Samples in a library that was unloaded before the program ended get the function's name, which the loader knew."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
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


def test_functions_of_an_unloaded_library_keep_their_names(tmp_path: Path) -> None:
    harness.build_library()
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
