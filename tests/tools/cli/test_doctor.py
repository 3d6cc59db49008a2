"""`rampsim doctor`: each check, and its next step."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from simulator.testing import serve
from simulator.version import __version__
from tests.tools.cli.conftest import Command


def checks(rampsim: Command, *words: str, **variables: str) -> dict[str, dict[str, Any]]:
    import json

    result = rampsim("doctor", "--json", *words, **variables)
    found = {check["subject"]: check for check in json.loads(result.stdout)}
    has_problem = any(check["state"] == "problem" for check in found.values())
    assert result.exit_code == (1 if has_problem else 0)
    return found


def test_a_healthy_setup_has_no_problem_and_names_keys_and_clock(rampsim: Command) -> None:
    found = checks(rampsim)
    assert found["rampsim"]["found"] == __version__
    assert "pytest" in found["test kit"]["found"]
    assert found["server"]["found"].startswith(rampsim.origin)
    keys = rampsim.client.get(f"/worlds/{rampsim.world}")["credentials"]["sandbox"]
    assert found["keys, sandbox"]["found"] == f"{keys['public_key']} at {keys['base_url']}"
    assert found["clock"]["found"].startswith("manual, 2026-01-05T08:00:00.000Z")
    assert found["webhooks"]["todo"] == "register one with POST /webhooks, if you need events"
    assert {check["state"] for check in found.values()} <= {"ok", "note"}


def test_people_read_a_line_for_each_check_with_its_next_step(rampsim: Command) -> None:
    result = rampsim("doctor", "--url", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "problem  server: http://127.0.0.1:9 (from --url): no simulator" in result.stdout
    assert "         -> start one with `rampsim serve`" in result.stdout


def test_a_used_port_is_distinguished_from_a_free_one(rampsim: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        found = checks(rampsim, "--url", url)["server"]
    assert found["found"].endswith("another program listens there")


def test_settings_are_shown_with_their_source_and_secrets_are_not_shown(
    rampsim: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rampsim.toml").write_text('clock = "manual"\nseed = 7\n')
    monkeypatch.chdir(tmp_path)
    found = checks(rampsim, SIMULATOR_RATE_LIMIT="5/1", SIMULATOR_CONTROL_TOKEN="sesame")
    assert found["setting seed"]["found"] == "7, from rampsim.toml:2"
    assert found["variable SIMULATOR_RATE_LIMIT"]["found"] == "5/1"
    assert found["variable SIMULATOR_CONTROL_TOKEN"]["found"] == "set"


def test_an_unknown_world_is_a_problem(rampsim: Command) -> None:
    found = checks(rampsim, "--world", "nowhere")["world"]
    assert (found["state"], found["todo"]) == ("problem", "`rampsim worlds` lists the worlds")


@pytest.mark.parametrize(
    ("status", "state", "words"),
    [
        (401, "ok", "refuses an unsigned request with 401"),
        (200, "problem", "accepts an unsigned request with 200"),
        (404, "problem", "returns 404 for an unsigned request"),
        (500, "problem", "returns 500 for an unsigned request"),
    ],
)
def test_a_receiver_must_refuse_an_unsigned_request(status: int, state: str, words: str) -> None:
    from simulator.testing import receiver

    with serve() as server, server.new_world() as world, receiver(world) as hook:
        hook.events()
        world.client.post("/webhooks", json={"url": hook.url, "events": ["*"]})
        hook.respond(status)
        found = checks(Command(server.url, world.id))[f"webhook {hook.url}"]
    assert (found["state"], found["found"]) == (state, words)


@pytest.mark.parametrize("world", ["", "/_worlds/{id}"])
def test_the_built_in_inbox_gets_no_request(rampsim: Command, world: str) -> None:
    url = f"{rampsim.origin}{world.format(id=rampsim.world)}/_simulator/inbox/doctor"
    assert rampsim("call", "POST", "/webhooks", f'{{"url": "{url}", "events": ["*"]}}').exit_code == 0
    before = rampsim.client.get("/inbox/doctor")
    assert checks(rampsim)[f"webhook {url}"]["state"] == "ok"
    assert rampsim.client.get("/inbox/doctor") == before
