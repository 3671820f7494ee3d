"""experiment.yaml: read, validated as a whole before anything starts, and written back resolved.

Every error names the file, the line, the key and, for a misspelt key, the nearest known one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from iolens.errors import UsageError
from iolens.lab.sizes import parse_size, short_size


@dataclass(frozen=True)
class Experiment:
    """One study: a workload, where its files go, and the matrix of settings. Sizes in bytes."""

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    ranks: int
    matrix: Mapping[str, tuple[int, ...]]
    repetitions: int = 3
    storage: str = "emulated"
    directory: Path | None = None
    stripe_size: int = 2**20
    io_component: str | None = "romio321"
    hints: Mapping[str, str] = field(default_factory=lambda: {"romio_cb_write": "enable", "cb_config_list": "*:*"})
    launcher: str = "local"
    first: tuple[str, ...] | None = None
    metric: str = "write_bandwidth"


def positive(value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a whole number of at least 1")
    return value


def size(value: Any) -> int:
    """A size in bytes of at least 1."""
    return positive(parse_size(value))


def text(value: Any) -> str:
    """A word or number, as text."""
    if isinstance(value, dict | list) or value is None or value == "":
        raise ValueError(f"{value!r} is not a word")
    return str(value)


def name(value: Any) -> str:
    """A name that can be a folder's."""
    if "/" in text(value) or str(value).startswith("."):
        raise ValueError(f"{value!r} cannot be the name of a folder")
    return str(value)


def words(value: Any) -> tuple[str, ...]:
    """A list of words."""
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list, such as [--class, A]")
    return tuple(text(item) for item in value)


def folder(value: Any) -> Path | None:
    """A path, or nothing."""
    return None if value is None else Path(text(value)).expanduser()


def one_of(*choices: str) -> Callable[[Any], str]:
    """A value out of a few."""

    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
        return str(value)

    return check


def levels(kind: Callable[[Any], int]) -> Callable[[Any], tuple[int, ...]]:
    """A list of levels of one factor, none of them twice."""

    def check(value: Any) -> tuple[int, ...]:
        items = value if isinstance(value, list) else [value]
        found = tuple(kind(item) for item in items)
        if not found or len(set(found)) != len(found):
            raise ValueError(f"{value!r} must be a list of different values")
        return found

    return check


def hint_table(value: Any) -> dict[str, str]:
    """MPI-IO hints."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a table of hints, such as {{romio_cb_write: enable}}")
    return {text(key): text(item) for key, item in value.items()}


FACTORS: Mapping[str, Callable[[Any], tuple[int, ...]]] = {
    "stripe_count": levels(positive),
    "stripe_size": levels(size),
    "aggregators": levels(positive),
    "cb_buffer_size": levels(size),
}
"""What a matrix can vary."""

KEYS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", name),
    "title": ("title", text),
    "workload.program": ("program", text),
    "workload.arguments": ("arguments", words),
    "workload.ranks": ("ranks", positive),
    "storage.kind": ("storage", one_of("emulated", "directory")),
    "storage.directory": ("directory", folder),
    "storage.stripe_size": ("stripe_size", size),
    "mpi.io_component": ("io_component", one_of("romio321", "ompio")),
    "mpi.hints": ("hints", hint_table),
    "launcher": ("launcher", one_of("local")),
    "repetitions": ("repetitions", positive),
    "first.arguments": ("first", words),
    "report.metric": ("metric", one_of("write_bandwidth", "read_bandwidth")),
    **{f"matrix.{factor}": (f"matrix.{factor}", kind) for factor, kind in FACTORS.items()},
}
"""Key in the file to the field of `Experiment` and the conversion of its value."""

REQUIRED = ("name", "workload.program", "workload.ranks")


def load_experiment(path: Path, changes: Sequence[str] = ()) -> Experiment:
    """Read and validate one experiment.yaml, with `key=value` changes applied; raises UsageError with line and key."""
    root = read_table(path)
    given = {key: (where, node) for key, where, node in flatten(root, "", str(path))}
    given |= dict(change(text) for text in changes)
    fields: dict[str, Any] = {}
    matrix: dict[str, tuple[int, ...]] = {}
    for key, (where, node) in given.items():
        target, convert = KEYS[key]
        try:
            value = convert(plain(node))
        except ValueError as error:
            raise UsageError(f"{where}: {key}: {error}") from error
        if key.startswith("matrix."):
            matrix[target.removeprefix("matrix.")] = value
        else:
            fields[target] = value
    for key in REQUIRED:
        if KEYS[key][0] not in fields:
            raise UsageError(f"{path}: the key {key} is missing")
    if not matrix:
        raise UsageError(f"{path}: the matrix is missing; vary at least one of {', '.join(FACTORS)}")
    return Experiment(**{"title": fields["name"], "arguments": (), **fields}, matrix=matrix)


def read_table(path: Path) -> yaml.MappingNode:
    """The file as a tree of YAML nodes, which know their lines."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{path}{line}: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise UsageError(f"{path}: the file must be a table that begins with `name:`")
    return root


