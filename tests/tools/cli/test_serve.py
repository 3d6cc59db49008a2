"""`rampsim serve`: flags, variables, invalid settings, and the ready line."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from simulator.cli import COMMANDS, main
from simulator.engine.clients.control import ControlClient
from simulator.engine.server.config import Config, ConfigError
from simulator.host import create_app
from tests.places import ROOT


def serve(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, ["serve", *words], env=variables)


@contextmanager
def process(*words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server in a process of its own, and what it printed until it was ready."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    with subprocess.Popen(
        [sys.executable, "-m", "simulator", "serve", *words],
        cwd=ROOT,
        env={**clean, **variables},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        lines = []
        try:
            for line in server.stdout:
                lines.append(line.rstrip())
                if line.startswith("Ready on "):
                    break
            yield server, lines
        finally:
            server.kill()


def world_of(lines: list[str], token: str | None = None) -> Any:
    return ControlClient(lines[-1].removeprefix("Ready on "), token=token).get("/worlds/default")


def test_it_prints_the_keys_and_then_that_it_is_ready() -> None:
    """Decision W1: the start banner shows the webhook keys of the default world."""
    with process("--port", "0", "--clock", "manual", "--seed", "7", "--scenario", "none") as (server, lines):
        assert lines[-1].startswith("Ready on http://127.0.0.1:")
        assert any(line.endswith("pk_test_simulator") for line in lines)
        assert [line.split()[-1] for line in lines if "webhook key" in line] == [
            "whk_test_simulator",
            "whk_live_simulator",
        ]
        world = world_of(lines)
        assert (world["seed"], world["scenarios"]) == (7, [])
        assert (world["clock"]["mode"], world["clock"]["now"]) == ("manual", "2026-01-05T08:00:00.000Z")
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0


def test_every_flag_is_a_variable_too(tmp_path: Path) -> None:
    (tmp_path / "rain.yaml").write_text("name: rain\n")
    variables = {
        "SIMULATOR_HOST": "127.0.0.1",
        "SIMULATOR_PORT": "0",
        "SIMULATOR_CLOCK": "scaled",
        "SIMULATOR_RATE": "60",
        "SIMULATOR_NOW": "2027-03-01T00:00:00Z",
        "SIMULATOR_SEED": "11",
        "SIMULATOR_SCENARIO": f"autopilot {tmp_path / 'rain.yaml'}",
        "SIMULATOR_CONTROL_TOKEN": "sesame",
        "SIMULATOR_STRICT": "true",
        "SIMULATOR_RATE_LIMIT": "100/60",
        "SIMULATOR_RATE_LIMIT_CLOCK": "wall",
        "SIMULATOR_WEBHOOK_URLS": "public",
        "SIMULATOR_WEBHOOK_TIMESTAMP": "simulated",
        "SIMULATOR_JOURNAL_LIMIT": "50",
        "SIMULATOR_JOURNAL_BYTES": "100000",
        "SIMULATOR_ALLOWED_HOST": "simulator.test host.docker.internal",
        "SIMULATOR_ALLOW_ORIGIN": "http://localhost:5173 capacitor://localhost",
        "SIMULATOR_IDLE_TIMEOUT": "20",
        "SIMULATOR_REQUEST_TIMEOUT": "10",
        "SIMULATOR_TIMERS_PER_INSTANT": "60",
        "SIMULATOR_QUOTA_CALLS_PER_SECOND": "500",
        "SIMULATOR_QUOTA_OBJECTS": "1000",
        "SIMULATOR_QUOTA_JOURNAL_BYTES": "70000",
        "SIMULATOR_ASSUME": "H14=lapses_after_1h H1=creating_answers_200",
    }
    with process(**variables) as (_, lines):
        world = world_of(lines, "sesame")
    assert (world["clock"]["mode"], world["clock"]["rate"], world["clock"]["now"][:7]) == ("scaled", 60, "2027-03")
    assert (world["seed"], world["scenarios"]) == (11, ["autopilot", "rain"])
    assert world["settings"] == {
        "strict": True,
        "rate_limit": "100/60",
        "rate_limit_clock": "wall",
        "webhook_urls": "public",
        "webhook_timestamp": "simulated",
        "journal_limit": 50,
        "journal_bytes": 100_000,
        "timers_per_instant": 60,
        "quota_calls_per_second": 500,
        "quota_objects": 1000,
        "quota_journal_bytes": 70_000,
        "quota_snapshots": None,
        "quota_scenarios": None,
        "quota_events": None,
        "quota_bytes": None,
        "assumptions": {"H14": "lapses_after_1h", "H1": "creating_answers_200"},
    }


def test_it_begins_with_a_world_from_a_file(tmp_path: Path) -> None:
    """The world from the file replaces the default world, with its own keys, time and resources."""
    with process("--port", "0", "--clock", "manual", "--seed", "7", "--now", "2026-04-01T00:00:00Z") as (_, lines):
        origin = lines[-1].removeprefix("Ready on ")
        made = httpx.post(f"{origin}/_simulator/worlds", json={"id": "kept", "clock": {"now": "2026-05-01T00:00:00Z"}})
        document = httpx.get(f"{origin}/_simulator/state", headers={"X-Simulator-World": "kept"}).content
    (tmp_path / "kept.json").write_bytes(document)
    with process("--port", "0", "--state", str(tmp_path / "kept.json")) as (_, lines):
        world = world_of(lines)
    assert (world["id"], world["seed"], world["clock"]["now"]) == (
        "default", made.json()["seed"], "2026-05-01T00:00:00.000Z"
    )  # fmt: skip
    assert world["credentials"]["sandbox"]["secret_key"] == made.json()["credentials"]["sandbox"]["secret_key"]


def test_a_file_of_tokens_is_asked_for_on_loopback_too(tmp_path: Path) -> None:
    path = tmp_path / "tokens.yaml"
    path.write_text("tokens: [{name: ci, token: 0123456789abcdef, worlds: ci-}]\n")
    with process("--port", "0", "--clock", "manual", "--control-tokens", str(path)) as (_, lines):
        url = f"{lines[-1].removeprefix('Ready on ')}/_simulator/worlds"
        assert httpx.get(url).status_code == 401
        assert httpx.get(url, headers={"Authorization": "Bearer 0123456789abcdef"}).json() == {
            "data": [],
            "unreadable": [],
        }
    path.write_text("tokens: [{name: ci, token: short, worlds: ci-}]\n")
    result = serve("--host", "0.0.0.0", "--control-tokens", str(path))
    assert (result.exit_code, result.stderr) == (
        2,
        f"rampsim: --control-tokens: {path}: tokens[0].token: "
        "it must be at least 16 printable characters without spaces\n",
    )


def test_a_file_without_a_world_is_reported(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no world")
    for path, why in (("nowhere", "cannot be read: No such file or directory"), ("text", "not valid JSON")):
        result = serve("--state", str(tmp_path / path))
        assert result.exit_code == 2
        assert result.stderr.startswith("rampsim: --state")
        assert why in result.stderr


@pytest.mark.parametrize("token", [None, "", "   "])
def test_it_does_not_listen_to_other_machines_without_a_token(token: str | None) -> None:
    words = [] if token is None else ["--control-token", token]
    result = serve("--host", "0.0.0.0", *words)
    assert result.exit_code == 2
    assert result.stderr == (
        "rampsim: --host 0.0.0.0 is reachable from other machines, so the control API needs a token. "
        "Set --control-token or SIMULATOR_CONTROL_TOKEN, or listen on 127.0.0.1.\n"
    )


def test_every_problem_is_named_at_once() -> None:
    words = {
        "--host": "0.0.0.0",
        "--port": "70000",
        "--clock": "broken",
        "--rate": "fast",
        "--now": "yesterday",
        "--seed": "-1",
        "--rate-limit": "often",
        "--webhook-urls": "none",
        "--webhook-timestamp": "late",
        "--journal-limit": "all",
        "--journal-bytes": "all",
        "--allowed-host": "simulator.test:8642",
        "--allow-origin": "localhost:5173",
        "--idle-timeout": "never",
        "--request-timeout": "0",
        "--timers-per-instant": "many",
        "--quota-calls-per-second": "few",
        "--quota-objects": "0",
        "--quota-journal-bytes": "10",
        "--scenario": "rain",
    }
    result = serve(*(word for pair in words.items() for word in pair))
    assert result.exit_code == 2
    assert [name for name in words if f"rampsim: {name}" not in result.stderr] == []
    assert len(result.stderr.splitlines()) == len(words)


@pytest.mark.parametrize("flag", ["--quota-bytes", "--journal-limit"])
def test_serve_with_a_number_of_5000_digits_is_refused(flag: str) -> None:
    result = serve("--port", "0", flag, "9" * 5000)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"rampsim: {flag}: ")
    assert len(result.stderr) < 300


def test_scenario_errors_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "rain.yaml"
    path.write_text("name: rain\nrules:\n  - on: transaction.complete\n    do: []\n")
    result = serve("--scenario", str(path))
    assert (result.exit_code, f"{path}:3:" in result.stderr) == (2, True)


def test_serve_explains_a_taken_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = serve("--port", str(taken.getsockname()[1]), "--clock", "manual")
    assert result.exit_code == 2
    assert "is in use, perhaps by another rampsim" in result.stderr
    assert "use --port 0 for a free port" in result.stderr


def test_serve_explains_a_foreign_address() -> None:
    result = serve("--host", "192.0.2.1", "--control-token", "sesame")
    assert (result.exit_code, "cannot listen on 192.0.2.1:8642" in result.stderr) == (2, True)


def test_serve_explains_a_privileged_port(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(host: str, port: int) -> socket.socket:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("simulator.engine.server.process.open_socket", refuse)
    assert "choose a port above 1023" in serve("--port", "80").stderr


def test_it_serves_in_this_process_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body of the command itself, with a server that stops as soon as it has started."""
    from simulator.engine.server import process as module

    made = module.server_of

    def short_lived(application: Any) -> Any:
        server = made(application)
        startup = server.startup

        async def start(sockets: Any = None) -> None:
            await startup(sockets=sockets)
            asyncio.get_running_loop().call_later(0.2, setattr, server, "should_exit", True)

        monkeypatch.setattr(server, "startup", start)
        return server

    monkeypatch.setattr(module, "server_of", short_lived)
    result = serve("--port", "0", "--clock", "manual")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("Ready on http://127.0.0.1:")


def test_help_is_there_for_every_command_and_names_the_exit_codes() -> None:
    assert "3  no server responds at the address" in CliRunner().invoke(main, ["--help"]).stdout
    for name, command in COMMANDS.items():
        assert command().name == name
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0
        assert len(result.stdout) > 100


def test_help_loads_neither_models_nor_rooms() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from simulator.cli import main; "
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0; "
        "slow = {'pydantic', 'asyncio', 'urllib.request', 'uvicorn', 'yaml', 'simulator.engine.worlds.simulator'}; "
        "slow &= set(sys.modules); "
        "assert not slow, slow"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_scenarios_are_taken_by_name_and_by_file(tmp_path: Path) -> None:
    (tmp_path / "rain.yaml").write_text("name: rain\n")
    application = create_app(Config(clock="manual", scenarios=("autopilot", str(tmp_path / "rain.yaml"))))
    simulator = application.runtime.simulator
    assert simulator.engine.active(simulator.default) == ["autopilot", "rain"]


def test_an_unknown_scenario_stops_the_start() -> None:
    with pytest.raises(ConfigError, match="neither a file nor a known scenario"):
        create_app(Config(scenarios=("rain",)))
