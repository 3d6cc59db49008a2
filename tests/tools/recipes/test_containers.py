"""The container recipes, with processes in place of containers. The tests do not need Docker and do not test it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.cli.server.serve import serve
from simulator.cli.tools import recipes
from tests.places import ROOT
from tests.tools.recipes.machine import Machine, free_port

VARIABLES = {option.envvar for option in serve.params}
TESTS = (
    "def test_a_separate_world(world):\n    assert world.client.get('/profile').json()['kyc_status'] == 'approved'\n"
)


def text(recipe: str, file: str) -> str:
    return recipes.recipes()[recipe].text(file)


def surroundings() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIMULATOR_", "PYTEST_", "COV_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "no_proxy": "127.0.0.1"}


@contextmanager
def running(words: list[str], environment: Mapping[str, str], ready: str) -> Iterator[subprocess.Popen[str]]:
    """A program that has said that it is ready."""
    process = subprocess.Popen(
        words, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if line.startswith(ready):
                break
        else:
            raise AssertionError("".join(said))
        yield process
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def rampsim(*words: str) -> list[str]:
    return [sys.executable, "-m", "simulator", *words]


def test_the_compose_app_is_notified_of_its_payments() -> None:
    services: dict[str, Any] = yaml.safe_load(text("compose", "compose.yaml"))["services"]
    server, app = services["rampsim"]["environment"], services["app"]["environment"]
    assert server.keys() <= VARIABLES
    port, own = free_port(), free_port()
    here = {"http://rampsim:8642": f"http://127.0.0.1:{port}", "http://app:8000": f"http://127.0.0.1:{own}"}
    settings = {name: re.sub(r"^http://\w+:\d+", lambda at: here[at[0]], value) for name, value in app.items()}
    assert settings != app
    inside = {**surroundings(), **server, "SIMULATOR_PORT": port}
    program = str(recipes.recipes()["compose"].folder / "app" / "app.py")
    with (
        running(rampsim("serve"), inside, "Ready on "),
        running([sys.executable, program], {**surroundings(), **settings}, "webhooks go to ") as application,
    ):
        subprocess.run(rampsim("trigger", "transaction.completed"), env=inside, check=True, capture_output=True)
        heard = next(line for line in application.stdout or () if "completed" in line)
    assert heard == "transaction.completed\n"


def test_the_compose_app_names_the_setting_if_names_are_refused() -> None:
    services: dict[str, Any] = yaml.safe_load(text("compose", "compose.yaml"))["services"]
    server = {**services["rampsim"]["environment"], "SIMULATOR_WEBHOOK_URLS": "local", "SIMULATOR_PORT": free_port()}
    settings = {**services["app"]["environment"], "RAMP_URL": f"http://127.0.0.1:{server['SIMULATOR_PORT']}/v1"}
    settings["WEBHOOK_URL"] = f"http://app:{free_port()}/webhooks"
    program = str(recipes.recipes()["compose"].folder / "app" / "app.py")
    with running(rampsim("serve"), {**surroundings(), **server}, "Ready on "):
        words = [sys.executable, program]
        done = subprocess.run(words, env={**surroundings(), **settings}, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "--webhook-urls any" in done.stderr
    assert "SIMULATOR_WEBHOOK_URLS=any" in done.stderr


def test_the_simulator_runs_when_a_development_container_has_started(tmp_path: Path) -> None:
    row = json.loads(text("devcontainer", "devcontainer.json"))
    port = free_port()
    environment = {name: value.replace("8642", port) for name, value in row["containerEnv"].items()}
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with Machine(workspace, tmp_path / "machine") as machine:
        (machine.temp / "commands" / "pipx").write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n')
        (machine.temp / "commands" / "pipx").chmod(0o755)
        inside = {**machine.environment, **environment, "SIMULATOR_PORT": port}
        log = str(tmp_path / "rampsim.log")
        for name in ("postCreateCommand", "postStartCommand"):
            step = machine.bash(name, row[name].replace("/tmp/rampsim.log", log), inside)
            assert step.passed, step.output
        assert machine.bash("worlds", "rampsim worlds", inside).passed


_FAKE = '''
"""testcontainers, with a process in place of the container."""
import os, subprocess, sys

class DockerContainer:
    def __init__(self, image):
        assert image == "rampsim"
        self.environment = {**os.environ, "SIMULATOR_PORT": os.environ["FREE_PORT"]}
    def with_env(self, name, value):
        self.environment[name] = value
        return self
    def with_kwargs(self, *, extra_hosts):
        return self
    def with_exposed_ports(self, port):
        assert port == 8642
        return self
    def waiting_for(self, strategy):
        return self
    def start(self):
        words = [sys.executable, "-m", "simulator", "serve"]
        self.process = subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, text=True)
        assert any(line.startswith("Ready on ") for line in self.process.stdout)
        return self
    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        print("the container has stopped")
    def get_container_host_ip(self):
        return "localhost"
    def get_exposed_port(self, port):
        return int(self.environment["SIMULATOR_PORT"])

class HttpWaitStrategy:
    def __init__(self, port, path):
        assert (port, path) == (8642, "/_simulator/ready")
    def for_status_code(self, code):
        return self
'''


@pytest.mark.farm
def test_a_run_of_pytest_has_a_container_and_ends_it(tmp_path: Path) -> None:
    core = tmp_path / "testcontainers" / "core"
    core.mkdir(parents=True)
    for name in ("container.py", "wait_strategies.py"):
        (core / name).write_text(_FAKE)
    (tmp_path / "conftest.py").write_text(text("testcontainers-python", "conftest.py"))
    (tmp_path / "test_world.py").write_text(TESTS)
    environment = surroundings() | {"FREE_PORT": free_port(), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    words = [sys.executable, "-m", "pytest", "-q", "-s", "-n", "2", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert done.stdout.count("the container has stopped") == 1


DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def instructions(word: str) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in DOCKERFILE.splitlines() if line.startswith(f"{word} ")]


def test_the_image_uses_known_variables_and_no_privileges() -> None:
    variables = {name for line in instructions("ENV") for name in re.findall(r"SIMULATOR_\w+", line)}
    assert variables <= VARIABLES
    assert instructions("USER")[-1].isdigit()
    assert instructions("STOPSIGNAL") == ["SIGTERM"]
    assert instructions("ENTRYPOINT") == ['["rampsim"]']
    assert instructions("CMD") == ['["serve"]']
    assert not [line for line in instructions("FROM")[-1:] if " AS " in line or "-slim" not in line]


def test_what_the_image_is_made_of_is_sent_to_the_builder() -> None:
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = {source for line in instructions("COPY") if "--from" not in line for source in line.split()[:-1]}
    assert rules[0] == "*"
    assert copied == sent
    assert all((ROOT / source).exists() for source in copied)


def test_the_health_check_distinguishes_ready_from_stopped() -> None:
    [check] = re.findall(r"^HEALTHCHECK .* CMD +(\[.*\])$", DOCKERFILE, re.MULTILINE)
    _, *words = json.loads(check)
    port = free_port()
    environment = {**surroundings(), "SIMULATOR_PORT": port}
    with running(rampsim("serve"), environment, "Ready on "):
        assert subprocess.run([sys.executable, *words], env=environment, check=False).returncode == 0
    away = subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=False)
    assert away.returncode != 0
