#!/usr/bin/env python3
"""Runs activities of the course, and prints how long each took and what came out of its claims.

    .venv/bin/python tests/bench/activities.py [N ...]

All activities run without numbers, one after the other, in a folder of results that is removed. Times and intervals are
those of the machine: nothing else should run on it. A claim is decided unless it is *not proven*.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from iolens.course.judge import NO, OPEN, SAME, YES
from iolens.course.words import SAID

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = {words: answer for answer, words in SAID["en"].items() if answer in (YES, NO, SAME, OPEN)}


def answers_in(text: str) -> Counter[str]:
    """Returns how many claims got each answer. The line of a claim begins with its number and ends with its answer."""
    found = re.findall(rf"^\d+\. .*: ({'|'.join(ANSWERS)})$", text, re.MULTILINE)
    return Counter(ANSWERS[words] for words in found)


def run(number: int, results: Path) -> tuple[float, Counter[str]]:
    """Returns the seconds that an activity took, and the answers to its claims."""
    begun = time.monotonic()
    done = subprocess.run(
        ["make", f"activity-{number}", "LANGUAGE=en", f"RESULTS={results}"],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "1000"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"activities: activity {number} ended with {done.returncode}\n{done.stdout}")
    return time.monotonic() - begun, answers_in(done.stdout)


def main(arguments: Sequence[str]) -> None:
    known = sorted(int(path.name.removeprefix("activity-")) for path in (ROOT / "course").glob("activity-*"))
    together: Counter[str] = Counter()
    print("| activity | seconds | claims | agree | otherwise | no difference | not proven |\n" + "|---" * 7 + "|")
    for number in map(int, arguments) if arguments else known:
        with tempfile.TemporaryDirectory(prefix="iolens-activities-") as folder:
            seconds, found = run(number, Path(folder))
        together += found
        cells = (found[answer] for answer in (YES, NO, SAME, OPEN))
        print(f"| {number} | {seconds:.0f} | {found.total()} | {' | '.join(map(str, cells))} |", flush=True)
    print(f"\n{together.total() - together[OPEN]} of {together.total()} claims are decided.")


if __name__ == "__main__":
    main(sys.argv[1:])
