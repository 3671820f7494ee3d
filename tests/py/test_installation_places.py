"""The folders in which parts of an installation are looked for; a folder that may not be entered counts as empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.errors import IolensError
from iolens.lab.installation import find_library, find_program

NOWHERE = "/" + "x" * 300
"""A folder for whose files the kernel has another error than absence, for root too."""


def test_a_home_or_library_folder_that_cannot_be_entered_holds_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """`su user` keeps HOME=/root, which that user may not enter."""
    with pytest.raises(OSError, match="name too long"):
        (Path(NOWHERE) / "program").stat()
    monkeypatch.setenv("XDG_DATA_HOME", NOWHERE)
    monkeypatch.setenv("IOLENS_LIB", NOWHERE)
    with pytest.raises(IolensError, match="no-such-program"):
        find_program("no-such-program")
    assert find_library("no-such-library.so") is None
