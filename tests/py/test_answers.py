"""Tests a sweep over compilers and flags: its settings, the comparison of answers with the baseline's, and times, for
which less is better.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from comparison_example import cautions, write_run
from iolens.errors import UsageError
from iolens.lab.run.complaint import complaint as complaint_of_run
from iolens.lab.run.execute import Outcome
from iolens.lab.storage.backend import Health
from iolens.lab.storage.backends import BACKENDS
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment, to_yaml
from iolens.lab.sweep.define.matrix import schedule
from iolens.lab.sweep.define.spec import spec_of
from iolens.lab.sweep.perform.collect import judge_run
from iolens.lab.sweep.plan.builds import check_recipes
from iolens.lab.sweep.read.answers import SAME, against
from iolens.lab.sweep.read.results import Results, load_results
from iolens.lab.workloads.build import build_complaint
from iolens.lab.workloads.recipe import USUAL, Recipe
from iolens.metrics.comparison.results import Comparison, compare
from iolens.pages.exhibits.sweep_answers import build_answers
from iolens.pages.wording import sweep_verdict
from iolens.pages.wording.sweep_remedy import folded, remedy

ROOT = Path(__file__).resolve().parents[2]
NORMS = [0.5, 2.0]
SECONDS = {"-O0": (4.0, 4.1, 3.9), "-O2": (2.0, 2.1, 1.9), "-Ofast": (1.0, 1.1, 0.9)}


def write(path: Path, changes: str) -> Path:
    path.write_text(
        "name: made\nworkload: {program: btio, arguments: [--class, S], ranks: 1}\nstorage: {kind: emulated}\n"
        + changes,
        encoding="utf-8",
    )
    return path


def loaded(path: Path, changes: str) -> Experiment:
    return load_experiment(write(path, changes))


def answering(folder: Path, values: list[float | None] | None) -> None:
    """Writes an answer into the result of a run."""
    result = json.loads((folder / "result.json").read_text())
    result["extra"] = {"answer": values and {"tolerance": 1e-8, "values": {"norm": values}}}
    (folder / "result.json").write_text(json.dumps(result))


def swept(folder: Path, told: dict[str, list[float | None] | None], **changes: Any) -> Results:
    """Writes a sweep over three compiler flags whose runs computed for SECONDS and gave the answers in `told`."""
    for flags, values in SECONDS.items():
        for repetition, seconds in enumerate(values, 1):
            place = folder / "points" / f"flags{flags}" / f"rep-{repetition}"
            observed = {"observed": {"compute_seconds": seconds}}
            build = {"build": {"compiler": "gcc", "version": "gcc 12.2.0", "flags": flags}}
            write_run(place, {"flags": flags}, repetition, 100.0, **{**observed, **build, **changes})
            answering(place, told.get(flags, list(NORMS)))
    levels = {flags: {"flags": flags} for flags in SECONDS}
    experiment = {
        "workload": {"program": "btio"},
        "matrix": {"flags": levels},
        "report": {"metric": "compute_time"},
    }
    (folder / "experiment.yaml").write_text(json.dumps(experiment))
    return load_results(folder)


def compared(results: Results) -> Comparison:
    return compare(results.runs, results.settings, results.measure, results.fresh)


def test_a_list_of_flags_or_compilers_is_a_factor_whose_levels_change_them(tmp_path: Path) -> None:
    made = loaded(tmp_path / "e.yaml", "matrix:\n  flags: [-O0, -O3  -march=native]\n  compiler: gcc\nrepetitions: 1\n")
    asked = [spec_of(made, run, BACKENDS["emulated"]) for run in schedule(made)]
    assert {one.recipe for one in asked} == {Recipe("gcc", "-O0"), Recipe("gcc", "-O3 -march=native")}
    again = tmp_path / "again.yaml"
    again.write_text(to_yaml(made), encoding="utf-8")
    assert load_experiment(again) == made


def test_levels_change_what_the_workload_says_of_all_runs(tmp_path: Path) -> None:
    text = "matrix:\n  build:\n    all: {}\n    own: {flags: -O1}\n    other: {compiler: gcc-12}\nrepetitions: 1\n"
    path = tmp_path / "e.yaml"
    write(path, text)
    made = load_experiment(path, ["workload.compiler=cc", "workload.flags=-O2"])
    asked = {one.point["build"]: one.recipe for one in (spec_of(made, r, BACKENDS["emulated"]) for r in schedule(made))}
    assert asked == {"all": Recipe("cc", "-O2"), "own": Recipe("cc", "-O1"), "other": Recipe("gcc-12", "-O2")}
    again = tmp_path / "again.yaml"
    again.write_text(to_yaml(made), encoding="utf-8")
    assert load_experiment(again) == made


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("matrix: {flags: [O2]}", "'O2' is not a text with flags"),
        ("matrix: {flags: ['-DX=$(reboot)']}", "quotes, $ and the like"),
        ("matrix: {flags: [-O2, -O2]}", "a list of different values"),
        ("matrix: {flags: []}", "a list of different values"),
        ("matrix: {flags: [-O2, 3]}", "3 is not a text with flags"),
        ("matrix: {compiler: ['gcc -O2']}", "put flags into the key flags"),
        ("matrix: {compiler: [bin/gcc]}", "full path"),
        ("matrix: {compiler: ['--version']}", "is not the name of a compiler"),
    ],
)
def test_what_is_no_compiler_or_no_flags_is_refused_with_its_line(tmp_path: Path, line: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=r"e\.yaml:4: matrix\.") as error:
        loaded(tmp_path / "e.yaml", line)
    assert wrong in str(error.value)


def test_what_cannot_be_built_is_refused(tmp_path: Path) -> None:
    check_recipes("anything", [USUAL])
    check_recipes("btio", [Recipe("gcc"), Recipe(flags="-O9")])
    with pytest.raises(UsageError, match="only bundled workloads are built, but lmp is not one"):
        check_recipes("lmp", [Recipe(flags="-O2")])
    with pytest.raises(UsageError, match="no-such-cc was not found"):
        check_recipes("btio", [Recipe("no-such-cc")])
    with pytest.raises(UsageError, match="the compiler command of an MPI"):
        check_recipes("btio", [Recipe("mpicc")])


def test_less_time_is_better_and_ratios_are_of_speeds(tmp_path: Path) -> None:
    results = swept(tmp_path, {})
    found = compared(results)
    best, base = found.points.loc[found.best], found.points.loc[found.baseline]
    assert (best["label"], base["label"], found.points.loc[found.worst, "label"]) == (
        "flags -Ofast",
        "flags -O0",
        "flags -O0",
    )
    assert best["value"] == pytest.approx((1.0 * 1.1 * 0.9) ** (1 / 3))
    assert best["ratio"] == pytest.approx(base["value"] / best["value"])
    assert best["ratio_low"] > 1
    assert found.proven
    assert found.effects["ratio"].tolist() == pytest.approx([2.0, 4.0], rel=0.01)
    said = sweep_verdict.comparison_verdict(found)
    assert said.startswith("Best: flags -Ofast, 4.01 times [")
    assert "as fast as the baseline (flags -O0): 0.997 against 4.00 s." in said
    assert not any("storage's model" in word or "EMULATED" in word for word in cautions(results, found))
    known = remedy(results, found)
    assert known is not None
    assert (known.stripes, known.hints) == (None, ())
    assert known.own == ("make -C workloads MPICC=mpicc CODE_FLAGS=-Ofast PROGRAMS=btio",)
    assert "with gcc 12.2.0" in known.holds_for


def test_an_answer_within_the_tolerance_is_the_baselines(tmp_path: Path) -> None:
    found = compared(swept(tmp_path, {"-Ofast": [0.5 * (1 + 9e-9), 2.0]}))
    assert found.points["left_out"].tolist() == ["", "", ""]
    assert set(found.runs["answer.said"]) == {SAME}
    assert sweep_verdict.answer_sentences(found) == [
        "Answer: the baseline's in 9 of 9 runs (greatest relative difference 1 part in 111 million)."
    ]


@pytest.mark.parametrize(
    ("values", "difference"),
    [([0.5, 2.0 * (1 + 3e-8)], "1 part in 33 million"), ([0.5, None], "infinite"), ([0.5], "infinite")],
)
def test_the_fastest_is_not_the_best_where_its_answer_differs(
    tmp_path: Path, values: list[float | None], difference: str
) -> None:
    found = compared(swept(tmp_path, {"-Ofast": values}))
    reason = (
        f"its answer differs from the baseline: relative difference {difference} in norm 2 "
        "(tolerance 1 part in 100 million)"
    )
    assert found.points["left_out"].tolist() == ["", "", reason]
    assert found.points.loc[found.best, "label"] == "flags -O2"
    assert f"flags -Ofast gave 0.997 s but cannot be compared ({reason})." in sweep_verdict.comparison_verdict(found)
    assert sweep_verdict.answer_sentences(found) == [
        "Answer: the baseline's in 6 of 9 runs (greatest relative difference 0), another one in 3: flags -Ofast."
    ]
    table = build_answers(found)
    assert table is not None
    assert table["answer"].tolist() == [SAME, SAME, reason.removeprefix("its answer ")]
    assert table["flags"].tolist() == list(SECONDS)


def test_without_answers_nobody_can_tell_and_the_reason_is_named(tmp_path: Path) -> None:
    found = compared(swept(tmp_path, dict.fromkeys(SECONDS)))
    assert found.points["left_out"].tolist() == ["", "", ""]
    assert sweep_verdict.answer_sentences(found) == [
        "Answer: n/a: the program prints no answer to compare; its own verification: successful."
    ]


def test_a_baseline_without_answer_is_named(tmp_path: Path) -> None:
    found = compared(swept(tmp_path, {"-O0": None}))
    said = dict(zip(found.runs["flags"], found.runs["answer.said"], strict=True))
    assert said["-O2"] == "n/a: no run of the baseline printed an answer"
    assert sweep_verdict.answer_sentences(found) == [
        "Answer: n/a: the program prints no answer to compare; its own verification: successful (3 runs); "
        "no run of the baseline printed an answer (6 runs)."
    ]


def test_a_run_that_failed_is_no_program_without_an_answer() -> None:
    failed = {"answer": None, "status": "failed", "verification": None}
    assert against(failed, None)["answer.said"] == "n/a: the run failed"


def test_answers_are_held_against_those_of_the_same_problem(tmp_path: Path) -> None:
    """Results are compared only with a baseline of the same problem: another size changes the answer, and so does not
    prove a wrong build.
    """
    for size, norm in ((1, 0.5), (2, 0.7)):
        for flags, far in (("-O0", 0.0), ("-O2", 1e-6 if size == 2 else 0.0)):
            place = tmp_path / "points" / f"{size}{flags}" / "rep-1"
            write_run(place, {"ranks": size, "flags": flags}, 1, 100.0)
            answering(place, [norm * (1 + far), 2.0])
    experiment = {
        "name": "made",
        "matrix": {"ranks": [1, 2], "flags": {"-O0": {"flags": "-O0"}, "-O2": {"flags": "-O2"}}},
    }
    (tmp_path / "experiment.yaml").write_text(json.dumps(experiment))
    runs = load_results(tmp_path).runs
    assert runs["answer.same"].tolist() == [True, True, True, False]


def test_a_sweep_that_builds_nothing_compares_no_answers(tmp_path: Path) -> None:
    place = tmp_path / "points" / "1" / "rep-1"
    write_run(place, {"ranks": 1}, 1, 100.0)
    answering(place, list(NORMS))
    found = load_results(tmp_path)
    assert found.runs["answer.said"].isna().all()
    assert sweep_verdict.answer_sentences(compared(found)) == []
    assert build_answers(compared(found)) is None


def test_a_run_whose_own_verification_fails_says_so(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_text("Primary job terminated normally, but 1 process returned\n")
    outcome = Outcome(("btio",), "", 0.0, 1, 1.0, ())
    wrong = {"verification": {"status": "unsuccessful", "detail": None}}
    why = "exit code 1: verification unsuccessful: the answer is wrong"
    assert judge_run(tmp_path, outcome, Health("ext4"), {}, None, wrong) == ("failed", why)
    assert judge_run(tmp_path, outcome, Health("ext4"), {}, None, {})[1] == (
        f"exit code 1: Primary job terminated normally, but 1 process returned (full output: {tmp_path / 'stderr.txt'})"
    )


RULE = "-" * 74
NO_SLOTS = f"""{RULE}
There are not enough slots available in the system to satisfy the 4
slots that were requested by the application:

  build/bin/btio

