"""Lazy imports: a module runs once, when one of its names is first used, and errors are reported then."""

from __future__ import annotations

import importlib
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from simulator.engine.lazy import import_late, names_in, postpone, run_all
from tests.measures import sources

Make = Callable[[str, str], None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Make]]:
    """The name of a package whose modules run late, and what writes a module of it."""
    name = f"late_{uuid.uuid4().hex}"
    (tmp_path / name).mkdir()

    def make(module: str, text: str) -> None:
        (tmp_path / name / f"{module}.py").write_text(text)
        importlib.invalidate_caches()

    make("__init__", "ran = []")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    import_late(name, at_once=(f"{name}.soon",))
    yield name, make
    for module in [known for known in sys.modules if known.partition(".")[0] == name]:
        del sys.modules[module]


def _module(package: str, name: str) -> ModuleType:
    return importlib.import_module(f"{package}.{name}")


def test_a_module_runs_when_something_in_it_is_first_used(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"import {name}; {name}.ran.append('a'); X = 1")
    root, a = importlib.import_module(name), _module(name, "a")
    assert root.ran == []
    assert (a.X, a.X, root.ran) == (1, 1, ["a"])
    assert type(a) is ModuleType


def test_an_immediate_task_runs_inline(package: tuple[str, Make], tmp_path: Path) -> None:
    name, make = package
    (tmp_path / name / "soon").mkdir()
    make("soon/__init__", "")
    make("soon/a", f"import {name}; {name}.ran.append('a')")
    _module(name, "soon.a")
    assert importlib.import_module(name).ran == ["a"]


def test_a_module_imported_from_its_package_does_not_run_the_package(package: tuple[str, Make], tmp_path: Path) -> None:
    name, make = package
    (tmp_path / name / "room").mkdir()
    make("room/__init__", f"from {name}.room.a import X")
    make("room/a", f"from {name}.room import b; X = b.Y")
    make("room/b", "Y = 1")
    assert _module(name, "room.a").X == 1
    assert _module(name, "room").X == 1


def test_a_name_imported_from_a_module_runs_it_at_once(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"import {name}; {name}.ran.append('a'); X = 1")
    make("b", f"from {name}.a import X; from {name} import c")
    make("c", f"import {name}; {name}.ran.append('c')")
    assert _module(name, "b").X == 1
    assert importlib.import_module(name).ran == ["a"]


def test_a_missing_name_raises_as_in_any_module(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", "X = 1")
    with pytest.raises(AttributeError, match="has no attribute 'Y'"):
        _ = _module(name, "a").Y


def test_a_module_that_breaks_says_so_at_every_use(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", "X = 1; raise RuntimeError('broken')")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            _ = _module(name, "a").Y


def test_a_circle_is_an_error(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"from {name}.b import Y; X = 1")
    make("b", f"from {name}.a import X; Y = 1")
    with pytest.raises(ImportError, match="cannot import name 'X'"):
        _ = _module(name, "a").X


def test_a_thread_waits_until_another_has_run_the_module(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"import {name}; {name}.begun.set(); {name}.go_on.wait(10); X = 1")
    root, a = importlib.import_module(name), _module(name, "a")
    vars(root).update(begun=threading.Event(), go_on=threading.Event())
    found: list[int] = []
    first = threading.Thread(target=lambda: found.append(a.X))
    first.start()
    assert root.begun.wait(10)
    second = threading.Thread(target=lambda: found.append(a.X))
    second.start()
    assert found == []
    root.go_on.set()
    first.join()
    second.join()
    assert found == [1, 1]


def test_run_all_skips_a_module_of_an_absent_extra(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"from {name} import b, c")
    make("b", "import no_such_package_anywhere")
    make("c", f"import {name}; {name}.ran.append('c')")
    a = _module(name, "a")
    run_all()
    assert importlib.import_module(name).ran == ["c"]
    with pytest.raises(ModuleNotFoundError, match="no_such_package_anywhere"):
        _ = a.b.X


def test_run_all_reports_an_absent_module_of_the_package(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", f"import {name}.none_of_mine")
    _module(name, "a")
    with pytest.raises(ModuleNotFoundError, match="none_of_mine"):
        run_all()


def test_a_postponed_module_runs_at_its_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text = f"postponed_{uuid.uuid4().hex}", "import sys; sys.ran.append(__name__); X = 1"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(text)
    (tmp_path / name / "a.py").write_text(text)
    importlib.invalidate_caches()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "ran", [], raising=False)
    postpone(name)
    a = importlib.import_module(f"{name}.a")
    assert vars(sys)["ran"] == [f"{name}.a"], "the package is postponed, its module is not"
    assert (importlib.import_module(name).X, a.X) == (1, 1)
    assert vars(sys)["ran"] == [f"{name}.a", name]
    for module in (name, f"{name}.a"):
        del sys.modules[module]


def test_names_in_runs_a_module_first(package: tuple[str, Make]) -> None:
    name, make = package
    make("a", "X = 1")
    assert names_in(_module(name, "a"))["X"] == 1
    assert names_in(sys)["path"] is sys.path


def test_every_module_can_be_run() -> None:
    """What runs late must not break late: here every module of the package runs."""
    root = Path(importlib.import_module("simulator").__file__ or "").parent
    for path in sources():
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name != "simulator.__main__":
            with pytest.raises(AttributeError):
                _ = importlib.import_module(name).no_module_has_this
