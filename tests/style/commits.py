"""Check the messages of the commits since the last release: `make check` runs it where the history is there.

The subject names a part and says in the imperative what the commit does, in 72 characters at most; the body says why.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

FIRST = "070bf487"
"""The last commit that was made before this check existed."""

LEFT = ("09eee742", "abfc2f75", "2fadae96", "047c334d", "018a0757", "0d49cc32", "06b8593d", "18a8e093")
"""Commits with a fault that were shared before this check ran on them: a shared history is not rewritten."""

SUBJECT = re.compile(r"[\w./-]+(, [\w./-]+)*: \S")
LONGEST = 72


def faults(name: str, message: str) -> list[str]:
    """Returns a line for each fault of a commit's message."""
    subject, _, body = message.strip("\n").partition("\n")
    found = []
    if len(subject) > LONGEST:
        found.append(f"the subject has {len(subject)} characters, {LONGEST} are the limit")
    if not SUBJECT.match(subject):
        found.append("the subject does not begin with a part, such as `sampling: `")
    if not body.strip():
        found.append("there is no body that says why")
    return [f"commit {name}: {fault}: {subject}" for fault in found]


def git(*words: str) -> str | None:
    """Returns what git prints, or None if git is missing or fails, as it does without a history."""
    if shutil.which("git") is None:
        return None
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def main() -> int:
    """Prints the faults of the commits since the last release; returns 1 if there are any."""
    if git("cat-file", "-e", f"{FIRST}^{{commit}}") is None:
        return 0
    release = (git("describe", "--tags", "--abbrev=0", "--match", "v*") or "").strip()
    since = [f"^{FIRST}", *([f"^{release}"] if release else [])]
    listed = git("log", "--no-merges", "--format=%h%x01%B%x02", "HEAD", *since) or ""
    commits = [record.strip("\n").partition("\x01") for record in listed.split("\x02") if record.strip("\n")]
    found = [fault for name, _, message in commits if not name.startswith(LEFT) for fault in faults(name, message)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
