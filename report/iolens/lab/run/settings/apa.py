"""The file of an automatic program analysis, which `iolens apa` writes as a proposal and `iolens run --apa` follows.
Its options are those of CrayPAT's pat_build: `-g GROUP,...`, `-Drtenv=PAT_RT_HWPC=GROUP`, `-w`, `-T FUNCTION,...`; a
line may hold several, and # begins a comment.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError
from iolens.foreign import text_of_file
from iolens.lab.run.mpi_launch.mpi import libraries_of
from iolens.lab.run.settings.groups import known_groups

_COUNTERS = ("PAT_RT_HWPC", "IOLENS_HWPC")
_HOOK = "__cyg_profile_func_enter"
"""The function that a program calls if it was built with -finstrument-functions."""


@dataclass(frozen=True)
class Apa:
    """Groups of functions to trace, counters to count ("": none), and the program's own functions to trace."""

    groups: tuple[str, ...]
    counters: str
    functions: tuple[str, ...]


def read_apa(path: Path) -> Apa:
    """Reads the file; raises UsageError with the line that is invalid."""
    text = text_of_file(path)
    groups: list[str] = []
    functions: list[str] = []
    counters = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        while words:
            option = words.pop(0)
            if option == "-w":
                continue
            if option.startswith("-D"):
                counters = _counters_of(option.removeprefix("-D"), f"{path}:{number}")
            elif option in ("-g", "-T"):
                if not words:
                    raise UsageError(f"{path}:{number}: {option} needs a name after it, on the same line")
                (groups if option == "-g" else functions).extend(filter(None, words.pop(0).split(",")))
            else:
                raise UsageError(f"{path}:{number}: {option!a} is unknown; use -g, -T, -w or -Drtenv=")
    try:
        groups = known_groups(groups)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if not (groups or functions or counters):
        raise UsageError(
            f"{path}: requests nothing; write a line with -g, -T or -Drtenv={_COUNTERS[0]}= that is not a comment"
        )
    return Apa(tuple(groups), counters, tuple(dict.fromkeys(functions)))


def _counters_of(setting: str, place: str) -> str:
    """Returns the groups of counters in `rtenv=PAT_RT_HWPC=GROUP`."""
    name, _, value = setting.removeprefix("rtenv=").partition("=")
    if not setting.startswith("rtenv=") or name not in _COUNTERS:
        raise UsageError(f"{place}: -D{setting} is unknown; use -Drtenv={_COUNTERS[0]}=GROUP")
    return value


@dataclass(frozen=True)
class TraceableFunctions:
    """The functions that were found: `addresses` in the form of IOLENS_TRACE_FUNCTIONS, and the reasons why others
    cannot be traced.
    """

    addresses: tuple[str, ...]
    reasons: tuple[tuple[str, str], ...]


def find_functions(names: Sequence[str], application: str) -> TraceableFunctions:
    """Searches a program, and the libraries that it is linked to, for these functions."""
    program = shutil.which(application)
    objects = [Path(program), *libraries_of(Path(program))] if program else []
    found = {name: _function_address(name, objects) for name in names}
    addresses = tuple(address for address, _ in found.values() if address)
    return TraceableFunctions(addresses, tuple((name, why) for name, (_, why) in found.items() if why))


def _function_address(name: str, objects: Sequence[Path]) -> tuple[str, str]:
    """Returns a function's OBJECT:ADDRESS, or the reason why its calls cannot be intercepted."""
    from iolens.symbols.elf import dynamic_symbols, read_elf

    for number, path in enumerate(objects):
        elf = read_elf(path)
        if name not in elf.names:
            continue
        if _HOOK not in dynamic_symbols(path):
            return "", f"{path.name} was not built with -finstrument-functions"
        return f"{path.name if number else ''}:{int(elf.starts[elf.names.index(name)]):x}", ""
    return "", "no such function in the program's symbols" if objects else "the program was not found"


def settings_of(apa: Apa, found: TraceableFunctions) -> dict[str, str]:
    """Returns the profiler's settings for a file of iolens apa, as variables of the environment."""
    groups = [*apa.groups, *(["functions"] if found.addresses and "functions" not in apa.groups else [])]
    settings = {"IOLENS_TRACE": ",".join(groups or ["io"])}
    if apa.counters:
        settings["IOLENS_HWPC"] = apa.counters
    if found.addresses:
        settings["IOLENS_TRACE_FUNCTIONS"] = ",".join(found.addresses)
    return settings


def untraced(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Returns a sentence for each reason, with all functions that are not traced for it; `reasons` has pairs of a
    function and its reason.
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons:
        by_reason.setdefault(why, []).append(name)
    return [f"not traced: {', '.join(names)}: {why}" for why, names in by_reason.items()]
