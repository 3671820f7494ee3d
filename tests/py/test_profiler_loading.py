"""Libraries that a program binds past the preloaded ones, and programs into which no library can be preloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log.job import Job
from iolens.log.reader import read_log
from patience import PATIENCE

CC = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-U_FORTIFY_SOURCE"]


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def loaded(folder: Path, how: str, name: str, *flags: str) -> Job:
    """Returns the log of a program that loads the library by this name."""
    source = harness.ROOT / "tests/c/deep_library.c"
    subprocess.run([*CC, "-shared", "-fPIC", *flags, "-o", folder / "libdeep.so", source], check=True)
    subprocess.run([*CC, "-DPROGRAM", "-o", folder / "program", source, "-ldl"], check=True)
    done = harness.run(folder / "program", how, name, folder=folder, LD_LIBRARY_PATH=str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (log,) = harness.logs(folder)
    return read_log(log)


@pytest.mark.parametrize("name", ["./libdeep.so", "libdeep.so"])
@pytest.mark.parametrize("flags", [("-Wl,-z,now", "-Wl,-z,relro"), ("-Wl,-z,lazy",)], ids=["sealed", "lazy"])
def test_a_library_that_binds_deeply_is_recorded(flags: tuple[str, ...], name: str, tmp_path: Path) -> None:
    """Its own function `pwrite`, which has the name of a wrapped one, stays its own."""
    job = loaded(tmp_path, "deep", name, *flags)
    wrote = {module: job.frames[module][f"{module}_BYTES_WRITTEN"].sum() for module in ("POSIX", "STDIO")}
    assert (wrote, job.unfollowed) == ({"POSIX": 1000000, "STDIO": 3}, ())


def test_a_library_in_a_namespace_of_its_own_is_named(tmp_path: Path) -> None:
    job = loaded(tmp_path, "namespace", "./libdeep.so")
    (sentence,) = job.unfollowed
    assert "dlmopen" in sentence


@pytest.fixture
def musl(tmp_path: Path) -> Path:
    """Returns a folder with a dynamic program of musl, and a script that it interprets."""
    if not shutil.which("musl-gcc"):
        pytest.skip("musl-gcc is not installed")
    (tmp_path / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 7; }\n')
    subprocess.run(["musl-gcc", "-o", "hello", "hello.c"], cwd=tmp_path, check=True)
    (tmp_path / "script").write_text(f"#!{tmp_path}/hello\n")
    (tmp_path / "script").chmod(0o700)
    return tmp_path


STARTS = """
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
how, name = sys.argv[1:]
words, names = (ctypes.c_char_p * 2)(name.encode()), os.environb
def wait(child): return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def forked(call):
    child = os.fork()
    if child == 0: call(); os._exit(99)
    return wait(child)
print({
    "subprocess": lambda: subprocess.run([name]).returncode,
    "system": lambda: os.waitstatus_to_exitcode(os.system(name)),
    "spawn": lambda: wait(os.posix_spawn(name, [name], os.environ)),
    "spawnp": lambda: wait(os.posix_spawnp(os.path.basename(name), [name], os.environ)),
    "execv": lambda: forked(lambda: os.execv(name, [name])),
    "execvp": lambda: forked(lambda: libc.execvp(os.path.basename(name).encode(), words)),
    "execl": lambda: forked(lambda: libc.execl(name.encode(), name.encode(), None)),
    "fexecve": lambda: forked(lambda: os.execve(os.dup2(os.open(name, os.O_RDONLY), 9), [name], os.environ)),
}[how]())
"""


@pytest.mark.parametrize("program", ["hello", "script"])
@pytest.mark.parametrize("how", ["subprocess", "system", "spawn", "spawnp", "execv", "execvp", "execl", "fexecve"])
def test_a_program_of_another_c_library_runs(how: str, program: str, musl: Path) -> None:
    command = [shutil.which("python3") or "python3", "-c", STARTS, how, str(musl / program)]
    environment = harness.environment(musl) | {"PATH": f"{musl}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=musl, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert "7" in done.stdout.split(), done.stderr
    assert "hello" in done.stdout.split()
    assert done.stderr.count("\n") == done.stderr.count("is not recorded") == 1


def test_a_script_says_once_that_programs_are_not_recorded(musl: Path) -> None:
    (musl / "several.sh").write_text("for i in 1 2 3; do ./hello; done; echo $?\n")
    done = harness.run("bash", "several.sh", folder=musl)
    assert done.stdout.split() == ["hello", "hello", "hello", "7"]
    assert done.stderr.count("is not recorded") == 1


def test_other_preloaded_libraries_stay(musl: Path) -> None:
    (musl / "shown.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD")); }\n'
    )
    subprocess.run(["musl-gcc", "-o", "shown", "shown.c"], cwd=musl, check=True)
    preload = f"/nowhere/first.so:{harness.PRELOAD} /nowhere/libother.so"
    done = harness.run("bash", "-c", "exec ./shown", folder=musl, LD_PRELOAD=preload)
    assert [word for word in done.stdout.strip().split(":") if word] == ["/nowhere/first.so", "/nowhere/libother.so"]
