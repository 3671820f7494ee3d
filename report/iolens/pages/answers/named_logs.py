"""Answers questions that a program (such as an assistant over MCP) asks about logs that it names; numbers of a text
are found in any notation and listed with the table that has them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from iolens.errors import UsageError
from iolens.metrics.once import once_per_job
from iolens.pages.answers import sources as answers
from iolens.pages.answers.sources import S, Source

_BYTES = {prefix: float(1000**power) for power, prefix in enumerate(("kilo", "mega", "giga", "tera", "peta", "exa"), 1)}
_BINARY = {f"{prefix[:2]}bi": float(1024**power) for power, prefix in enumerate(_BYTES, 1)}
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), (1.0,)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), (1e-3,)),
    **dict.fromkeys(("us", "usec", "µs", "μs", "microsecond", "microseconds"), (1e-6,)),
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), (1e-9,)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), (60.0,)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), (3600.0,)),
    **dict.fromkeys(("d", "day", "days"), (86400.0,)),
}
_SHARES = dict.fromkeys(("%", "percent", "per cent", "percentage points", "points", "pp"), (1.0, 0.01))
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
_UNITS: dict[str, tuple[float, ...]] = {
    **{f"{prefix}{noun}": (factor,) for prefix, factor in (_BYTES | _BINARY).items() for noun in ("byte", "bytes")},
    **{f"{prefix[0].upper()}B": (factor,) for prefix, factor in _BYTES.items()},
    **{f"{prefix[0].upper()}iB": (factor,) for prefix, factor in _BINARY.items()},
    **{f"{prefix[0].upper()}{bit}": (factor / 8,) for prefix, factor in _BYTES.items() for bit in ("bit", "b", "bps")},
    **{f"{prefix[0].upper()}Bps": (factor,) for prefix, factor in _BYTES.items()},
    **dict.fromkeys(("KB", "kB", "kb", "k", "K"), (1e3, 1024.0)),
    **dict(zip("MGT", ((1000.0**power, 1024.0**power) for power in (2, 3, 4)), strict=True)),
    **dict.fromkeys(("B", "byte", "bytes", "x", "×", "times", "fold"), (1.0,)),
    **_SECONDS,
    **_SHARES,
}
"""Units with the factors to bytes, seconds, a count or a share; a table may have a share in per cent or as a part of 1,
and k, M and KB may be meant as powers of 1024.
"""

_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_ONES = f"zero one two three four five six seven eight nine ten {_TEENS}".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_TIMES = {"twice": 2, "double": 2, "doubled": 2, "thrice": 3, "triple": 3, "tripled": 3, "quadruple": 4}
_WHOLE = {name: n for n, name in enumerate(_ONES)} | {name: 10 * n for n, name in enumerate(_TENS, 2)} | _TIMES
_NTH = {name: 1 / n for n, name in enumerate("third quarter fifth sixth seventh eighth ninth tenth".split(), 3)}
_PARTS = {"half": 1 / 2, "halves": 1 / 2, **_NTH, **{f"{name}s": part for name, part in _NTH.items()}, "fourth": 1 / 4}
_ORDINALS = {"third", "fourth", *(name for name in _NTH if name.endswith("th"))}
"""Words for parts that are ordinal numbers if no number stands before them, such as "third" in "the third rank"."""

_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_BEHIND = rf"(?:[\s\u00a0\u202f-]?({'|'.join(_SCALES)})\b)?(?:[\s\u00a0\u202f-]?({_UNIT})(?![^\W\d_]))?"
_NUMBER = re.compile(
    r"(\d{1,3}(?:[,'’_\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+(?:,\d+)?(?!,?\d)|\d+|(?=\.\d))(\.\d+)?"
    rf"(?:[eE]([-+−]?\d{{1,3}})(?!\d)|\s?[×x·*]\s?10(?:\^|\*\*)?([-+−⁻]?\d{{1,3}}(?!\d)|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}}))?{_BEHIND}"
)
_LITERAL = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?|\d+:\d\d(?::\d\d)?(?!\d)"
    r"|\d+(?:\.\d+){2,}|0[xX][0-9a-fA-F]+"
)
_NAMED = "|".join(sorted([*_WHOLE, *_PARTS, *_SCALES], key=len, reverse=True))
_ARTICLE = rf"an?\s+(?=(?:{'|'.join([*_PARTS, *_SCALES])})\b)"
_PART_OF_SCALE = (
    rf"(?:(?:an?|{'|'.join(_WHOLE)})[\s-]+)?(?:{'|'.join(_PARTS)})\s+of\s+(?:an?\s+)?(?:{'|'.join(_SCALES)})\b"
)
_WORDS = re.compile(
    rf"\b({_PART_OF_SCALE}|(?:{_ARTICLE})?(?:{_NAMED})\b(?:[\s-]+(?:and\s+)?(?:an?\s+)?(?:{_NAMED})\b)*){_BEHIND}",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    rf"\b(?:an?\s+)?(?:(?:couple|few|several|many)\s+(?:of\s+)?(?:{'|'.join(_SCALES)})s?|(?:{'|'.join(_SCALES)})s)\b",
    re.IGNORECASE,
)
"""Matches sizes without a number, such as "a few hundred" or "dozens". No number of a log can be compared with them."""
_FILLERS = ("a", "an", "and", "of")
_CHUNK = re.compile(r"[^\s()\[\]{}\"“”„`;!?=<>≈~→|—–…±]+")
_JOINT = re.compile(r"\s*(?:-|–|—|to|and|or|\.\.+|…|±|\+/-|\+-)\s*")
_IDENTIFIER = re.compile(r"[\d.,]{1,40}(?:[^\W\d_]+\w*\d\w*|[eE](?!\w))")
_NAME = re.compile(r"[+\-−#*@&.,:'’/\\]*[^\W\d]|[.~]*/")
_NAME_WITHIN = re.compile(r"[A-Za-z_]\w*")
_FACTOR = re.compile(r"[xX][\d.,]+")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


@dataclass(frozen=True)
class Written:
    """A number as it stands in a text. `values` are its readings in bytes, seconds, a count or a share. Each reading
    has a margin, half a step of its last digit, because the text may have rounded the number. A text without readings,
    such as a date or a version, must stand in the log in the same words.
    """

    text: str
    values: tuple[tuple[float, float], ...] = ()


def written_numbers(text: str) -> list[Written]:
    """Returns every number of a text, in order. Digits within names (`file_17.dat`, `/scratch/12`) do not count as
    numbers.
    """
    found = [one for chunk in _CHUNK.finditer(text) for one in _in_chunk(text, chunk)]
    found += [one for match in _WORDS.finditer(text) for one in _number_word(match)]
    found += [(*match.span(), Written(match[0]), "") for match in _VAGUE.finditer(text)]
    return _with_units_of_ranges(text, _without_overlaps(found))


_Place = tuple[int, int, Written, str]
"""Begin and end of a number in the text, the number, and its unit."""


def _in_chunk(text: str, chunk: re.Match[str]) -> Iterator[_Place]:
    """Yields the numbers of a piece of text without blanks; a unit after the piece may belong to its last number."""
    at, end = chunk.span()
    if _is_name(text, at, end):
        tail = re.search(r"(?:[:,*]|(?<=[^\W\d_A-Z])-)(?=[\d.]+[^\W\d]*$)", chunk[0].rstrip(".,:"))
        if tail is None or "/" in chunk[0]:
            return
        at += tail.end()
    elif _FACTOR.fullmatch(text, at, end):
        at += 1
    while at < end:
        literal, number = _LITERAL.match(text, at), _NUMBER.match(text, at)
        if literal and not re.match(r"[^\W\d_]", text[literal.end() : literal.end() + 1]):
            yield literal.start(), literal.end(), Written(literal[0]), ""
            at = literal.end()
        elif number and number.end() > at:
            identifier = None if any(number.groups()[2:]) else _IDENTIFIER.match(text, at, end)
            if identifier:
                yield at, identifier.end(), Written(identifier[0]), ""
                at = identifier.end()
                continue
            yield at, number.end(), Written(number[0].strip(), _digit_readings(number)), number[6] or ""
            at = number.end()
        elif unicodedata.category(text[at]) in ("No", "Nl"):
            sign = "".join(takewhile(str.isdigit, (text[place] for place in range(at, end)))) or text[at]
            yield at, at + len(sign), Written(sign, _sign_readings(sign)), ""
            at += len(sign)
        else:
            word = _NAME_WITHIN.match(text, at, end)
            at = word.end() if word else at + 1


def _is_name(text: str, begin: int, end: int) -> bool:
    """Returns whether a piece of text begins like a name. Factors such as `x12` and signs such as ½ are numbers, not
    names.
    """
    found = _NAME.match(text, begin, end)
    is_number = found and (unicodedata.category(found[0][-1]).startswith("N") or _FACTOR.fullmatch(text, begin, end))
    return found is not None and not is_number


def _sign_readings(sign: str) -> tuple[tuple[float, float], ...]:
    """Returns the values that signs such as ⑫, ¹² and ½ may mean, with their margins."""
    if sign.isdigit():
        return ((float("".join(str(unicodedata.digit(one)) for one in sign)), 0.5),)
    value = unicodedata.numeric(sign)
    return ((value, 0.5),) if value.is_integer() else ((value, 0.05), (100 * value, 5.0))


def _digit_readings(found: re.Match[str]) -> tuple[tuple[float, float], ...]:
    """Returns the readings of a number in digits."""
    raised = (found[3] or found[4] or "0").translate(_RAISED)
    digits = found[1] or "0"
    whole = re.sub(r"[,'’_\u00a0\u2009\u202f](?=\d{3}(?!\d))", "", digits)
    plain = whole.replace(",", ".") if not found[2] else whole.replace(",", "")
    decimals = len((plain + (found[2] or "")).partition(".")[2])
    exponent = int(raised)
    value = float(f"{plain}{found[2] or ''}e{exponent}")
    step = float(f"1e{exponent - decimals}")
    return _readings(value, step, found[5], found[6])


def _readings(value: float, step: float, scale: str | None, unit: str | None) -> tuple[tuple[float, float], ...]:
    """Returns the readings of a value in its scale and unit, each with its margin, half a step of the last digit."""
    larger = _SCALES[scale.lower()] if scale else 1.0
    return tuple((value * larger * one, step * larger * one / 2) for one in (_UNITS[unit] if unit else (1.0,)))


def _number_word(found: re.Match[str]) -> Iterator[_Place]:
    """Yields a number in words. Not yielded are `one` alone, which is seldom a number, and places such as `third`."""
    words = re.findall(r"[a-z]+", found[1].lower())
    numbers = [word for word in words if word not in _FILLERS]
    if not found[2] and not found[3] and (numbers == ["one"] or (len(words) == 1 and words[0] in _ORDINALS)):
        return
    total, current, step, is_part = 0.0, 0.0, 1.0, False
    for before, word in zip(["", *words], words, strict=False):
        if word in _SCALES:
            scale = _SCALES[word]
            current = (current or 1.0) * scale
            if is_part or word not in ("hundred", "dozen"):
                step *= scale
            if word not in ("hundred", "dozen"):
                total, current = total + current, 0.0
            is_part = False
        elif word in _PARTS:
            added = before in ("a", "an") and current > 0
            current = current + _PARTS[word] if added else max(current, 1.0) * _PARTS[word]
            step, is_part = 0.1, True
        elif word not in _FILLERS:
            current, step = current + _WHOLE[word], 1.0
    readings = _readings(total + current, step, found[2], found[3])
    shares = tuple((100 * value, 100 * half) for value, half in readings) if is_part and not found[3] else ()
    yield found.start(), found.end(), Written(found[0].strip(), readings + shares), found[3] or ""


def _without_overlaps(found: list[_Place]) -> list[_Place]:
    """Returns the numbers in the order of the text; of two numbers that overlap, only the longer one."""
    kept: list[_Place] = []
    for one in sorted(found, key=lambda place: (place[0], -place[1])):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return kept


def _with_units_of_ranges(text: str, found: list[_Place]) -> list[Written]:
    """Returns the numbers. The first number of a range such as `3 to 5 ms` has no unit of its own, and may be meant in
    the unit of the second one, too.
    """
    result = []
    for place, (_, end, number, unit) in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else None
        if following and not unit and following[3] and number.values and _JOINT.fullmatch(text, end, following[0]):
            value, half = number.values[0]
            more = tuple((value * factor, half * factor) for factor in _UNITS[following[3]])
            number = Written(number.text, number.values + more)
        result.append(number)
    return result


_MIB = 2.0**20


@dataclass(frozen=True)
class Number:
    """A number in a text as it is written there, and its place in the log: `source` names a table with row and column,
    or the sentence; it is empty if the log has no such number.
    """

    text: str
    source: str


@dataclass(frozen=True)
class _Known:
    """All numbers of a log in ascending order, with their places, and all texts of its cells and sentences."""

    values: np.ndarray
    places: list[str]
    texts: str


def numbers_in_text(source: Source[S], text: str) -> list[Number]:
    """Returns every number of a text in order, with its source in the log.

    A number agrees with one of the log if the log's number, in the unit of the text, rounds to its digits. A share in
    per cent may stand in a table as a share of 1. Signs are not compared, because a text writes -12 as "12 % less".
    """
    found = written_numbers(text)
    known = _numbers_of_log(source) if found else None
    return [Number(one.text, _source_of_number(known, one)) for one in found] if known else []


def _source_of_number(known: _Known, number: Written) -> str:
    """Returns the place of a number in the log; empty if there is none."""
    for value, half in number.values:
        low, high = value - half, value + half
        at = int(np.searchsorted(known.values, low - 1e-12 * abs(low)))
        if at < len(known.values) and known.values[at] <= high + 1e-12 * abs(high):
            return known.places[at]
    if number.values:
        return ""
    words = rf"(?<!\w){re.escape(number.text.replace('T', ' '))}(?!\w)"
    return "a text of the log" if re.search(words, known.texts) else ""


@once_per_job
def _numbers_of_log(source: Source[S]) -> _Known:
    """Returns the numbers of all tables, and of the log's facts and own sentences."""
    texts: set[str] = set()
    pairs = [*_numbers_of_tables(source, texts), *_numbers_of_sentences(source, texts)]
    values = np.array([value for value, _ in pairs], float)
    order = np.argsort(values, kind="stable")
    return _Known(values[order], [pairs[place][1] for place in order.tolist()], "\n".join(sorted(texts)))


