"""activity.yaml: the claims of the course about the runs of the experiment.yaml beside it, in two languages. Every
error names the file, the claim and the correct form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from iolens.errors import UsageError
from iolens.foreign import text_of_file
from iolens.lab.sizes import parse_size
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import Point, matrix_points
from iolens.lab.values import portion, positive

LANGUAGES = ("en", "pt")
_OPERATIONS = ("write", "read")

Words = Mapping[str, str]
"""A text by language."""

Levels = Mapping[str, int | str]
"""A point of the matrix, by its levels."""


@dataclass(frozen=True)
class Claim:
    """One statement about the runs of a point.

    `kind` says what is claimed. About bandwidths: `more` (that of `point` is above that of `other`), `same` (both are
    equal within `margin`) or `reaches` (`margin` of the model's bound or more). About logs: `finds` (the advice has the
    finding `rule`), `holds_up` (other ranks waited longest for the I/O on the file that `rule` names) or `processes`
    (the log of each run has `count` processes). `slides` is the result that the slides of the course show; `because`
    explains the answer yes, `otherwise` the answer no.
    """

    kind: str
    says: Words
    point: Levels
    other: Levels
    margin: float
    operation: str
    rule: str
    count: int
    slides: Words | None
    because: Words
    otherwise: Words


@dataclass(frozen=True)
class ClaimForm:
    """The form of one kind of claim: the keys under which a claim gives its second side and its margin, and the default
    margin.
    """

    other: str = ""
    margin: str = ""
    usual: float = 0.0


_KINDS: Mapping[str, ClaimForm] = {
    "more": ClaimForm("than", "within", 0.1),
    "same": ClaimForm("as", "within", 0.1),
    "reaches": ClaimForm(margin="of_bound", usual=0.9),
    "finds": ClaimForm(other="in"),
    "holds_up": ClaimForm(other="in"),
    "processes": ClaimForm(other="in"),
}
"""The forms of claims, by the key that begins a claim. For `more` and `same`, bandwidths that differ by less than the
margin count as equal: nobody changes a job script for less than a tenth.
"""

_TEXTS = ("says", "slides", "because", "otherwise")


def load_claims(path: Path, experiment: Experiment) -> list[Claim]:
    """Returns the claims of one activity.yaml about the points of its experiment."""
    try:
        content = yaml.safe_load(text_of_file(path))
    except (ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: {' '.join(str(error).split())}") from error
    claims = content.get("claims") if isinstance(content, dict) else None
    if not isinstance(claims, list) or not claims or set(content) != {"claims"}:
        raise UsageError(f"{path}: the file must have one key, claims, with a list")
    found = []
    for number, claim in enumerate(claims, 1):
        try:
            found.append(claim_of(claim, matrix_points(experiment)))
        except ValueError as error:
            raise UsageError(f"{path}: claim {number}: {error}") from error
    return found


def claim_of(claim: Any, known: list[Point]) -> Claim:
    """Returns one claim; raises ValueError with what is wrong."""
    if not isinstance(claim, dict):
        raise ValueError("a claim must be a table")
    name = next((kind for kind in _KINDS if kind in claim), None)
    if name is None:
        raise ValueError(f"a claim must have one of the keys {', '.join(_KINDS)}")
    kind = _KINDS[name]
    allowed = {name, kind.other, kind.margin, "operation", *_TEXTS} - {""}
    unknown, missing = set(claim) - allowed, {name, kind.other, "says", "because", "otherwise"} - {"", *claim}
    if unknown or missing:
        which = f"unknown key {sorted(unknown)[0]}" if unknown else f"the key {sorted(missing)[0]} is missing"
        raise ValueError(f"{which}; a claim that begins with {name} has {', '.join(sorted(allowed))}")
    operation = claim.get("operation", "write")
    if operation not in _OPERATIONS:
        raise ValueError(f"operation: {operation!r} is not one of {', '.join(_OPERATIONS)}")
    place = claim[kind.other] if kind.other == "in" else claim[name]
    return Claim(
        kind=name,
        says=_words_of("says", claim["says"]),
        point=_levels_of(place, known),
        other=_levels_of(claim[kind.other], known) if kind.other else {},
        margin=portion(claim[kind.margin]) if claim.get(kind.margin) else kind.usual,
        operation=operation,
        rule=str(claim[name]) if name in ("finds", "holds_up") else "",
        count=positive(claim[name]) if name == "processes" else 0,
        slides=_words_of("slides", claim["slides"]) if "slides" in claim else None,
        because=_words_of("because", claim["because"]),
        otherwise=_words_of("otherwise", claim["otherwise"]),
    )


def _words_of(key: str, value: Any) -> Words:
    """Returns a text in every language."""
    if not isinstance(value, dict) or set(value) != set(LANGUAGES) or not all(value.values()):
        raise ValueError(f"{key}: a text must be a table with {' and '.join(LANGUAGES)}")
    return {language: " ".join(str(value[language]).split()) for language in LANGUAGES}


def _levels_of(value: Any, known: list[Point]) -> Levels:
    """Returns the only point with these levels; levels of other factors may be omitted if just one point remains."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a table of levels, such as {{stripe_count: 4}}")
    fitting = [point for point in known if all(_has(point, key, level) for key, level in value.items())]
    if len(fitting) != 1:
        raise ValueError(f"{value!r} names {len(fitting)} points of the matrix, and must name one")
    return fitting[0].settings


def _has(point: Point, factor: str, level: Any) -> bool:
    """Returns whether a point has this level of a factor; a size may be written with its suffix."""
    there = point.settings.get(factor)
    if not isinstance(there, int):
        return there is not None and there == str(level)
    try:
        return there == parse_size(level)
    except ValueError:
        return False
