"""Puts the parts of the wheel that are not the Python package into the folders of a system's package.

    stage.py PARTS SHARE BUILD...

PARTS becomes what `iolens/parts` is in a wheel; manual pages and completions go below SHARE; a BUILD is a build tree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import wheel


def main(arguments: Sequence[str]) -> int:
    """Writes the parts of an installation that are not Python below the folders PARTS and SHARE; returns 2 if an
    argument is missing.
    """
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    parts, share, *builds = map(Path, arguments)
    lay(parts, ((name.removeprefix(f"{wheel.PARTS}/"), *rest) for name, *rest in wheel.parts(builds)))
    lay(share, wheel.manuals())
    return 0


def lay(folder: Path, rows: Iterable[tuple[str, bytes, int]]) -> None:
    """Writes files (path below the folder, content, mode), and makes the folders that they need."""
    for name, content, mode in rows:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