Either request fewer procs for your application, or make more slots
available for use.

A "slot" is the PRRTE term for an allocatable unit where we can
launch a process.
{RULE}
"""


def test_a_launchers_message_is_given_whole(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_text(NO_SLOTS)
    assert complaint_of_run(tmp_path / "stderr.txt") == (
        "There are not enough slots available in the system to satisfy the 4 slots that were requested by the "
        "application: build/bin/btio Either request fewer procs for your application, or make more slots available "
        f"for use. (full output: {tmp_path / 'stderr.txt'})"
    )
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\nKeyError: 7\n\nmore\n'
    (tmp_path / "stderr.txt").write_text(trace)
    assert complaint_of_run(tmp_path / "stderr.txt").startswith("KeyError: 7 (full output:")
    (tmp_path / "stderr.txt").write_text(f"{RULE}\n\n")
    assert complaint_of_run(tmp_path / "stderr.txt") == "no message"


def test_what_is_not_known_stays_null_where_the_compiler_knows_no_nan(tmp_path: Path) -> None:
    """With -Ofast isfinite of math.h is always true; a result that then contains `nan` is invalid JSON."""
    source = tmp_path / "main.c"
    source.write_text(
        '#include "json.h"\n#include <stdlib.h>\n'
        "int main(int count, char **given) {\n"
        "    Json json = {stdout, false};\n"
        "    json_open(&json, NULL, '[');\n"
        "    for (int i = 1; i < count; i++) json_real(&json, NULL, atof(given[i]));\n"
        "    json_truth(&json, NULL, is_nan(atof(given[1])));\n"
        "    json_truth(&json, NULL, is_nan(atof(given[2])));\n"
        "    json_close(&json, ']');\n"
        "}\n"
    )
    common = ROOT / "workloads" / "common"
    program = tmp_path / "program"
    subprocess.run(["cc", "-Ofast", f"-I{common}", str(source), str(common / "json.c"), "-o", str(program)], check=True)
    said = subprocess.run([program, "nan", "inf", "-inf", "0", "-1.5"], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == [None, None, None, 0.0, -1.5, True, False]


def test_the_linker_is_quoted_with_what_it_misses() -> None:
    said = "/bin/ld: norms.o: in function `finish':\nnorms.c:(.text+0x55): undefined reference to `nope'\nmake: failed"
    assert build_complaint(said) == "norms.c:(.text+0x55): undefined reference to `nope'"


def test_a_long_command_is_folded_for_the_page_and_stays_the_same_command() -> None:
    words = [*(f"{name}=/opt/some/compiler" for name in ("OMPI_CC", "MPICH_CC", "I_MPI_CC", "CC")), "CODE_FLAGS=-O3 -g"]
    lines = folded(shlex.join(["env", *words])).splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 100
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split(" ".join(line.removesuffix("\\") for line in lines)) == ["env", *words]
    assert folded("make 'CODE_FLAGS=-O3 -g'") == "make 'CODE_FLAGS=-O3 -g'"
