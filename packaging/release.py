"""Makes a release of the committed files: release.py [VERSION] [--no-wheel] [--no-deb].

Without VERSION, releases the version that the tree has, unless that has a tag. A new VERSION is first written into all
files that name the version, the changelog's unreleased part is put under it, and the change is committed. Then dist/
gets the source archive, the wheel (`make wheel`), the Debian packages (`make deb`), the notes from the changelog and
the checksums of these files. Last, the commit gets the tag `vVERSION`. Nothing is pushed.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "report/iolens/__init__.py"
SUITES = ("bookworm", "trixie")
"""Releases of Debian for which a package is built."""
TESTS = "bash .ci/run, bash tests/sanitize.sh, make wheel-test, make docs-test LONG=yes"

WHEEL = (("make", "wheel"),)
DEBS = tuple(("make", "deb", f"SUITE={suite}") for suite in SUITES)

CHANGES = (
    (VERSION_FILE, r'^__version__ = ".+"$', '__version__ = "{version}"'),
    ("CITATION.cff", r"^version: .+$", "version: {version}"),
    ("CITATION.cff", r"^date-released: .+$", "date-released: {day}"),
    ("packaging/easybuild/iolens-foss-2024a.eb", r"^version = .+$", "version = '{version}'"),
    (
        "packaging/easybuild/iolens-foss-2024a.eb",
        r"^# git archive .+$",
        "# git archive --prefix=iolens-{version}/ -o FOLDER/iolens-{version}.tar.gz HEAD",
    ),
    ("CHANGELOG.md", r"^## Unreleased$", "## Unreleased\n\n## {version} ({day})"),
)
"""For each file that names the version or the date: a pattern of the line to replace, and its replacement."""


class Refused(Exception):
    """The reason why there is no release, and the remedy."""


def main(words: Sequence[str]) -> int:
    """Makes the release; returns 2 if it cannot begin, 1 if a step fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "version", metavar="VERSION", nargs="?", help="such as 1.2.3 (default: the one that the tree has)"
    )
    parser.add_argument("--no-wheel", action="store_true", help="leave the wheel out")
    parser.add_argument("--no-deb", action="store_true", help="leave the Debian packages out")
    asked = parser.parse_args(words)
    version = current() if asked.version is None else asked.version
    steps = [*([] if asked.no_wheel else WHEEL), *([] if asked.no_deb else DEBS)]
    try:
        notes = checked(version, asked.version is not None)
        if not asked.no_deb:
            check_root()
    except Refused as reason:
        print(f"release: {reason}", file=sys.stderr)
        return 2
    before = git("rev-parse", "--short=12", "HEAD")
    print(f"release: these must have passed at this commit, and are not run here: {TESTS}", flush=True)
    try:
        if asked.version is not None:
            write_version(version)
        made = release(version, notes, steps)
    except subprocess.CalledProcessError as failure:
        print(f"release: failed: {' '.join(map(str, failure.cmd))}", file=sys.stderr)
        undo = f"; `git reset --hard {before}` undoes the commit" if asked.version is not None else ""
        print(f"release: there is no tag{undo}", file=sys.stderr)
        return 1
    for path in made:
        print(f"release: {path.relative_to(ROOT)}")
    print("release: to try the packages: make roads ROADS='wheel deb' SUITE=trixie, and SUITE=bookworm")
    print(f"release: tagged v{version}; to publish: git push origin HEAD v{version}")
    return 0


