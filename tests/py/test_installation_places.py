"""Tests the folders in which an installation's parts are searched; a folder without permission to enter counts as
empty.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.errors import IolensError
from iolens.lab.installation import find_library, find_program

NOWHERE = "/" + "x" * 300
"""A path that cannot be opened even by root: its name is too long."""


def test_a_home_or_library_folder_that_cannot_be_entered_holds_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """`su user` keeps HOME=/root, which the user may not enter."""
    with pytest.raises(OSError, match="name too long"):
        (Path(NOWHERE) / "program").stat()
    monkeypatch.setenv("XDG_DATA_HOME", NOWHERE)
    monkeypatch.setenv("IOLENS_LIB", NOWHERE)
    with pytest.raises(IolensError, match="no-such-program"):
        find_program("no-such-program")
    assert find_library("no-such-library.so") is None
