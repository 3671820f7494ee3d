"""A wrapper calls the newest definition of its function, as the program would."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

LAST = (2, 35)
"""The last glibc whose dlsym(RTLD_NEXT) returns the oldest definition of a function."""


def exported(library: str | Path) -> list[tuple[str, str]]:
    """Returns the address and the name, with its version, of each function that a library defines."""
    lines = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return [(words[0], words[2]) for words in map(str.split, lines) if len(words) == 3 and words[1] in "TtWi"]


def system_library(name: str) -> str:
    words = ["gcc", f"-print-file-name={name}"]
    path = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    if path == name:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.mark.parametrize("library", ["libc.so.6", "libm.so.6", "libaio.so.1"])
def test_functions_with_two_definitions_are_listed(library: str) -> None:
    harness.build_library()
    wrapped = {name for ours in harness.BUILD.glob("lib/libiolens*.so") for _, name in exported(ours)}
    definitions: dict[str, dict[str, str]] = {}
    for address, symbol in exported(system_library(library)):
        name, _, version = symbol.partition("@")
        definitions.setdefault(name, {})[version] = address
    source = (harness.ROOT / "profiler/src/next_symbol.h").read_text(encoding="utf-8")
    listed = dict(re.findall(r'\{"(\w+)", "((?:GLIBC|LIBAIO)_[\d.]+)"\}', source))
    for name in wrapped & definitions.keys():
        (newest,) = (version for version in definitions[name] if version.startswith("@"))
        address = definitions[name].pop(newest)
        number = tuple(map(int, re.findall(r"\d+", newest)))
        if number <= LAST and set(definitions[name].values()) - {address}:
            named = {version.lstrip("@"): at for version, at in definitions[name].items()} | {newest[1:]: address}
            assert named[listed[name]] == address, name
