"""Reads an experiment.yaml, validates it as a whole before anything starts, and writes it back resolved.

Every error names the file, the line, the key and, for a misspelt key, the nearest known key.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from iolens.errors import UsageError
from iolens.foreign import text_of_file
from iolens.lab.installation import storage_config_of
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.sizes import short_size
from iolens.lab.sweep.define.command import RANKS, program_in, ranks_in
from iolens.lab.sweep.define.experiment import FACTORS, KEYS, REQUIRED, Experiment
from iolens.lab.sweep.define.expression import names_in, parse_expression
from iolens.lab.sweep.define.matrix import matrix_points, steps
from iolens.lab.sweep.define.metrics import FACTS, PATTERN
from iolens.lab.values import LISTED, Change, listed_levels, own_levels
from iolens.lab.workloads.foreign import FOREIGN
from iolens.lab.workloads.workloads import WORKLOADS, workload_of

_MOST_POINTS = 100_000
"""Maximum number of points in a matrix before exclusions. At one second each they take more than a day."""


def load_experiment(path: Path, changes: Sequence[str] = ()) -> Experiment:
    """Reads and validates one experiment.yaml with `key=value` changes applied; raises UsageError with line and key."""
    root = _read_table(path)
    given = {key: (where, node) for key, where, node in _flatten(root, "", str(path))}
    given |= dict(_parsed_change(text) for text in changes)
    fields: dict[str, Any] = {}
    matrix: dict[str, tuple[int | str, ...]] = {}
    own: dict[str, Mapping[str, Change]] = {}
    options: dict[str, dict[str, Any]] = {}
    for key, (where, node) in given.items():
        target = KEYS[key].field if key in KEYS else key
        value = _converted(key, where, node)
        if not where.startswith("--set"):
            value = _from_its_folder(key, value, path.parent)
        factor = target.removeprefix("matrix.")
        if key not in KEYS:
            own[factor] = value
        section, _, option = target.partition(".")
        if key.startswith("matrix."):
            matrix[factor] = tuple(value)
        elif section in LAUNCHERS:
            options.setdefault(section, {})[option] = value
        elif target in fields:
            raise UsageError(f"{where}: {key}: another key already sets this; remove one of the two")
        else:
            fields[target] = value
    for key in REQUIRED:
        if KEYS[key].field not in fields and not ({"log", "command"} & fields.keys() and key.startswith("workload.")):
            raise UsageError(f"{path}: the key {key} is missing; add it")
    if not matrix:
        raise UsageError(f"{path}: the matrix is missing; vary at least one of {', '.join(FACTORS)}")
    _check_groups(matrix, fields, {key: where for key, (where, _) in given.items()})
    usual = _usual_fields(fields, matrix, path)
    return _with_points(Experiment(**{**usual, **fields}, matrix=matrix, own=own, options=options), path)


def _usual_fields(fields: dict[str, Any], matrix: Mapping[str, tuple[int | str, ...]], path: Path) -> Mapping[str, Any]:
    """Returns the values of fields that the file may leave out; a command sets the program, whatever the file says."""
    usual: dict[str, Any] = {"title": fields["name"], "program": "", "arguments": (), "ranks": 1}
    workload = FOREIGN if "command" in fields else workload_of(fields.get("program", ""))
    usual["metric"] = PATTERN if "pattern" in fields else workload.metrics[0]
    _check_pattern(fields, path)
    if "command" in fields or "place" in fields:
        usual["inputs"] = path.parent.absolute()
    if "command" in fields:
        command, inputs = fields["command"], fields.get("inputs") or usual["inputs"]
        fields["program"] = str(program_in(command, inputs))
        usual["ranks"] = ranks_in(command)
        _check_command(command, fields, matrix, path)
    return usual


def _check_command(
    command: Sequence[str], fields: Mapping[str, Any], matrix: Mapping[str, tuple[int | str, ...]], path: Path
) -> None:
    """Raises if keys belong to a program, and not to a whole command, or if the command cannot take the ranks."""
    others = [key for key in ("arguments", "repeated", "log") if fields.get(key)]
    if others:
        raise UsageError(
            f"{path}: workload.{others[0]}: a workload with a command has no such key; leave one of them out"
        )
    if "ranks" in matrix and not any(RANKS in word for word in command):
        raise UsageError(f"{path}: matrix.ranks: write {RANKS} in workload.command where the number of ranks stands")


def _check_pattern(fields: Mapping[str, Any], path: Path) -> None:
    """Raises if the pattern of a metric is missing, or if it does not serve the metric."""
    wanted = fields.get("metric", PATTERN if "pattern" in fields else "") == PATTERN
    if wanted and "pattern" not in fields:
        raise UsageError(f"{path}: report.metric: {PATTERN} needs the key report.pattern; add it")
    if not wanted and "pattern" in fields:
        raise UsageError(f"{path}: report.pattern is not used by the metric {fields['metric']}; leave one of them out")


def _from_its_folder(key: str, value: Any, folder: Path) -> Any:
    """Returns a path relative to the experiment's own folder, for the log, the storage configuration and a program
    that exists there; the program's links are kept, since a virtual environment's Python is one.
    """
    if key == "workload.log":
        return str(folder / value)
    if key == "storage.configuration":
        return (folder / storage_config_of(str(value))).resolve()
    if key == "workload.program" and value not in WORKLOADS and (folder / value).is_file():
        return os.path.abspath(folder / value)
    if key == "workload.inputs" and value is not None:
        return Path(os.path.abspath(folder / value))
    return value


def _converted(key: str, where: str, node: yaml.Node) -> Any:
    """Returns the value of a key; raises UsageError if it is invalid or if the key is not a valid name of a factor."""
    factor = key.removeprefix("matrix.")
    if key not in KEYS and (factor in FACTS or "." in factor):
        raise UsageError(f"{where}: {key}: {factor} is already a property of every run; give the factor another name")
    try:
        if factor != key and factor in LISTED:
            return listed_levels(factor, _plain_value(node))
        return (KEYS[key].kind if key in KEYS else own_levels)(_plain_value(node))
    except ValueError as error:
        raise UsageError(f"{where}: {key}: {error}") from error


def _with_points(experiment: Experiment, path: Path) -> Experiment:
    """Returns the experiment; raises if its matrix has no point left, or more points than a sweep can run."""
    many = math.prod(map(len, steps(experiment)))
    if many > _MOST_POINTS:
        raise UsageError(
            f"{path}: matrix: {many} points exceed the limit of {_MOST_POINTS} points for a sweep; give fewer"
        )
    try:
        left = matrix_points(experiment)
    except ValueError as error:
        raise UsageError(f"{path}: exclude: {error}") from error
    if not left:
        raise UsageError(f"{path}: exclude: these conditions exclude every point of the matrix; remove one")
    return experiment


def _check_groups(
    matrix: Mapping[str, tuple[int | str, ...]], fields: Mapping[str, Any], lines: Mapping[str, str]
) -> None:
    """Raises if groups or conditions name factors that the matrix does not have."""
    known = f"the matrix has {', '.join(matrix)}"
    grouped = [name for group in fields.get("together", ()) for name in group]
    for group in fields.get("together", ()):
        for name in group:
            if name not in matrix or grouped.count(name) > 1:
                why = "is in two groups" if name in matrix else f"is no factor; {known}"
                raise UsageError(f"{lines['together']}: together: {name} {why}")
        if len({len(matrix[name]) for name in group}) > 1:
            counts = ", ".join(f"{name} has {len(matrix[name])}" for name in group)
            raise UsageError(
                f"{lines['together']}: together: factors in one group must have equally many levels: {counts}"
            )
    for condition in fields.get("exclude", ()):
        for name in sorted(names_in(parse_expression(condition))):
            if name not in matrix:
                raise UsageError(f"{lines['exclude']}: exclude: {condition}: {name} is no factor; {known}")


def _read_table(path: Path) -> yaml.MappingNode:
    """Returns the file as a tree of YAML nodes, which hold their line numbers."""
    source = text_of_file(path)
    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{path}{line}: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise UsageError(f"{path}: the file must be a table that begins with `name:`")
    return root


def _parsed_change(text: str) -> tuple[str, tuple[str, yaml.Node]]:
    """Parses one `key=value` of the command line into the dotted key, its place for messages, and its value."""
    key, equals, value = text.partition("=")
    where = f"--set {text}"
    if not equals:
        raise UsageError(f"{where}: write KEY=VALUE, such as repetitions=5 or matrix.stripe_count='[1, 2]'")
    try:
        node = yaml.compose(value, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise UsageError(f"{where}: {getattr(error, 'problem', None) or error}") from error
    if key not in KEYS and not _is_own_factor(key, node):
        raise UsageError(f"{where}: unknown key {key}; {nearest_word(key, list(KEYS))}")
    return key, (where, node or yaml.ScalarNode("tag:yaml.org,2002:null", ""))


def nearest_word(key: str, known: Sequence[str], prefix: str = "") -> str:
    """Returns a suggestion for an unknown key: the most similar known key, or all known keys."""
    near = difflib.get_close_matches(key, known, 1)
    return f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(sorted(set(known)))}"


def _is_own_factor(key: str, node: yaml.Node | None) -> bool:
    """Returns True for a user-defined factor: it has a table of levels, or its name is in LISTED. Any other unknown
    name with a list is a misspelt known factor.
    """
    listed = key.removeprefix("matrix.") in LISTED
    return key.startswith("matrix.") and (listed or isinstance(node, yaml.MappingNode))


def _plain_value(node: yaml.Node) -> Any:
    """Returns a node's value as plain Python."""
    return yaml.constructor.SafeConstructor().construct_document(node)


