"""Stand-ins for modules that a library imports and a command seldom uses: the module itself comes when it is used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class StandIn(ModuleType):
    """Has the names that it is given; asked for another one, it loads its module and takes that one's."""

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(loaded(self.__name__), name)


class StandIns(MetaPathFinder, Loader):
    """Lets the first import of each of these modules find a stand-in with the names given for it."""

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        self.given = dict(given)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the stand-in is from; None for other modules."""
        return ModuleSpec(name, self) if name in self.given else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The stand-in; the next import that looks for this module finds the module."""
        return StandIn(spec.name, self.given.pop(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """It is whole already."""


def stand_in(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Let imports of these modules, where they are not loaded already, find stand-ins that have these names."""
    sys.meta_path.insert(0, StandIns(given))


def loaded(name: str) -> ModuleType:
    """The module itself."""
    if isinstance(sys.modules.get(name), StandIn):
        del sys.modules[name]
    return import_module(name)


def function_of(module: str, name: str) -> Callable[..., Any]:
    """A function in place of a module's, that loads the module when it is called."""
    return lambda *args, **kwargs: getattr(loaded(module), name)(*args, **kwargs)
