"""The thresholds of all rules in one table, which a file (YAML) or `--threshold KEY=VALUE` changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30

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
    Limit("small_transfer", 100 * _KIB, "B", "transfers up to this are small; counted in Darshan's size ranges"),
    Limit("small_share", 0.5, "of calls", "share of small transfers from which a file is called so"),
    Limit("few_ranks", 4, "ranks", "jobs of fewer ranks are not told to spread work over ranks"),
    Limit("one_rank_share", 0.9, "of bytes", "a rank with this share of the bytes does the job's I/O alone"),
    Limit("much_bytes", 64 * _MIB, "B", "transfers of less in all are not told to go parallel"),
    Limit("meta_share", 0.5, "of I/O time", "share of open, close, stat and seek from which metadata is said"),
    Limit("large_transfer", _MIB, "B", "transfers from this size on need no gathering"),
    Limit("random_share", 0.2, "of calls", "share of accesses that go back from which a file is read at random"),
    Limit("sync_share", 0.5, "of writes", "syncs for each write from which they are too many"),
    Limit("few_syncs", 20, "calls", "fewer syncs of a rank on a file are not called many"),
    Limit("least_alignment", 64 * _KIB, "B", "smaller blocks are pages, which cost nothing when shared on one node"),
    Limit("unaligned_share", 0.5, "of calls", "share of transfers inside blocks from which a file is unaligned"),
    Limit("enough_stripes", 8, "stripes", "more stripes are not asked for"),
    Limit("many_files", 100, "files", "from so many files on their layout matters to metadata"),
    Limit("uneven", 2, "times the mean", "what a rank or target may move before it is called uneven"),
    Limit("straggler", 1.5, "times the median", "time from which a rank, host or target is slow"),
    Limit("crowd", 8, "ranks", "with fewer, one that is slow says little about the others"),
    Limit("sieving_share", 0.5, "of bytes asked for", "bytes read beyond them from which sieving is said"),
    Limit("amplification", 1.3, "times", "bytes written for each byte given"),
    Limit("again", 2, "times", "how often a byte may be read or written"),
    Limit("input_size", 64 * _MIB, "B", "files up to this can be read by one rank and handed on"),
    Limit("reopens", 10, "opens", "opens of a file by a rank from which it should stay open"),
    Limit("many_ranks", 512, "ranks", "from so many on, a file for each is too many"),
    Limit(
        "imbalance", 0.2, "of its time", "computing beyond the mean of the rank that computes longest (POP: 1 - 0.8)"
    ),
    Limit("late_share", 0.5, "of receives", "receives whose message was there before"),
    Limit("many_messages", 100000, "messages", "fewer small messages are not called many"),
    Limit("eager_share", 0.5, "of messages", "messages of the sizes just above the eager limit"),
    Limit("collective_share", 0.1, "of the run", "time in one collective, waiting left out"),
    Limit("core_wait", 0.2, "of the run", "time in which a rank was ready to run and had no processor"),
    Limit("blind_bytes", _MIB, "B", "bytes of MPI-IO that POSIX may miss, in buffers or another layer"),
    Limit("overlap", 1.2, "times the run", "I/O time of a rank beyond which it must overlap"),
    Limit("process_rate", 4 * _GIB, "B/s", "what one process can get from storage over a network"),
    Limit("device_rate", 0, "B/s", "what the storage can do for the whole job; 0: not known"),
    Limit("far_rank", 4, "times the mean", "time of a shared file's slowest rank from which it is far from the others"),
    Limit("above_posix", 3, "times", "time of independent MPI-IO over that of POSIX below it"),
    Limit("repeats", 100, "times", "how often one small place may be read or written"),
    Limit("seek_share", 2, "for each transfer", "seeks from which they are many"),
    Limit("every_share", 0.95, "of calls", "share of unaligned transfers from which none is aligned"),
    Limit("crowded_target", 64, "ranks", "ranks for each target in use from which these are few"),
    Limit("chunk_factor", 8, "times", "bytes of a chunk over those of an access"),
    Limit("cold_factor", 2, "times", "how much faster the same bytes may be read again"),
)
"""The thresholds in the order of the documentation."""

DEFAULTS: Limits = {limit.key: limit.default for limit in TABLE}


def changed(settings: Iterable[str], base: Limits = DEFAULTS) -> Limits:
    """Returns `base` with the `KEY=VALUE` settings applied; raises UsageError for an unknown threshold or an invalid
    number.
    """
    found = dict(base)
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--threshold {text}: write KEY=VALUE, such as small_transfer=65536")
        found[_known(key.strip())] = _number(key.strip(), value)
    return found


def from_file(path: Path) -> Limits:
    """Returns the defaults with those of a YAML file, `key: value` a line; raises UsageError if it cannot be used."""
    import yaml

    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(said, dict):
        raise UsageError(f"{path} holds no thresholds: write KEY: VALUE, one a line")
    return changed([], {**DEFAULTS, **{_known(str(key)): _number(str(key), value) for key, value in said.items()}})


def _known(key: str) -> str:
    """Returns the key, when there is such a threshold."""
    if key not in DEFAULTS:
        raise UsageError(f"there is no threshold {key!r}; there are {', '.join(DEFAULTS)}")
    return key


def _number(key: str, value: object) -> float:
    """Returns a threshold's value: a number that is not negative."""
    try:
        found = float(str(value))
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(f"threshold {key}: {value!r} is no number from 0 on")
    return found
