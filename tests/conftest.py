"""What all tests need."""

from __future__ import annotations

from darshan.backend.cffi_backend import libdutil

CLOSE = libdutil.darshan_log_close
"""PyDarshan closes a log when Python collects it, which may be while cffi looks something up under its lock; and cffi
looks a function up, under the same lock, when it is first used: the tests would wait for ever."""
