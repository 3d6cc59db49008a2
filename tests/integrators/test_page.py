"""The page "In your tests" keeps its word: each of its blocks is run as a reader would run it.

A `python` block is a file of tests by the name beside its language. The `bash` blocks and the `run` and `script` lines
of the YAML files are run, with a server on a free port; only `pip install`, which would fetch, is read instead.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from simulator.cli.serve import serve

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("README.md").read_text("utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PORT = "8642"
_FENCE = re.compile(r"^```(?P<language>\w+) ?(?P<name>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INSTALLS = re.compile(r"\s*(?:- )?(?:run: )?pip install .*")


class Block(NamedTuple):
    language: str
    name: str
    text: str


BLOCKS = [Block(match["language"], match["name"], match["text"]) for match in _FENCE.finditer(PAGE)]
FILES = {block.name: block.text for block in BLOCKS if block.name}
TESTS = [name for name in FILES if name.endswith(".py")]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A project of its own with the page's tests in it."""
    for name in TESTS:
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    return tmp_path


@pytest.fixture
def port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """`rampsim`, `python` and `pytest` are those of this environment, and nothing is told by the surroundings."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in (("rampsim", "-m simulator"), ("python", ""), ("pytest", "-m pytest")):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (commands / name).chmod(0o755)
    foreign = ("SIMULATOR_", "PYTEST_", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, "PATH": f"{commands}:{kept['PATH']}", "PYTHONPATH": str(ROOT), "no_proxy": "127.0.0.1"}


def run(words: list[str], directory: Path, environment: Mapping[str, str]) -> str:
    """What a command printed; fails with it when it did not end with 0."""
    done = subprocess.run(words, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def bash(script: str, directory: Path, environment: Mapping[str, str]) -> str:
    return run(["bash", "-c", f"set -eo pipefail\n{script}"], directory, environment)


def without_installs(script: str) -> str:
    return "".join(line for line in script.splitlines(keepends=True) if not _INSTALLS.fullmatch(line.rstrip("\n")))


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("-n", "2"), ("--simulator=inprocess",)], ids=["alone", "workers", "inprocess"])
def test_every_test_of_the_page_passes(words: tuple[str, ...], directory: Path, environment: dict[str, str]) -> None:
    report = directory / "report.xml"
    run(["pytest", *words, f"--junitxml={report}"], directory, environment)
    suites = ET.parse(report).getroot().iter("testcase")
    passed = {f"{case.get('classname')}.{case.get('name')}".rpartition(".")[2] for case in suites}
    written = {name for text in (FILES[file] for file in TESTS) for name in re.findall(r"def (test_\w+)", text)}
    assert passed == written


@pytest.mark.slow
def test_the_unittest_runs_by_itself(directory: Path, environment: dict[str, str]) -> None:
    assert "OK" in run(["python", "test_unittest.py"], directory, environment)


@pytest.mark.slow
def test_other_languages_find_all_over_http(directory: Path, environment: dict[str, str], port: str) -> None:
    position = next(i for i, block in enumerate(BLOCKS) if "rampsim serve" in block.text)
    output = bash(BLOCKS[position].text.replace(PORT, port), directory, environment)
    shown = BLOCKS[position + 1]
    assert shown.language == "text"
    assert output.strip().splitlines()[-1] == shown.text.strip()


def requirements() -> Iterator[str]:
    """What `pip install` is told, on every line of the page that has one."""
    for line in PAGE.splitlines():
        if _INSTALLS.fullmatch(line):
            yield from re.findall(r'"(rampsim[^"]*)"', line)


def test_what_is_installed_is_this_project_with_an_extra_that_it_has() -> None:
    found = list(requirements())
    assert len(found) == 6
    for requirement in found:
        match = re.fullmatch(r"(\w+)(?:\[(\w+)\])? @ (git\+https|file)://\S+", requirement)
        assert match is not None, requirement
        assert match[1] == PROJECT["name"]
        assert match[2] is None or match[2] in PROJECT["optional-dependencies"]
    assert f"rampsim-{PROJECT['version']}-py3-none-any.whl" in PAGE


@pytest.mark.slow
def test_the_jobs_of_github_do_what_they_say(directory: Path, environment: dict[str, str], port: str) -> None:
    jobs = yaml.safe_load(FILES[".github/workflows/tests.yml"])["jobs"]
    scripts = [without_installs(step["run"]) for step in jobs["python"]["steps"] if "run" in step]
    output = bash("".join(scripts).replace("-n auto", "-n 2"), directory, environment)
    assert " passed" in output
    assert "Operations" in output

    (directory / "run-my-tests").write_text("#!/bin/sh\ncurl -sf $SIMULATOR_URL/v1/auth/token -d '{}' || true\n")
    (directory / "run-my-tests").chmod(0o755)
    job = jobs["any-language"]
    environment |= {name: value.replace(PORT, port) for name, value in job["env"].items()}
    scripts = [without_installs(step["run"]) for step in job["steps"] if "run" in step]
    script = "".join(scripts).replace("rampsim serve", f"rampsim serve --port {port}")
    bash(f"trap 'kill $(jobs -p)' EXIT\n{script}", directory, environment)


@pytest.mark.slow
def test_the_job_of_gitlab_does_what_it_says(directory: Path, environment: dict[str, str]) -> None:
    job = yaml.safe_load(FILES[".gitlab-ci.yml"])["tests"]
    script = without_installs("\n".join(job["script"]) + "\n").replace("-n auto", "-n 2")
    bash(script, directory, environment)
    assert (directory / job["artifacts"]["reports"]["junit"]).exists()


@pytest.mark.slow
def test_the_services_of_compose_find_each_other(directory: Path, environment: dict[str, str], port: str) -> None:
    services = yaml.safe_load(FILES["compose.yaml"])["services"]
    server, tests = services["rampsim"], services["tests"]
    variables = {option.envvar for option in serve.params}
    assert server["environment"].keys() <= variables
    given = {name: str(value) for name, value in server["environment"].items()}
    asked = {name: str(value) for name, value in tests["environment"].items()}
    assert asked["SIMULATOR_URL"] == f"http://rampsim:{PORT}"
    assert asked["SIMULATOR_CONTROL_TOKEN"] == given["SIMULATOR_CONTROL_TOKEN"]
    inside = {**environment, **given, "SIMULATOR_PORT": port}
    here = {"SIMULATOR_URL": f"http://127.0.0.1:{port}", "SIMULATOR_RECEIVER_HOST": "localhost"}
    with subprocess.Popen(["rampsim", "serve"], env=inside, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line.startswith("Ready on ") for line in process.stdout)
        try:
            run(server["healthcheck"]["test"][1:], directory, inside)
            run([tests["command"], "test_first.py"], directory, {**environment, **asked, **here})
        finally:
            process.terminate()


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert targets
    assert [target for target in targets if not (ROOT / "tests/integrators" / target).exists()] == []
    anchors = {
        re.sub(r"[^a-z -]", "", line[3:].lower()).replace(" ", "-") for line in PAGE.splitlines() if line[:3] == "## "
    }
    assert set(re.findall(r"\(#([\w-]+)\)", PAGE)) <= anchors
