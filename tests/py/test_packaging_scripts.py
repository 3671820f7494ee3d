"""Tests the scripts that build packages: the Debian release for which they build, the tools that they need, and their
behaviour without these tools.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PLAYED_ROOTS = """
fresh() { mkdir -p "build/roots/$1/upper/try"; cp -a "$3" "build/roots/$1/upper/try"; }
inside() {
    local source version
    source=$(echo build/roots/$1/upper/try/iolens-*)
    version=$(sed -n '1s/.*(\\(.*\\)).*/\\1/p' "$source/debian/changelog")
    touch "build/roots/$1/upper/try/iolens_${version}_amd64.deb"
}
"""
"""Plays the tools of a Debian package build: keeps the files they get, and makes an empty package."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Makes a folder with the files that deb.sh needs; it is no git clone."""
    place = tmp_path / "iolens"
    shutil.copytree(ROOT / "packaging/debian", place / "packaging/debian")
    for name in ("packaging/deb.sh", "packaging/wheel.sh", "packaging/plotting.sh", "report/iolens/__init__.py"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    (place / "packaging/roots.sh").write_text(PLAYED_ROOTS)
    (place / "CHANGELOG.md").touch()
    (place / "build").mkdir()
    (place / "build/left").touch()
    (place / "report/iolens/pages/html").mkdir(parents=True)
    (place / "report/iolens/pages/html/page.css").touch()
    return place


def run(folder: Path, script: str, path: str = os.environ["PATH"], **settings: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "PATH": path, "GIT_CEILING_DIRECTORIES": str(folder.parent), **settings}
    return subprocess.run(
        ["bash", folder / "packaging" / script], env=surroundings, capture_output=True, text=True, check=False
    )


def with_plotting(folder: Path) -> None:
    """Makes the plotting library available without a network."""
    (folder / "report/iolens/pages/html/uplot").mkdir()
    (folder / "packaging/plotting.sh").write_text("")


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_a_debian_package_names_its_release_and_needs_no_git(folder: Path, suite: str) -> None:
    with_plotting(folder)
    done = run(folder, "deb.sh", SUITE=suite)
    assert done.returncode == 0, done.stderr
    (package,) = (folder / "dist").glob("*.deb")
    assert f"+{suite}_" in package.name
    (source,) = folder.glob("build/roots/deb/upper/try/iolens-*")
    assert sorted(path.name for path in source.iterdir()) == ["CHANGELOG.md", "debian", "packaging", "report"]
    assert (source / "report/iolens/pages/html/uplot").is_dir()


def test_a_debian_package_is_for_the_release_of_this_machine(folder: Path) -> None:
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    with_plotting(folder)
    done = run(folder, "deb.sh", SUITE="")
    if release.get("ID") != "debian":
        assert (done.returncode, "make deb SUITE=trixie" in done.stderr) == (1, True)
    else:
        assert f"+{release['VERSION_CODENAME']}_" in done.stdout


@pytest.mark.parametrize("script", ["deb.sh", "wheel.sh"])
def test_no_package_leaves_the_interactive_figures_out(folder: Path, tmp_path: Path, script: str) -> None:
    """Without npm the interactive figures' library cannot be fetched, and no package is made."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "sed", "mkdir", "mktemp", "rm", "dirname", "realpath", "uname", "sha256sum", "date"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = run(folder, script, path=str(tools), SUITE="trixie")
    assert done.returncode == 1, done.stdout
    assert "npm is not installed" in done.stderr
    assert "install npm or check its registry" in done.stderr
    assert not (folder / "dist").exists() or not list((folder / "dist").iterdir())
