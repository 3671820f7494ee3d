"""Uses the project as a newcomer does: `make run-class-S` from set-up to the PDF, and the README's promises."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from own_words import names_the_best

ROOT = Path(__file__).resolve().parents[2]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.mpi
def test_make_run_class_s_ends_in_a_pdf_and_the_best_setting(tmp_path: Path) -> None:
    done = make("run-class-S", "STRIPES=1 2", "AGGREGATORS=1", "CB_BUFFER=1M", "REPEAT=2", f"RESULTS={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    pdf = tmp_path / "class-S" / "comparison.pdf"
    assert f"comparison: {pdf}" in done.stdout
    assert names_the_best(done.stdout)
    assert "emulated" in done.stdout
    if shutil.which("pdftotext") is None:
        pytest.skip("the PDF is there; what it says needs pdftotext (poppler-utils)")
    text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout
    assert "BT-IO class S" in text
    assert "EMULATED STORAGE" in text


@pytest.mark.mpi
def test_the_complete_run_alone(tmp_path: Path) -> None:
    done = make("run-class-S", "SWEEP=0", f"RESULTS={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verification    =               SUCCESSFUL" in (tmp_path / "class-S" / "first" / "stdout.txt").read_text()
    assert (tmp_path / "class-S" / "first.pdf").exists()


def test_an_unknown_class_is_refused() -> None:
    done = make("run-class-Q")
    assert done.returncode == 2
    assert "unknown class 'Q'; choose one of S, W, A, B, C, D, E" in done.stderr


def test_a_sweep_of_a_file_refuses_a_driver() -> None:
    """The sweep of an experiment.yaml takes its MPI-IO driver from that file, so DRIVER= on the command line must be
    refused.
    """
    done = make("run-ior", "DRIVER=generic")
    assert done.returncode == 2
    assert "an experiment.yaml sets driver itself; leave the option out, or use --set" in done.stderr


@pytest.mark.parametrize(("given", "option"), [("RETRY=1", "--retry"), ("RETRY=0", ""), ("", "")])
def test_failed_runs_of_every_sweep_are_repeated_on_request(given: str, option: str) -> None:
    """`RETRY=1` is what a sweep that make has started names after failed runs."""
    shown = "include Makefile\nshow:\n\t@echo $(OPTIONS)\n\t@echo $(CHANGES)\n"
    words = ["make", "-f", "-", "show", *given.split()]
    done = subprocess.run(words, cwd=ROOT, input=shown, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [option, option]


def commands_of(target: str) -> str:
    """Returns the commands of a target of the Makefile and of the targets that it needs, as text."""
    text, targets, found = (ROOT / "Makefile").read_text(encoding="utf-8"), [target], ""
    for name in targets:
        if rule := re.search(rf"^{re.escape(name)}:([^#\n]*).*\n((?:\t.*\n)*)", text, re.MULTILINE):
            targets += [need for need in rule[1].split() if need not in targets]
            found += rule[2]
    return found


def test_tests_run_whatever_style_and_types_are() -> None:
    """A user's `make test` must not stop at a newer NumPy's types, so only `make check` looks at style and types."""
    checks = re.compile(r"\b(mypy|ruff|clang-format|plain_words|types\.sh)\b")
    assert "-m pytest" in commands_of("test")
    assert "setup.sh test" in commands_of("test")
    assert checks.findall(commands_of("test")) == []
    assert {"mypy", "ruff", "clang-format", "plain_words"} <= set(checks.findall(commands_of("check")))


def test_help_names_every_target() -> None:
    targets = set(re.findall(r"^([a-z%-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {f"make {target}" for target in targets} <= set(re.findall(r"make [a-z%-]+", make("help").stdout))


def test_every_link_of_the_readmes_leads_somewhere() -> None:
    readmes = []
    for folder, folders, files in os.walk(ROOT):
        # Other processes may change files in these folders while the test runs.
        folders[:] = sorted(set(folders) - {".git", ".venv", "build", "results"})
        readmes += [Path(folder, name) for name in files if name.endswith(".md")]
    assert ROOT / "README.md" in readmes
    for readme in readmes:
        for target in re.findall(r"\]\(([^)#:]+)\)", readme.read_text(encoding="utf-8")):
            assert (readme.parent / target).exists(), f"{readme.relative_to(ROOT)}: {target}"


def test_what_make_run_takes_is_said_where_the_readme_leads() -> None:
    page = "docs/how-to/make-run.md"
    assert page in (ROOT / "README.md").read_text(encoding="utf-8")
    words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert re.search(r"a short sweep took \w+ minutes .*? They took \d+ MB below the folder", words)
    assert "A sweep measures nothing on a machine that other programs keep busy." in words


def test_nothing_that_tries_a_road_sets_what_a_user_would_not_have_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make run` and `iolens run` find the variables that the launchers of Open MPI 4, Open MPI 5 and MPICH need, so
    that no script sets one.
    """
    launchers = re.compile(r"\b(?:OMPI|PRTE|PMIX|PMI|HYDRA|MPICH)_\w+=")
    for script in ("smoke.sh", "try-readme.sh", "try-roads.sh", "try-wheel.sh"):
        assert launchers.findall((ROOT / "packaging" / script).read_text(encoding="utf-8")) == [], script
    monkeypatch.syspath_prepend(str(ROOT / "docs/tools"))
    environment = runpy.run_path(str(ROOT / "docs/tools/walk.py"))["environment"]
    plain = environment(ROOT, plain=True)
    assert {name for name in plain if plain[name] != os.environ.get(name)} <= {"COLUMNS", "PATH", "IOLENS_SPOOL"}
