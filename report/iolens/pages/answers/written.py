"""Finds the numbers in a text, however they are written: with units, as ranges, dates, fractions or in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

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
