"""Gives all tests PyPI's `darshan`, an independent reader of logs. If it cannot be imported, a stand-in skips the tests
that use it. Keeps the seconds that each test file took, by which `make test-near` chooses.
"""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

PYDARSHAN = ("darshan", "darshan.backend", "darshan.backend.cffi_backend")
"""The modules of PyPI's `darshan` that tests import."""


class Missing(ModuleType):
    """A substitute for a module that cannot be imported. A test that uses anything of the module is skipped."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self._reason = reason

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(self._reason)


def stand_in(error: Exception) -> None:
    """Registers the stand-ins. On a Python for which PyPI has only the source archive, the package has no library."""
    reason = f"PyPI's darshan, which checks what was written, cannot be imported here: {str(error).splitlines()[0]}"
    for name in PYDARSHAN:
        module = Missing(name, reason)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)


try:
    from darshan.backend.cffi_backend import libdutil

    # PyDarshan closes a log when Python collects the object, perhaps while cffi looks up a name under its lock. If cffi
    # then had to look up this function for its first use, it would wait for the same lock for ever; so the function is
    # used here first.
    CLOSE = libdutil.darshan_log_close
except Exception as error:  # The package may raise any error if its library is missing.
    stand_in(error)


class Clock:
    """Adds up the seconds of each test file, and keeps them in pytest's cache."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the time of one phase of a test."""
        file = report.nodeid.partition("::")[0]
        self._seconds[file] = self._seconds.get(file, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Keeps the seconds, unless only some tests of a file ran."""
        chosen = self._config.option.keyword or any("::" in name for name in self._config.args)
        if self._config.cache is not None and not chosen:
            self._config.cache.set("iolens/seconds", self._config.cache.get("iolens/seconds", {}) | self._seconds)


def pytest_configure(config: pytest.Config) -> None:
    """Starts the clock in the process that hears of all tests, if it has a cache."""
    if not hasattr(config, "workerinput") and config.pluginmanager.hasplugin("cacheprovider"):
        config.pluginmanager.register(Clock(config))
