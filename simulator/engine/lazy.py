"""Late imports: a module of this package runs when something in it is first used, not when it is imported.

`from simulator.providers.ramp.balance import bodies` costs next to nothing until somebody asks for `bodies.SendBody`;
`from simulator.providers.ramp.balance.bodies import SendBody` asks at once. So what the first request does not need is
imported as a module and named with it, and a row of a table names it by a function: `lambda: bodies.SendBody`.
It is what `lazy import` is in Python 3.15 (PEP 810).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from threading import RLock
from types import ModuleType


class _LateModule(ModuleType):
    """A module that has not run yet. Only what it lacks comes here: what the import itself sets is there."""

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # the import asks every module whether it is a package
            raise AttributeError(name)
        if "__path__" in vars(self) and find_spec(f"{self.__name__}.{name}") is not None:
            # `from package import module` inside the package must not run the package, which may import its importer.
            return import_module(f"{self.__name__}.{name}")
        loader = self.__loader__
        assert isinstance(loader, _LateLoader)
        if not loader.run(self):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} yet: it is being imported")
        return getattr(self, name)


class _LateLoader(SourceFileLoader):
    """Loads a module, but runs it at its first use: once, by whatever thread comes first, while others wait."""

    def exec_module(self, module: ModuleType) -> None:
        self._lock = RLock()
        self._runs = False
        module.__class__ = _LateModule

    def run(self, module: ModuleType) -> bool:
        """Whether the module has run now; not while it is just running, and what it imports looks into it."""
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
    """Finds the modules below one package as the path does, and has them run late."""

    def __init__(self, package: str, at_once: tuple[str, ...]) -> None:
        self._below = f"{package}."
        self._at_once = tuple(f"{name}." for name in at_once)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(self._below) or name.startswith(self._at_once):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _LateLoader(spec.loader.name, spec.loader.path)
        return spec


def import_late(package: str, *, at_once: tuple[str, ...] = ()) -> None:
    """From now on every module below this package runs when it is first used, but for those in packages `at_once`."""
    sys.meta_path.insert(0, _LateFinder(package, at_once))


def run_all() -> None:
    """Run every module that was imported and has not run yet, and the modules that these import.

    A module that needs a package of an extra that is not installed stays late: its first use says what is missing.
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
