"""Pandas under its usual name, imported when code first uses one of its names.

Importing pandas takes longer than most commands do, and most functions of a module that names its types never run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["pd"]


class _Pandas:
    """Stands for the module until the program ends; each name is looked up in pandas itself."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("pandas"), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = _Pandas()