def _flatten(node: yaml.MappingNode, prefix: str, path: str) -> list[tuple[str, str, yaml.Node]]:
    """Returns the known dotted keys of a table with file:line and node; raises for an unknown or repeated key."""
    found: list[tuple[str, str, yaml.Node]] = []
    sections = {key.split(".")[0] for key in KEYS if "." in key}
    seen: set[str] = set()
    for key_node, value in node.value:
        key = f"{prefix}{key_node.value}"
        where = f"{path}:{key_node.start_mark.line + 1}"
        if key in seen:
            raise UsageError(f"{where}: the key {key} occurs twice; remove one of them")
        seen.add(key)
        if key in KEYS or _is_own_factor(key, value):
            found.append((key, f"{path}:{value.start_mark.line + 1}", value))
        elif not prefix and key in sections:
            if not isinstance(value, yaml.MappingNode):
                raise UsageError(f"{where}: {key} must be a table")
            found += _flatten(value, f"{key}.", path)
        else:
            known = [name.removeprefix(prefix) for name in KEYS if name.startswith(prefix)]
            known += sections if not prefix else []
            raise UsageError(f"{where}: unknown key {key}; {nearest_word(str(key_node.value), known, prefix)}")
    return found


def to_yaml(experiment: Experiment) -> str:
    """Returns the experiment as the text of an experiment.yaml from which the same experiment is read."""
    content: dict[str, Any] = {}
    usual = {row.field: key for key, row in reversed([*KEYS.items()])}
    sections = {"matrix": experiment.matrix, **experiment.options}
    values = vars(experiment) | {
        f"{name}.{key}": value for name, table in sections.items() for key, value in table.items()
    }
    for key, row in KEYS.items():
        value = values.get(row.field)
        if value is None or usual[row.field] != key:
            continue
        section, _, last = key.rpartition(".")
        if isinstance(value, Mapping | tuple) and not value:
            continue
        table = content.setdefault(section, {}) if section else content
        table[last] = _file_value(last, value)
    factors = content.setdefault("matrix", {})
    factors |= {
        factor: {level: _changed(item) for level, item in table.items()} for factor, table in experiment.own.items()
    }
    content["matrix"] = {factor: factors[factor] for factor in experiment.matrix}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


def _changed(level: Change) -> dict[str, Any]:
    """Returns the changes that a level of a user-defined factor makes, in the form of experiment.yaml; empty parts are
    left out.
    """
    return {key: _file_value(key, value) for key, value in asdict(level).items() if value}


def _file_value(key: str, value: Any) -> Any:
    """Returns a value in the form of the file: sizes with suffix, tuples as lists."""
    if isinstance(value, Path):
        return str(value)
    sized = key in ("stripe_size", "cb_buffer_size", "volume")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [short_size(item) if sized else _file_value("", item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return short_size(value) if sized else value
