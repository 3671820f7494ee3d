"""Names and source lines of functions: from DWARF through addr2line, from generated code, and as people wrote them."""

from __future__ import annotations

import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from iolens.foreign import printable_text
from iolens.lazy import pd

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


_ADDRESS = re.compile(r"0x[0-9a-f]{16}")


@dataclass(frozen=True)
class SourceLine:
    """A function and where in its source it was: "" and 0 if that is not known."""

    function: str
    source: str = ""
    line: int = 0


def lines_of(file: Path, addresses: Sequence[int]) -> dict[int, tuple[SourceLine, ...]]:
    """Returns for each address the function that contains it, preceded by the functions that were inlined there
    (innermost first).

    Makes one batch per file. Returns nothing without addr2line, and for addresses without lines in the file.
    """
    tool = shutil.which("addr2line")
    if not tool or not addresses:
        return {}
    command = [tool, "--exe", str(file), "--functions", "--inlines", "--demangle", "--addresses"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, errors="replace", check=False)
    return {address: chain for address, chain in _answers(done.stdout) if chain[-1].source}


def _answers(printed: str) -> Iterator[tuple[int, tuple[SourceLine, ...]]]:
    """Parses the output of addr2line: an address, then a function and FILE:LINE for each function of its chain."""
    address, words = 0, list[str]()
    for text in [*printed.splitlines(), "0x" + "0" * 16]:
        if not _ADDRESS.fullmatch(text):
            words.append(text)
            continue
        if words:
            yield address, tuple(_line(*pair) for pair in zip(words[::2], words[1::2], strict=False))
        address, words = int(text, 16), []


def _line(function: str, place: str) -> SourceLine:
    """Returns one function from addr2line, which writes ? for unknown names and puts discriminators after the line
    number.
    """
    source, _, number = printable_text(place).rpartition(":")
    digits = number.split(" ")[0]
    known = "" if source.startswith("??") else source
    name = "" if function == "??" else printable_text(function)
    return SourceLine(name, known, int(digits) if digits.isdigit() and known else 0)


def demangled(names: Sequence[str]) -> dict[str, str]:
    """Returns C++ names as in the source, by mangled name; empty without binutils' c++filt."""
    mangled = sorted({name for name in names if name.startswith("_Z")})
    tool = shutil.which("c++filt")
    if not mangled or not tool:
        return {}
    done = subprocess.run([tool], input="\n".join(mangled), capture_output=True, text=True, check=False)
    return dict(zip(mangled, done.stdout.splitlines(), strict=False))


_PYTHON = "py::"
"""The form of a Python function's name: `py::FUNCTION:FILE`."""

_PASSAGE = re.compile(
    r"_PyEval_(EvalFrameDefault|Vector)|_TAIL_CALL_\w+|py_trampoline_evaluator|_?PyObject_(Call|Vectorcall|FastCall)\w*"
    r"|_Py(Function_Vectorcall|Vectorcall_Call)|method_vectorcall|cfunction_vectorcall_\w+|PyEval_EvalCode"
)
"""Functions of CPython that execute the instructions of a Python function, or that lie between it and the functions
that it calls.
"""

_INTERPRETER = re.compile(r"(lib)?python\d?([.]\d+)?[dmtu]*([.]so.*)?")
"""Names of the file that holds CPython: its library, or the program into which it is linked."""

GENERATED = "[generated]"
"""Stands for the file of a function whose source is not known."""


def generated_names(generated: pd.DataFrame | None, ranks: Sequence[int], addresses: Sequence[int]) -> list[str]:
    """Returns for each address of a rank the function of the private table `generated_code` that contains it; "" if
    there is none.
    """
    if generated is None or generated.empty:
        return [""] * len(addresses)
    functions: dict[int, list[tuple[int, int, str]]] = {}
    columns = (generated[name].tolist() for name in ("rank", "begin", "bytes", "name"))
    for rank, begin, size, name in sorted(zip(*columns, strict=True)):
        functions.setdefault(rank, []).append((begin, begin + size, name))
    begins = {rank: [begin for begin, _, _ in known] for rank, known in functions.items()}
    found = []
    for rank, address in zip(ranks, addresses, strict=True):
        at = bisect_right(begins.get(rank, []), address) - 1
        _, end, name = functions[rank][at] if at >= 0 else (0, 0, "")
        found.append(name if address < end else "")
    return found


def generated_line(name: str) -> SourceLine:
    """Returns the function of that name, and where its source is.

    CPython gives the file but not the line; code without a name of its own (`<module>`, `<lambda>`) is distinguished by
    the file. Names by other compilers are shown unchanged.
    """
    if not name.startswith(_PYTHON):
        return SourceLine(name)
    function, _, source = name.removeprefix(_PYTHON).partition(":")
    if not function:
        return SourceLine(name, source)
    return SourceLine(f"{function} of {PurePosixPath(source).name}" if function.startswith("<") else function, source)


def is_python(symbol: str) -> bool:
    """Returns whether code of this name is a Python function's own."""
    return symbol.startswith(_PYTHON)


def is_passage(symbol: str) -> bool:
    """Returns whether code of this name leads from one Python function to the next."""
    return _PASSAGE.fullmatch(symbol) is not None


def is_interpreter(path: str) -> bool:
    """Returns whether an object is CPython itself, and not one of its modules."""
    return _INTERPRETER.fullmatch(PurePosixPath(path).name) is not None
