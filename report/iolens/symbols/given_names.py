"""Restores the names that people gave to functions: compilers add to a name, or convert it into one that a linker
accepts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FORTRAN = re.compile(r"__(\w+)_MOD_(\w+)")
"""The form of gfortran's names for procedures of a module."""

PARTS = re.compile(r" \[clone \.(?:{0})(?:\.\d+)*\]|\.(?:{0})(?:\.\d+)*".format("part|constprop|isra|cold|lto_priv"))
"""Suffixes that GCC adds to the name of a function that it split or specialised, also in c++filt's form."""

_SPLIT = re.compile(r"\.(?:part|cold)(?:\.\d+)*(?![\w])")
"""Suffixes of code that GCC took out of a function, which jumps or calls there."""

_LAMBDA = re.compile(r"(\{lambda\(.*\)#\d+\})::operator\(\)\(.*$")
_HANDLER = re.compile(r"std::_Function_handler<.*?, (.*\{lambda\(.*\)#\d+\})>::_M_invoke\(.*$")
"""Match the body of a lambda, and the function of the C++ library in which GCC put the body of a lambda that is in a
std::function.
"""


def given_name(function: str, plain: Mapping[str, str]) -> str:
    """Returns a function's name as the source has it; `plain` has C++ names by the linker's names."""
    name = PARTS.sub("", plain.get(function, function)).removeprefix("__GI_")
    if name.startswith("__pyx_"):
        return cython_name(name)
    return _LAMBDA.sub(r"\1", _HANDLER.sub(r"\1", _FORTRAN.sub(r"\1::\2", name)))


def cython_name(symbol: str) -> str:
    """Returns the dotted name of a function that Cython compiled; the symbol itself where it has another form.

    `__pyx_pw_6mpi4py_3MPI_4Comm_103Allreduce` is `mpi4py.MPI.Comm.Allreduce`. In a symbol, each scope follows its
    length. The function's name follows a number, which functions that are called from C alone do not have.
    """
    kind = re.match(r"__pyx_(?:fuse_\d+)?(?:pw|pf|f|gb)_", symbol)
    rest, scopes = symbol[kind.end() :] if kind else "", list[str]()
    while begin := re.match(r"\d+", rest):
        end = begin.end() + int(begin[0])
        if rest[end : end + 1] != "_" or end + 1 >= len(rest):
            break
        scopes.append(rest[begin.end() : end])
        rest = rest[end + 1 :]
    name = rest.lstrip("0123456789")
    return ".".join([*scopes, name]) if scopes and name else symbol


def is_split_part(symbol: str) -> bool:
    """Returns True for code that the compiler split from a function, which no source calls by this name."""
    return bool(_SPLIT.search(symbol)) or symbol.startswith("__pyx_pf_")
