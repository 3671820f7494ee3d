"""From where on something is said: one table, which a file (YAML) or `--threshold KEY=VALUE` changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

Limits = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """A threshold: its default, unit, and what is said on its other side."""

    key: str
    default: float
    unit: str
    meaning: str


TABLE: tuple[Limit, ...] = (
    Limit("least_seconds", 0.5, "s", "I/O of the slowest rank below this is too short for advice"),
    Limit("least_gain", 0.01, "of the run", "findings that can gain less are not said"),
    Limit("worth_gain", 0.05, "of the run", "findings that can gain less are `low`: not worth it"),
    Limit("high_gain", 0.20, "of the run", "findings that can gain as much are `high`"),
    Limit("few_calls", 1000, "calls", "fewer transfers are not called many"),
    Limit("small_transfer", 100 * KIB, "B", "transfers up to this are small; counted in Darshan's size ranges"),
    Limit("small_share", 0.5, "of calls", "share of small transfers from which a file is called so"),
    Limit("few_ranks", 4, "ranks", "jobs of fewer ranks are not told to spread work over ranks"),
    Limit("one_rank_share", 0.9, "of bytes", "a rank with this share of the bytes does the job's I/O alone"),
    Limit("much_bytes", 64 * MIB, "B", "transfers of less in all are not told to go parallel"),
    Limit("meta_share", 0.5, "of I/O time", "share of open, close, stat and seek from which metadata is said"),
)
"""In the order in which they are documented."""

DEFAULTS: Limits = {limit.key: limit.default for limit in TABLE}


def changed(settings: Iterable[str], base: Limits = DEFAULTS) -> Limits:
    """`base` with `KEY=VALUE` settings in it; UsageError for what is no threshold or no number."""
    found = dict(base)
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--threshold {text}: write KEY=VALUE, such as small_transfer=65536")
        found[known(key.strip())] = number(key.strip(), value)
    return found


def from_file(path: Path) -> Limits:
    """The defaults with those of a YAML file, `key: value` a line; UsageError when it cannot be used."""
    import yaml

    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(said, dict):
        raise UsageError(f"{path} holds no thresholds: write KEY: VALUE, one a line")
    return changed([], {**DEFAULTS, **{known(str(key)): number(str(key), value) for key, value in said.items()}})


def known(key: str) -> str:
    """The key, when there is such a threshold."""
    if key not in DEFAULTS:
        raise UsageError(f"there is no threshold {key!r}; there are {', '.join(DEFAULTS)}")
    return key


def number(key: str, value: object) -> float:
    """A threshold's value: a number that is not negative."""
    try:
        found = float(str(value))
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(f"threshold {key}: {value!r} is no number from 0 on")
    return found
