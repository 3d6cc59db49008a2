"""The recipe files are valid for GitHub, GitLab and compose, according to their published schemas."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simulator.cli.tools import recipes
from tests.places import ROOT
from tests.tools.judges import tools

SCHEMAS = {
    "action.yml": "vendor.github-actions",
    "workflow.yml": "vendor.github-workflows",
    "gitlab-ci.yml": "vendor.gitlab-ci",
    "rampsim.gitlab-ci.yml": "vendor.gitlab-ci",
    "compose.yaml": "vendor.compose-spec",
}
FILES = [
    recipe.folder / file for recipe in recipes.recipes().values() for file in recipe.files if Path(file).name in SCHEMAS
] + [ROOT / "tests" / "campaigns" / "trust" / "deploy" / "compose.yaml"]
NAMES = [path.relative_to(ROOT).as_posix() for path in FILES]


def judge(schema: str, path: Path) -> tuple[int, str]:
    words: tuple[str | Path, ...] = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path)
    if schema == "vendor.gitlab-ci":
        words = (*words, "--data-transform", "gitlab-ci")
    done = tools.run(*words)
    return done.returncode, done.stdout


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_file_fits_the_schema_of_its_reader(path: Path) -> None:
    code, said = judge(SCHEMAS[path.name], path)
    assert code == 0, said


def test_a_workflow_with_a_word_that_github_does_not_know_does_not_fit(tmp_path: Path) -> None:
    text = next(path for path in FILES if path.name == "workflow.yml").read_text("utf-8")
    (tmp_path / "workflow.yml").write_text(text.replace("runs-on:", "run-on:"))
    code, said = judge(SCHEMAS["workflow.yml"], tmp_path / "workflow.yml")
    assert code == 1
    assert "runs-on" in said


def test_every_file_that_has_a_schema_is_judged() -> None:
    assert {path.name for path in FILES} == set(SCHEMAS)
