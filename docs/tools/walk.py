"""Run the commands of the documents: walk.py FOLDER [--long] [--record] [PAGE ...].

The blocks of a page are run in order, in one shell that stops at the first command that fails; commands.py lists the
blocks that are not run. The blocks run in a folder that looks like a clone: it has links to the clone's files, but no
results. Pages other than the tutorial start from a copy of the tutorial's folder, with stand-ins for a reader's program
and logs, so that they do not depend on one another. The output of blocks is kept in FOLDER/PAGE.json; with --record it
is written into the page (record.py).
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import record
from commands import Block, blocks, pages, rows
from iolens.lab.run.mpi_launch import mpi
from pages import ROOT, documents, page_of

TUTORIAL = "tutorial"
SPOOLS = ".spools"
"""Folder for spools inside a page's folder; in a folder of its own, spools of other programs are not found."""

MARK = "\x1e"
OWN = {"results", "dist", ".git"}
"""Entries of the clone to which a page's folder has no link, because it gets its own."""

COLUMNS = "100"
"""Width of the terminal whose output the pages show, in characters."""

RANKS = 6
"""Largest number of ranks that a command on any page starts."""


class Failed(Exception):
    """Raised when a command of a page fails; the text has the command and the output until then."""


def page_path(page: str) -> Path:
    """Returns the document of a page: `tutorial` lies in docs/, `storage/README` at that path from the root."""
    return next(document for document in documents() if str(page_of(document).with_suffix("")) == page)


def like_a_clone(folder: Path) -> None:
    """Makes a folder of links that looks like a clone after `make build`, but gets its own results."""
    (folder / SPOOLS).mkdir(parents=True)
    for entry in sorted(ROOT.iterdir()):
        if entry.name not in OWN:
            (folder / entry.name).symlink_to(entry)


STAND_INS = """
mpicc -o app "$1/docs/tools/app.c"
touch input.nml
mkdir DIR
ln -s small.darshan A.darshan
ln -s large.darshan B.darshan
IOLENS_LOGFILE=LOG.darshan iolens run --dxt --sample --storage-mount scratch -- mpirun -np 4 ./app scratch 2>&1
ln -s LOG.darshan LOG
ln -s LOG.darshan job.darshan
"""
"""Shell commands that make a reader's program, its input and its logs, under the names that the documents use."""


def stand_ins(folder: Path) -> None:
    """Makes the stand-ins in the folder that the tutorial left."""
    subprocess.run(
        ["bash", "-euc", STAND_INS, "stand-ins", ROOT],
        cwd=folder,
        env=environment(folder, plain=False),
        check=True,
        stdout=subprocess.PIPE,
    )


def shell_script(chosen: Sequence[Block], long: bool) -> str:
    """Returns a script of a page's blocks. It prints a mark with the block's number before each block."""
    lines = ["set -eo pipefail"]
    for number, block in enumerate(chosen):
        run = "".join(command.text for command in block.commands if not command.kept or (command.long and long))
        if run:
            lines.append(f"printf '{MARK}%d\\n' {number}")
            lines.append(run if block.language == "sh" else f"python - <<'PYTHON'\n{run}PYTHON")
    return "\n".join([*lines, f"printf '{MARK}end\\n'"])


def environment(folder: Path, plain: bool) -> dict[str, str]:
    """Returns the environment of a reader who has set none of the project's variables; only the spools lie in the
    page's folder.

    The tutorial must work with these alone (`plain`). Other pages start more ranks than a small machine has cores, and
    call mpirun directly, which refuses to run as root; they also get the launcher's settings that sweeps use.
    """
    own = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_", "DXT_"))}
    path = f"{Path(sys.executable).parent}:{own['PATH']}"
    found = {**own, "COLUMNS": COLUMNS, "PATH": path, "IOLENS_SPOOL": str(folder / SPOOLS)}
    if plain:
        return found
    launcher = mpi.find_launcher(None)
    return {**found, **mpi.environment(mpi.flavour_of_launcher(launcher), RANKS, None, launcher=launcher)}


def walk(page: str, folder: Path, long: bool = False) -> dict[str, str]:
    """Runs a page's blocks in a folder. Returns the output of each block by its number; raises Failed if a block
    fails.
    """
    document = page_path(page)
    chosen = blocks((ROOT / document).read_text(encoding="utf-8"), document, rows())
    done = subprocess.run(
        ["bash", "-c", shell_script(chosen, long)],
        cwd=folder,
        env=environment(folder, plain=page == TUTORIAL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        errors="replace",
    )
    said = {
        number: plain(output, folder)
        for number, _, output in (part.partition("\n") for part in done.stdout.split(MARK)[1:])
    }
    if done.returncode != 0 or "end" not in said:
        last = int(max((number for number in said if number != "end"), key=int, default="0"))
        raise Failed(
            f"{document}: exit code {done.returncode} of\n\n{''.join(each.text for each in chosen[last].commands)}"
            f"\n{done.stdout[-4000:]}"
        )
    return said


def plain(output: str, folder: Path) -> str:
    """Removes the names of this machine, of its user and of its folders from the output."""
    in_tables = re.compile(rf"({re.escape(str(folder))}/)([^|\n]*)(?=\|)")
    aligned = in_tables.sub(lambda cell: cell[2] + " " * len(cell[1]), output)
    shorter = aligned.replace(f"{folder}/", "").replace(str(folder), "~/iolens").replace(f"{ROOT}/", "")
    shorter = shorter.replace(os.uname().nodename, "node1") if len(os.uname().nodename) > 2 else shorter
    return re.sub(rf"\b{re.escape(getpass.getuser())}_", "you_", re.sub(r"\x1b\[[0-9;]*m", "", shorter)).strip("\n")


def record_page(document: Path, said: dict[str, str], place: Path) -> None:
    """Writes the output and the pictures of blocks into the page."""
    text = record.with_output((ROOT / document).read_text(encoding="utf-8"), said)
    record.draw_pictures(text, place, ROOT / document)
    (ROOT / document).write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Runs the commands of pages and keeps their output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--long", action="store_true", help="also what takes minutes")
    parser.add_argument("--record", action="store_true", help="write outputs and pictures into the pages")
    parser.add_argument("pages", nargs="*", help="such as tutorial or how-to/sweep (default: all)")
    asked = parser.parse_intermixed_args(words)
    folder: Path = asked.folder.resolve()
    begun = folder / TUTORIAL / "iolens"
    chosen = asked.pages or pages()
    if TUTORIAL not in chosen and not begun.exists():
        chosen = [TUTORIAL, *chosen]
    failed = []
    for page in chosen:
        place = folder / page / "iolens"
        shutil.rmtree(place, ignore_errors=True)
        if page == TUTORIAL:
            like_a_clone(place)
        else:
            if not (begun / "app").exists():
                stand_ins(begun)
            shutil.copytree(begun, place, symlinks=True)
        since = time.monotonic()
        try:
            said = walk(page, place, asked.long)
            if asked.record:
                record_page(page_path(page), said, place)
        except (Failed, record.NoPicture) as failure:
            print(failure, file=sys.stderr)
            failed.append(page)
            continue
        kept = folder / f"{page}.json"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(said), encoding="utf-8")
        print(f"{page_path(page)}: {len(said) - 1} blocks run, {time.monotonic() - since:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
