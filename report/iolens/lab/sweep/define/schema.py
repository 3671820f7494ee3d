"""The keys of an experiment.yaml as a JSON Schema, with which editors complete keys and mark mistakes."""

from __future__ import annotations

from typing import Any

from iolens.lab.sweep.define.experiment import KEYS, REQUIRED
from iolens.lab.values import LISTED, listed_schema, own_levels_schema

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Returns the schema of the whole file. Only the command, and not the schema, checks conditions between two
    keys.
    """
    root: dict[str, Any] = {"$schema": _DRAFT, "title": "An experiment of iolens", **_empty_table_schema()}
    for key, row in KEYS.items():
        section, _, last = key.rpartition(".")
        inner = root["properties"].setdefault(section, _empty_table_schema()) if section else root
        inner["properties"][last] = {"description": row.about, **row.kind.schema()}
    for key in (*REQUIRED, "matrix"):
        section, _, last = key.rpartition(".")
        (root["properties"][section] if section else root).setdefault("required", []).append(last)
        if section and section not in root["required"]:
            root["required"].append(section)
    workload = root["properties"]["workload"]
    workload["anyOf"] = [{"required": workload.pop("required")}, {"required": ["log"]}]
    matrix = root["properties"]["matrix"]
    matrix["properties"] |= {key: listed_schema(key) for key in LISTED}
    matrix |= {"minProperties": 1, "additionalProperties": own_levels_schema()}
    return root


def _empty_table_schema() -> dict[str, Any]:
    """Returns the JSON Schema of a table in the file that allows no keys yet; callers add its keys to "properties"."""
    return {"type": "object", "properties": {}, "additionalProperties": False}