def change(text: str) -> tuple[str, tuple[str, yaml.Node]]:
    """One `key=value` of the command line: the dotted key, where it stood, and its value."""
    key, equals, value = text.partition("=")
    where = f"--set {text}"
    if not equals:
        raise UsageError(f"{where}: write KEY=VALUE, such as repetitions=5 or matrix.stripe_count='[1, 2]'")
    if key not in KEYS:
        raise UsageError(f"{where}: unknown key {key}; {nearest(key, list(KEYS))}")
    try:
        node = yaml.compose(value, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise UsageError(f"{where}: {getattr(error, 'problem', None) or error}") from error
    return key, (where, node or yaml.ScalarNode("tag:yaml.org,2002:null", ""))


def nearest(key: str, known: Sequence[str], prefix: str = "") -> str:
    """What to write instead of an unknown key."""
    near = difflib.get_close_matches(key, known, 1)
    return f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(sorted(set(known)))}"


def plain(node: yaml.Node) -> Any:
    """A node's value as plain Python."""
    return yaml.constructor.SafeConstructor().construct_document(node)


def flatten(node: yaml.MappingNode, prefix: str, path: str) -> list[tuple[str, str, yaml.Node]]:
    """The known dotted keys of a table with file:line and node; raises for an unknown or repeated key."""
    found: list[tuple[str, str, yaml.Node]] = []
    sections = {key.split(".")[0] for key in KEYS if "." in key}
    seen: set[str] = set()
    for key_node, value in node.value:
        key = f"{prefix}{key_node.value}"
        where = f"{path}:{key_node.start_mark.line + 1}"
        if key in seen:
            raise UsageError(f"{where}: the key {key} stands there twice")
        seen.add(key)
        if key in KEYS:
            found.append((key, f"{path}:{value.start_mark.line + 1}", value))
        elif not prefix and key in sections:
            if not isinstance(value, yaml.MappingNode):
                raise UsageError(f"{where}: {key} must be a table")
            found += flatten(value, f"{key}.", path)
        else:
            known = [name.removeprefix(prefix) for name in KEYS if name.startswith(prefix)]
            known += sections if not prefix else []
            raise UsageError(f"{where}: unknown key {key}; {nearest(str(key_node.value), known, prefix)}")
    return found


def to_yaml(experiment: Experiment) -> str:
    """The experiment as the text of an experiment.yaml that loads back to the same."""
    content: dict[str, Any] = {}
    values = {**vars(experiment), **{f"matrix.{key}": value for key, value in experiment.matrix.items()}}
    for key, (target, _) in KEYS.items():
        value = values.get(target)
        if value is None:
            continue
        section, _, last = key.rpartition(".")
        table = content.setdefault(section, {}) if section else content
        table[last] = written(last, value)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


def written(key: str, value: Any) -> Any:
    """A value as it is written in the file: sizes with suffix, tuples as lists."""
    if isinstance(value, Path):
        return str(value)
    sized = key in ("stripe_size", "cb_buffer_size")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [short_size(item) if sized else item for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return short_size(value) if sized else value
