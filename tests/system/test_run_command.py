"""`iolens run` leaves the program unharmed, preloads only into it, and writes the log to the announced place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from iolens.lab.run.processes import collect_processes
from iolens.log import read_log
from mpi_libraries import library

ROOT = Path(__file__).resolve().parents[2]
IOLENS = [sys.executable, "-m", "iolens.cli.main"]


def iolens(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*IOLENS, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plain_program_is_recorded_and_keeps_its_exit_code(tmp_path: Path) -> None:
    done = iolens("run", "--", "sh", "-c", "echo hello > out.txt; exit 7", cwd=tmp_path)
    assert done.returncode == 7
    logs = list(tmp_path.glob("*.darshan"))
    assert len(logs) == 1
    assert f"log: {logs[0]}" in done.stderr
    assert any(name.endswith("out.txt") for name in read_log(logs[0]).names.values())


def test_a_program_is_started_once_and_not_asked_for_its_version(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$*" >>starts\n', encoding="utf-8")
    program.chmod(0o755)
    assert iolens("run", "--", program, "one", cwd=tmp_path).returncode == 0
    assert (tmp_path / "starts").read_text(encoding="utf-8") == "one\n"


def test_the_launcher_hands_the_preload_on_and_is_not_recorded(tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text('#!/bin/sh\necho x >by-launcher\nshift 2\n"$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    application = 'import os; open("by-application", "w").write(os.environ.get("LD_PRELOAD", ""))'
    done = iolens("run", "--", launcher, "-np", "1", sys.executable, "-c", application, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "libiolens.so" in (tmp_path / "by-application").read_text()
    (log,) = tmp_path.glob("*.darshan")
    written = {Path(name).name for name in read_log(log).names.values()}
    assert "by-application" in written
    assert "by-launcher" not in written


def test_the_users_own_preload_stays_behind_ours(tmp_path: Path) -> None:
    own = str(ROOT / "build" / "lib" / "libost.so")
    done = iolens("run", "--", "sh", "-c", "echo $LD_PRELOAD", cwd=tmp_path, LD_PRELOAD=own)
    assert done.stdout.strip().endswith(f"libiolens.so:{own}")


def test_dxt_traces_every_transfer(tmp_path: Path) -> None:
    assert iolens("run", "--dxt", "--", "dd", "if=/dev/zero", "of=x", "bs=100", "count=3", cwd=tmp_path).returncode == 0
    (log,) = tmp_path.glob("*.darshan")
    segments = read_log(log).frames["DXT_POSIX"]
    assert list(segments["length"]) == [100, 100, 100]
    assert list(segments["offset"]) == [0, 100, 200]


def test_profiler_none_leaves_no_log(tmp_path: Path) -> None:
    assert iolens("run", "--profiler", "none", "--", "sh", "-c", "echo x > y", cwd=tmp_path).returncode == 0
    assert not list(tmp_path.glob("*.darshan"))


def test_output_keeps_everything_in_a_folder(tmp_path: Path) -> None:
    done = iolens("run", "--output", "kept", "--", "sh", "-c", "echo hello; echo x > y", cwd=tmp_path)
    assert done.returncode == 0
    names = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"run.json", "stdout.txt", "stderr.txt"} <= names
    assert any(name.endswith(".darshan") for name in names)
    record = json.loads((tmp_path / "kept/run.json").read_text())
    assert record["machine"]["memory"] > record["machine"]["cached"] > 0
    assert record["machine"]["kernel"].startswith("Linux ")
    assert record["load_after"] >= 0


SCRIPT = "dd status=none if=/dev/zero of=a bs=300 count=1; dd status=none if=a of=b; dd status=none if=b of=c count=0"
WRITTEN = {"a": 300, "b": 300, "c": 0}
READ = {"a": 300, "b": 0, "c": 0}


def check_merged(folder: Path) -> None:
    logs = list(folder.glob("*.darshan"))
    processes, files = pd.read_csv(folder / "processes.csv"), pd.read_csv(folder / "files.csv")
    assert sorted(processes["log"]) == sorted(log.name for log in logs)
    assert processes["started"].is_monotonic_increasing
    rows = {Path(row.path).name: row for row in files.itertuples() if Path(row.path).name in WRITTEN}
    assert {name: row.bytes_written for name, row in rows.items()} == WRITTEN
    assert {name: row.bytes_read for name, row in rows.items()} == READ
    assert processes["bytes_read"].sum() == files["bytes_read"].sum() >= sum(READ.values())
    assert processes["bytes_written"].sum() == files["bytes_written"].sum() >= sum(WRITTEN.values())
    assert rows["a"].logs == 2


def test_a_script_makes_one_folder_with_merged_tables(tmp_path: Path) -> None:
    done = iolens("run", "--apart", "--", "bash", "-c", SCRIPT, cwd=tmp_path)
    assert done.returncode == 0
    assert not list(tmp_path.glob("*.darshan"))
    (folder,) = tmp_path.glob("iolens-bash-*")
    assert f"merged: {folder}/processes.csv" in done.stderr
    assert done.stderr.endswith(f"next: iolens report {folder}\n")
    check_merged(folder)


def test_a_script_with_output_is_merged_there_and_leaves_other_logs_alone(tmp_path: Path) -> None:
    script = "echo broken > kept/broken.darshan; " + SCRIPT
    done = iolens("run", "--apart", "--output", "kept", "--", "bash", "-c", script, cwd=tmp_path)
    assert done.returncode == 0
    assert "broken.darshan" not in done.stderr
    assert (tmp_path / "kept" / "broken.darshan").read_text() == "broken\n"
    (tmp_path / "kept" / "broken.darshan").unlink()
    check_merged(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["kept"]


def test_a_damaged_log_is_left_out_of_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    iolens("run", "--apart", "--output", "kept", "--", "bash", "-c", SCRIPT, cwd=tmp_path)
    (tmp_path / "kept" / "broken.darshan").write_text("broken")
    collect_processes(sorted((tmp_path / "kept").glob("*.darshan")), tmp_path / "kept", "bash")
    assert "left out of the merged tables" in capsys.readouterr().err
    (tmp_path / "kept" / "broken.darshan").unlink()
    check_merged(tmp_path / "kept")


def test_without_the_library_nothing_is_started(tmp_path: Path) -> None:
    code = (
        "import sys; from iolens.lab import installation; installation.folders_of_libraries = lambda: [];"
        "from iolens.cli.main import main; sys.exit(main())"
    )
    for options, expected in (((), (1, "")), (("--profiler", "none"), (5, "ran\n"))):
        done = subprocess.run(
            [sys.executable, "-c", code, "run", *options, "--", "sh", "-c", "echo ran; exit 5"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == expected
        assert ("so nothing was started" in done.stderr) == (not options)


def test_a_run_can_end_with_a_summary(tmp_path: Path) -> None:
    done = iolens("run", "--summary", "-o", "out", "--", "sh", "-c", "echo shown; echo copy >copy", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "shown\n")
    assert (tmp_path / "out/stdout.txt").read_text() == "shown\n"
    said = done.stderr.splitlines()
    assert len(said) <= 12
    assert said[0].startswith("run time ")
    assert said[-1].startswith("iolens: next: iolens report ")
    quiet = iolens("run", "--quiet", "--output", "quiet", "--", "echo", "kept", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout) == (0, "")
    assert "run time" not in quiet.stderr
    assert (tmp_path / "quiet/stdout.txt").read_text() == "kept\n"


def test_a_static_program_runs_and_is_named(tmp_path: Path) -> None:
    source = tmp_path / "still.c"
    source.write_text("int main(void) { return 4; }\n", encoding="utf-8")
    if subprocess.run(["cc", "-static", source, "-o", tmp_path / "still"], capture_output=True, check=False).returncode:
        pytest.skip("no static C library on this machine")
    done = iolens("run", "--", tmp_path / "still", cwd=tmp_path)
    assert done.returncode == 4
    assert "is statically linked" in done.stderr


def test_a_program_with_rights_of_its_own_runs_and_is_named(tmp_path: Path) -> None:
    if os.geteuid() != 0 or os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip("only root can make a program of another user here")
    shutil.copy(shutil.which("true") or "", tmp_path / "other")
    os.chown(tmp_path / "other", 65534, 65534)
    (tmp_path / "other").chmod(0o4755)
    done = iolens("run", "--", tmp_path / "other", cwd=tmp_path)
    assert done.returncode == 0
    assert "runs with other rights than yours" in done.stderr
    assert "so it runs without the profiler" in done.stderr


def test_a_missing_command_is_a_usage_error(tmp_path: Path) -> None:
    done = iolens("run", "--", cwd=tmp_path)
    assert done.returncode == 2
    assert "no command was given" in done.stderr


def test_a_missing_darshan_is_said(tmp_path: Path) -> None:
    done = iolens("run", "--profiler", "darshan", "--", "true", cwd=tmp_path, DARSHAN_LIB="", DARSHAN_HOME="")
    assert done.returncode == 1
    assert "no Darshan library was found" in done.stderr


def test_an_error_names_the_subcommand_not_the_program(tmp_path: Path) -> None:
    done = iolens("run", "--storage-mount", tmp_path, "--", "true", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"iolens run: {tmp_path} is not an emulated mount point")


@pytest.mark.skipif(not os.environ.get("DARSHAN_LIB"), reason="DARSHAN_LIB names no Darshan runtime")
def test_the_sites_darshan_in_the_profilers_place(tmp_path: Path) -> None:
    """The Darshan library of a site is used instead of the profiler. Its logs go to the run's folder, whatever folder
    it was configured for, and a report is made of them.
    """
    script = "open('wrote.dat', 'w').write('ten bytes!')"
    done = iolens("run", "--profiler", "darshan", "--output", "run", "--", sys.executable, "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "run").glob("*.darshan")
    job = read_log(log)
    frame = job.frames["POSIX"]
    written = frame[frame["id"].map(job.names).str.endswith("/wrote.dat")]["POSIX_BYTES_WRITTEN"]
    assert written.tolist() == [10]
    assert not list((tmp_path / "run").glob(".darshan-*"))
    parallel = library("usual").compile(ROOT / "tests/c/mpi_late.c", tmp_path / "program")
    launcher = [library("usual").mpirun, "-np", "2"]
    words = ["--profiler", "darshan", "--output", "two", "--", *launcher, parallel, tmp_path]
    done = iolens("run", *words, cwd=tmp_path, **library("usual").environment("romio321"))
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "two").glob("*.darshan")
    assert read_log(log).nprocs == 2
    done = iolens("report", str(log), "-o", str(tmp_path / "report.pdf"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


PLACES = {
    "a folder": ({"IOLENS_LOGPATH": "ours", "DARSHAN_LOGPATH": "theirs"}, [], "ours/*.darshan"),
    "Darshan's folder": ({"DARSHAN_LOGPATH": "theirs", "IOLENS_LOGPATH": ""}, [], "theirs/*.darshan"),
    "a name": ({"IOLENS_LOGFILE": "new/my.log", "IOLENS_LOGPATH": "ours"}, [], "new/my.log"),
    "Darshan's name": ({"DARSHAN_LOGFILE": "their.log", "IOLENS_LOGPATH": "ours"}, [], "their.log"),
    "the option first": (
        {"IOLENS_LOGFILE": "my.log", "IOLENS_LOGPATH": "ours"},
        ["--output", "kept"],
        "kept/*.darshan",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_variables_say_where_the_log_goes(tmp_path: Path, place: str) -> None:
    settings, options, expected = PLACES[place]
    work = tmp_path / "work"
    work.mkdir()
    for _ in range(2 if expected.endswith(".log") else 1):
        done = iolens("run", *options, "--", "sh", "-c", "echo hello > out.txt", cwd=work, **settings)
        assert done.returncode == 0, done.stderr
    (log,) = work.glob(expected)
    assert f"log: {log}" in done.stderr
    assert any(name.endswith("out.txt") for name in read_log(log).names.values())
    assert [path for path in work.rglob("*") if path.suffix in (".log", ".darshan")] == [log]


def test_a_place_that_cannot_be_is_said_before_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for variable in ("IOLENS_LOGPATH", "DARSHAN_LOGPATH"):
        done = iolens("run", "--", "touch", "ran", cwd=tmp_path, **{variable: "file/below"})
        assert (done.returncode, (tmp_path / "ran").exists()) == (2, False)
        assert done.stderr == f"iolens run: {variable}: the folder file/below cannot be made: Not a directory\n"


def test_of_several_logs_the_parents_has_the_name(tmp_path: Path) -> None:
    """A shell becomes Python by exec, and Python starts children. The log of Python gets the requested name; a folder
    has the logs of all processes.
    """
    parent = "import os; open('parent.txt', 'w').write('x'); os.system('echo x >child.txt; uname >other.txt; wait')"
    words = ["sh", "-c", f'echo x >before.txt; exec "$0" -c "{parent}"', sys.executable]
    name = tmp_path / "my.darshan"
    done = iolens("run", "--apart", "--", *words, cwd=tmp_path, IOLENS_LOGFILE=str(name))
    assert done.returncode == 0, done.stderr
    assert f"log of the first process: {name}" in done.stderr
    written = {Path(path).name for path in read_log(name).names.values() if path.endswith(".txt")}
    assert written == {"parent.txt"}
    (folder,) = tmp_path.glob("iolens-sh-*")
    assert sum(log.samefile(name) for log in folder.glob("*.darshan")) == 1
    assert len(list(folder.glob("*.darshan"))) > 1


def test_one_name_is_not_given_to_several_logs(tmp_path: Path) -> None:
    mpirun = tmp_path / "mpirun"
    mpirun.write_text('#!/bin/sh\nshift 2\n"$@" & "$@"; wait\n', encoding="utf-8")
    mpirun.chmod(0o755)
    words = [mpirun, "-np", "2", "sh", "-c", "echo x >$$.txt"]
    done = iolens("run", "--apart", "--", *words, cwd=tmp_path, IOLENS_LOGFILE=str(tmp_path / "my.log"))
    assert done.returncode == 0
    assert (
        f"{tmp_path / 'my.log'} is the name of one log, but no process of the 2 logs started all others" in done.stderr
    )
    assert not (tmp_path / "my.log").exists()


@pytest.mark.parametrize("name", ["with space", "with:colon", "both: of $them"])
def test_libraries_in_a_folder_whose_path_the_loader_would_take_apart(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "libiolens.so").write_bytes((ROOT / "build/lib/libiolens.so").read_bytes())
    done = iolens("run", "--", "sh", "-c", "echo hello > out.txt", cwd=folder, IOLENS_LIB=str(folder))
    assert done.returncode == 0, done.stderr
    (log,) = folder.glob("*.darshan")
    assert f"log: {log}" in done.stderr
    assert "ld.so" not in done.stderr


SANITIZED = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **argument)
{
    char *text = malloc(4);
    FILE *file = fopen("sanitized.txt", "w");
    fprintf(file, "hello");
    fclose(file);
    return count > 1 ? text[4 + count] : 7;
}
"""


