"""Convert phases into the tables of the generated C program: numbers by rank, steps, programs, files, views,
communicators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from iolens.errors import IolensError
from iolens.lab.mimic.calls import CallKind, Trace
from iolens.lab.mimic.phases import MimicStep, RankGroup

_MOST_STEPS = 300_000
"""Number of steps beyond which a C compiler would take minutes and gigabytes."""

_SAME_WAIT = 1e-3
"""If the waits of all ranks lie within this many seconds, each rank gets their mean."""


class _Numbers:
    """The table `numbers` of the C program, without duplicates."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int, int, int, int], int] = {}
        self.lists: list[int] = []
        self._known: dict[bytes, int] = {}

    def put(self, values: np.ndarray) -> int:
        """Returns the position of a number in the table; `values` are its values by member of a program."""
        row = _rule(values)
        if row is None:
            key = values.tobytes()
            if key not in self._known:
                self._known[key] = len(self.lists)
                self.lists += values.tolist()
            row = (0, 1, 0, 0, self._known[key])
        return self.rows.setdefault(row, len(self.rows))


def _rule(values: np.ndarray) -> tuple[int, int, int, int, int] | None:
    """Returns a regular sequence with these values: its base, period, step within a period and step between periods,
    and -1, because it needs no list. Returns None if the values are not regular.
    """
    count, base = len(values), int(values[0])
    if (values == base).all():
        return base, 1, 0, 0, -1
    members = np.arange(count)
    inner = int(values[1] - values[0])
    for period in [count, *(period for period in range(1, count) if count % period == 0)]:
        step = inner if period > 1 else 0
        outer = int(values[period] - values[0]) if period < count else 0
        if np.array_equal(values, base + members % period * step + members // period * outer):
            return base, period, step, outer, -1
    return None


def _wait_of(step: MimicStep) -> np.ndarray:
    """Returns, by rank, the wait before a step in nanoseconds. If the ranks differ little, all of them get the mean."""
    wait = step.wait
    if np.ptp(wait) < max(_SAME_WAIT, 0.1 * float(wait.mean())):
        wait = np.full(len(wait), wait.mean())
    found: np.ndarray = np.rint(wait * 1e9).astype(np.int64)
    return found


def kinds() -> str:
    """Returns the kinds of calls as an enumeration in C."""
    return f"enum kind {{\n{''.join(f'    {kind.name},' + chr(10) for kind in CallKind)}}};\n"


def c_tables_of(trace: Trace, programs: Sequence[tuple[RankGroup, Sequence[MimicStep]]], names: bool) -> str:
    """Returns the definitions that the C program needs, as C; raises IolensError if the pattern has too many steps."""
    count = sum(len(steps) for _, steps in programs)
    if count > _MOST_STEPS:
        raise IolensError(
            f"the pattern is too irregular for a table: {count} steps remain of {len(trace.calls)} calls, and "
            f"{_MOST_STEPS} is the most; record fewer files (IOLENS_DXT_FILES) or a shorter run"
        )
    numbers = _Numbers()
    strides: dict[tuple[tuple[int, ...], ...], int] = {}
    rows: list[str] = []
    stride_rows: list[str] = []
    heads: list[str] = []
    for _, steps in programs:
        heads.append(f"{{{len(rows)}, {len(steps)}}}")
        for step in steps:
            levels = tuple(tuple(numbers.put(value) for value in stride) for stride in step.strides)
            if levels not in strides:
                strides[levels] = len(stride_rows)
                stride_rows += [_braced(level) for level in levels]
            values = [numbers.put(value) for value in step.values]
            wait = numbers.put(_wait_of(step))
            rows.append(
                f"{{{step.kind.name}, {step.count}, {step.body}, {_braced(values)}, {wait}, {strides[levels]}}}"
            )
    largest, room = _needed_memory(trace)
    return "\n".join(
        [
            f"enum {{ RANKS = {trace.nprocs}, FILES = {max(1, len(trace.files))}, "
            f"COMMUNICATORS = {len(trace.communicators)}, VIEW_ROWS = {_most_rows(trace)} }};",
            f"static const long LARGEST = {largest}, ROOM = {room};",
            "",
            _array("long", "lists", map(str, numbers.lists)),
            _array("struct number", "numbers", map(_braced, numbers.rows)),
            _array("int", "strides", stride_rows, "[VALUES]"),
            _array("struct step", "steps", rows),
            _array("struct program", "programs", heads),
            _array("struct members", "member_rows", _members(programs)),
            _array("struct files", "file_rows", _rows_of_files(trace)),
            _array("struct misaligned", "misaligned_rows", _misaligned(trace)),
            _array("struct hint", "hints", _hint_rows(trace)),
            _array(
                "struct opening", "openings", (_braced((o.communicator, o.mode, int(o.hints))) for o in trace.openings)
            ),
            _array("struct ranks", "rank_rows", _rank_rows(trace)),
            *_views(trace),
            *(["#define NAMED", _array("char *const", "names", map(_c_string, _plain_names(trace)))] if names else []),
        ]
    )


def _braced(values: Iterable[int]) -> str:
    return f"{{{', '.join(map(str, values))}}}"


def _array(kind: str, name: str, rows: Iterable[str], inner: str = "") -> str:
    """Returns a static array in C; an empty one gets one element of zeros, because C has no empty arrays."""
    text = "".join(f"    {row},\n" for row in rows) or ("    0,\n" if kind == "long" else "    {0},\n")
    return f"static const {kind} {name}[]{inner} = {{\n{text}}};\n"


def _needed_memory(trace: Trace) -> tuple[int, int]:
    """Returns the bytes of the longest transfer or message, and the most that a collective call receives."""
    calls = trace.calls
    longest = int(calls.length.max()) if len(calls) else 0
    together = (calls.kind >= CallKind.BARRIER) & (calls.kind <= CallKind.ALLTOALL)
    spread = int(calls.length[together].max()) * trace.nprocs if together.any() else 0
    pieces = max((sum(row[2] * row[4] * row[6] for row in view.rows) for view in trace.views), default=0)
    return max(4096, longest, spread), max(4096, spread, 8 * pieces)


def _even_sequences(values: Sequence[int]) -> list[tuple[int, int, int]]:
    """Returns ascending numbers as sequences with equal steps: first, count and step."""
    found = []
    at = 0
    while at < len(values):
        step = values[at + 1] - values[at] if at + 1 < len(values) else 1
        end = at + 1
        while end < len(values) and values[end] - values[end - 1] == step:
            end += 1
        found.append((values[at], end - at, step))
        at = end
    return found


def _members(programs: Sequence[tuple[RankGroup, Sequence[MimicStep]]]) -> list[str]:
    rows = []
    for number, (group, _) in enumerate(programs):
        member = 0
        for first, count, step in _even_sequences(group.ranks.tolist()):
            rows.append(_braced((number, first, count, step, member)))
            member += count
    return rows


def _rank_rows(trace: Trace) -> list[str]:
    return [
        _braced((number, *run))
        for number, ranks in enumerate(trace.communicators)
        if number > 1
        for run in _even_sequences(ranks)
    ]


def _rows_of_files(trace: Trace) -> list[str]:
    """Returns one row per sequence of files with the same facts, and a last row that covers all further files."""
    rows: list[list[int]] = []
    for file in trace.files:
        facts = [-1 if file.before is None else file.before, file.mode, int(file.aligned)]
        if rows and rows[-1][1:] == facts:
            rows[-1][0] += 1
        else:
            rows.append([1, *facts])
    return [*map(_braced, rows), _braced((len(trace.files) + 1, -1, 0, 0))]


def _misaligned(trace: Trace) -> list[str]:
    return [_braced((*pair, count)) for pair, count in sorted(trace.misaligned.items())]


def _hint_rows(trace: Trace) -> list[str]:
    return [
        f"{{{number}, 1, {_c_string(key)}, {_c_string(value)}}}"
        for number, file in enumerate(trace.files)
        for key, value in sorted(file.hints.items())
    ]


def _most_rows(trace: Trace) -> int:
    return max((len(view.rows) for view in trace.views), default=1)


def _views(trace: Trace) -> list[str]:
    heads: list[str] = []
    rows: list[str] = []
    for view in trace.views:
        heads.append(_braced((view.displacement, view.extent, len(rows), len(view.rows))))
        rows += [_braced(row) for row in view.rows]
    return [_array("struct view", "views", heads), _array("struct pieces", "pieces", rows)]


def _c_string(text: str) -> str:
    """Returns a text as a string literal of C. Bytes that are not printable ASCII, quotes, backslashes, and question
    marks, which begin trigraphs, are written in octal.
    """
    plain = {byte: chr(byte) for byte in range(0x20, 0x7F) if chr(byte) not in '"\\?'}
    return f'"{"".join(plain.get(byte, f"{chr(92)}{byte:03o}") for byte in text.encode("utf-8", "surrogateescape"))}"'


def _plain_names(trace: Trace) -> list[str]:
    """Returns the names of the files without their folders. If several files have the same name, numbers make their
    names distinct. A name that stands for a folder (`..`) is replaced, because the program would leave its own folder.
    """
    own = [file.name.rsplit("/", 1)[-1] for file in trace.files]
    own = [name if name.strip(".") else "file" for name in own]
    taken = set(own)
    count: dict[str, int] = {}
    found = []
    for name in own:
        free = name
        count[name] = count.get(name, 0) + 1
        while count[name] > 1 and (free := f"{name}.{count[name]}") in taken:
            count[name] += 1
        found.append(free)
    return found
