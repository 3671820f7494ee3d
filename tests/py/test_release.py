"""Runs `make release` in a clone, without the wheel, which has its own tests."""

from __future__ import annotations

import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import iolens
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "style"))
from commits import faults

ROOT = Path(__file__).parents[2]
CHANGED = (
    "CHANGELOG.md",
    "CITATION.cff",
    "packaging/easybuild/iolens-foss-2024a.eb",
    "packaging/release.py",
    "report/iolens/__init__.py",
)


PLAIN = ("--no-wheel", "--no-deb")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Makes a git repository with the files that a release changes, and an unreleased change."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "a clone"
    for name in CHANGED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    head, _, rest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")
    rest = rest if rest[:1].isdigit() else rest.partition("\n## ")[2]
    news = "## Unreleased\n\n### New\n\n- Something new.\n"
    (folder / "CHANGELOG.md").write_text(f"{head}\n{news}\n## {rest}", encoding="utf-8")
    git(folder, "init", "--quiet")
    (folder / ".git/info/exclude").write_text("dist\nfail\n")
    git(folder, "config", "user.name", "A maintainer")
    git(folder, "config", "user.email", "maintainer@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


def release(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, folder / "packaging/release.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def following() -> str:
    first, second, _ = iolens.__version__.split(".")
    return f"{first}.{int(second) + 1}.0"


def test_a_release_is_tagged_and_archived(clone: Path) -> None:
    version = following()
    done = release(clone, version, *PLAIN)
    assert done.returncode == 0, done.stderr
    assert git(clone, "tag", "--list") == f"v{version}"
    assert git(clone, "log", "-1", "--format=%s") == f"release: make version {version}"
    assert not faults("0", git(clone, "log", "-1", "--format=%B"))
    assert "### New\n\n- Something new." in git(clone, "tag", "--list", "--format=%(contents)")
    assert f'__version__ = "{version}"' in (clone / "report/iolens/__init__.py").read_text()
    assert f"\nversion: {version}\n" in (clone / "CITATION.cff").read_text()
    assert f"\n## Unreleased\n\n## {version} (20" in (clone / "CHANGELOG.md").read_text()
    notes = clone / f"dist/iolens-{version}-notes.md"
    assert notes.read_text() == f"# iolens {version}\n\n### New\n\n- Something new.\n"
    archive = clone / f"dist/iolens-{version}.tar.gz"
    with tarfile.open(archive) as tar:
        assert f"iolens-{version}/CHANGELOG.md" in tar.getnames()
    sums = (clone / f"dist/iolens-{version}.sha256").read_text()
    assert f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}" in sums
    again = release(clone, *PLAIN)
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    shutil.rmtree(clone / ".git")
    again = release(clone, "99.0.0", *PLAIN)
    assert (again.returncode, "not a clone" in again.stderr) == (2, True)


def test_the_version_of_the_tree_is_released_as_it_is(clone: Path) -> None:
    """The notes move below a heading of their own, and "Unreleased" becomes empty."""
    version = iolens.__version__
    done = release(clone, *PLAIN)
    assert (done.returncode, "entries under '## Unreleased'" in done.stderr) == (2, True)
    text = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    text = text.partition("\n## Unreleased\n")[0] + f"\n## Unreleased\n\n## {version} (today)\n\n- Here.\n"
    (clone / "CHANGELOG.md").write_text(text, encoding="utf-8")
    git(clone, "commit", "--quiet", "--all", "--message", "Move")
    before = git(clone, "rev-parse", "HEAD")
    done = release(clone, *PLAIN)
    assert done.returncode == 0, done.stderr
    assert git(clone, "rev-parse", f"v{version}^{{commit}}") == before
    assert (clone / f"dist/iolens-{version}-notes.md").read_text() == f"# iolens {version}\n\n- Here.\n"


def test_packages_are_made_and_summed_before_the_tag(clone: Path, tmp_path: Path) -> None:
    """`make` is replaced by a script that writes a package to dist/, and fails while there is a file `fail`."""
    version = following()
    tools = tmp_path / "tools"
    tools.mkdir()
    script = f"""case "$*" in
        wheel) echo w >dist/iolens-{version}-py3-none-any.whl ;;
        "deb SUITE="*) echo d >dist/iolens_{version}+${{2#SUITE=}}_amd64.deb ;;
    esac
    [ ! -e fail ]"""
    for name, text in (("make", script), ("debootstrap", ""), ("id", "echo 0")):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    surroundings = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    command = [sys.executable, clone / "packaging/release.py", version]
    if os.geteuid() != 0:
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
        assert (done.returncode, "DEB=no" in done.stderr) == (2, True)
        return
    (clone / "fail").touch()
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, git(clone, "tag", "--list")) == (1, ""), done.stderr
    git(clone, "reset", "--quiet", "--hard", "HEAD~")
    (clone / "fail").unlink()
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sums = (clone / f"dist/iolens-{version}.sha256").read_text().split()[1::2]
    assert sorted(sums) == [
        f"iolens-{version}-notes.md",
        f"iolens-{version}-py3-none-any.whl",
        f"iolens-{version}.tar.gz",
        f"iolens_{version}+bookworm_amd64.deb",
        f"iolens_{version}+trixie_amd64.deb",
    ]


def test_the_same_version_stands_everywhere() -> None:
    """Every place that a release writes has the package's version, and the changelog has the date of CITATION.cff."""
    places = runpy.run_path(str(ROOT / "packaging/release.py"))["CHANGES"]
    (day,) = re.findall(r"^date-released: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    for name, pattern, line in places:
        text = (ROOT / name).read_text(encoding="utf-8")
        expected = line.format(version=iolens.__version__, day=day).splitlines()
        assert re.search(pattern, text, re.MULTILINE), name
        assert set(expected) <= set(text.splitlines()), name


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.2", "is not a version"),
        ("v1.2.3", "is not a version"),
        ("", "is not a version"),
        (iolens.__version__, "does not come after"),
        ("0.0.9", "does not come after"),
    ],
)
def test_a_wrong_version_is_refused(clone: Path, version: str, reason: str) -> None:
    done = release(clone, version, *PLAIN)
    assert done.returncode == 2
    assert reason in done.stderr
    assert git(clone, "status", "--porcelain") == ""


def test_a_changed_tree_and_an_empty_changelog_are_refused(clone: Path) -> None:
    text = (clone / "CHANGELOG.md").read_text(encoding="utf-8").replace("- Something new.\n", "")
    (clone / "CHANGELOG.md").write_text(text, encoding="utf-8")
    done = release(clone, following(), *PLAIN)
    assert (done.returncode, "not committed" in done.stderr) == (2, True)
    git(clone, "commit", "--quiet", "--all", "--message", "Say nothing")
    done = release(clone, following(), *PLAIN)
    assert (done.returncode, "nothing under '## Unreleased'" in done.stderr) == (2, True)
    assert git(clone, "tag", "--list") == ""
