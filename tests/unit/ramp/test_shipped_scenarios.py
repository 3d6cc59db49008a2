"""The scenario files included with the ramp."""

from __future__ import annotations

from simulator.engine.scenario.files.library import files_in
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.files.shipped import shipped_directory, shipped_library
from simulator.host import vocabulary


def test_compiled_forms_equal_the_files() -> None:
    paths = {path.stem: path for path in files_in(shipped_directory())}
    loaded = {name: Loader(vocabulary()).load_shipped(path, paths) for name, path in paths.items()}
    assert dict(shipped_library(vocabulary())) == loaded


def test_the_shipped_directory_is_there() -> None:
    assert (shipped_directory() / "autopilot.yaml").is_file()
