"""pprof's format (google/pprof, proto/profile.proto), compressed by gzip, and the encoding of protobuf it needs."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence

from iolens.exports.sampled_stacks import Stack
from iolens.symbols.chains import Frame

_VARINT, _BYTES = 0, 2
"""Protobuf's wire types."""


def _varint(value: int) -> bytes:
    """Returns a number in Protocol Buffers' variable length: seven bits per byte, the lowest first; a negative number
    as its 64 bits.
    """
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def integer_field(field: int, value: int) -> bytes:
    """Returns an integer field; nothing for 0, which is the default."""
    return _varint(field << 3 | _VARINT) + _varint(value) if value else b""


def packed(field: int, values: Sequence[int]) -> bytes:
    """Returns a field of repeated integers."""
    return block(field, b"".join(map(_varint, values)))


def block(field: int, content: bytes) -> bytes:
    """Returns a field of text or of a message."""
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


_NS = 1_000_000_000

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME_NANOS, _DURATION_NANOS, _PERIOD_TYPE, PERIOD = 9, 10, 11, 12
"""Numbers of the fields of the message Profile."""


class Numbers:
    """Numbers the texts, files, functions or places of a profile, in the order in which they are first used."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.known: dict[object, int] = {}

    def of(self, key: object) -> int:
        """Returns the number of a key; a new key gets the next number."""
        return self.known.setdefault(key, self.first + len(self.known))


class Tables:
    """The numbered texts, files, functions and places that samples refer to."""

    def __init__(self) -> None:
        self.texts, self.files = Numbers(0), Numbers(1)
        self.functions, self.places = Numbers(1), Numbers(1)
        self.texts.of("")

    def place(self, frame: Frame) -> int:
        """Returns the location of a frame."""
        self.files.of(frame.object)
        self.functions.of((frame.function, frame.source))
        return self.places.of(frame)

    def encoded(self) -> bytes:
        """Returns the fields of the profile: files, places, functions, and last the texts."""
        text = self.texts.of
        files = [
            block(_MAPPING, integer_field(1, self.files.of(path)) + integer_field(5, text(path)) + flags)
            for path, flags in (
                (path, integer_field(7, 1) + integer_field(8, 1) + integer_field(9, 1)) for path in self.files.known
            )
        ]
        places = []
        for frame, at in self.places.known.items():
            assert isinstance(frame, Frame)
            line = integer_field(1, self.functions.of((frame.function, frame.source))) + integer_field(2, frame.line)
            places.append(
                block(_LOCATION, integer_field(1, at) + integer_field(2, self.files.of(frame.object)) + block(4, line))
            )
        functions = [
            block(
                _FUNCTION,
                integer_field(1, at)
                + integer_field(2, text(name))
                + integer_field(3, text(name))
                + integer_field(4, text(source)),
            )
            for (name, source), at in self.pairs()
        ]
        texts = [block(_STRING, str(one).encode()) for one in self.texts.known]
        return b"".join((*files, *places, *functions, *texts))

    def pairs(self) -> list[tuple[tuple[str, str], int]]:
        """Returns the name and source of each function, with its number."""
        return [((key[0], key[1]), at) for key, at in self.functions.known.items() if isinstance(key, tuple)]


def pprof(stacks: Sequence[Stack], program: str, start: float, seconds: float) -> bytes:
    """Returns the file's bytes. `program`: its path; `start`: the start of the job, seconds since 1970; `seconds`: how
    long it ran.

    Values are periods of the timer and nanoseconds; labels are rank, thread and state (running, waiting).
    """
    tables = Tables()
    tables.files.of(program)  # The viewer takes the first file for the program.
    text = tables.texts.of
    types = [("samples", "count"), ("time", "nanoseconds")]
    head = [block(_SAMPLE_TYPE, _value_type(text, *kind)) for kind in types]
    samples = [block(_SAMPLE, _sample_message(tables, stack)) for stack in stacks]
    periods = sum(stack.periods for stack in stacks)
    period = round(_NS * sum(stack.seconds for stack in stacks) / periods) if periods else 0
    tail = [
        integer_field(_TIME_NANOS, round(start * _NS)),
        integer_field(_DURATION_NANOS, round(seconds * _NS)),
        block(_PERIOD_TYPE, _value_type(text, "time", "nanoseconds")),
        integer_field(PERIOD, period),
    ]
    return gzip.compress(b"".join((*head, *samples, tables.encoded(), *tail)), mtime=0)


def _value_type(text: Callable[[object], int], kind: str, unit: str) -> bytes:
    """Returns the message ValueType."""
    return integer_field(1, text(kind)) + integer_field(2, text(unit))


def _sample_message(tables: Tables, stack: Stack) -> bytes:
    """Returns the message Sample, whose places begin with the innermost."""
    text = tables.texts.of
    places = packed(1, [tables.place(frame) for frame in reversed(stack.frames)])
    values = packed(2, [stack.periods, round(stack.seconds * _NS)])
    state = block(3, integer_field(1, text("state")) + integer_field(2, text("waiting" if stack.waited else "running")))
    numbers = [(name, value) for name, value in (("rank", stack.rank), ("thread", stack.thread))]
    labels = [block(3, integer_field(1, text(name)) + integer_field(3, value)) for name, value in numbers]
    return b"".join((places, values, state, *labels))
