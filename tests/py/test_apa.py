"""Tests automatic program analysis: a file proposed from samples, edited by a person, and traced in the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import profiler_harness as harness
import pytest
from iolens.cli.read.apa import apa_lines, functions
from iolens.errors import UsageError
from iolens.lab.run.settings.apa import Apa, find_functions, read_apa, settings_of
from iolens.log import read_log
from iolens.metrics.processor.sampled import call_chains, samples
from iolens.metrics.processor.sampled.samples import size_of
from iolens.metrics.processor.traced.calls import traced_calls
from processor_example import job, resolved, tables

SOURCE = harness.ROOT / "tests/c/traced_functions.c"


def build(folder: Path, *flags: str) -> Path:
    target = folder / "app"
    subprocess.run(["gcc", "-g", *flags, "-o", target, SOURCE], check=True)
    return target


def test_functions_are_proposed_by_share_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_chains, "resolve", resolved)
    found = samples.own_functions(job(**tables()))
    assert found is not None
    assert next(iter(found["symbol"])) == "solve"
    assert set(found["bytes"]) == {0}
    rows = [("a", "app", 60.0, 999), ("b", "app", 31.0, 20), ("c", "app", 5.0, 999), ("d", "lib.so", 0.5, 999)]
    rows.insert(0, ("e", "app", 2.0, 0))
    made = pd.DataFrame(rows, columns=["symbol", "object", "share", "bytes"])
    assert apa_lines(made) == [
        "-T e  # 2.00 %  size n/a  app",
        "-T a  # 60.00 %  999 bytes  app",
        "# -T b  # 31.00 %  20 bytes  app",
        "# -T c  # 5.00 %  999 bytes  app",
        "# -T d  # 0.50 %  999 bytes  lib.so",
    ]


def sentence(lines: list[str]) -> str:
    """Returns the text of comments; the file must have no other lines."""
    assert all(line.startswith("#") for line in lines if line)
    return " ".join(line.removeprefix("#").strip() for line in lines)


def test_shares_are_of_the_program_s_own_samples_and_where_nothing_is_left_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most samples are in MPI. The program's own functions have 6 of 100 samples, three quarters of them in `solve`,
    which must be traced.
    """
    rows = [("MPI", "MPI_Recv", "", 94), ("USER", "solve", "solve", 4), ("USER", "step", "step", 2)]
    columns = ["group", "function", "symbol", "samples"]
    sampled = pd.DataFrame(rows, columns=columns).assign(object="/home/me/app", rank=0)
    monkeypatch.setattr(samples, "sample_rows", lambda made: sampled)
    made = job()
    found = samples.own_functions(made)
    assert dict(zip(found["symbol"], found["share"], strict=True)) == pytest.approx({"solve": 200 / 3, "step": 100 / 3})
    head, *proposed = functions(found, samples.group_shares(made))
    assert "6.0 % of all samples" in head
    assert [line.split()[1] for line in proposed] == ["solve", "step"]
    said = sentence(functions(found, {"MPI": 97.0, "USER": 3.0}))
    assert "No function of the program's own is worth tracing: its functions have 3.0 % of all samples" in said
    assert "MPI 97.0 %, USER 3.0 %" in said
    said = sentence(functions(found.assign(bytes=20), {"USER": 100.0}))
    assert "solve, the busiest, has 66.7 % of its samples and 20 bytes of code" in said
    assert "no function with samples has a known name" in sentence(functions(found[:0], {"USER": 100.0}))


def test_a_function_that_the_compiler_kept_in_versions_alone_has_their_size(tmp_path: Path) -> None:
    source = 'int solve(int a) __asm__("solve.isra.0");\nint solve(int a) { return a * 3; }\n'
    made = tmp_path / "solver.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", made], input=source, text=True, check=True)
    assert size_of("solve", str(made)) == size_of("solve.isra.0", str(made)) > 0
    assert size_of("sol", str(made)) == 0


def test_a_file_is_read_with_its_comments(tmp_path: Path) -> None:
    file = tmp_path / "app.apa"
    file.write_text(
        "# all\n-g mpi,io  # two\n  -Drtenv=PAT_RT_HWPC=1\n-w\n-T solve  # 9 %\n# -T tiny\n-T a,b -g blas\n\n"
    )
    assert read_apa(file) == Apa(("mpi", "io", "blas"), "1", ("solve", "a", "b"))
    file.write_text("-g stdio,sysio,omp-rtl,omp\n")
    assert read_apa(file).groups == ("io", "omp"), "CrayPAT's names"
    for text, said in {
        "-g mpi\n-u\n": ":2: '-u' is unknown",
        "-T\n": ":1: -T needs a name after it",
        "": ": requests nothing",
        "# -T solve\n-w\n": ": requests nothing",
        "-Dtrace-max=4\n": ":1: -Dtrace-max=4 is unknown",
        "-g nosuch\n": "'nosuch' is not a group",
        "-g mpi,shmem\n": "the group shmem is not traced: iolens has no wrappers for OpenSHMEM",
        "\0": "is unknown",
    }.items():
        file.write_text(text)
        with pytest.raises(UsageError, match=said):
            read_apa(file)
    with pytest.raises(UsageError, match=r"none.apa: cannot be read \(No such file or directory\)$"):
        read_apa(tmp_path / "none.apa")


def test_only_the_functions_of_the_file_are_timed(tmp_path: Path) -> None:
    harness.build_library()
    program = build(tmp_path, "-finstrument-functions")
    (tmp_path / "app.apa").write_text("-g io\n-T works,recursive,nosuch\n")
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--apa", "app.apa", "--", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "not traced: nosuch: no such function in the program's symbols" in done.stderr
    found = traced_calls(read_log(next(tmp_path.glob("*.darshan")))).frame()
    assert found is not None
    assert dict(zip(found["function"], found["calls"], strict=True)) == {"works": 10, "recursive": 200 - 1}


def test_what_was_not_built_for_it_is_named(tmp_path: Path) -> None:
    program = build(tmp_path)
    found = find_functions(["works"], str(program))
    assert found.reasons == (("works", f"{program.name} was not built with -finstrument-functions"),)
    assert settings_of(Apa((), "", ("works",)), found) == {"IOLENS_TRACE": "io"}
    assert find_functions(["works"], "no-such-program").reasons == (("works", "the program was not found"),)
