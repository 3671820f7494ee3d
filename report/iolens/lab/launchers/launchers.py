"""The launchers that there are."""

from __future__ import annotations

from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.local import LOCAL

LAUNCHERS: dict[str, Launcher] = {launcher.name: launcher for launcher in (LOCAL,)}
"""By name."""
