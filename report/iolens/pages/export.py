"""Tables as files: CSV and JSON with full numbers, bytes and seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.pages.output import written_aside

if TYPE_CHECKING:
    import pandas as pd


def export(frames: Mapping[str, pd.DataFrame], stem: str, csv: Path | None, json: Path | None) -> list[Path]:
    """Write `<stem>.<table>.csv` into `csv` and `.json` into `json`, where given; returns the files."""
    written = []
    for name, frame in frames.items():
        for folder, ending in ((csv, "csv"), (json, "json")):
            if folder is None:
                continue
            path = folder / f"{stem}.{name}.{ending}"
            with written_aside(path) as aside:
                if ending == "csv":
                    frame.to_csv(aside, index=False)
                else:
                    frame.to_json(aside, orient="records", indent=1, double_precision=15)
            written.append(path)
    return written
