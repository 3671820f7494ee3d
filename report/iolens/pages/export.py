"""The numbers of exhibits as files: CSV and JSON, full precision, bytes and seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError
from iolens.pages.output import written_aside

if TYPE_CHECKING:
    import pandas as pd


def make_folder(folder: Path) -> None:
    """The folder, there; IolensError when it cannot be made."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise IolensError(f"{folder}: the folder cannot be made ({error.strerror})") from error


def export(frames: Mapping[str, pd.DataFrame], prefix: str, csv: Path | None, json: Path | None) -> list[Path]:
    """Write `<prefix><name>.csv` into `csv` and `.json` (a list of rows) into `json`, where given: the files.

    These folders are made where they are missing.
    """
    written = []
    for folder in (csv, json):
        if folder is not None:
            make_folder(folder)
    for name, frame in frames.items():
        for folder, ending in ((csv, "csv"), (json, "json")):
            if folder is None:
                continue
            path = folder / f"{prefix}{name}.{ending}"
            with written_aside(path) as aside:
                if ending == "csv":
                    frame.to_csv(aside, index=False)
                else:
                    frame.to_json(aside, orient="records", indent=1, double_precision=15)
            written.append(path)
    return written
