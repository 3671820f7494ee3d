"""Examines a container with a shell that is started in it without preloaded libraries."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from iolens.errors import IolensError

LIBRARIES = "/iolens/lib"
"""Place in the container of the profiler's libraries."""

SCRIPT = """
loader= musl=
for path in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do [ -x "$path" ] && loader=$path; done
for path in /lib/ld-musl-*; do [ -e "$path" ] && musl=$path; done
echo "=loader $loader"
echo "=musl $musl"
[ -n "$loader" ] || exit 0
echo "=libraries"
for library in FOLDER/*.so; do "$loader" --list "$library" 2>&1; done
program=$(command -v "$1")
echo "=program $program"
case $program in */*) "$loader" --list "$program" 2>&1 ;; esac
""".replace("FOLDER", LIBRARIES)
"""A script for any shell. If there is no `ldd`, the loader itself tells what a library or program needs; commands built
into the shell (`true`) have no path and are skipped.
"""

_COLOUR = re.compile(r"\x1b\[[\d;]*m")

_COMPLAINT = re.compile(r"error|fatal|cannot|denied|no such|not found", re.IGNORECASE)

PATIENCE = 120.0
"""Maximum time in seconds for a container to start, including the download of its image."""


@dataclass(frozen=True)
class Inside:
    """The findings of the shell: the loaders of glibc and musl ("": none), and what the loader prints about the
    profiler's libraries and about the program.
    """

    loader: str
    musl: str
    libraries: str
    program: str


def look_inside(words: Sequence[str], what: str) -> Inside:
    """Runs the words, which start the shell with SCRIPT, and reads its output; raises if the shell cannot be
    started.
    """
    surroundings = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            words,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise IolensError(f"{words[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise IolensError(f"{what} did not start within {PATIENCE:g} s") from None
    if "=loader " not in done.stdout:
        said = [line.strip() for line in _COLOUR.sub("", done.stderr).splitlines() if line.strip()]
        why = next(filter(_COMPLAINT.search, said), said[-1] if said else "it says nothing")
        raise IolensError(f"{what} cannot be inspected with a shell: {why}")
    return read_answer(done.stdout)


def read_answer(text: str) -> Inside:
    """Parses the output of SCRIPT."""
    parts = re.split(r"^=(\w+) ?", text, flags=re.MULTILINE)
    found = {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}
    names = ("loader", "musl", "libraries", "program")
    return Inside(*(found.get(name, "") for name in names))


def refusal(inside: Inside, what: str) -> str | None:
    """Returns the reason why the profiler's libraries cannot be loaded in the container, and the remedy; None
    if they can.
    """
    if not inside.loader:
        which = "has the C library musl (as Alpine has)" if inside.musl else "has no glibc"
        return f"{what} {which}, but the profiler needs glibc; use an image with glibc, such as Debian or Rocky Linux"
    lacking = re.findall(r"version `(GLIBC_[\d.]+)' not found", inside.libraries)
    if lacking:
        newest = max(lacking, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
        return (
            f"{what} has an older C library than the profiler was built for ({newest} is missing); the profiler in "
            f"the wheel needs only glibc 2.28: install iolens with pip, or set IOLENS_LIB to the folder "
            f"iolens/parts/lib of that installation"
        )
    broken = re.search(r"^.*(?:cannot open|error while loading|not found).*$", inside.libraries, re.MULTILINE)
    return f"the profiler cannot be loaded in {what}: {broken[0].strip()}" if broken else None


def libraries_missing_inside(inside: Inside) -> list[str]:
    """Returns the libraries that the program needs and the loader does not find in the container."""
    listed = re.findall(r"^\s*(\S+) => not found", inside.program, re.MULTILINE)
    return list(dict.fromkeys([*listed, *re.findall(r"libraries: ([^\s:]+): cannot open", inside.program)]))
