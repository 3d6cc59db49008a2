"""The cache between processes: a value is created once, and again if a source changes or the file is damaged."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.kept import digest, forget, kept


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of sources."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "one.py").write_text("1")
    return folder


@pytest.fixture
def asked(tmp_path: Path, source: Path) -> Callable[[str], str]:
    """Ask for the value that is kept; `made` is what it is when it is made now."""
    return lambda made: kept("value", lambda: made, sources=(source,), directory=tmp_path / "kept")


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "kept").glob("*.pickle"))


def test_it_is_made_once(asked: Callable[[str], str], tmp_path: Path) -> None:
    assert [asked("first"), asked("second")] == ["first", "first"]
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("change", ["contents", "name", "more"])
def test_a_changed_source_creates_a_new_value_and_file(
    change: str, asked: Callable[[str], str], source: Path, tmp_path: Path
) -> None:
    asked("first")
    if change == "contents":
        (source / "one.py").write_text("2")
    elif change == "name":
        (source / "one.py").rename(source / "two.py")
    else:
        (source / "two.py").write_text("")
    assert asked("second") == "second"
    assert len(files(tmp_path)) == 1


def test_files_outside_the_sources_do_not_count(source: Path) -> None:
    before = digest([source])
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "one.pyc").write_text("compiled")
    assert digest([source]) == before


@pytest.mark.parametrize("spoilt", [b"", b"no pickle", pickle.dumps("another")])
def test_a_damaged_file_is_replaced(spoilt: bytes, asked: Callable[[str], str], tmp_path: Path) -> None:
    asked("first")
    (file,) = files(tmp_path)
    file.write_bytes(spoilt)
    assert [asked("second"), asked("third")] == ["second", "second"]


def test_half_a_file_is_replaced(asked: Callable[[str], str], tmp_path: Path) -> None:
    asked("first")
    (file,) = files(tmp_path)
    file.write_bytes(file.read_bytes()[:-3])
    assert asked("second") == "second"


def test_a_failed_change_keeps_nothing(asked: Callable[[str], str], source: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        kept("value", lambda: 1 / 0, sources=(source,), directory=tmp_path / "kept")
    assert asked("second") == "second"


def test_two_values_are_kept_apart(source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        for name in ("one", "another"):
            assert kept(name, partial(str, name), sources=(source,), directory=tmp_path / "kept") == name


def test_a_deleted_value_is_created_again(asked: Callable[[str], str], tmp_path: Path) -> None:
    asked("first")
    forget(tmp_path / "kept")
    assert asked("second") == "second"


def test_a_concurrent_caller_waits_for_the_value(source: Path, tmp_path: Path) -> None:
    """The lock is that of a file, which holds between processes as between these threads."""
    begun, go = threading.Event(), threading.Event()
    made: list[str] = []
    got: list[str] = []

    def make() -> str:
        begun.set()
        assert go.wait(30)
        made.append("once")
        return "first"

    def ask() -> None:
        got.append(kept("value", make, sources=(source,), directory=tmp_path / "kept"))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert (made, got) == (["once"], ["first"] * 3)
