"""Stand-ins for modules that a library imports and a command seldom uses: the module itself comes when it is used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
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


class StandIns:
    """Lets the first import of each of these modules find a stand-in with the names given for it."""

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        self.given = dict(given)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the stand-in is from; None for other modules."""
        return ModuleSpec(name, self) if name in self.given else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the stand-in; the next import that looks for this module finds the module."""
        return StandIn(spec.name, self.given.pop(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """It is whole already."""


def stand_in(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Lets imports of these modules, where they are not loaded already, find stand-ins that have these names."""
    sys.meta_path.insert(0, StandIns(given))


def loaded(name: str) -> ModuleType:
    """Returns the module itself."""
    if isinstance(sys.modules.get(name), StandIn):
        del sys.modules[name]
    return import_module(name)


def function_of(module: str, name: str) -> Callable[..., Any]:
    """Returns a function in place of a module's, that loads the module when it is called."""
    return lambda *args, **kwargs: getattr(loaded(module), name)(*args, **kwargs)


@contextmanager
def or_whole(library: str) -> Iterator[None]:
    """Does what rests on the inside of a library. Where another version of it is made otherwise, all that this did is
    undone, so that the library comes whole when it is imported next.
    """
    finders, known = list(sys.meta_path), set(sys.modules)
    try:
        yield
    except Exception:  # whatever a library may raise that misses its own parts
        sys.meta_path[:] = finders
        for name, module in list(sys.modules.items()):
            own = name.partition(".")[0] == library
            if name not in known and (own or module is None or isinstance(module, StandIn)):
                forget(name)


def forget(name: str) -> None:
    """Lets the next import load a module anew, also an import from its package."""
    module = sys.modules.pop(name)
    package, _, leaf = name.rpartition(".")
    if package in sys.modules and vars(sys.modules[package]).get(leaf) is module:
        delattr(sys.modules[package], leaf)
