"""Names of files to write, as options take them."""

from __future__ import annotations

import argparse
from pathlib import Path


def pdf_name(text: str) -> Path:
    """The path of a PDF to write; raises when its ending promises something else."""
    path = Path(text)
    if path.suffix.lower() != ".pdf":
        raise argparse.ArgumentTypeError(f"{text}: what is written is a PDF; give a name that ends in .pdf")
    return path
