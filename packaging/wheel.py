"""Puts the built parts into a wheel of the Python package: libraries, helpers, configuration, the workloads' sources,
manual pages and shell completions.

    wheel.py PLATFORM BUILD OUTPUT [BUILD ...]

PLATFORM is the wheel's tag, such as manylinux_2_28_x86_64; BUILD a build tree with lib/ and bin/. The libraries of
further trees are added. The wheel lies in the folder OUTPUT; the same parts give the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import man
from iolens.cli.described import commands
from iolens.cli.machine import completion

sys.path.append(str(Path(__file__).with_name("backend")))
from wheel_parts import PARTS, ROOT, Row, command, data_folder, parts, rows_of, write

__all__ = ["PARTS", "main", "manuals", "parts"]


def main(arguments: Sequence[str]) -> int:
    """Writes the wheel and prints its path."""
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    platform, build, output, *others = arguments
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_wheel(Path(folder))
        target = Path(output) / plain.name.replace("-none-any", f"-none-{platform}")
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_suffix(".new")
        rows = [*rows_of(plain, platform), command(plain, Path(build)), *parts([Path(build), *map(Path, others)])]
        share = f"{data_folder(plain)}/data/share"
        write(aside, [*rows, *((f"{share}/{name}", content, mode) for name, content, mode in manuals())])
        aside.replace(target)
    print(target)
    return 0


def plain_wheel(folder: Path) -> Path:
    """Builds the wheel that contains only the Python package, and returns its path. The folder build/python is removed
    first, because it may contain modules of an earlier version.
    """
    shutil.rmtree(ROOT / "build" / "python", ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--disable-pip-version-check",
        "-w",
        folder,
        ROOT,
    ]
    subprocess.run(command, env={**os.environ, "IOLENS_PARTS": "separate"}, check=True)
    return next(folder.glob("*.whl"))


COMPLETIONS = {
    "bash": "bash-completion/completions/iolens",
    "zsh": "zsh/site-functions/_iolens",
    "fish": "fish/vendor_completions.d/iolens.fish",
}
"""Folders below a share folder in which each shell looks for completions."""


def manuals() -> Iterator[Row]:
    """Yields man pages and completions, each with its path below the folder `share`."""
    for page, text in man.pages("").items():
        yield f"man/man1/{page}", text.encode(), 0o644
    for shell, place in COMPLETIONS.items():
        yield place, completion.SHELLS[shell](commands()).encode(), 0o644


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
