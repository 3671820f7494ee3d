"""A folder on any other file system, which has no stripes to set."""

from __future__ import annotations

from iolens.lab.storage.backend import Backend

PLAIN = Backend(name="plain", holds=lambda path: True)
