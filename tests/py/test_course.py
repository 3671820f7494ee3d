"""Tests the course: its activities load, and their answers follow from the intervals of the runs, in both languages."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from iolens.advise.table import RULES
from iolens.cli.main import main
from iolens.course.activity import LANGUAGES, Claim, claim_of, load_claims
from iolens.course.judge import NO, OPEN, SAME, YES, JudgedClaim, judge_claims
from iolens.course.words import SAID, language_of_user, paragraphs
from iolens.errors import UsageError
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.define.matrix import Point
from iolens.lab.sweep.read.results import Results

COURSE = Path(__file__).resolve().parents[2] / "course"
ACTIVITIES = sorted(COURSE.glob("activity-*"), key=lambda path: int(path.name.rpartition("-")[2]))
TEXT = {"en": "so", "pt": "assim"}
LIMITS = {"ost_mb_per_s": 200.0, "link_mb_per_s": 1250.0, "memory_mb_per_s": 4000.0, "ranks_per_client": 1.0}


def claim(**keys: Any) -> Claim:
    """Makes a claim about two points, one with one stripe and one with four."""
    known = [Point({"stripe_count": 1}), Point({"stripe_count": 4})]
    return claim_of({"says": TEXT, "because": TEXT, "otherwise": TEXT, **keys}, known)


MORE = {"more": {"stripe_count": 4}, "than": {"stripe_count": 1}}
ALIKE = {"same": {"stripe_count": 4}, "as": {"stripe_count": 1}}


def results(folder: Path, speeds: dict[int, list[float]], **columns: Any) -> Results:
    """Writes a sweep over stripe counts whose runs wrote 1 MiB at these speeds in MiB/s."""
    rows = []
    for stripes, values in speeds.items():
        for number, value in enumerate(values):
            file = folder / f"{stripes}-{number}.json"
            phase = {"operation": "write", "bytes": 2**20, "seconds": {"max": 1 / value}}
            file.write_text(json.dumps({"phases": [phase]}))
            usual = {"stripe_count": stripes, "usable": True, "ignored": (), "lost_attempts": (), "reason": None}
            told = {"bandwidth": value, "result": str(file), "log": f"{stripes}-{number}.darshan"}
            seen = {"requested.stripe_count": stripes, "observed.aggregators": 1}
            rows.append({**usual, **told, **seen, **columns})
    frame = pd.DataFrame(rows)
    return Results(folder, "x", "x", "write_bandwidth", {}, ("stripe_count",), frame, frame[:0], None, (), LIMITS)


def outcome(
    folder: Path, speeds: dict[int, list[float]], columns: dict[str, Any] | None = None, **keys: Any
) -> JudgedClaim:
    (found,) = judge_claims(
        [claim(**keys)],
        results(folder, speeds, **(columns or {})),
        {
            **dict.fromkeys(("finds", "holds_up"), lambda log: ["x"] * (log.name[0] == "4")),
            "processes": lambda log: [2],
        },
    )
    return found


@pytest.mark.parametrize(
    ("kind", "speeds", "answer"),
    [
        (MORE, {1: [100, 101, 99], 4: [390, 400, 410]}, YES),
        (MORE, {1: [390, 400, 410], 4: [100, 101, 99]}, NO),
        (MORE, {1: [100, 100.1, 99.9], 4: [101, 101.1, 100.9]}, SAME),
        (MORE, {1: [100, 150, 80], 4: [120, 90, 170]}, OPEN),
        (MORE, {1: [100], 4: [400]}, OPEN),
        (ALIKE, {1: [100, 100.1, 99.9], 4: [101, 101.1, 100.9]}, YES),
        (ALIKE, {1: [100, 101, 99], 4: [390, 400, 410]}, NO),
        (ALIKE, {1: [100, 150, 80], 4: [120, 90, 170]}, OPEN),
        ({"reaches": {"stripe_count": 1}}, {1: [188, 189, 188.5]}, YES),
        ({"reaches": {"stripe_count": 1}}, {1: [100, 101, 99]}, NO),
        ({"reaches": {"stripe_count": 1}}, {1: [150, 210, 170]}, OPEN),
        ({"finds": "x", "in": {"stripe_count": 4}}, {4: [1, 1]}, YES),
        ({"finds": "x", "in": {"stripe_count": 1}}, {1: [1, 1]}, NO),
        ({"holds_up": "x", "in": {"stripe_count": 4}}, {4: [1, 1]}, YES),
        ({"holds_up": "x", "in": {"stripe_count": 1}}, {1: [1, 1]}, NO),
    ],
)
def test_the_answer_follows_the_interval(tmp_path: Path, kind: dict[str, Any], speeds: Any, answer: str) -> None:
    found = outcome(tmp_path, speeds, **kind)
    assert (found.answer, found.problem) == (answer, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_proven_still_says_the_theory_and_what_would_prove_it(tmp_path: Path, language: str) -> None:
    found = outcome(tmp_path, {1: [100, 150, 80], 4: [120, 90, 170]}, **MORE)
    *_, theory, leaves = paragraphs(found, language)
    assert theory == f"{SAID[language]['theory']}: {TEXT[language]}"
    assert 'SET="repetitions=10"' in leaves
    assert "activity-N" not in leaves


@pytest.mark.parametrize(("count", "answer"), [(2, YES), (1, NO), (3, NO)])
def test_the_log_of_a_run_has_all_processes(tmp_path: Path, count: int, answer: str) -> None:
    claimed = {"processes": count, "in": {"stripe_count": 4}}
    found = outcome(tmp_path, {4: [1, 1]}, {"log": str(tmp_path / "parent.darshan")}, **claimed)
    assert (found.answer, found.logs) == (answer, (2 if answer == YES else 0, 2))
    assert f"of 2 runs had {count} processes" in " ".join(paragraphs(found, "en"))
    for language in LANGUAGES:
        first, *_, why = paragraphs(found, language)
        assert first == f"{TEXT[language]}: {SAID[language][answer]}"
        assert why.endswith(TEXT[language]) == (answer != OPEN)


def test_intervals_of_all_claims_hold_together(tmp_path: Path) -> None:
    runs = results(tmp_path, {1: [100, 101, 99], 4: [390, 400, 410]})
    alone, (one, _) = (
        judge_claims([claim(**MORE)], runs, {})[0],
        judge_claims([claim(**MORE)] * 2, runs, {}),
    )
    assert alone.ratio is not None
    assert one.ratio is not None
    assert one.ratio.low < alone.ratio.low < alone.ratio.value == one.ratio.value


def test_a_claim_is_judged_within_the_blocks_of_its_runs(tmp_path: Path) -> None:
    drifting = results(tmp_path, {1: [100, 150, 225], 4: [130, 196, 292]})
    begun = [f"2026-01-01T00:0{block}:{second}0+00:00" for second in (1, 2) for block in (1, 2, 3)]
    blocked = replace(drifting, runs=drifting.runs.assign(repetition=[1, 2, 3] * 2, started=begun))
    answers = [judge_claims([claim(**MORE)], runs, {})[0] for runs in (drifting, blocked)]
    assert [found.answer for found in answers] == [OPEN, YES]
    ratio = answers[1].ratio
    assert ratio is not None
    # The interval of Student's t by hand: 0.2635 ± 4.303 * 0.0036 / √3.
    assert (ratio.low, ratio.high) == pytest.approx((1.290, 1.313), abs=0.001)


def test_what_cannot_be_judged_says_why(tmp_path: Path) -> None:
    speeds: dict[int, list[float]] = {1: [100, 101], 4: [400, 401]}
    lost = outcome(tmp_path, speeds, {"usable": False, "reason": "the machine was slower"}, **MORE)
    assert lost.answer == OPEN
    assert "no usable run: the machine was slower" in " ".join(paragraphs(lost, "en"))
    gone = outcome(tmp_path, {1: [100, 101]}, **MORE)
    assert gone.problem == "4 stripes: not run"
    unread = outcome(tmp_path, speeds, **MORE, operation="read")
    assert unread.problem == "the program measured no read bandwidth"
    bare = replace(results(tmp_path, speeds), limits={})
    (unbound,) = judge_claims([claim(reaches={"stripe_count": 1})], bare, {})
    assert "no model" in unbound.problem


def test_numbers_are_written_in_the_readers_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = outcome(tmp_path, {1: [100, 101, 99], 4: [150, 150.5, 149.5]}, **MORE)
    assert "1.5 times (95 % interval 1.4" in " ".join(paragraphs(found, "en"))
    assert "1,5 vezes (intervalo de 95 %: de 1,4" in " ".join(paragraphs(found, "pt"))
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    for value, language in (("pt_BR.UTF-8", "pt"), ("C.UTF-8", "en"), ("", "en")):
        monkeypatch.setenv("LANG", value)
        assert language_of_user() == language


@pytest.mark.parametrize("folder", ACTIVITIES, ids=lambda path: path.name)
def test_every_activity_is_whole(folder: Path) -> None:
    experiment = load_experiment(folder / "experiment.yaml")
    assert experiment.name == folder.name
    claims = load_claims(folder / "activity.yaml", experiment)
    assert {one.rule for one in claims if one.kind == "finds"} <= {rule.id for rule in RULES}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("claims: []", "the file must have one key, claims, with a list"),
        ("claims: [", "while parsing"),
        ("claims: [4]", "claim 1: a claim must be a table"),
        (
            "claims: [{says: x}]",
            "claim 1: a claim must have one of the keys more, same, reaches, finds, holds_up, processes",
        ),
        ("claims: [{more: {}, then: {}}]", "unknown key then; a claim that begins with more has"),
        ("claims: [{finds: x}]", "the key because is missing"),
        (
            "claims: [{reaches: {stripe_count: 7}, says: {en: a, pt: b}, because: x, otherwise: x}]",
            "{'stripe_count': 7} names 0 points",
        ),
        (
            "claims: [{reaches: {stripe_count: 1}, says: x, because: x, otherwise: x}]",
            "says: a text must be a table with en and",
        ),
    ],
)
def test_a_wrong_activity_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "activity.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"activity\.yaml: ") as caught:
        load_claims(tmp_path / "activity.yaml", load_experiment(COURSE / "activity-1" / "experiment.yaml"))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["99"], "the course has no activity 99; its activities are 1, 2, 3"),
        (["nowhere"], "nowhere/experiment.yaml: cannot be read (No such file or directory)"),
        (["6", "--full"], "ior of activity-6 has no solver that --full could switch on; run it without --full"),
    ],
)
def test_a_wrong_call_says_what_there_is(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["activity", *words]) == 2
    assert said in capsys.readouterr().err


def pictures() -> dict[str, str]:
    """Returns the pictures that course/pictures.py draws, by folder."""
    made = runpy.run_path(str(COURSE / "pictures.py"))
    return {f"activity-{number}": made["picture"](panels) for number, panels in made["PICTURES"].items()}


def test_every_picture_is_as_its_script_draws_it() -> None:
    assert {path.name: (path / "picture.svg").read_text() for path in ACTIVITIES} == pictures()


@pytest.mark.parametrize("folder", [COURSE, *ACTIVITIES], ids=lambda path: path.name)
def test_both_languages_tell_the_same_commands_and_tables(folder: Path) -> None:
    for page in [path for path in folder.glob("*.md") if ".pt." not in path.name]:
        pages = [path.read_text() for path in (page, page.with_suffix(".pt.md"))]
        for kind in (r"^sbatch .*|^make [^#\n]*|^srun .*", r"^#+ ", r"^\| ", r"^\d\. "):
            english, portuguese = (re.findall(kind, text.replace("LANG=pt_BR ", ""), re.M) for text in pages)
            count = [len(english), len(portuguese)] if kind.startswith(("^#", r"^\|", r"^\d")) else None
            assert count is None or count[0] == count[1], (page, kind)
            assert count or [word.strip() for word in english] == [word.strip() for word in portuguese], page


def test_without_git_there_is_no_tarball_of_nothing(tmp_path: Path) -> None:
    for name in ("make", "sh", "sed", "mkdir", "tar", "nproc", "bash"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    words = ["make", "-s", "-C", COURSE.parent, "course-tarball", f"PATH={tmp_path}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "install git" in done.stderr) == (2, True)


@pytest.mark.skipif(
    shutil.which("git") is None or not (COURSE.parent / ".git").exists(), reason="no git, or not a git checkout"
)
def test_the_tarball_has_what_students_need_and_no_solutions() -> None:
    root = COURSE.parent
    subprocess.run(["make", "-s", "course-tarball"], cwd=root, check=True, capture_output=True)
    with tarfile.open(root / "build" / "iolens-course.tar.gz") as tar:
        names = {name.removeprefix("iolens-course/") for name in tar.getnames()}
    needed = {"Makefile", "packaging/setup.sh", "slurm/run_btio-C.sh", "course/activity-6/README.pt.md"}
    assert needed | {"course/ost.yaml"} <= names
    assert not [name for name in names if "solution" in name or "INSTRUCTOR" in name or name.startswith("tests/")]
