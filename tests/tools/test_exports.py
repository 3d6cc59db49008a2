"""The public names of the package: exactly the documented ones, visible to a type checker.

mypy reads the tests with the package (`files` in pyproject.toml): `assert_type` is its part of the test.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import assert_type

from starlette.applications import Starlette

import simulator
from simulator import Config, ConfigError, Simulator, create_app
from tests.places import ROOT

PUBLIC = {"Config", "ConfigError", "Simulator", "__version__", "create_app"}


def test_the_public_names_are_these() -> None:
    assert set(simulator.__all__) == PUBLIC
    taken: dict[str, object] = {}
    exec("from simulator import *", taken)
    assert set(taken) - {"__builtins__"} == PUBLIC
    assert all(taken[name] is getattr(simulator, name) for name in PUBLIC)


def test_a_type_checker_sees_every_public_name() -> None:
    assert_type(Config(), Config)
    assert_type(ConfigError(["wrong"]).problems, list[str])
    assert_type(Simulator().draw_seed(), int)
    assert_type(simulator.__version__, str)
    application: Starlette = create_app(Config(clock="manual", scenarios=()))
    assert isinstance(application, Starlette)
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]
    assert {"simulator", "tests"} <= set(checked)
    assert (ROOT / "simulator" / "py.typed").is_file()


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    assert not hasattr(simulator, "Application")


def test_importing_the_package_imports_next_to_nothing() -> None:
    looked = "import sys, simulator; print([n for n in sys.modules if n.startswith(('simulator.', 'starlette'))])"
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['simulator.engine', 'simulator.engine.lazy', 'simulator.version']"
