"""Tests hot source lines and GCC's treatment of them: GCC's record files are read and joined with made-up samples."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.metrics.processor.sampled import feedback
from iolens.metrics.processor.sampled.feedback import best, loop_tags, loops_of
from iolens.pages.job.loopmark import feedback_table, source_listing
from iolens.symbols.opt_records import Remark, function_of, plain_name, read_remarks
from processor_example import job

SOURCE = """\
double scale(double *restrict a, const double *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = 2.0 * b[i];
    double sum = 0.0;
    for (int i = 0; a[i] > 0.0; i++)
        sum += a[i];
    return sum;
}
"""
REMARKS = [
    Remark("/src/solve.c", 30, "solve", "V", begins_loop=True),
    # This remark stems from an earlier attempt of the compiler, which failed.
    Remark("/src/solve.c", 31, "solve", "m", "complicated access pattern."),
    Remark("/src/solve.c", 31, "solve", "i"),
    Remark("/src/solve.c", 40, "solve", "m", "couldn't vectorize loop", begins_loop=True),
    Remark("/src/solve.c", 41, "solve", "m", "no vectype for stmt"),
]
LINES = pd.DataFrame(
    [("solve", "solve.c", f"line {n}", share) for n, share in ((31, 50.0), (42, 20.0), (12, 5.0))],
    columns=["function", "source", "line", "share"],
)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_what_gcc_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A compiler cache would keep the folder of an earlier call in the record.
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    (tmp_path / "loops.c").write_text(SOURCE)
    command = ["gcc", "-O3", "-fsave-optimization-record", "-c", "loops.c", "-o", "loops.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    remarks = [remark for remark in read_remarks(tmp_path) if remark.function == "scale"]
    assert "V" in {remark.letter for remark in remarks if remark.line in (3, 4)}
    missed = [remark for remark in remarks if remark.letter == "m" and remark.line in (6, 7)]
    assert missed
    assert not any(remark.reason.endswith((":", " ")) for remark in read_remarks(tmp_path))
    assert any("number of iterations" in remark.reason for remark in missed)


INLINED = """\
static inline void twice(double *a)
{
    for (int i = 0; i < 4; i++)
        a[i] *= a[i + 1];
}
void outer(double *a)
{
    twice(a);
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_loop_of_an_inlined_function_is_that_function_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    (tmp_path / "inlined.c").write_text(INLINED)
    command = ["gcc", "-O3", "-fsave-optimization-record", "-c", "inlined.c", "-o", "inlined.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    line = pd.DataFrame({"function": ["twice"], "source": ["inlined.c"], "line": ["line 4"], "share": [1.0]})
    monkeypatch.setattr(feedback, "hot_lines", lambda job, limit: line)
    found = feedback.hot_feedback(job(), read_remarks(tmp_path))
    assert found is not None
    assert set(found["letters"][0]) & set("Vum")
    assert found["loop"][0] in (3, 4)  # GCC 14 gives the first line of the loop's body in place of the loop's own.


@pytest.mark.parametrize(
    ("compiled", "inlined", "sampled"),
    [
        ("_Z3runRKN1n1VE", ["double run(const n::V&)"], "run(n::V const&)"),
        (
            "_Z3runRKN1n1VE",
            ["double n::V<T>::sum(double) const [with T = int]", "double run()"],
            "n::V<int>::sum(double)",
        ),
        ("_ZN12_GLOBAL__N_11fEi", ["int {anonymous}::f(int)"], "(anonymous namespace)::f(int)"),
        ("__grid_MOD_solve", ["solve"], "grid::solve"),
        ("solve_", ["solve"], "solve_"),
        ("eliminate.constprop.0", ["eliminate"], "eliminate"),
        ("eliminate", ["solve_block", "eliminate"], "solve_block"),
    ],
)
def test_a_function_s_name_is_that_of_its_samples(compiled: str, inlined: list[str], sampled: str) -> None:
    record = {"function": compiled, "inlining_chain": [{"fndecl": name} for name in inlined]}
    assert function_of(record) == plain_name(sampled)


def test_the_reason_that_says_most() -> None:
    said = ["couldn't vectorize loop", "vectorization not profitable.", "no vectype for stmt: _34 = *_33;"]
    assert best(said) == "vectorization not profitable."
    assert best(said[::2]) == "no vectype for stmt: _34 = *_33;"
    assert best(said[:1]) == said[0]


def test_letters_of_a_line_and_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "hot_lines", lambda job, limit: LINES)
    found = feedback.hot_feedback(job(), REMARKS)
    assert found is not None
    assert found[["letters", "loop", "reason"]].to_numpy().tolist() == [
        *(["Vi", 30, ""], ["m", 40, "no vectype for stmt"], ["", 0, ""]),
    ]
    table = feedback_table(found)
    assert table.rows[1] == ["20.0 %", "m", "solve.c:42", "solve", "loop at line 40: no vectype for stmt"]
    text = source_listing(
        found, {"solve.c": [f"code {n}" for n in range(1, 60)]}, partial(loop_tags, REMARKS)
    ).splitlines()
    assert " 50.0 % Vi        31 | code 31" in text
    assert text.count("   ...") == 2
    assert "solve.c: source file not found" in source_listing(found, {}, partial(loop_tags, REMARKS))


NEST = """\
double a[64][64];
double nest(int n)
{
    double sum = 0.0; // for (;;) in a comment
    for (int i = 0; i < n; i++) {
        if (a[i][0] > 0)
            for (int j = 0; j < n; j++)
                #pragma GCC unroll 4
                for (int k = 1; k < n; k++)
                    sum = sum * a[j][k] + a[k][i];
        a[i][i] = sum;
    }
    while (sum > 1) sum /= 2;
    return sum;
}
"""


def test_whole_nests_with_brackets_letters_and_the_factor_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    (tmp_path / "nest.c").write_text(NEST)
    command = ["gcc", "-g", "-O2", "-fsave-optimization-record", "-c", "nest.c", "-o", "nest.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    remarks = read_remarks(tmp_path)
    assert {one.factor for one in remarks if one.letter == "u"} == {4}
    line = pd.DataFrame({"function": ["nest"], "source": ["nest.c"], "line": ["line 10"], "share": [99.0]})
    monkeypatch.setattr(feedback, "hot_lines", lambda job, limit: line)
    found = feedback.hot_feedback(job(), remarks)
    assert found is not None
    _, *shown = source_listing(found, {"nest.c": NEST.splitlines()}, partial(loop_tags, remarks)).splitlines()
    assert [int(row.partition("|")[0].split()[-1]) for row in shown] == list(range(5, 13)), "the whole nest alone"
    columns = [row.partition("|")[0][12:].split()[:-1] for row in shown]
    assert [len(each) for each in columns] == [1, 1, 2, 2, 3, 3, 1, 1]
    assert [each[0][-1] for each in (columns[0], columns[-1])] == ["<", ">"]
    assert columns[4][2].endswith("u4<")
    assert columns[5][1].endswith(">"), columns
    assert columns[5][2].endswith("u4>")
    assert shown[5].startswith(" 99.0 %")


@pytest.mark.parametrize(
    ("name", "text", "loops"),
    [
        (
            "a.c",
            "void f() { if (a) for (;;) { x; } else while (b)\n y();\n do { z(); }\n while (c); }",
            [(1, 1), (1, 2), (3, 4)],
        ),
        ("a.cpp", 'auto s = "for";\napply([&](int i) {\n for (auto q : v)\n r(); }); /* while */', [(3, 4)]),
        ("a.c", "} } for (;;)\n;\nswitch (k) { case 1: for (;;) {\n} }", [(1, 2), (3, 4)]),
        (
            "a.f90",
            "do 10 i=1,n\ndo 10 j=1,n ! do k\n10 continue\nout: do while (x>1)\n do = 3\nenddo",
            [(1, 3), (2, 3), (4, 6)],
        ),
        ("a.F", "c do i=1,n\n      do i=1,n\n      end do", [(2, 3)]),
        ("a.c", "{" * 100000, []),
    ],
)
def test_where_loops_begin_and_end(name: str, text: str, loops: list[tuple[int, int]]) -> None:
    found = [(loop.begin, loop.end) for loop in loops_of(name, text.splitlines())]
    assert found == sorted(loops, key=lambda loop: (loop[0], -loop[1]))


def test_records_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(IolensError, match="compile with gcc -g -fsave-optimization-record"):
        read_remarks(tmp_path)
    (tmp_path / "x.opt-record.json.gz").write_bytes(b"no gzip")
    with pytest.raises(IolensError, match=r"x\.opt-record\.json\.gz: is not an optimization record of GCC"):
        read_remarks(tmp_path)


def test_a_log_without_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Path(__file__).parents[1] / "data" / "iolens" / "mpi_calls.darshan"
    assert main(["listing", str(log), "--source", str(tmp_path)]) == 1
    assert "compile with gcc -g -fsave-optimization-record" in capsys.readouterr().err