def _numbers_of_tables(source: Source[S], texts: set[str]) -> Iterator[tuple[float, str]]:
    """Yields each finite number of a table with its place, and the number of rows of each table; adds the texts of the
    cells to `texts`.
    """
    for exhibit in source.exhibits:
        frame = exhibit.every(source.subject)
        if frame is None:
            continue
        yield float(len(frame)), f"rows of the table {exhibit.name}"
        for column in frame.columns:
            unit = _MIB if "mib_per_second" in str(column) else 1.0
            for row, value in enumerate(frame[column].tolist()):
                place = f"table {exhibit.name}, row {row}, column {column}"
                if isinstance(value, (int, float)) and math.isfinite(value):
                    yield abs(float(value)), place
                    if unit != 1.0:
                        yield abs(float(value)) * unit, place
                elif not isinstance(value, (int, float)):
                    texts.add(str(value))


def _numbers_of_sentences(source: Source[S], texts: set[str]) -> Iterator[tuple[float, str]]:
    """Yields the numbers of the facts, the verdict and the findings, as they are printed."""
    for name, text in _overview_texts("", source.overview(source.subject)):
        texts.add(text)
        for found in written_numbers(text):
            if found.values:
                yield found.values[0][0], name


def _overview_texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields each text and number of an overview with its place in it: `judgement, findings, 0, evidence`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else None
    if inner is None:
        yield name, str(value)
    else:
        for key, one in inner:
            yield from _overview_texts(f"{name}, {key}" if name else str(key), one)


