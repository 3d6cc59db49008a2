"""Every module can be imported first, and without the packages of any extra."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.measures import sources
from tests.places import ROOT

ALONE = """
import gc, importlib, os, sys

absent, names = set(sys.argv[1].split(",")), sys.stdin.read().split()

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def run(name):
    module = importlib.import_module(name)
    getattr(module, "no_such_member", None)  # a late module runs now

def problem_of(name):
    try:
        run(name)
    except ImportError as error:
        cause = error.__cause__ or error
        if (getattr(cause, "name", None) or "").partition(".")[0] not in absent:
            return f"{type(error).__name__}: {error}"
    return ""

sys.meta_path.insert(0, Absent())
gc.disable()
finders = [*sys.meta_path]
for name in names:  # what they import of others is loaded once
    problem_of(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "simulator"]:
    del sys.modules[name]
sys.meta_path[:] = finders
for name in names:
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0, name
        continue
    if problem := problem_of(name):
        print(f"{name}: {problem}", flush=True)
    os._exit(0)
"""
"""Imports each named module in a process of its own, and says what goes wrong but for packages that are absent."""


def _needed() -> set[str]:
    """The distributions that the simulator needs without any extra, by way of others too."""
    found, to_follow = set[str](), ["rampsim"]
    while to_follow:
        name = to_follow.pop()
        if name in found:
            continue
        found.add(name)
        try:
            requirements = [Requirement(text) for text in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:  # of another platform
            continue
        wanted = [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
        to_follow += [canonicalize_name(one.name) for one in wanted]
    return found


def _absent() -> list[str]:
    """The packages that only extras bring."""
    needed = _needed()
    providing = metadata.packages_distributions().items()
    return sorted(name for name, owners in providing if not needed & {canonicalize_name(one) for one in owners})


def _modules() -> list[str]:
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in sources()]
    return [".".join(name[:-1] if name[-1] == "__init__" else name) for name in parts]


def test_the_packages_of_extras_are_absent_and_no_others() -> None:
    assert {"httpx", "mcp", "hypothesis", "asyncpg", "opentelemetry", "schemathesis"} <= set(_absent())
    assert not {"starlette", "pydantic", "click", "yaml"} & set(_absent())


@pytest.mark.farm
def test_every_module_can_be_imported_first_and_without_extras() -> None:
    given = "\n".join(_modules())
    command = [sys.executable, "-c", ALONE, ",".join(_absent())]
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
