"""Programs that set a title, and users and programs with odd names: name and command in the log are those with which
the program began, and the log's name is one safe part of a path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.foreign import path_component
from iolens.log.reader import read_log

TITLES = ["align step /data/in.fa", "two\nlines", "\x1b]0;x\x07", "..", "/", "", 300 * "t", "a" + 400 * "/"]


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def only_log(folder: Path, user: str, program: str) -> Path:
    (log,) = harness.logs(folder)
    assert log.name.startswith(f"{user}_{program}_id"), log.name
    return log


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("language", ["perl", "ruby"])
def test_a_title_changes_neither_the_name_nor_the_command(language: str, title: str, tmp_path: Path) -> None:
    program = shutil.which(language)
    if not program:
        pytest.skip(f"needs {language}")
    code = {
        "perl": '$0 = $ENV{T}; open(F, ">", "pl.dat"); print F "x" x 1000; close F;',
        "ruby": '$0 = ENV["T"]; File.write("pl.dat", "x" * 1000)',
    }[language]
    done = harness.run(program, "-e", code, folder=tmp_path, T=title, LOGNAME="jane")
    assert (done.returncode, done.stderr) == (0, "")
    log = read_log(only_log(tmp_path, "jane", Path(program).resolve().name if language == "ruby" else language))
    assert log.command.startswith(f"{program} -e ")
    assert "pl.dat" in {Path(path).name for path in log.names.values()}


OVERWRITTEN = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    char *end = argv[argc - 1] + strlen(argv[argc - 1]);
    for (char **entry = environ; *entry; entry++)
        if (*entry == end + 1)
            end += 1 + strlen(*entry);
    environ = NULL;
    int fd = open("a.dat", O_CREAT | O_WRONLY, 0644);
    memset(argv[0], '\n', end - argv[0]);
    strcpy(argv[0], "nginx: worker/process");
    write(fd, "0123456789", 10);
    close(fd);
    if (argc > 2)
        raise(SIGKILL);
    return fork() == 0 && close(open("child.dat", O_CREAT | O_WRONLY, 0644));
}
"""


def overwriting(folder: Path) -> Path:
    (folder / "served.c").write_text(OVERWRITTEN)
    subprocess.run(["gcc", "-w", "-o", folder / "served", folder / "served.c"], check=True)
    return folder / "served"


def test_arguments_and_environment_that_are_overwritten(tmp_path: Path) -> None:
    program = overwriting(tmp_path)
    done = harness.run(program, "--conf", folder=tmp_path, LOGNAME="jane")
    assert (done.returncode, done.stderr) == (0, "")
    for log in harness.logs(tmp_path):
        assert log.name.startswith("jane_served_id")
        assert read_log(log).command == f"{program} --conf"


def test_a_killed_program_with_a_title_is_recovered_under_its_name(tmp_path: Path) -> None:
    program = overwriting(tmp_path)
    spools = tmp_path / "spools"
    spools.mkdir()
    harness.run(program, "--conf", "kill", folder=tmp_path, LOGNAME="jane", IOLENS_SPOOL=str(spools))
    variables = harness.environment(tmp_path)
    del variables["LD_PRELOAD"]
    command: list[str | Path] = [harness.BUILD / "bin/iolens-recover", "merge", *spools.glob("*/*.spool")]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert read_log(only_log(tmp_path, "jane", "served")).command == f"{program} --conf kill"


@pytest.mark.parametrize("name", ["a\nb", "..", "-x", "\x1b[2J", "a/b", "é", "\udcff\u202e", 200 * "n", 80 * "é"])
@pytest.mark.parametrize("tree", ["", "1"])
def test_names_of_users_and_programs_are_safe_parts_of_a_path(name: str, tree: str, tmp_path: Path) -> None:
    code = "import os, sys; os.execv(sys.executable, [sys.argv[1], '-S', '-c', \"open('a.dat', 'w').write('x')\"])"
    env = harness.environment(tmp_path, LOGNAME=name[:30], IOLENS_LOGPATH_HIERARCHY=tree)
    preload = env.pop("LD_PRELOAD")
    code = f"import os; os.environ['LD_PRELOAD'] = {preload!r}; {code}"
    done = subprocess.run([sys.executable, "-S", "-c", code, name], cwd=tmp_path, env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [path for path in (tmp_path / "logs").rglob("*") if path.suffix == ".darshan"]
    assert len(found) == 1
    parts = found[0].relative_to(tmp_path / "logs").parts
    user = str(os.getuid()) if "/" in name else name[:30]
    expected = [path_component(user), path_component(name.rpartition("/")[2])]
    assert list(parts[:2]) == expected if tree else parts[0].startswith("_".join(expected) + "_id")
    assert len(parts) == (5 if tree else 1)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ocean", "ocean"),
        ("", "_"),
        (".", "_"),
        ("..", "_."),
        ("a/b\n", "a_b_"),
        ("\u202ea b", "_a b"),
        (99 * "é", 47 * "é"),
    ],
)
def test_a_part_of_a_path(text: str, part: str) -> None:
    assert path_component(text) == part
