"""The content of the wheel and the sdist: all files that an installation needs, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.places import ROOT

DATA = "simulator/_data/"
pytestmark = pytest.mark.xdist_group("wheel")

IN_WHEEL = (
    "simulator/dashboard/page/*",
    "simulator/docs/contents.yaml",
    "simulator/docs/index.md",
    "simulator/docs/tutorial/*.md",
    "simulator/docs/how-to/*.md",
    "simulator/docs/reference/*.md",
    "simulator/docs/explanation/*.md",
    "simulator/docs/page/*",
    "simulator/docs/recipes/recipes.json",
    "simulator/docs/recipes/github-action/report/action.yml",
    "simulator/docs/recipes/compose/app/Dockerfile",
    "simulator/docs/recipes/devcontainer/devcontainer.json",
    "simulator/providers/ramp/decisions.yaml",
    "simulator/py.typed",
    "simulator/cli/tools/scenario.template.yaml",
    "simulator/engine/insight/templates/coverage.html",
    f"{DATA}scenarios/autopilot.yaml",
    f"{DATA}contracts/openapi.yaml",
    f"{DATA}contracts/control.yaml",
    f"{DATA}contracts/webhook-vectors.json",
    f"{DATA}contracts/clients/typescript/lib/vitest.js",
    f"{DATA}contracts/clients/typescript/types/openapi.d.ts",
    f"{DATA}contracts/clients/typescript/package.json",
    "rampsim-*.dist-info/licenses/LICENSE",
)
IN_SDIST = (
    *(pattern.removeprefix(DATA) for pattern in IN_WHEEL if "dist-info" not in pattern),
    "contracts/clients/typescript/src/vitest.ts",
    "contracts/generator/writer.py",
    "tests/tools/wheel/test_contents.py",
    "tests/service/saved/*",
    ".ci/run",
    ".pre-commit-config.yaml",
    "Dockerfile",
    ".dockerignore",
    "Makefile",
    "requirements.lock",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
)
NEVER = (
    "*__pycache__*", "*.pyc", "*node_modules*", "*/.hypothesis/*", "*/.venv*", "*/.judges/*", "*.egg-info*", "*/dist/*",
    "*_cache/*", "*.db", "*.db-wal", "*.log", ".coverage*", "*.rampsim/*",
)  # fmt: skip
NOT_IN_WHEEL = (
    "tests/*",
    "contracts/*",
    "scenarios/*",
    f"{DATA}contracts/generator/*",
    "*/clients/*/src/*",
    "*.test.ts",
)


def build(source: Path, directory: Path, target: str) -> Path:
    words = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(directory)]
    done = subprocess.run(words, cwd=source, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (made,) = directory.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the wheel has that is made of the unpacked sdist, as `pip install` of an sdist makes it."""
    directory = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(directory, filter="data")
    (source,) = directory.iterdir()
    return zipfile.ZipFile(build(source, tmp_path_factory.mktemp("wheel"), "wheel")).namelist()


@pytest.fixture(scope="module")
def carried(sdist: Path) -> list[str]:
    with tarfile.open(sdist) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def missing(patterns: Iterable[str], names: list[str]) -> list[str]:
    return [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in names)]


def wrong(patterns: Iterable[str], names: list[str]) -> list[str]:
    return [name for name in names if any(fnmatch(name, pattern) for pattern in patterns)]


def test_the_wheel_of_the_sdist_has_all_that_is_used(wheel: list[str]) -> None:
    assert missing(IN_WHEEL, wheel) == []
    assert wrong((*NEVER, *NOT_IN_WHEEL), wheel) == []


def test_the_sdist_has_all_that_tests_and_builds(carried: list[str]) -> None:
    assert missing(IN_SDIST, carried) == []
    assert wrong(NEVER, carried) == []


def test_every_file_of_the_package_and_of_the_scenarios_is_in_the_wheel(wheel: list[str]) -> None:
    asked = ["git", "ls-files", "simulator", "scenarios"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    expected = {name if name.startswith("simulator/") else f"{DATA}{name}" for name in listed.stdout.splitlines()}
    assert expected - set(wheel) == set()


def test_the_readme_names_the_wheel_as_it_is_called(sdist: Path) -> None:
    version = sdist.name.removeprefix("rampsim-").removesuffix(".tar.gz")
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"rampsim-[\w.]+-py3-none-any\.whl", readme))
    assert named == {f"rampsim-{version}-py3-none-any.whl"}
