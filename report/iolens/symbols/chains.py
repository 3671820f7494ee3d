"""Joins call chains from their nodes and leaves out the functions that a reader of the program does not expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Generic, TypeVar

from iolens.lazy import pd
from iolens.symbols.function_names import is_passage, is_python

_COMMON = -1
"""The rank of rows that all ranks share."""

T = TypeVar("T")


class ByRank(Mapping[tuple[int, int], T], Generic[T]):
    """Maps (rank, number) to its meaning on that rank; iterates over the rows in the order of the log."""

    def __init__(self, rows: Mapping[tuple[int, int], T]) -> None:
        self.rows = rows

    def __getitem__(self, key: tuple[int, int]) -> T:
        found = self.rows.get(key)
        return self.rows[_COMMON, key[1]] if found is None else found

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def with_rows(rows: pd.DataFrame, table: pd.DataFrame, number: str) -> pd.DataFrame:
    """Returns `rows` (`rank`, `number`, …), each with the columns of the row of `table` to which its number refers;
    these are missing values if there is no such row.

    `table` has the columns `rank` and `number` too; the rank in the result is that of `rows`.
    """
    own = pd.MultiIndex.from_frame(rows[["rank", number]]).isin(pd.MultiIndex.from_frame(table[["rank", number]]))
    keyed = rows.assign(owner=rows["rank"].where(own, _COMMON))
    return keyed.merge(table.rename(columns={"rank": "owner"}), how="left", on=["owner", number]).drop(columns="owner")


_WRAPPERS = "libiolens"
"""Prefixes of the names of the profiler's own libraries."""

_ADAPTERS, _TRACERS = "libiolens-", "libiolens-trace-"
"""Files of the profiler's libraries that wrap MPI, and of those that wrap other libraries."""

SOME_CALL = "(MPI call without a name: iolens has changed since the run)"
"""Name for an MPI function whose wrapper cannot be named, because the profiler's library has changed since the run."""

RECORDER = "[iolens]"
"""Stands for the profiler's own work."""

_LONGEST = 1024
"""Largest number of nodes in a chain. The profiler records up to 128 callers, and functions of Python between them."""


@dataclass(frozen=True)
class Frame:
    """A function in a chain; `source` "" and `line` 0 if they are not known, `object` the path of its file.

    `symbol` is the linker's name of the code, "" if not known; for an inlined function it is the name of the function
    that contains it. `is_split`: the compiler took the code out of the function, which jumps or calls there.
    """

    function: str
    source: str
    line: int
    object: str
    symbol: str = field(default="", compare=False)
    is_split: bool = field(default=False, compare=False)

    @property
    def module(self) -> str:
        """Returns the object's name."""
        return self.object.rpartition("/")[2]

    @property
    def text(self) -> str:
        """Returns the function, with the name of its source file and the line if these are known."""
        return f"{self.function} ({self.source.rpartition('/')[2]}:{self.line})" if self.line else self.function


def call_chains(resolved: pd.DataFrame) -> Mapping[tuple[int, int], tuple[Frame, ...]]:
    """Returns for each (rank, node) of `resolve` the chain that ends there, outermost function first, with inlined
    functions.

    Nodes that ranks have in common (symbols/chains.py) are found for each rank. The profiler's wrappers are left out,
    and other calls that a wrapper makes count as part of the wrapped MPI function. If a chain ends in the wrappers, the
    innermost frame is `RECORDER`, inside the function that was wrapped; see `of_a_wait`. Below a Python function with a
    known name, CPython's own functions on the way to the next one are left out. A function and the part that the
    compiler split from it are one frame.
    """
    own: dict[tuple[int, int], tuple[Frame, ...]] = {}
    parents: dict[tuple[int, int], int] = {}
    columns = ("rank", "node", "parent", "function", "source", "line", "object", "symbol", "is_split", "inlined")
    for rank, node, parent, function, source, line, path, symbol, is_split, inlined in zip(
        *(resolved[name] for name in columns), strict=True
    ):
        outer = [Frame(place.function, place.source, place.line, path, symbol, is_split) for place in reversed(inlined)]
        own[rank, node] = (*outer, Frame(function, source, line, path, symbol, is_split))
        parents[rank, node] = parent
    chains: dict[tuple[int, int], _Chain] = {}
    found = ByRank(chains)
    for rank, node in sorted(own, key=itemgetter(1)):
        parent = parents[rank, node]
        before = found.get((rank, parent), _EMPTY) if parent < node else _EMPTY
        chains[rank, node] = _extended(before if before.nodes < _LONGEST else _EMPTY, own[rank, node])
    return ByRank({key: chains[key].finished() for key in own})


@dataclass(frozen=True)
class _Chain:
    """A chain down to some node: its frames without the profiler's own, and the wrapper that it ends in, if any."""

    frames: tuple[Frame, ...] = ()
    wrapper: Frame | None = None
    in_python: bool = False
    nodes: int = 0

    def finished(self) -> tuple[Frame, ...]:
        """Returns the frames of a chain that ends here."""
        if self.wrapper is None:
            return self.frames
        return (*self.frames, _wrapped_function(self.wrapper), Frame(RECORDER, "", 0, self.wrapper.object))


_EMPTY = _Chain()


def _extended(outer: _Chain, part: tuple[Frame, ...]) -> _Chain:
    """Returns the chain `outer` with one more node, whose frames are `part`. The interpreter's own functions between
    Python functions with known names are left out.

    Each chain extends its parent's, so that thousands of long chains are joined in a moment. A parent must have a lower
    number than its nodes, and chains begin anew after `_LONGEST` nodes: a damaged table makes no chain without end.
    """
    nodes, symbol = outer.nodes + 1, part[-1].symbol
    if outer.in_python and is_passage(symbol):
        return replace(outer, nodes=nodes)
    in_python = outer.in_python or is_python(symbol)
    if _is_wrapper(part):
        return _Chain(outer.frames, outer.wrapper or part[0], in_python, nodes)
    frames = outer.frames
    if outer.wrapper and _calls_for_itself(outer.wrapper, part[0]):
        frames = (*frames, _wrapped_function(outer.wrapper))
    if frames and part[0].is_split and part[0] == replace(frames[-1], source=part[0].source, line=part[0].line):
        frames = frames[:-1]
    return _Chain((*frames, *part), None, in_python, nodes)


def _is_wrapper(frames: tuple[Frame, ...]) -> bool:
    """Returns whether a node lies in the profiler."""
    return frames[-1].module.startswith(_WRAPPERS)


def _wrapped_function(wrapper: Frame) -> Frame:
    """Returns the function that a wrapper stands for."""
    of_mpi = wrapper.module.startswith(_ADAPTERS) and not wrapper.module.startswith(_TRACERS)
    return Frame(SOME_CALL if of_mpi and wrapper.function.startswith("0x") else wrapper.function, "", 0, "")


def _calls_for_itself(wrapper: Frame, called: Frame) -> bool:
    """Returns whether a wrapper of MPI calls another function than the wrapped one: a probe before a receive, a barrier
    before a collective call, the comparison of clocks. The program did not make this call, and its time belongs to
    the call that the program made.
    """
    asked, made = (frame.function.removeprefix("P") for frame in (_wrapped_function(wrapper), called))
    if asked == SOME_CALL:
        return not made.startswith("MPI_")
    return asked.startswith("MPI_") and made != asked


def of_a_wait(chain: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the chain without the profiler's own frame at its end, for a sample of kind 1, which was taken while the
    profiler waited. The profiler waits only in the function that it wraps, so the wait belongs to that function.
    """
    return chain[:-1] if chain and chain[-1].function == RECORDER else chain
