"""One kind of program that is run with and without the profiler, and the ways to declare such a program."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProgramKind:
    """A program that is run with and without the profiler. It is skipped if one of its `tools` is missing."""

    name: str
    command: str
    tools: tuple[str, ...] = ()
    source: str = ""
    """A program in tests/c to build first; the command calls it $PROGRAM."""
    headers: tuple[str, ...] = ()
    """Files below /usr/include without which the program cannot be built."""
    adapter: str = ""
    """The MPI library whose adapter of the profiler is preloaded as well."""

    def missing(self) -> str:
        """Returns the tools and headers that this machine lacks, separated by commas; empty if there are all."""
        tools = [tool for tool in self.tools if shutil.which(tool) is None]
        headers = [header for header in self.headers if not Path("/usr/include", header).exists()]
        return ", ".join(tools + headers)


def python(name: str, code: str) -> ProgramKind:
    """Returns a program in Python."""
    return ProgramKind(f"python: {name}", f"python3 -c '{code}'", ("python3",))


def compiled(
    name: str, compiler: str, file: str, code: str, options: str = "", headers: tuple[str, ...] = ()
) -> ProgramKind:
    """Returns a program that is compiled and run in one command; the compiler runs under the profiler, too."""
    command = f"cat >{file} <<'END'\n{code}\nEND\n{compiler} -o program {file} {options} && ./program"
    return ProgramKind(name, command, (compiler.split()[0],), headers=headers)


def parts(source: str, names: str, ends: str = "; echo $?") -> tuple[ProgramKind, ...]:
    """Returns the kinds of programs in one file of tests/c; the program's first argument chooses a kind."""
    return tuple(
        ProgramKind(f"{source.removeprefix('harm_')}: {name}", f"$PROGRAM {name}{ends}", ("gcc",), source)
        for name in names.split()
    )
