"""Helps tests that run ROMIO's own Lustre driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.places import BUILD_FOR_LUSTRE


def build() -> Path:
    """Returns the build for the MPI library that has the driver; skips the test if there is none."""
    if not (BUILD_FOR_LUSTRE / "bin" / "btio").exists():
        pytest.skip(
            "no MPI with ROMIO's Lustre driver; `make lustre-driver` installs Intel MPI's (x86-64, a package index)"
        )
    return BUILD_FOR_LUSTRE
