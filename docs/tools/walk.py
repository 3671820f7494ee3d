"""Run the commands of the manual's pages: walk.py FOLDER [--long] [PAGE ...].

Blocks marked `sh` are run in order, the blocks of a page in one shell that stops at the first command that fails. The
folder that they run in looks like a clone (links to it), without results. A page goes on with a copy of what the
tutorial left, so that pages do not depend on one another. What blocks print is kept in FOLDER/PAGE.json.

A comment in front of a block says when it is not run, and one behind it shows its output on the page:

    <!-- not run: why -->              never
    <!-- long: why -->                 with --long alone
    <!-- output -->                    <!-- output: 20 --> the first lines
    <!-- output: 20 from WORDS -->     as many from the first line on that begins with these words
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
from dataclasses import dataclass
from pathlib import Path

from pages import ROOT

TUTORIAL = "tutorial"
SPOOLS = ".spools"
"""In the folder of a page, so that no other program's spools are met."""

MARK = "\x1e"
COMMENT = re.compile(r"<!-- *(not run|long): *(.+?) *-->")
BLOCK = re.compile(r"(?:^<!--([^>]*)-->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OWN = {"results", "dist", ".git"}
"""What a page's folder has no link to: results are the page's own."""

ONE_MACHINE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "COLUMNS": "100",
}
"""Any user, on any number of cores."""


@dataclass(frozen=True)
class Block:
    """Commands of a page; `kept` is why they are not run (empty: they are), `long` whether --long runs them."""

    commands: str
    kept: str = ""
    long: bool = False


class Failed(Exception):
    """A command of a page failed; the text says which, and what was printed until then."""


def blocks(text: str) -> list[Block]:
    """The commands of a page in order."""
    found = []
    for comment, commands in BLOCK.findall(text):
        mark = COMMENT.match(f"<!--{comment}-->")
        found.append(Block(commands, mark[2] if mark else "", bool(mark) and mark[1] == "long"))
    return found


def page_path(name: str) -> Path:
    """`tutorial` or `how-to/sweep` as a file."""
    return ROOT / "docs" / f"{name}.md"


def pages() -> list[str]:
    """The pages with commands, the tutorial first."""
    return [TUTORIAL, *(f"how-to/{path.stem}" for path in sorted((ROOT / "docs/how-to").glob("*.md")))]


def like_a_clone(folder: Path) -> None:
    """Make a folder that has what a clone has after `make build`, by links, and results of its own."""
    (folder / SPOOLS).mkdir(parents=True)
    for entry in sorted(ROOT.iterdir()):
        if entry.name not in OWN:
            (folder / entry.name).symlink_to(entry)


def shell_script(chosen: Sequence[Block], long: bool) -> str:
    """One script of a page's blocks, which prints a mark with its number in front of each."""
    lines = ["set -eo pipefail"]
    for number, block in enumerate(chosen):
        if not block.kept or (block.long and long):
            lines += [f"printf '{MARK}%d\\n' {number}", block.commands]
    return "\n".join([*lines, f"printf '{MARK}end\\n'"])


def environment() -> dict[str, str]:
    """The variables of a user who has not set any of ours."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_", "DXT_"))}
    return {**own, **ONE_MACHINE, "PATH": f"{Path(sys.executable).parent}:{own['PATH']}"}


def walk(page: str, folder: Path, long: bool = False) -> dict[str, str]:
    """Run a page's blocks in a folder; what each printed, by its number. Failed when one fails."""
    chosen = blocks(page_path(page).read_text(encoding="utf-8"))
    done = subprocess.run(
        ["bash", "-c", shell_script(chosen, long)],
        cwd=folder,
        env={**environment(), "IOLENS_SPOOL": str(folder / SPOOLS)},
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
            f"docs/{page}.md: exit code {done.returncode} of\n\n{chosen[last].commands}\n{done.stdout[-4000:]}"
        )
    return said


def plain(output: str, folder: Path) -> str:
    """Output without the names of this machine, its user and its folders."""
    shorter = output.replace(f"{folder}/", "").replace(str(folder), "~/iolens").replace(f"{ROOT}/", "")
    shorter = shorter.replace(os.uname().nodename, "node1") if len(os.uname().nodename) > 2 else shorter
    return re.sub(rf"\b{re.escape(getpass.getuser())}_", "you_", re.sub(r"\x1b\[[0-9;]*m", "", shorter)).strip("\n")


def main(words: Sequence[str]) -> int:
    """Walk through pages, and keep what they print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--long", action="store_true", help="also what takes minutes")
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
            shutil.copytree(begun, place, symlinks=True)
        since = time.monotonic()
        try:
            said = walk(page, place, asked.long)
        except Failed as failure:
            print(failure, file=sys.stderr)
            failed.append(page)
            continue
        (folder / f"{page}.json").write_text(json.dumps(said), encoding="utf-8")
        print(f"docs/{page}.md: {len(said) - 1} blocks run, {time.monotonic() - since:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
