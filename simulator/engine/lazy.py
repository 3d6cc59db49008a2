"""Lazy imports: a module runs at its first use, not when it is imported.

`from simulator.providers.ramp.balance import bodies` costs almost nothing until `bodies.SendBody` is used. `from
simulator.providers.ramp.balance.bodies import SendBody` loads the module immediately. Code that the first request does
not need is therefore imported as a module. Declarations refer to its classes in a function: `lambda: bodies.SendBody`.
Python 3.15 has this as `lazy import` (PEP 810).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from os.path import isfile
from threading import RLock
from types import ModuleType


class _LateModule(ModuleType):
    """A module that has not run yet. `__getattr__` is called only for names that the import itself has not set."""

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # the import system checks whether a module is a package
            raise AttributeError(name)
        if "__path__" in vars(self) and name.islower():  # modules have lower-case names
            # `from package import module` inside the package must not run the package, which may import its importer.
            try:
                return import_module(f"{self.__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{self.__name__}.{name}":
                    raise
        loader = self.__loader__
        assert isinstance(loader, _LateLoader)
        if not loader.run(self):
            raise AttributeError(
                f"module {self.__name__!r} has no attribute {name!r} yet, because it is still being imported"
            )
        return getattr(self, name)


class _LateLoader(SourceFileLoader):
    """Loads a module and runs it once, at its first use. The first thread runs it, and other threads wait."""

    def exec_module(self, module: ModuleType) -> None:
        self._lock = RLock()
        self._runs = False
        module.__file__ = self.path
        module.__class__ = _LateModule

    def run(self, module: ModuleType) -> bool:
        """Run the module unless it has run or is running. Return False if it is still running."""
        with self._lock:
            if type(module) is ModuleType:
                return True
            if self._runs:
                return False
            self._runs = True
            try:
                super().exec_module(module)
            finally:
                self._runs = False
            module.__class__ = ModuleType
            return True


class _LateFinder:
    """Finds some modules in the same way as Python's path finder, but with the lazy loader."""

    def __init__(self, is_late: Callable[[str], bool]) -> None:
        self._is_late = is_late

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self._is_late(name):
            return None
        folders = sys.path if path is None else path
        return next(filter(None, (_spec_in(folder or ".", name) for folder in folders)), None)


def _spec_in(folder: str, name: str) -> ModuleSpec | None:
    """Return a lazy module if its source is in the given folder, otherwise None. Unlike the path finder, which runs
    next, this does not list folders and look for binary modules, and takes a third of the time.
    """
    stem = f"{folder}/{name.rpartition('.')[2]}"
    if isfile(place := f"{stem}.py"):
        return ModuleSpec(name, _LateLoader(name, place), origin=place)
    if isfile(place := f"{stem}/__init__.py"):
        spec = ModuleSpec(name, _LateLoader(name, place), origin=place, is_package=True)
        spec.submodule_search_locations = [stem]
        return spec
    return None


def import_late(package: str, *, at_once: tuple[str, ...] = ()) -> None:
    """From now on, run each module below this package at its first use, except those in the packages `at_once`."""
    below, excepted = f"{package}.", tuple(f"{name}." for name in at_once)
    sys.meta_path.insert(0, _LateFinder(lambda name: name.startswith(below) and not name.startswith(excepted)))


def postpone(*modules: str) -> None:
    """From now on, run each of these modules at its first use, whichever package imports it.

    A statement `from module import name` is a use. Modules that are imported already or have no source are not
    affected.
    """
    sys.meta_path.insert(0, _LateFinder(frozenset(modules).__contains__))


def names_in(module: ModuleType) -> dict[str, object]:
    """Return the values that a module defines, by name. A module that has not run yet runs first."""
    loader = module.__loader__
    if isinstance(loader, _LateLoader):
        loader.run(module)
    return vars(module)


def run_all() -> None:
    """Run every module that was imported and has not run yet, and the modules that they import. A module that needs a
    package of a missing extra stays lazy, and its first use raises the error.
    """
    waiting: set[str] = set()
    while late := [
        one for one in tuple(sys.modules.values()) if type(one) is _LateModule and one.__name__ not in waiting
    ]:
        for module in late:
            loader = module.__loader__
            assert isinstance(loader, _LateLoader)
            try:
                loader.run(module)
            except ModuleNotFoundError as error:
                package = module.__name__.partition(".")[0]
                if error.name is None or error.name.partition(".")[0] == package:
                    raise
                waiting.add(module.__name__)
