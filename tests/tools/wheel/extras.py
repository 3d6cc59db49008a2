"""Installs each extra of the wheel separately, and runs the commands that its page documents.

`python -m tests.tools.wheel.extras WHEEL BASE [EXTRA ...]`: BASE is an environment with the wheel and no extras.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import pytest

from simulator.docs.library import pages_by_path
from tests.collector import collecting
from tests.places import ROOT
from tests.service.durable.postgres_server import postgres

KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
REFUSED = 2
"""The exit code of a command whose extra is not installed."""


class Environment(NamedTuple):
    """A Python environment, and an empty directory in which its commands run."""

    path: Path
    directory: Path

    @property
    def warnings(self) -> Path:
        """The output of the last server on standard error."""
        return self.directory / "warnings"

    def run(self, *words: str, input: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._words(words),
            cwd=self.directory,
            env=_variables(variables),
            input=input,
            capture_output=True,
            text=True,
            timeout=300,
        )

    @contextmanager
    def serving(self, *words: str, **variables: str) -> Iterator[str]:
        """The origin of `rampsim serve`, which ends with the block, and has to end well."""
        words = ("rampsim", "serve", "--port", "0", "--clock", "manual", *words)
        with self.warnings.open("w") as warnings:
            server = subprocess.Popen(
                self._words(words),
                cwd=self.directory,
                env=_variables(variables),
                stdout=subprocess.PIPE,
                stderr=warnings,
                text=True,
            )
        try:
            origin = next((line.split()[-1] for line in server.stdout or () if line.startswith("Ready on ")), "")
            assert origin, "the server did not start"
            yield origin
        finally:
            server.terminate()
            assert server.wait(20) == 0

    def _words(self, words: tuple[str, ...]) -> list[str]:
        return [str(self.path / "bin" / words[0]), *words[1:]]


def _variables(more: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SIMULATOR_", "OTEL_"))}
    return {**kept, **more}


def documented(page: str, *lines: str) -> None:
    """Fail unless a page shows these lines, so that a page and this check cannot drift apart."""
    text = pages_by_path()[page].source
    missing = [line for line in lines if line not in text]
    assert not missing, f"{page} does not show {missing}"


# One check for each extra


def check_none(bare: Environment) -> None:
    """Without extras every command that needs one names it."""
    commands = {
        "conformance": ("rampsim", "conform"),
        "mcp": ("rampsim", "mcp"),
        "postgres": ("rampsim", "serve", "--port", "0", "--store", "postgresql://rampsim@127.0.0.1:1/rampsim"),
    }
    for extra, words in commands.items():
        done = bare.run(*words)
        said = done.stdout + done.stderr
        assert (done.returncode, f"[{extra}]" in said) == (REFUSED, True), f"{words}: {done.returncode}\n{said}"
    with bare.serving(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1"):
        pass
    assert "[otel]" in bare.warnings.read_text("utf-8")
    kit = bare.run("python", "-c", "import simulator.testing as kit; kit.world")
    assert "[testing]" in kit.stderr, kit


def check_conformance(environment: Environment) -> None:
    documented("how-to/hold-a-service-to-it", "[conformance]", "rampsim conform", "--only behaviour")
    for words in (("--only", "behaviour"), ("--only", "shapes", "--phase", "examples", "--operation", "create_quote")):
        done = environment.run("rampsim", "conform", *words)
        assert done.returncode == 0, f"conform {words}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def check_mcp(environment: Environment) -> None:
    documented("how-to/agents", "[mcp]", "rampsim mcp", "serves eight tools")
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}
    messages = (
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    said = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    with subprocess.Popen(
        [environment.path / "bin" / "rampsim", "mcp"],
        cwd=environment.directory,
        env=_variables({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write(said)
        client.stdin.flush()
        answers = [json.loads(client.stdout.readline()) for _ in range(2)]
        client.stdin.close()
        assert client.wait(30) == 0
    assert len(answers[1]["result"]["tools"]) == 8, answers


def check_otel(environment: Environment) -> None:
    documented("how-to/share-a-server", "[otel]", "OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_SERVICE_NAME=ramp")
    with collecting() as collector:
        named = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_SERVICE_NAME": "ramp"}
        with environment.serving(**named) as origin:
            _sign_in(origin)
        assert "ramp" in {resource["service.name"] for resource in collector.resources}
        assert collector.spans


def check_postgres(environment: Environment) -> None:
    documented("how-to/keep-worlds", "[postgres]", "--store postgresql://")
    try:
        with postgres("fsync=off") as url:
            for _ in range(2):  # the second finds what the first has saved
                with environment.serving("--store", url) as origin:
                    _sign_in(origin)
    except pytest.skip.Exception as skipped:
        sys.stdout.write(f"  {skipped}\n")


def check_testing(environment: Environment) -> None:
    documented("how-to/in-your-tests", "pip install pytest", "[testing]", "pytest -n 8")
    done = environment.run("python", str(ROOT / "tests/tools/wheel/kit.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    sys.stdout.write("".join(f"  {line}\n" for line in done.stdout.splitlines()))


CHECKS: dict[str, Callable[[Environment], None]] = {
    "none": check_none,
    "conformance": check_conformance,
    "mcp": check_mcp,
    "otel": check_otel,
    "postgres": check_postgres,
    "testing": check_testing,
}


ASKED_FOR = {"testing": ("pytest", "pytest-xdist")}
"""What the page of an extra has users install with it."""


def _sign_in(origin: str) -> None:
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{origin}/v1/auth/token", json.dumps(KEYS).encode(), headers), timeout=20) as answer:
        assert json.load(answer)["access_token"]


# Environments


def _install(path: Path, *words: str) -> None:
    """Make an environment without pip and install the wheel there."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(path / "bin" / "python")]
    command += ["--constraint", str(ROOT / "requirements.lock"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def _distributions(path: Path) -> set[str]:
    """The names of all that is installed, normalised."""
    program = "import importlib.metadata as m; print(*(one.name for one in m.distributions()), sep='\\n')"
    done = subprocess.run([path / "bin" / "python", "-P", "-c", program], capture_output=True, text=True, check=True)
    return {_normal(name) for name in done.stdout.split()}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def extras() -> dict[str, list[str]]:
    """The extras of the wheel that users install, and the distributions each names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        name: [_normal(re.split(r"[<>=;\[ ]", requirement)[0]) for requirement in requirements]
        for name, requirements in project["optional-dependencies"].items()
        if name not in ("dev", "judges")
    }


def main(wheel: Path, base: Path, only: list[str]) -> None:
    named = extras()
    assert {"none", *named} == set(CHECKS), "every extra has a check"
    present = _distributions(base)
    wrong = present & {name for names in named.values() for name in names}
    assert not wrong, f"the environment without extras has {wrong}"
    for extra, check in CHECKS.items():
        if only and extra not in only:
            continue
        with tempfile.TemporaryDirectory(dir=base.parent, prefix=".venv-extra-") as directory:
            environment = Environment(
                Path(directory, "venv") if extra != "none" else base, Path(directory, "elsewhere")
            )
            # A repository of its own: commands there find no servers that tests start in this checkout meanwhile.
            (environment.directory / ".git").mkdir(parents=True)
            if extra != "none":
                _install(environment.path, f"{wheel}[{extra}]", *ASKED_FOR.get(extra, ()))
            check(environment)
            added = _distributions(environment.path) - present
        sys.stdout.write(f"The wheel with {extra} alone does what its page says ({len(added)} more packages).\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute(), sys.argv[3:])
