"""Measures the time that `iolens run` adds to a command: the command and the command under `iolens run` take turns.

    .venv/bin/python tests/bench/start.py [--other FOLDER] [--pairs N] [-- COMMAND …]

Prints medians of elapsed and of processor time. `--other` names a folder that holds another version of the package
`iolens`, which then takes its turn as well. Without a command a program that writes one file is measured.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from iolens.places import CHECKOUT, folders_of_libraries

_PROGRAM = ("dd", "if=/dev/zero", "of=file", "bs=1k", "count=1", "status=none")
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from iolens.cli.main import main; sys.exit(main())"


def _cost(words: Sequence[str], folder: str, environment: dict[str, str]) -> tuple[float, float]:
    """Returns the elapsed and the processor time of a command, in seconds."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=folder, env=environment, stderr=subprocess.DEVNULL, check=True)
    elapsed, after = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measures and prints one line for each version of the package."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--other", type=Path, help="folder with another version of the package iolens")
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("command", nargs="*", default=_PROGRAM)
    args = parser.parse_args()
    packages = {"this": CHECKOUT / "report"} | ({"other": args.other.resolve()} if args.other else {})
    added: dict[str, list[tuple[float, float]]] = {name: [] for name in packages}
    with TemporaryDirectory() as folder:
        # Compiled modules are kept, as on any user's machine. With a spool folder of its own, `iolens run` does not
        # look at other jobs of this node.
        environment = {**os.environ, "IOLENS_SPOOL": folder, "IOLENS_LIB": str(folders_of_libraries()[0])}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(-1, args.pairs):
            plain = _cost(args.command, folder, environment)
            for name, package in packages.items():
                words = [sys.executable, "-c", _START, str(package), "run", "--", *args.command]
                profiled = _cost(words, folder, environment)
                if turn >= 0:
                    added[name].append((profiled[0] - plain[0], profiled[1] - plain[1]))
    for name, pairs in added.items():
        elapsed, processor = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        print(f"{name:6} adds {elapsed:.4f} s elapsed, {processor:.4f} s of processor time ({len(pairs)} pairs)")


if __name__ == "__main__":
    main()
