"""Runners for GitHub workflows and GitLab jobs on this machine, in place of the CI services.

Both run each script in bash as the service does. Nothing is downloaded: `python3` is a script here, and `pip install`
of the simulator in its environments only adds the command `rampsim`, which is not available elsewhere.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

from tests.places import ROOT

_LIMIT_SECONDS = 300
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_PYTHON = f"""#!/bin/sh
here=$(dirname "$0")
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip install "*rampsim*)
    printf '#!/bin/sh\\nPYTHONPATH={ROOT} exec "{sys.executable}" -m simulator "$@"\\n' > "$here/rampsim"
    chmod +x "$here/rampsim" ;;
  "-m pip install "*) ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""


def free_port() -> str:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return str(trial.getsockname()[1])


@dataclass
class Step:
    """The result of a step."""

    name: str
    passed: bool
    output: str


@dataclass
class Machine:
    """A machine that runs jobs in a workspace. What its scripts leave running ends with the block.

    `python`: the directory of a real Python, for which pip fetches what it is told.
    """

    workspace: Path
    temp: Path
    python: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    _groups: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        commands = self.temp / "commands"
        commands.mkdir(parents=True)
        for name in () if self.python else ("python", "python3"):
            (commands / name).write_text(_PYTHON)
            (commands / name).chmod(0o755)
        foreign = ("SIMULATOR_", "PYTEST_", "COV_", "GITHUB_", "RUNNER_", "CI_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        here = {
            "PATH": f"{self.python or commands}:/usr/bin:/bin",
            "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:schemathesis",  # its import takes a second
            "no_proxy": "127.0.0.1",
        }
        self.environment = {**kept, **here, **self.environment}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)

    def bash(self, name: str, script: str, environment: Mapping[str, str]) -> Step:
        """Run a script as both services do: the first command that fails ends it."""
        log = self.temp / "step.log"
        with log.open("w") as output:
            words = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
            process = subprocess.Popen(
                words, cwd=self.workspace, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            self._groups.append(process.pid)
            code = process.wait(_LIMIT_SECONDS)
        return Step(name, code == 0, log.read_text())


class GitHub(Machine):
    """A runner of workflows: `run` and `uses` steps, composite actions, expressions, the files that scripts write to.

    Actions of others (actions/checkout and the like) do nothing here. `inputs` replaces what a workflow gives actions.
    """

    summary = ""

    def job(self, workflow: Path, name: str = "tests", inputs: Mapping[str, str] | None = None) -> list[Step]:
        """Run a job; its steps in order, those that were left out because one before failed not among them."""
        row = yaml.safe_load(workflow.read_text("utf-8"))["jobs"][name]
        self.environment |= {"RUNNER_TEMP": str(self.temp), "GITHUB_WORKSPACE": str(self.workspace)}
        self.environment |= row.get("env", {})
        self.given = inputs or {}
        return self._steps(row["steps"], {})

    def _steps(self, rows: list[dict[str, Any]], inputs: Mapping[str, str]) -> list[Step]:
        done: list[Step] = []
        outputs: dict[str, dict[str, str]] = {}
        for row in rows:
            if not all(step.passed for step in done) and "cancelled()" not in row.get("if", ""):
                continue
            known = {f"inputs.{name}": value for name, value in inputs.items()}
            known |= {
                f"steps.{step}.outputs.{name}": value for step, of in outputs.items() for name, value in of.items()
            }
            if "run" in row:
                assert row.get("shell") == "bash" or not inputs, "a step of an action names its shell"
                step, written = self._run(row, known)
                done.append(step)
                outputs[row.get("id", "")] = written
            elif row["uses"].startswith("./"):
                done += self._action(row, known)
        return done

    def _action(self, row: Mapping[str, Any], known: Mapping[str, str]) -> list[Step]:
        path = self.workspace / row["uses"] / "action.yml"
        if not path.exists():
            return [Step(row["uses"], passed=False, output=f"Can't find 'action.yml' under {row['uses']}")]
        action = yaml.safe_load(path.read_text("utf-8"))
        assert action["runs"]["using"] == "composite"
        given = {name: filled(str(value), known) for name, value in row.get("with", {}).items()} | {**self.given}
        assert row.get("with", {}).keys() <= action["inputs"].keys()
        taken = {name: given.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
        return self._steps(action["runs"]["steps"], taken)

    def _run(self, row: Mapping[str, Any], known: Mapping[str, str]) -> tuple[Step, dict[str, str]]:
        files = {
            name: self.temp / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        }
        for path in files.values():
            path.write_text("")
        environment = {name: filled(str(value), known) for name, value in row.get("env", {}).items()}
        environment = self.environment | environment | {name: str(path) for name, path in files.items()}
        step = self.bash(row.get("name", row["run"]), filled(row["run"], known), environment)
        self.environment |= _pairs(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = f"{line}:{self.environment['PATH']}"
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        return step, _pairs(files["GITHUB_OUTPUT"])


def filled(text: str, known: Mapping[str, str]) -> str:
    """A text with its expressions replaced by what they are; KeyError for one that nothing gives."""
    return _EXPRESSION.sub(lambda match: known[match[1]], text)


def _pairs(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


class GitLab(Machine):
    """A runner of jobs: `include` of local files, `extends`, scripts in one bash, `after_script` in another."""

    def job(self, name: str = "tests", variables: Mapping[str, str] | None = None) -> list[Step]:
        """Run a job; `variables` are those of the project, which go before the file's."""
        rows = yaml.safe_load((self.workspace / ".gitlab-ci.yml").read_text("utf-8"))
        for one in rows.pop("include", []):
            rows |= yaml.safe_load((self.workspace / one["local"]).read_text("utf-8"))
        row = rows[name]
        if "extends" in row:
            base = rows[row["extends"]]
            row = {**base, **row, "variables": base.get("variables", {}) | row.get("variables", {})}
        environment = self.environment | {"CI_PROJECT_DIR": str(self.workspace), "CI": "true"}
        environment |= row.get("variables", {}) | (variables or {})
        script = "\n".join([*row.get("before_script", []), *row["script"]])
        after = "\n".join(row.get("after_script", ["true"]))
        return [self.bash("script", script, environment), self.bash("after_script", after, environment)]
