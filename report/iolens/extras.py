"""The command that installs optional Python packages into the environment in which this command runs."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import Any


def installation_command(extra: str, spec_of: Callable[[str], Any] = find_spec) -> str:
    """Returns the shell command that adds the packages of an extra to this installation.

    An environment that `make install` made has no pip of its own. Python's ensurepip adds it, or else the system's pip
    works on that environment: a machine may lack either. pip must not change the packages of the system's own Python,
    so a new environment is made on top of them. Debian has what that needs, ensurepip, in a package of its own.
    """
    packages = shlex.join(_requirements(extra))
    python = shlex.quote(os.path.abspath(sys.executable))
    if sys.prefix == sys.base_prefix:
        own = '"$HOME/iolens-python"'
        first = "" if spec_of("ensurepip") else "$(command -v sudo) apt-get install -y python3-venv && "
        return (
            f"{first}{python} -m venv --system-site-packages {own} && {own}/bin/pip install {packages}; "
            f"then use {own}/bin/python -m iolens.cli.main instead of iolens"
        )
    own_pip = f"{python} -m pip install {packages}"
    if spec_of("pip"):
        return own_pip
    if spec_of("ensurepip"):
        return f"{python} -m ensurepip && {own_pip}"
    return f"python3 -m pip --python {python} install {packages}"


def _requirements(extra: str) -> list[str]:
    """Returns the packages of an extra with their versions, as this package declares them."""
    try:
        declared = requires("iolens") or []
    except PackageNotFoundError:
        declared = []
    marked = (re.fullmatch(r"(.+?) *; *extra *== *['\"](.+)['\"]", each) for each in declared)
    return [found[1] for found in marked if found and found[2] == extra] or [f"iolens[{extra}]"]
