"""Rows of frames as JSON, with all digits of their numbers."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from iolens.lazy import pd


def json_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows of a frame as JSON values: null stands for a number that is not known or infinite."""
    columns = [[_json_value(value) for value in frame[name].tolist()] for name in frame.columns]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def json_text(frame: pd.DataFrame) -> str:
    """Returns a JSON list with one object per row, each in a line of its own."""
    rows = ",\n".join(map(json.dumps, json_rows(frame)))
    return f"[\n{rows}\n]" if rows else "[]"


def _json_value(value: Any) -> Any:
    """Returns a value of a frame as JSON knows it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_json_value(part) for part in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    return None if pd.isna(value) else value.isoformat() if isinstance(value, pd.Timestamp) else str(value)
