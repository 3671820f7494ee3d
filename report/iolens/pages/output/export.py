"""The numbers of exhibits as files: CSV, JSON and Parquet, all rows, full precision, bytes and seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from iolens.errors import IolensError, UsageError
from iolens.lazy import pd
from iolens.pages.output.document import make_folder, written_aside


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


def need_folders(folders: Mapping[str, Path | None]) -> None:
    """Raises an error before anything is written if `export` would be unable to write to these folders."""
    if folders.get("parquet") is not None and find_spec("pyarrow") is None:
        from iolens.extras import installation_command

        command = installation_command("parquet")
        raise UsageError(f"Parquet files are written by the Python package pyarrow; install it: {command}")
    for folder in filter(None, folders.values()):
        place = folder if folder.exists() else folder.parent
        if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
            raise IolensError(f"{folder}: tables cannot be written there ({place} is not a writable folder)")


def export(frames: Mapping[str, pd.DataFrame], prefix: str, folders: Mapping[str, Path | None]) -> list[Path]:
    """Writes each frame as `<prefix><name>.<ending>` into the folder that is given for the ending; endings without a
    folder are left out. Returns the paths of the files. Missing folders are created.
    """
    need_folders(folders)
    wanted = {ending: folder for ending, folder in folders.items() if folder is not None}
    written = []
    for ending, folder in wanted.items():
        make_folder(folder)
        for name, frame in frames.items():
            path = folder / f"{prefix}{name}.{ending}"
            with written_aside(path) as aside:
                _WRITERS[ending](frame, aside)
            written.append(path)
    return written


def _to_csv(frame: pd.DataFrame, path: Path) -> None:
    """Writes CSV with column names, unrounded numbers and no index."""
    frame.to_csv(path, index=False)


def _to_json(frame: pd.DataFrame, path: Path) -> None:
    """Writes a JSON list with one object per row."""
    path.write_text(json_text(frame) + "\n", encoding="utf-8")


def _to_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Writes Parquet with the columns' types; a column of objects of several types becomes text."""
    mixed = [name for name in frame if frame[name].dtype == object and len({type(value) for value in frame[name]}) > 1]
    frame.astype(dict.fromkeys(mixed, str)).to_parquet(path, index=False)


_WRITERS: Mapping[str, Callable[[pd.DataFrame, Path], None]] = {
    "csv": _to_csv,
    "json": _to_json,
    "parquet": _to_parquet,
}
"""Writers by the suffix of a file's name."""
