"""The tests for your changes: `python -m tests.changed [--list] [--since REF] [PYTEST ARGUMENTS]`.

Changes are what git reports: the work tree compared with REF (default HEAD), and new files. A test file is chosen if

- it is changed itself, or imports a changed module directly or indirectly, or
- it is in the folder of the changed package: `simulator/engine/control/history` has `tests/unit/engine/control` and
  `tests/service/control`.

Campaigns are chosen only if they are changed themselves. Imports through the wiring modules (`WIRING`) do not count,
because almost everything depends on everything through them. `make test` covers that.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Protocol

import pytest

from tests.places import ROOT

WIRING = (
    "simulator.engine.worlds.simulator",
    "simulator.cli",
    "simulator.engine.server.config",
    "simulator.contract",
    "simulator.engine.control.app",
    "simulator.engine.control.rows",
    "simulator.host",
    "simulator.providers.ramp",
    "simulator.engine.server.app",
    "simulator.testing",
    "simulator.engine.worlds.world_states",
    "tests.remote",
)
"""Modules that bring parts together. Their importers depend on them, and not on each part."""

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "scenarios": ("tests/unit/engine/scenario", "tests/service/scenario", "tests/tools/contract"),
    "contracts": ("tests/tools/contract",),
    "simulator/docs": ("tests/tools/docs",),
    "README.md": ("tests/tools/test_readme.py",),
    "pyproject.toml": ("tests/tools/test_exports.py", "tests/tools/wheel"),
}
"""Tests that depend on files that no module imports."""


class Imports(Protocol):
    """The used methods of the import graph (`grimp.ImportGraph`)."""

    @property
    def modules(self) -> Collection[str]: ...

    def find_modules_that_directly_import(self, module: str) -> Collection[str]: ...


def changed_files(since: str) -> list[str]:
    """Paths from the top of the checkout, those of new files too. Deleted ones are left out."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words, "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        return [path for path in done.stdout.split("\0") if path]

    found = {*git("diff", "--name-only", since), *git("ls-files", "--others", "--exclude-standard")}
    return sorted(path for path in found if (ROOT / path).exists())


def depending(graph: Imports, changed: Iterable[str]) -> set[str]:
    """All modules that import one of the changed ones, by whatever way that does not lead through the wiring."""
    found = {module for module in changed if module in graph.modules}
    to_follow = list(found)
    while to_follow:
        for module in graph.find_modules_that_directly_import(to_follow.pop()):
            if module not in found:
                found.add(module)
                if module not in WIRING:
                    to_follow.append(module)
    return found


def module_of(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def chosen(graph: Imports, files: Iterable[str]) -> list[str]:
    """Return test files and folders for pytest, in order. None is inside another."""
    files = list(files)
    modules = depending(graph, (module_of(path) for path in files if path.endswith(".py")))
    found = {module.replace(".", "/") + ".py" for module in modules if module.rpartition(".")[2].startswith("test_")}
    found = {path for path in found if path in files or not path.startswith("tests/campaigns/")}
    for path in files:
        found.update(_by_name(path))
    return sorted(path for path in found if not any(path.startswith(f"{other}/") for other in found))


def _by_name(path: str) -> Iterator[str]:
    for folder, tests in FOLDERS.items():
        if path == folder or path.startswith(f"{folder}/"):
            yield from tests
    parts = PurePosixPath(path).parts
    if parts[0] == "simulator":
        yield from _of_package(parts[1:-1])
    elif parts[0] == "tests" and not path.endswith(".py") and len(parts) > 3:  # a file beside tests, which they read
        yield "/".join(parts[:3])


def _of_package(package: tuple[str, ...]) -> Iterator[str]:
    """The folders of tests of a package: the nearest in `unit`, which mirrors packages, and one by name elsewhere."""
    if package[:1] == ("providers",):
        package = package[1:]
    shared = 1 if package[:1] in {("engine",), ("ramp",)} else 0  # folders that hold the tests of many packages
    nearest = ("/".join(("tests/unit", *package[:end])) for end in range(len(package), shared, -1))
    yield from islice(filter(_is_folder, nearest), 1)
    for layer in ("tests/service", "tests/tools"):
        yield from islice(filter(_is_folder, (f"{layer}/{name}" for name in package)), 1)


def _is_folder(path: str) -> bool:
    return (ROOT / path / "__init__.py").exists()  # a move leaves folders of compiled files behind


def main() -> int:
    import grimp

    asked = argparse.ArgumentParser(prog="python -m tests.changed", description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--list", action="store_true", help="only name the files")
    asked.add_argument("--since", default="HEAD", help="compare with this commit (default HEAD)")
    given, more = asked.parse_known_args()
    files = changed_files(given.since)
    tests = chosen(grimp.build_graph("simulator", "tests", cache_dir=str(ROOT / ".import_linter_cache")), files)
    print(f"{len(files)} changed files; {len(tests)} files and folders of tests depend on them")  # noqa: T201
    if given.list:
        print("\n".join(tests))  # noqa: T201
    if given.list or not tests:
        return 0
    return int(pytest.main([*more, *(str(ROOT / path) for path in tests)]))


if __name__ == "__main__":
    sys.exit(main())
