"""Make a release of what is committed: release.py VERSION [--no-wheel].

Sets the version, puts the changelog's unreleased part under it, commits, and writes into dist/ the source archive, the
wheel (`make wheel`), the notes from the changelog and the sums of all; a tag `vVERSION` comes last. Nothing is pushed.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "report/iolens/__init__.py"
UNRELEASED = re.compile(r"^## Unreleased\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
TESTS = "bash .ci/run, bash tests/sanitize.sh, make wheel-test, make docs-test LONG=yes"


CHANGES = (
    (VERSION_FILE, r'^__version__ = ".+"$', '__version__ = "{version}"'),
    ("CITATION.cff", r"^version: .+$", "version: {version}"),
    ("CITATION.cff", r"^date-released: .+$", "date-released: {day}"),
    ("packaging/easybuild/iolens-foss-2024a.eb", r"^version = .+$", "version = '{version}'"),
    ("CHANGELOG.md", r"^## Unreleased$", "## {version} ({day})"),
)
"""File, the first line that is replaced, and what comes in its place."""


class Refused(Exception):
    """Why there is no release, and what to do."""


def main(words: Sequence[str]) -> int:
    """Make the release; 2 when it cannot begin, 1 when a step fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION", help="such as 1.2.3")
    parser.add_argument("--no-wheel", action="store_true", help="the source archive alone")
    asked = parser.parse_args(words)
    try:
        notes = checked(asked.version)
    except Refused as reason:
        print(f"release: {reason}", file=sys.stderr)
        return 2
    before = git("rev-parse", "--short=12", "HEAD")
    print(f"release: these must have passed at this commit, and are not run here: {TESTS}")
    try:
        made = release(asked.version, notes, not asked.no_wheel)
    except subprocess.CalledProcessError as failure:
        print(f"release: failed: {' '.join(map(str, failure.cmd))}", file=sys.stderr)
        print(f"release: there is no tag; `git reset --hard {before}` goes back to where it began", file=sys.stderr)
        return 1
    for path in made:
        print(f"release: {path.relative_to(ROOT)}")
    print(f"release: tagged v{asked.version}; to publish: git push origin HEAD v{asked.version}")
    return 0


def checked(version: str) -> str:
    """The notes of a release that can be made; Refused says what is in its way."""
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise Refused(f"'{version}' is no version; it is three numbers, such as 1.2.3 (make release VERSION=1.2.3)")
    if not (ROOT / ".git").exists():
        raise Refused("this is no clone of the repository, so there is nothing to commit to or to tag")
    if parts(version) <= parts(current()):
        raise Refused(f"{version} does not come after {current()}, which {VERSION_FILE} has")
    if git("status", "--porcelain"):
        raise Refused("the tree has changes that are not committed; commit or stash them")
    if git("tag", "--list", f"v{version}"):
        raise Refused(f"the tag v{version} is there already")
    for name, pattern, _ in CHANGES[:-1]:
        if not re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
            raise Refused(f"{name} has no line like {pattern}, where the version or the day would stand")
    found = UNRELEASED.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if found is None or not re.search(r"^- ", found[1], re.MULTILINE):
        raise Refused("CHANGELOG.md has nothing under '## Unreleased'; say there what is new")
    return found[1].strip() + "\n"


def parts(version: str) -> tuple[int, ...]:
    """Versions in their order."""
    return tuple(map(int, version.split(".")))


def current() -> str:
    """The version that the tree has."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', (ROOT / VERSION_FILE).read_text(encoding="utf-8"), re.MULTILINE)
    return str(version)


def release(version: str, notes: str, with_wheel: bool) -> list[Path]:
    """Commit, build and tag; the files that were made."""
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for name, pattern, line in CHANGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(pattern, line.format(version=version, day=day), text, count=1, flags=re.MULTILINE)
        (ROOT / name).write_text(text, encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", f"Release {version}")
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"iolens-{version}*"):
        old.unlink()
    (folder / f"iolens-{version}-notes.md").write_text(f"# iolens {version}\n\n{notes}", encoding="utf-8")
    archive(folder / f"iolens-{version}.tar.gz", version)
    if with_wheel:
        subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    made = sorted(path for path in folder.glob(f"iolens-{version}*"))
    sums = folder / f"iolens-{version}.sha256"
    sums.write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made))
    git("tag", "--annotate", "--cleanup=verbatim", f"v{version}", "--message", f"iolens {version}\n\n{notes}")
    return [*made, sums]


def archive(path: Path, version: str) -> None:
    """The committed files as an archive; the same commit gives the same bytes."""
    words = ["git", "archive", "--format=tar", f"--prefix=iolens-{version}/", "HEAD"]
    plain = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    path.write_bytes(gzip.compress(plain, compresslevel=9, mtime=0))


def git(*words: str) -> str:
    """Returns the output of git."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
