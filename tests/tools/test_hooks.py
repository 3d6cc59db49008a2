"""The pre-commit hooks: a valid file, and the tools that the Makefile calls, which CI runs on the whole tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.places import ROOT

FILE = ROOT / ".pre-commit-config.yaml"
(LOCAL,) = yaml.safe_load(FILE.read_text("utf-8"))["repos"]
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in LOCAL["hooks"]}


def pre_commit(*words: str, home: Path, place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run it with nothing kept between runs, and no say of the machine's own git settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words], cwd=place, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=environment | {"PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


def test_the_file_is_valid_and_no_hook_fetches_anything(tmp_path: Path) -> None:
    done = pre_commit("validate-config", str(FILE), home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert LOCAL["repo"] == "local"
    assert {hook["language"] for hook in HOOKS.values()} == {"unsupported"}
    assert not any("additional_dependencies" in hook for hook in HOOKS.values())


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_calls_installed_tools_as_the_makefile_does(name: str) -> None:
    """So it passes where the checks and tests of CI do: they run the same on the whole tree."""
    words = HOOKS[name]["entry"].removesuffix(" --force-exclude").split()
    tool = words[0].removeprefix(".venv/bin/")
    assert (Path(sys.prefix) / "bin" / tool).is_file()
    if name == "contract":  # tests hold its files against the code
        assert words[1:] == ["-m", "contracts.generator", "check"]
    else:
        assert " ".join(["$(BIN)/" + tool, *words[1:]]) in (ROOT / "Makefile").read_text("utf-8")


def test_the_hook_of_mypy_is_called_for_all_that_mypy_reads() -> None:
    places = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]
    assert all(re.search(HOOKS["mypy"]["files"], f"{place}/some.py") for place in places)
    assert re.search(HOOKS["mypy"]["files"], "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "failed"),
    [("x = 1\n", []), ("x  =  1\n", ["ruff-format"]), ("x = y\n", ["ruff-check"])],
)
def test_an_error_in_a_commit_stops_it(tmp_path: Path, text: str, failed: list[str]) -> None:
    place = tmp_path / "clone"
    place.mkdir()
    (place / ".venv").symlink_to(sys.prefix)
    for name in (FILE.name, "pyproject.toml"):
        (place / name).write_bytes((ROOT / name).read_bytes())
    (place / "some.py").write_text(text)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run(["git", "-C", str(place), "add", FILE.name, "some.py"], check=True)
    done = pre_commit("run", home=tmp_path / "home", place=place)
    assert re.findall(r"hook id: (\S+)", done.stdout) == failed
    assert (done.returncode == 0) == (not failed)
    assert done.stdout.count("(no files to check)Skipped") == 3
