"""A recipe is enough to make a partner's failing pipeline pass, and problems are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from simulator.cli import main
from tests.tools.recipes.machine import GitHub, GitLab, Step, free_port
from tests.tools.recipes.partner import project

OWN = Path(".github/workflows/tests.yml")
"""The workflow that the project has."""
WORKFLOW = Path(".github/workflows/rampsim.yml")


def take(recipe: str, directory: Path, *options: str) -> None:
    done = CliRunner().invoke(main, ["recipe", "write", recipe, "--to", str(directory), *options])
    assert done.exit_code == 0, done.output


def failed(steps: list[Step]) -> list[str]:
    return [step.name for step in steps if not step.passed]


@pytest.mark.farm
def test_a_red_workflow_of_github_is_green_with_the_recipe(tmp_path: Path) -> None:
    workspace = project(tmp_path)
    with GitHub(workspace, tmp_path / "red") as machine:
        red = machine.job(workspace / OWN)
    assert failed(red) == ["python -m pytest"]
    assert "SIMULATOR_URL" in red[-1].output

    take("github-action", workspace)
    with GitHub(workspace, tmp_path / "green") as machine:
        green = machine.job(workspace / WORKFLOW, inputs={"port": free_port()})
        assert failed(green) == [], green[-1].output
        report = green[-1].output
    assert "1 passed" in "".join(step.output for step in green)
    assert "Operations" in report
    assert "Operations" in machine.summary


@pytest.mark.farm
def test_the_report_speaks_after_a_failed_test_and_fails_on_advice(tmp_path: Path) -> None:
    workspace = project(tmp_path)
    take("github-action", workspace)
    (workspace / "test_ramp.py").write_text("def test_wrong(): assert False\n")
    with GitHub(workspace, tmp_path / "machine") as machine:
        steps = machine.job(workspace / WORKFLOW, inputs={"port": free_port(), "fail-under": "1"})
    assert failed(steps) == ["python -m pytest", "Report what the simulator saw"]
    assert "Operations" in steps[-1].output


@pytest.mark.parametrize("spec", ["rampsim", "rampsim[testing]==0.1.0"])
def test_github_action_refuses_a_bare_name_without_an_index(tmp_path: Path, spec: str) -> None:
    assert "bare name" in refusal(tmp_path, {"spec": spec})


@pytest.mark.parametrize("index", ["", "https://packages.example/simple"])
def test_github_action_without_a_source_says_what_to_set(tmp_path: Path, index: str) -> None:
    assert "Set the input spec" in refusal(tmp_path, {"spec": "", "index": index})


def refusal(tmp_path: Path, inputs: dict[str, str]) -> str:
    """The output of the step that refuses to install."""
    workspace = project(tmp_path)
    take("github-action", workspace)
    with GitHub(workspace, tmp_path / "machine") as machine:
        steps = machine.job(workspace / WORKFLOW, inputs={"port": free_port(), **inputs})
    assert failed(steps)[0] == "Install rampsim"
    output: str = next(step.output for step in steps if not step.passed)
    assert "::error title=rampsim::" in output
    return output


@pytest.mark.farm
def test_github_action_takes_a_name_from_an_index(tmp_path: Path) -> None:
    workspace = project(tmp_path)
    take("github-action", workspace)
    chosen = {"port": free_port(), "spec": "rampsim==0.1.0", "index": "https://packages.example/simple"}
    with GitHub(workspace, tmp_path / "machine") as machine:
        assert failed(machine.job(workspace / WORKFLOW, inputs=chosen)) == []


@pytest.mark.parametrize(
    ("spec", "index", "said"),
    [
        ("", "", "Set RAMPSIM_SPEC to a wheel"),
        ("", "https://packages.example/simple", "Set RAMPSIM_SPEC to a wheel"),
        ("rampsim", "", "rampsim is a bare name"),
    ],
)
def test_gitlab_template_without_a_source_says_what_to_set(tmp_path: Path, spec: str, index: str, said: str) -> None:
    workspace = project(tmp_path)
    take("gitlab", workspace, "--force")
    with GitLab(workspace, tmp_path / "machine") as machine:
        job, _ = machine.job(variables={"RAMPSIM_SPEC": spec, "RAMPSIM_INDEX": index})
    assert not job.passed
    assert said in job.output


def test_a_server_that_does_not_start_says_why_in_the_log(tmp_path: Path) -> None:
    workspace = project(tmp_path)
    take("github-action", workspace)
    with GitHub(workspace, tmp_path / "machine") as machine:
        steps = machine.job(workspace / WORKFLOW, inputs={"port": free_port(), "flags": "--rate -1"})
    assert failed(steps)[0] == "Serve rampsim"
    output = next(step.output for step in steps if not step.passed)
    assert "--rate" in output
    assert "::error title=rampsim::The simulator did not start" in output


@pytest.mark.farm
def test_a_red_job_of_gitlab_is_green_with_the_recipe(tmp_path: Path) -> None:
    workspace, port = project(tmp_path), free_port()
    here = {"SIMULATOR_PORT": port, "SIMULATOR_URL": f"http://127.0.0.1:{port}"}
    with GitLab(workspace, tmp_path / "red") as machine:
        red, _ = machine.job()
    assert not red.passed
    assert "SIMULATOR_URL" in red.output

    take("gitlab", workspace, "--force")
    with GitLab(workspace, tmp_path / "green") as machine:
        green, after = machine.job(variables=here)
    assert green.passed, green.output
    assert "1 passed" in green.output
    assert "Operations" in after.output
