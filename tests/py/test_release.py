"""`make release`: in a clone of its own, without the wheel, which has tests of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import iolens
import pytest

ROOT = Path(__file__).parents[2]
CHANGED = (
    "CHANGELOG.md",
    "CITATION.cff",
    "packaging/easybuild/iolens-foss-2024a.eb",
    "packaging/release.py",
    "report/iolens/__init__.py",
)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with what a release changes, and something new to say."""
    folder = tmp_path / "a clone"
    for name in CHANGED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    head, _, rest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")
    rest = rest if rest[:1].isdigit() else rest.partition("\n## ")[2]
    news = "## Unreleased\n\n### New\n\n- Something new.\n"
    (folder / "CHANGELOG.md").write_text(f"{head}\n{news}\n## {rest}", encoding="utf-8")
    git(folder, "init", "--quiet")
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
    done = release(clone, version, "--no-wheel")
    assert done.returncode == 0, done.stderr
    assert git(clone, "tag", "--list") == f"v{version}"
    assert git(clone, "log", "-1", "--format=%s") == f"Release {version}"
    assert "### New\n\n- Something new." in git(clone, "tag", "--list", "--format=%(contents)")
    assert f'__version__ = "{version}"' in (clone / "report/iolens/__init__.py").read_text()
    assert f"\nversion: {version}\n" in (clone / "CITATION.cff").read_text()
    assert f"\n## {version} (20" in (clone / "CHANGELOG.md").read_text()
    notes = clone / f"dist/iolens-{version}-notes.md"
    assert notes.read_text() == f"# iolens {version}\n\n### New\n\n- Something new.\n"
    archive = clone / f"dist/iolens-{version}.tar.gz"
    with tarfile.open(archive) as tar:
        assert f"iolens-{version}/CHANGELOG.md" in tar.getnames()
    sums = (clone / f"dist/iolens-{version}.sha256").read_text()
    assert f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}" in sums
    shutil.rmtree(clone / ".git")
    again = release(clone, "99.0.0", "--no-wheel")
    assert (again.returncode, "no clone" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.2", "is no version"),
        ("v1.2.3", "is no version"),
        ("", "is no version"),
        (iolens.__version__, "does not come after"),
        ("0.0.9", "does not come after"),
    ],
)
def test_a_wrong_version_is_refused(clone: Path, version: str, reason: str) -> None:
    done = release(clone, version)
    assert done.returncode == 2
    assert reason in done.stderr
    assert git(clone, "status", "--porcelain") == ""


def test_a_changed_tree_and_an_empty_changelog_are_refused(clone: Path) -> None:
    text = (clone / "CHANGELOG.md").read_text(encoding="utf-8").replace("- Something new.\n", "")
    (clone / "CHANGELOG.md").write_text(text, encoding="utf-8")
    done = release(clone, following())
    assert (done.returncode, "not committed" in done.stderr) == (2, True)
    git(clone, "commit", "--quiet", "--all", "--message", "Say nothing")
    done = release(clone, following())
    assert (done.returncode, "nothing under '## Unreleased'" in done.stderr) == (2, True)
    assert git(clone, "tag", "--list") == ""
