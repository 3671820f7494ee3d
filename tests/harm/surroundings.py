"""Runs a sample of the kinds of programs in ten surroundings, bare and behind `iolens run`, and prints the differences:
python tests/harm/surroundings.py [COUNT [SEED]].
"""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import ROOT, ProgramResults, outcome
from kind import ProgramKind
from kinds import KINDS

IOLENS = ROOT / ".venv/bin/iolens"
SURROUNDINGS: Mapping[str, str] = {
    "background": "{job} & wait $!",
    "nohup": "nohup {job}",
    "setsid": "setsid --wait {job}",
    "timeout": "timeout 250 {job}",
    "xargs": "echo argument | xargs -P 4 -n 1 {job}",
    "make": "printf 'all: first other\\nfirst:\\n\\t@{job}\\nother:\\n' >{job}.make; make -s -j 4 -f {job}.make",
    "no terminal": "setsid --wait {job} </dev/null",
    "terminal": "script --quiet --return --command {job} /dev/null </dev/null",
    "pipe": "bash -c '{job} | cat; exit ${{PIPESTATUS[0]}}'",
    "empty environment": 'env -i PATH="$PATH" PROGRAM="$PROGRAM" IOLENS_LOGPATH="$IOLENS_LOGPATH" {job}',
}
"""Commands that start a program, which stands for `{job}`, in ways of shells, batch systems and tools."""

_OWN = re.compile(
    rb"iolens: (?:log: |next: |merged: |\d+ logs in |no log was written: |[^\n]* so it runs without the profiler|"
    rb"recording ends where |logs of what one rank )[^\n]*\r?\n"
)
"""Lines that `iolens run` itself prints when the program has ended."""


def _placed(kind: ProgramKind, surrounding: str, profiled: bool, scratch: Path) -> ProgramKind:
    """Returns the kind as a command in a surrounding. The program is a script, so that no surrounding has to quote it;
    the script ignores its arguments.
    """
    job = scratch / "job"
    words = [str(IOLENS), "run", "--quiet", "--"] if profiled else []
    job.write_text(f"#!/bin/sh\nexec {shlex.join([*words, '/bin/sh', '-c', kind.command])}\n")
    job.chmod(0o755)
    return replace(kind, command=SURROUNDINGS[surrounding].format(job=job))


def _without_own_words(results: ProgramResults) -> ProgramResults:
    return replace(results, stdout=_OWN.sub(b"", results.stdout), stderr=_OWN.sub(b"", results.stderr))


def difference(kind: ProgramKind, surrounding: str, scratch: Path) -> str:
    """Returns the parts of a program's results that differ behind `iolens run` in a surrounding; empty if none does."""
    logs = scratch / "logs"
    logs.mkdir(exist_ok=True)
    logs.chmod(0o1777)
    places = {"IOLENS_LOGPATH": str(logs)}
    bare = outcome(_placed(kind, surrounding, False, scratch), places, scratch)
    recorded = outcome(_placed(kind, surrounding, True, scratch), places, scratch)
    return _without_own_words(recorded).difference(bare)


def differences(kinds: Sequence[ProgramKind], scratch: Path) -> Iterator[tuple[ProgramKind, list[str]]]:
    """Yields each kind with the differences in each surrounding."""
    for kind in kinds:
        yield kind, [difference(kind, surrounding, scratch) for surrounding in SURROUNDINGS]


def sample(count: int, seed: int) -> list[ProgramKind]:
    """Returns some of the kinds that this machine can run; the same ones for the same seed."""
    possible = [kind for kind in KINDS if not kind.missing()]
    return random.Random(seed).sample(possible, min(count, len(possible)))


def main(words: Sequence[str]) -> int:
    """Prints a row for each kind: a dot where nothing differs. Returns 1 if anything does."""
    count, seed = (*map(int, words), *(30, 1)[len(words) :])
    kinds = sample(count, seed)
    failed = False
    print(f"{len(kinds)} kinds x {len(SURROUNDINGS)} surroundings, seed {seed}: {', '.join(SURROUNDINGS)}")
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        for kind, cells in differences(kinds, Path(scratch)):
            failed |= any(cells)
            print(f"{kind.name:28} {' '.join(cell or '.' for cell in cells)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
