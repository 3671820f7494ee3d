"""The places where the project's libraries may lie: in a checkout, below a prefix, or in a wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""The folder above report/iolens, if the package runs from a checkout."""

INSTALLED = Path(sys.prefix).parent
"""PREFIX/lib/iolens, if the package was installed by `make install`."""

IN_WHEEL = Path(__file__).resolve().parent / "parts"
"""The parts that the wheel carries beside the package."""

BUILD_FOR_LUSTRE = CHECKOUT / "build" / "impi"
"""Folder of the programs and libraries for the MPI with ROMIO's Lustre driver, if the default MPI lacks it."""


def folders_of_libraries() -> list[Path]:
    """Returns the folders that may hold libiolens.so, the preferred one first."""
    named = os.environ.get("IOLENS_LIB")
    usual = [*([Path(named)] if named else []), CHECKOUT / "build" / "lib", INSTALLED / "lib"]
    return [*usual, IN_WHEEL / "lib", BUILD_FOR_LUSTRE / "lib"]
