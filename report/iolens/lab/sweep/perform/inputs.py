"""The working folder of a run: links to the program's input files, and copies of those that it changes."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path, PurePath

from iolens.errors import IolensError


def lay_out(
    inputs: Path, target: Path, outputs: Collection[str], copies: Sequence[str], without: Sequence[Path]
) -> None:
    """Makes the entries of `inputs` available in the folder `target`, which exists.

    Every entry becomes a link, except `outputs`, which the program makes itself, and `copies`, which it changes; both
    are paths below `inputs`. A folder with such a path in it becomes a folder of links. Folders in `without` are left
    out: the sweep's own ones.
    """
    special = {PurePath(path) for path in (*outputs, *copies)}
    missing = [path for path in copies if not (inputs / path).exists()]
    if missing:
        raise IolensError(f"workload.copy: {inputs / missing[0]} does not exist; name files below {inputs}")
    _lay_out_folder(inputs, PurePath(), target, special, {PurePath(path) for path in copies}, without)


def _lay_out_folder(
    inputs: Path,
    below: PurePath,
    target: Path,
    special: Collection[PurePath],
    copies: Collection[PurePath],
    without: Sequence[Path],
) -> None:
    """Makes the entries of one folder available, and those of its folders that hold a special path."""
    for entry in sorted((inputs / below).iterdir()):
        path, place = below / entry.name, target / below / entry.name
        if entry in without:
            continue
        if path in copies:
            (shutil.copytree if entry.is_dir() else shutil.copy2)(entry, place)
        elif any(path in each.parents for each in special) and entry.is_dir():
            place.mkdir()
            _lay_out_folder(inputs, path, target, special, copies, without)
        elif path not in special:
            place.symlink_to(entry)