@dataclass(frozen=True)
class NamedLogs:
    """Logs and stores of logs that can be asked about, by the names of their files."""

    sources: Mapping[str, Source[Any]]

    def _source(self, log: str) -> Source[Any]:
        """Returns the source of a log or store with this name; raises UsageError if there is none."""
        if log not in self.sources:
            raise UsageError(f"there is no log {log} here; the logs are {', '.join(self.sources)}")
        return self.sources[log]

    def logs(self) -> list[str]:
        """Returns the names of the logs, and of stores of many logs, that can be asked about."""
        return list(self.sources)

    def overview(self, log: str) -> dict[str, Any]:
        """Returns the facts of a log, its verdict with the confidence, the findings with bounds and remedies, and the
        facts that it cannot tell.
        """
        return answers.overview(self._source(log))

    def tables(self, log: str) -> list[dict[str, Any]]:
        """Returns the tables that this log has: name, title, columns and number of rows."""
        return answers.tables(self._source(log))

    def table(self, log: str, name: str, first: int = 0, count: int = answers.MOST_ROWS) -> dict[str, Any]:
        """Returns rows of a table with full numbers (bytes and seconds), and the definition of its columns."""
        return answers.table_answer(self._source(log), name, first, count)

    def verify_answer(self, log: str, text: str) -> list[dict[str, str]]:
        """Returns every number of a text with its source in the log; an empty source means that the log has no such
        number.
        """
        return [{"number": one.text, "source": one.source} for one in numbers_in_text(self._source(log), text)]
