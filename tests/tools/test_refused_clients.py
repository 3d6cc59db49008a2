"""No client of the simulator sends a real key or calls an untrusted host. The error explains why."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.agents import toolbox
from simulator.agents.session import Session
from simulator.certification import running as certifying
from simulator.certification.sources import Unusable
from simulator.cli import COMMANDS, main
from simulator.conformance.fuzzing import Unusable as NotConformable
from simulator.conformance.running import run as conform
from simulator.conformance.settings import ConformanceSettings
from simulator.engine.clients import guard
from simulator.engine.clients.asynchronous import HttpClient
from simulator.engine.clients.control import ControlClient, Unreachable
from simulator.engine.clients.guard import LiveKey, with_checksum
from simulator.service import LIVE_KEYS
from simulator.testing import SimulatorError
from simulator.testing.links.clients import Keys, SignIn, make_async_client, make_client
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.in_process import InProcessLink
from tests.remote import Remote

FOREIGN = "https://api.ramp.example"
REAL = "sk_live_9f8e7d6c5b4a39281706f5e4"
LOCAL = "http://127.0.0.1:9"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was connected to or looked up, which fails."""
    tried: list[object] = []

    def refuse(*given: object, **_: object) -> None:
        tried.append(given)
        raise AssertionError(f"something was sent: {given}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse, raising=False)
    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    return tried


def _keys(secret: str, base_url: str = f"{LOCAL}/v1") -> Keys:
    return Keys("pk_live_simulator", secret, "whk_live_simulator", base_url)


def _kit(keys: Keys, url: str = "/profile") -> object:
    link = HttpLink(LOCAL)
    with make_client(link, keys, SignIn(keys)) as client:
        return client.get(url)


def _async_kit(keys: Keys, url: str = "/profile") -> object:
    async def ask() -> object:
        async with make_async_client(HttpLink(LOCAL), keys, SignIn(keys)) as client:
            return await client.get(url)

    return asyncio.run(ask())


def _conform(target: str, secret: str) -> object:
    return asyncio.run(conform(ConformanceSettings(f"{target}/v1", "pk_test_x", secret, "read-only")))


def _certify(key: str, simulator: str | None = None) -> object:
    given = certifying.Settings(f"{LOCAL}/webhooks", key, LOCAL, simulator=simulator)
    return asyncio.run(certifying.certify(given))


Call = Callable[[], object]
LIBRARY: Mapping[str, tuple[Call, type[Exception]]] = {
    "control client": (lambda: ControlClient(FOREIGN), Unreachable),
    "link of the test kit": (lambda: HttpLink(FOREIGN), SimulatorError),
    "client of a world, another host": (lambda: _kit(_keys("sk_test_x"), f"{FOREIGN}/v1/profile"), SimulatorError),
    "client of a world, a real key": (lambda: _kit(_keys(REAL)), SimulatorError),
    "asynchronous client, another host": (lambda: _async_kit(_keys("sk_test_x"), f"{FOREIGN}/v1"), SimulatorError),
    "asynchronous client, a real key": (lambda: _async_kit(_keys(REAL)), SimulatorError),
    "client of scenarios": (lambda: HttpClient(FOREIGN), ConnectionError),
    "session of an agent": (lambda: Session(FOREIGN), Unreachable),
    "conform, a real key": (lambda: _conform("https://sandbox.ramp.example", REAL), NotConformable),
    "certify, a real key": (lambda: _certify(REAL.replace("sk_", "whk_")), Unusable),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_a_client_refuses_before_it_connects(name: str, no_network: list[object]) -> None:
    call, error = LIBRARY[name]
    with pytest.raises(error) as caught:
        call()
    assert no_network == []
    assert "othing was sent" in str(caught.value)
    assert "SIMULATOR_ALLOW_HOSTS=" in str(caught.value) or "sk_live_simulator" in str(caught.value)
    assert REAL not in str(caught.value)


TO_A_HOST = {
    "clock": ["clock", "--url", FOREIGN],
    "action": ["action", "payment_arrives", "txn_1", "--url", FOREIGN],
    "record": ["record", "--url", FOREIGN],
    "advice": ["advice", "--url", FOREIGN],
    "worlds": ["worlds", "--url", FOREIGN],
    "mcp": ["mcp", "--url", FOREIGN],
    "certify": ["certify", f"{LOCAL}/webhooks", "--simulator", FOREIGN],
    "scenario": ["scenario", "run", "payout-fails-and-refunds", "--url", FOREIGN],
    "conform": ["conform", "--target", f"{LOCAL}/v1", "--public-key", "a", "--secret-key", "b", "--control", FOREIGN],
}


@pytest.mark.parametrize("name", TO_A_HOST)
def test_a_command_refuses_another_host(name: str, no_network: list[object]) -> None:
    ended = CliRunner().invoke(main, TO_A_HOST[name])
    assert ended.exit_code == 2
    assert "rampsim: api.ramp.example is not this machine, so nothing was sent" in ended.stderr
    assert "SIMULATOR_ALLOW_HOSTS=api.ramp.example" in ended.stderr
    assert no_network == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_command_takes_a_real_key_on_its_line_or_from_a_variable(name: str, no_network: list[object]) -> None:
    for arguments, variables, place in (
        ([name, "--something", REAL], {}, "The command line"),
        ([name], {"SIMULATOR_SECRET_KEY": REAL}, "The variable SIMULATOR_SECRET_KEY"),
        ([name], {"RAMPSIM_SECRET_KEY": REAL}, "The variable RAMPSIM_SECRET_KEY"),
    ):
        ended = CliRunner().invoke(main, arguments, env=variables)
        assert ended.exit_code == 2
        assert f"rampsim: {place} has the live key sk_live_9f8e…" in ended.stderr
        assert REAL not in ended.output
    assert no_network == []


def test_a_real_key_is_refused_with_a_message(no_network: list[object]) -> None:
    body = {"public_key": "pk_live_simulator", "secret_key": REAL}
    done, answer = toolbox.use(Session(LOCAL), "call", {"method": "POST", "path": "/auth/token", "body": body})
    assert not done
    assert answer["error"]["code"] == "live_key"
    assert REAL not in json.dumps(answer)
    assert no_network == []


def test_the_client_in_process_refuses_too(no_network: list[object]) -> None:
    keys = _keys(REAL, "http://simulator.localhost/v1")
    link = InProcessLink()
    try:
        with make_client(link, keys, SignIn(keys)) as client:
            with pytest.raises(SimulatorError, match="live key"):
                client.get("/profile")
            with pytest.raises(SimulatorError, match="not this machine"):
                client.get(f"{FOREIGN}/v1/profile", headers={"Authorization": "Bearer x"})
    finally:
        link.close()


def test_a_real_key_does_not_pass_because_another_one_is_ours() -> None:
    with pytest.raises(LiveKey):
        LIVE_KEYS.check(f"sk_live_simulator {REAL}", "It")


def test_every_key_that_a_world_makes_passes(server: Remote) -> None:
    """Those of the world default, of others, further ones, new webhook keys."""
    worlds = [server.world, *(server.another(seed=seed).world for seed in (1, 2))]
    made = [value for world in worlds for keys in world["credentials"].values() for value in keys.values()]
    other = server.another(seed=3)
    for action, member in (("create_key", "secret_key"), ("create_key", "public_key"), ("rotate_webhook_key", "webhook_key")):  # fmt: skip  # noqa: E501
        answer = other.control("POST", f"/actions/{action}", {}, headers={"X-Simulator-Environment": "production"})
        made.append(answer.body["resource"][member])
    live = [key for key in made if "_live_" in str(key)]
    assert len(live) == 12
    assert not any(LIVE_KEYS.is_real(key) for key in live)
    LIVE_KEYS.check(json.dumps(live), "It")


@settings(max_examples=200)
@given(st.from_regex(re.compile(r"[0-9a-hjkmnp-tv-z]{24}|[A-Za-z0-9]{24,40}"), fullmatch=True))
def test_a_key_of_the_same_form_is_none_of_ours(text: str) -> None:
    assert LIVE_KEYS.is_real(f"sk_live_{text}")
    assert not LIVE_KEYS.is_real(f"sk_live_{with_checksum(text)}")
    assert not LIVE_KEYS.is_real(f"sk_test_{text}")


@pytest.mark.parametrize(
    ("host", "trusted"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("simulator.localhost", True),
        ("host.docker.internal", True),
        ("rampsim", False),
        ("api.ramp.example", False),
        ("10.0.0.7", False),
        ("192.168.1.1", False),
        ("2130706433", False),
        ("0x7f000001", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_which_hosts_are_trusted(host: str, trusted: bool) -> None:
    assert guard.is_trusted(host) is trusted


def test_a_host_is_trusted_once_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.HOSTS_VARIABLE, "10.0.0.7, *.team.svc")
    assert guard.is_trusted("10.0.0.7")
    assert guard.is_trusted("rampsim.team.svc")
    assert not guard.is_trusted("10.0.0.8")


def test_userinfo_does_not_make_a_host_ours() -> None:
    for url in ("http://localhost@api.ramp.example", "http://127.0.0.1:8642@api.ramp.example/"):
        with pytest.raises(guard.ForeignHost):
            guard.check_host(url)


def test_a_host_that_is_named_on_the_line_is_spoken_to(
    monkeypatch: pytest.MonkeyPatch, no_network: list[object]
) -> None:
    monkeypatch.setenv(guard.HOSTS_VARIABLE, "other.example")
    ended = CliRunner().invoke(main, ["--allow-host", "api.ramp.example", "clock", "--url", FOREIGN])
    assert "is not this machine" not in ended.output
    assert len(no_network) == 1


def test_compare_sends_nothing(no_network: list[object], tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.har"
    recorded.write_text(json.dumps({"log": {"entries": []}}), "utf-8")
    CliRunner().invoke(main, ["compare", str(recorded)])
    assert no_network == []
