"""The table of launchers."""

from __future__ import annotations

from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.local import LOCAL
from iolens.lab.launchers.slurm import SLURM

LAUNCHERS: dict[str, Launcher] = {launcher.name: launcher for launcher in (LOCAL, SLURM)}
"""Launchers by name."""
