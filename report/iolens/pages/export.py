"""Exhibits as files: CSV and JSON with full numbers, bytes and seconds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from iolens.pages.exhibit import Exhibit
from iolens.pages.output import written_aside

S = TypeVar("S")


def export(exhibits: Iterable[Exhibit[S]], subject: S, stem: str, csv: Path | None, json: Path | None) -> list[Path]:
    """Write `<stem>.<exhibit>.csv` into `csv` and `.json` into `json`, where given; returns the files."""
    written = []
    for exhibit in exhibits:
        frame = exhibit.numbers(subject)
        for folder, ending in ((csv, "csv"), (json, "json")):
            if folder is None or frame is None:
                continue
            path = folder / f"{stem}.{exhibit.name}.{ending}"
            with written_aside(path) as aside:
                if ending == "csv":
                    frame.to_csv(aside, index=False)
                else:
                    frame.to_json(aside, orient="records", indent=1, double_precision=15)
            written.append(path)
    return written
