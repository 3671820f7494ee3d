"""Write files that other processes may read at any moment."""

from __future__ import annotations

import os
from pathlib import Path


def write_aside(path: Path, text: str) -> None:
    """Writes a file under another name, then renames it, so that no reader sees an incomplete file."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
