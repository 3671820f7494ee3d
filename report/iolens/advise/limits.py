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
    """A threshold of the rules: its name, its default, its unit, and its meaning in words."""

    key: str
    default: float
    unit: str
    meaning: str


TABLE: tuple[Limit, ...] = (
    Limit("least_seconds", 0.5, "s", "shortest I/O time of the slowest rank that gets advice"),
    Limit("least_gain", 0.01, "of the run", "findings that can save less are not reported"),
    Limit("worth_gain", 0.05, "of the run", "findings that can save less are `low`: not worth the work"),
    Limit("high_gain", 0.20, "of the run", "findings that can save this much or more are `high`"),
    Limit("few_calls", 1000, "calls", "smallest number of transfers that is called many"),
    Limit("some_calls", 20, "calls", "smallest number of calls that is reported if they take `worth_gain` of the run"),
    Limit("small_transfer", 100 * _KIB, "B", "largest transfer that is called small; counted in Darshan's size ranges"),
    Limit("small_share", 0.5, "of calls", "smallest share of small transfers that makes a finding"),
    Limit("few_ranks", 4, "ranks", "smallest job that is advised to spread work over ranks"),
    Limit("one_rank_share", 0.9, "of bytes", "a rank with this share of the bytes counts as doing the job's I/O alone"),
    Limit("much_bytes", 64 * _MIB, "B", "smallest amount of data for which parallel I/O is advised"),
    Limit("meta_share", 0.2, "of I/O time", "smallest share of open, close, stat and seek that is reported"),
    Limit("large_transfer", _MIB, "B", "smallest transfer that is large enough not to be combined with others"),
    Limit(
        "random_share",
        0.1,
        "of calls",
        "smallest share of accesses that go back in the file to be called random access",
    ),
    Limit("sync_share", 0.5, "of writes", "smallest number of syncs per write that is too many"),
    Limit(
        "timed_syncs", 0.03, "of writes", "smallest number of syncs per write that is too many if their time is known"
    ),
    Limit("few_syncs", 20, "calls", "smallest number of syncs of a rank on a file that is called many"),
    Limit(
        "least_alignment",
        64 * _KIB,
        "B",
        "smallest block that counts; smaller ones are pages, which ranks of a node share at no cost",
    ),
    Limit(
        "unaligned_share",
        0.5,
        "of calls",
        "smallest share of transfers beginning inside a block that makes a file unaligned",
    ),
    Limit("enough_stripes", 8, "stripes", "largest number of stripes that is advised"),
    Limit(
        "many_files",
        100,
        "files",
        "smallest number of files or datasets that is reported as many",
    ),
    Limit("uneven", 1.7, "times the mean", "largest amount that a rank or target may move without being called uneven"),
    Limit("straggler", 1.5, "times the median", "shortest time that makes a rank, host or target slow"),
    Limit("crowd", 8, "ranks", "smallest number of ranks among which a slow rank is reported"),
    Limit("sieving_share", 0.5, "of bytes asked for", "smallest excess of bytes read that is reported as data sieving"),
    Limit("amplification", 1.3, "times", "smallest number of bytes written per byte of the program that is reported"),
    Limit("again", 2, "times", "smallest number of times a byte is read or written that is reported"),
    Limit("mapped_waste", 4, "times", "smallest ratio of delivered to reached bytes of a mapped file that is reported"),
    Limit("needless_share", 0.35, "of the bytes", "smallest needless share of fetched bytes that is reported"),
    Limit("needless_bytes", _MIB, "B", "smallest number of needless bytes that is reported; less is a file's metadata"),
    Limit("gpu_fallback", 0.1, "of transfers", "smallest share of GPU transfers through POSIX calls that is reported"),
    Limit("input_size", _GIB, "B", "largest file that one rank can read and broadcast"),
    Limit("reopens", 10, "opens", "smallest number of opens of a file by a rank that is too many"),
    Limit("many_opens", 100, "opens", "smallest number of opens of reopened files that is called many"),
    Limit("slow_start", 5.0, "s", "shortest time of loading libraries and modules that is reported"),
    Limit("many_ranks", 512, "ranks", "smallest number of ranks for which a file per rank is too many"),
    Limit(
        "imbalance", 0.2, "of its time", "smallest computing time of the slowest rank beyond the mean (POP: 1 - 0.8)"
    ),
    Limit("late_share", 0.5, "of receives", "smallest share of receives that began after their message had arrived"),
    Limit("many_messages", 100000, "messages", "smallest number of small messages that is called many"),
    Limit("eager_share", 0.5, "of messages", "smallest share of messages with sizes just above the eager limit"),
    Limit("collective_share", 0.1, "of the run", "smallest time in one collective function, without waiting"),
    Limit("core_wait", 0.2, "of the run", "shortest time that a rank was ready to run but had no processor"),
    Limit("blind_bytes", _MIB, "B", "bytes of MPI-IO that POSIX may miss because of buffers or another layer"),
    Limit("overlap", 1.2, "times the run", "I/O time of a rank above which calls of its threads must have overlapped"),
    Limit("process_rate", 4 * _GIB, "B/s", "highest rate that one process can get from storage over a network"),
    Limit("device_rate", 0, "B/s", "highest rate of the storage for the whole job; 0: unknown"),
    Limit(
        "far_rank", 1.7, "times the mean", "shortest time of a file's slowest rank that counts as far from the others"
    ),
    Limit("above_posix", 3, "times", "smallest ratio of independent MPI-IO time to the POSIX time below it"),
    Limit("repeats", 100, "times", "smallest number of times a small file is read or written that is reported"),
    Limit("seek_share", 0.9, "for each transfer", "smallest number of seeks that is called many"),
    Limit("every_share", 0.95, "of calls", "smallest share of unaligned transfers that counts as all"),
    Limit("busy_target", 20 * _MIB, "B/s", "lowest rate of a storage target that counts as busy"),
    Limit("crowded_target", 16, "ranks", "smallest number of ranks per used target at which targets are few"),
    Limit("chunk_factor", 8, "times", "smallest ratio of a chunk's bytes to the bytes of an access"),
    Limit("cold_factor", 2, "times", "smallest speed-up of a second read that is reported"),
    Limit("fill_share", 0.1, "of bytes", "smallest share of bytes beyond the program's own that is called fill values"),
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
        found[_known_key(key.strip())] = _threshold_value(key.strip(), value)
    return found


def from_file(path: Path) -> Limits:
    """Returns the default thresholds, changed by those in a YAML file with one `key: value` per line; raises UsageError
    if the file cannot be used.
    """
    import yaml

    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(said, dict):
        raise UsageError(f"{path} holds no thresholds; write one line KEY: VALUE for each")
    return changed(
        [], {**DEFAULTS, **{_known_key(str(key)): _threshold_value(str(key), value) for key, value in said.items()}}
    )


def _known_key(key: str) -> str:
    """Returns the key unchanged; raises UsageError if no threshold has this name."""
    if key not in DEFAULTS:
        raise UsageError(f"there is no threshold {key!r}; there are {', '.join(DEFAULTS)}")
    return key


def _threshold_value(key: str, value: object) -> float:
    """Returns a threshold's value as a number; raises UsageError if it is negative, infinite or not a number."""
    try:
        found = float(str(value))
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(f"threshold {key}: {value!r} is not a number of at least 0")
    return found