def checked(version: str, is_new: bool) -> str:
    """Returns the notes of a release; raises Refused with the reason if the release cannot be made."""
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise Refused(f"'{version}' is not a version: write three numbers, such as 1.2.3 (make release VERSION=1.2.3)")
    if not (ROOT / ".git").exists():
        raise Refused("this folder is not a clone of the repository, so nothing can be committed or tagged here")
    if is_new and parts(version) <= parts(current()):
        raise Refused(
            f"{version} does not come after {current()}, the version in {VERSION_FILE}; without VERSION, {current()} "
            "is released"
        )
    if git("status", "--porcelain"):
        raise Refused("the tree has changes that are not committed; commit or stash them")
    if git("tag", "--list", f"v{version}"):
        raise Refused(f"the tag v{version} is there already; say which version comes next (make release VERSION=1.2.3)")
    for name, pattern, _ in CHANGES:
        if not re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
            raise Refused(f"{name} has no line like {pattern} for the version or the day")
    return notes_of(version, is_new)


def notes_of(version: str, is_new: bool) -> str:
    """Returns the changelog's text about a version; raises Refused if there is none, or if entries are still
    unreleased.
    """
    news, notes = section("Unreleased"), section(version)
    if is_new and not has_entry(news):
        raise Refused("CHANGELOG.md has nothing under '## Unreleased'; list under it what is new")
    if not is_new and has_entry(news):
        raise Refused(
            f"CHANGELOG.md has entries under '## Unreleased'; move the entries that belong to {version} under its "
            "heading"
        )
    if not is_new and not has_entry(notes):
        raise Refused(f"CHANGELOG.md has nothing under '## {version}'; list under it what is new")
    return (news if is_new else notes) + "\n"


def section(heading: str) -> str:
    """Returns the part of the changelog under a heading, behind which a date may stand in brackets; empty if there is
    no such heading.
    """
    pattern = re.compile(rf"^## {re.escape(heading)}( \(.*\))?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found = pattern.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    return found[2].strip() if found else ""


def has_entry(text: str) -> bool:
    """Returns true if a part of the changelog has any entry."""
    return re.search(r"^- ", text, re.MULTILINE) is not None


def check_root() -> None:
    """Raises Refused if no Debian system for building packages can be made on this machine."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise Refused("the Debian packages need root and debootstrap; DEB=no leaves them out")


def parts(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version as a tuple; these tuples sort in the order of the versions."""
    return tuple(map(int, version.split(".")))


def current() -> str:
    """Returns the version that the tree has."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', (ROOT / VERSION_FILE).read_text(encoding="utf-8"), re.MULTILINE)
    return str(version)


def write_version(version: str) -> None:
    """Writes the version and the date into all files that name them, and commits."""
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for name, pattern, line in CHANGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(pattern, line.format(version=version, day=day), text, count=1, flags=re.MULTILINE)
        (ROOT / name).write_text(text, encoding="utf-8")
    message = f"release: make version {version}\n\nCHANGELOG.md says what is new in it."
    git("commit", "--quiet", "--all", "--message", message)


def release(version: str, notes: str, steps: Sequence[Sequence[str]]) -> list[Path]:
    """Builds and tags the release; returns its files."""
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    for old in files_of(version):
        old.unlink()
    (folder / f"iolens-{version}-notes.md").write_text(f"# iolens {version}\n\n{notes}", encoding="utf-8")
    archive(folder / f"iolens-{version}.tar.gz", version)
    for step in steps:
        subprocess.run(step, cwd=ROOT, check=True)
    made = files_of(version)
    sums = folder / f"iolens-{version}.sha256"
    sums.write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made))
    git("tag", "--annotate", "--cleanup=verbatim", f"v{version}", "--message", f"iolens {version}\n\n{notes}")
    return [*made, sums]


def files_of(version: str) -> list[Path]:
    """Returns the files of a version in dist/."""
    return sorted(path for sign in "-_" for path in (ROOT / "dist").glob(f"iolens{sign}{version}[-+.]*"))


def archive(path: Path, version: str) -> None:
    """Packs the committed files into a source archive; the same commit gives the same bytes."""
    words = ["git", "archive", "--format=tar", f"--prefix=iolens-{version}/", "HEAD"]
    plain = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    path.write_bytes(gzip.compress(plain, compresslevel=9, mtime=0))


def git(*words: str) -> str:
    """Returns the output of git."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
