"""The working folder of a run: links to the program's input files, and copies of those that it changes."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePath

from iolens.errors import IolensError
from iolens.lab.files import State, state_of

_MOST_WATCHED = 10_000
"""Maximum number of files in the program's output folders that are looked at before and after a run."""


def states(inputs: Path, paths: Iterable[str]) -> State:
    """Returns the state of those of the paths that exist below a folder, and of the files in such folders."""
    there = [inputs / path for path in paths if (inputs / path).exists()]
    within = itertools.chain.from_iterable(path.rglob("*") for path in there if path.is_dir())
    return {str(path): state_of(path) for path in (*there, *itertools.islice(within, _MOST_WATCHED))}


def touched(inputs: Path, paths: Iterable[str], before: State) -> str | None:
    """Returns the sentence for a run that wrote to the user's own file instead of that in its working folder, as it
    does where its input names the whole path; None if it did not.
    """
    after = states(inputs, paths)
    path = next((path for path in after if after[path] != before.get(path)), None)
    return (
        f"the program wrote to {path} instead of its working folder; let its input name a relative path"
        if path
        else None
    )


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