@pytest.mark.parametrize("how", ["address", "thread"])
def test_a_program_with_a_sanitizer(how: str, tmp_path: Path) -> None:
    """A program that was built with a sanitizer is recorded, with a spool, and runs as without the profiler."""
    (tmp_path / "program.c").write_text(SANITIZED, encoding="utf-8")
    build = ["gcc", "-g", f"-fsanitize={how}", "-o", tmp_path / "program", tmp_path / "program.c"]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"the compiler has no {how} sanitizer")
    script = f"{tmp_path}/program; echo code $?"
    done = iolens("run", "--", "sh", "-c", script, cwd=tmp_path, ASAN_OPTIONS="detect_leaks=0")
    assert done.stdout == "code 7\n", done.stderr
    assert "cannot make a spool" not in done.stderr
    assert "ASan runtime" not in done.stderr
    # ASan would print a warning with this word if the profiler changed stacks by that function.
    assert "makecontext" not in done.stderr
    logs = list(tmp_path.glob("*_program_*.darshan"))
    assert any(name.endswith("sanitized.txt") for name in read_log(logs[0]).names.values())
    if how == "address":
        found = iolens("run", "--", tmp_path / "program", "beyond", cwd=tmp_path)
        assert "heap-buffer-overflow" in found.stderr


THREADS = """
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int raced, handed, ends[2];
static void *take(void *name)
{
    char byte;
    read(ends[0], &byte, 1);
    handed++; /* ordered by the pipe */
    return name;
}
static void *work(void *name)
{
    for (int i = 0; i < 300; i++) {
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        write(fd, name, 1);
        close(fd);
    }
    if (*(char *)name == '/')
        raced++;
    return name;
}
int main(int count, char **argument)
{
    pthread_t thread[4];
    pipe(ends);
    pthread_create(&thread[3], NULL, take, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, work, argument[1]);
    handed++;
    write(ends[1], "", 1);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 7;
}
"""


@pytest.mark.parametrize("how", ["-shared-libtsan", "-static-libtsan"])
def test_a_program_with_threads_and_their_sanitizer(how: str, tmp_path: Path) -> None:
    """A program with ThreadSanitizer is not sampled, and reports only races of its own."""
    (tmp_path / "threads.c").write_text(THREADS, encoding="utf-8")
    build = ["gcc", "-g", "-w", "-fsanitize=thread", *[how] * (how == "-static-libtsan"), "-o", "threads", "threads.c"]
    if subprocess.run(build, cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("the compiler has no such sanitizer")
    run = ["run", "--sample", "1000", "--trace", "io", "--callers", "2", "--dxt", "--"]
    done = iolens(*run, tmp_path / "threads", "file", cwd=tmp_path)
    assert done.returncode == 7, done.stderr
    assert done.stderr.count("no samples are taken") == 1
    (log,) = tmp_path.glob("*_threads_*.darshan")
    assert read_log(log).frames["POSIX"]["POSIX_WRITES"].sum() == 900
    found = iolens("run", "--", tmp_path / "threads", str(tmp_path / "file"), cwd=tmp_path)
    assert "data race" in found.stderr
