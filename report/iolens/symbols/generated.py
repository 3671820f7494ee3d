"""Functions that a program generated while it ran, by the names that their compiler gave them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath

from iolens.lazy import pd
from iolens.symbols.lines import SourceLine

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
