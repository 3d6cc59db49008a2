"""`rampsim capture` as a user runs it, in front of a simulator and of servers that are not the service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from click.testing import CliRunner

from simulator.cli.tools.capturing import capture
from simulator.contract.files import operation_ids
from simulator.evidence.corpus import read_corpus
from tests.calls import eventually
from tests.places import ROOT
from tests.support import KEYS
from tests.tools.evidence.hidden import hidden_service
from tests.tools.evidence.relaying import Relayed, listening, port_of, relayed

pytestmark = pytest.mark.xdist_group("evidence")

PEM = ROOT / "tests" / "service" / "courier" / "self-signed.pem"
METHODS = {"get", "post", "put", "patch", "delete"}


@contextmanager
def capturing(upstream: str, out: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `rampsim capture`; yield its origin and process."""
    words = [sys.executable, "-m", "simulator", "capture", "--upstream", upstream, "--port", "0", "--out", str(out)]
    process = subprocess.Popen([*words, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        ready = next(line for line in process.stdout if line.startswith("Ready on "))
        yield ready.removeprefix("Ready on ").strip(), process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with hidden_service({}) as origin:
        yield origin


class Driver(ExitStack):
    """Plays the drive of a scenario as a client does: calls go to one origin, control calls to another."""

    def __init__(self, origin: str, control: str) -> None:
        super().__init__()
        self._calls = self.enter_context(httpx.Client(base_url=f"{origin}/v1", trust_env=False))
        self._control = self.enter_context(httpx.Client(base_url=f"{control}/_simulator", trust_env=False))
        self.seen: dict[str, Any] = {}

    def sign_in(self) -> None:
        token = self._calls.post("/auth/token", json=KEYS).json()["access_token"]
        self._calls.headers["Authorization"] = f"Bearer {token}"

    def play(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if "advance" in step:
                self._steer("/clock/advance", {"by": step["advance"]})
            elif "action" in step:
                given = self._filled({key: value for key, value in step.items() if key != "action"})
                self._steer(f"/actions/{step['action']}", given)
            else:
                name, call = ("", step) if METHODS & step.keys() else next(iter(step.items()))
                self.seen[name] = self.call(call)

    def _steer(self, path: str, body: dict[str, Any]) -> None:
        reply = self._control.post(path, json=body, timeout=60)
        assert reply.status_code < 300, (path, reply.text)

    def call(self, call: dict[str, Any]) -> Any:
        method = next(name for name in METHODS if name in call)
        reply = self._calls.request(method.upper(), self._filled(call[method]), json=self._filled(call.get("body")))
        assert reply.status_code < 400, (call, reply.text)
        return reply.json() if reply.content else None

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(one) for key, one in value.items()}
        return re.sub(r"\$\{([^}]+)\}", self._at, value) if isinstance(value, str) else value

    def _at(self, found: re.Match[str]) -> str:
        value: Any = self.seen
        for key in found[1].split("."):
            value = value[int(key)] if key.isdecimal() else value[key]
        return str(value)


def test_every_operation_passes_and_is_recorded(service: str, tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "scenarios" / "every-operation.yaml").read_text())["drive"]
    options = ("--name", "all", "--inbox", "--webhook-key", "whk_test_simulator")
    with capturing(f"{service}/v1", tmp_path, *options) as (origin, process), Driver(origin, service) as driver:
        driver.sign_in()
        driver.seen["receiver"] = driver.call(
            {"post": "/webhooks", "body": {"url": f"{origin}/inbox", "events": ["*"]}}
        )
        driver.play(steps)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert re.search(r"\d+ exchanges in .*all\.jsonl", process.stdout.read())
    corpus = read_corpus(tmp_path)
    assert not corpus.damaged
    calls = [one for one in corpus.exchanges if one.direction == "call"]
    assert {one.operation for one in calls} == set(operation_ids().values())
    assert [one.n for one in corpus.exchanges] == list(range(1, len(corpus.exchanges) + 1))
    hooks = [one for one in corpus.exchanges if one.direction == "webhook"]
    assert {one.signature for one in hooks} == {"valid"}
    assert {"transaction.created", "transaction.completed", "webhook.test"} <= {one.operation for one in hooks}
    content = (tmp_path / "all.jsonl").read_text()
    assert not [
        one
        for one in ("Wanjiru", "Otieno", "722000000", "0x52908400098527886E", "tok_test_")
        if one in content.replace("tok_test_removed", "")
    ]
    confirmed = next(one for one in calls if one.operation == "confirm_quote")
    delivered = next(one for one in calls if one.operation == "get_transaction")
    assert delivered.response["id"] == confirmed.response["id"], "a pseudonym is the same each time"
    assert delivered.path == f"/transactions/{confirmed.response['id']}"


def test_a_recording_survives_a_kill(service: str, tmp_path: Path) -> None:
    with capturing(f"{service}/v1", tmp_path) as (origin, process):
        for _ in range(3):
            httpx.get(f"{origin}/v1/rates", trust_env=False)
        eventually(lambda: len(read_corpus(tmp_path).exchanges) == 3)
        process.kill()
        process.wait(20)
    path = tmp_path / "recording-1.jsonl"
    assert len(read_corpus(tmp_path).exchanges) == 3
    os.truncate(path, path.stat().st_size - 20)
    corpus = read_corpus(tmp_path)
    assert len(corpus.exchanges) == 2
    assert str(corpus.damaged[0]) == f"{path}:3: is not JSON: the line is damaged or incomplete"


def test_a_second_recording_gets_its_own_file(service: str, tmp_path: Path) -> None:
    (tmp_path / "recording-1.jsonl").write_text("")
    with capturing(f"{service}/v1", tmp_path) as (origin, _):
        httpx.get(f"{origin}/v1/rates", trust_env=False)
    assert len(read_corpus(tmp_path / "recording-2.jsonl").exchanges) == 1
    assert (tmp_path / "recording-1.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--upstream", "nowhere"], "--upstream: 'nowhere' is not a URL"),
        (["--upstream", "http://127.0.0.1:9/api"], "does not end with /v1"),
        (["--upstream", "http://127.0.0.1:9"], "does not end with /v1"),
        (["--upstream", "http://127.0.0.1:9/v1", "--forward-webhooks", "shop"], "--forward-webhooks: 'shop'"),
        (["--upstream", "http://127.0.0.1:9/v1", "--name", "../x"], "--name: '../x' is not the name of a file"),
        (["--upstream", "http://127.0.0.1:9/v1", "--name", "old"], "old.jsonl: exists already. Choose another --name"),
        (["--upstream", "https://127.0.0.1:9/v1", "--ca", "old.jsonl"], "is not a PEM certificate file"),
        ([], "--upstream"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_written(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.jsonl").write_text("")
    done = CliRunner().invoke(capture, [*options, "--out", "."])
    assert message in done.output
    assert done.exit_code == 2
    assert os.listdir() == ["old.jsonl"]


def test_a_port_in_use_is_named(service: str, tmp_path: Path) -> None:
    port = service.rpartition(":")[2]
    done = CliRunner().invoke(capture, ["--upstream", f"{service}/v1", "--port", port, "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert f"--port {port}: " in done.output
    assert os.listdir(tmp_path) == []


def secure(scene: Callable[[str], Any]) -> None:
    """Run a scene with the URL of an upstream that has a self-signed certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(PEM)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def whole() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        try:
            await scene(f"https://localhost:{port_of(server)}/v1")
        finally:
            server.close()

    asyncio.run(asyncio.wait_for(whole(), 60))


GET = b"GET /v1/rates HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def test_an_untrusted_certificate_is_refused_in_one_line(tmp_path: Path) -> None:
    from simulator.evidence.capture.relay import place_of

    async def scene(url: str) -> None:
        async with relayed(tmp_path, None, place=place_of(url, "--upstream")) as relay:
            assert b" 502 " in await relay.send(GET)
            await _has_one_problem(relay, "the certificate is not trusted", "--ca")

    secure(scene)


def test_a_certificate_of_a_given_ca_is_trusted(tmp_path: Path) -> None:
    from simulator.evidence.capture.relay import place_of

    async def scene(url: str) -> None:
        place = place_of(url, "--upstream", str(PEM))
        assert place.context is not None
        place.context.check_hostname = False  # the certificate is made out to receiver.test
        async with relayed(tmp_path, None, place=place) as relay:
            assert b" 200 " in await relay.send(GET)

    secure(scene)


def test_a_server_without_tls_is_named_in_one_line(tmp_path: Path) -> None:
    from simulator.evidence.capture.relay import place_of

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def scene() -> None:
        server = await listening(plain)
        place = place_of(f"https://127.0.0.1:{port_of(server)}/v1", "--upstream")
        async with relayed(tmp_path, None, place=place) as relay:
            assert b" 502 " in await relay.send(GET)
            await _has_one_problem(relay, "does not speak TLS", "http:// or https://")
        server.close()

    asyncio.run(asyncio.wait_for(scene(), 60))


async def _has_one_problem(relay: Relayed, *words: str) -> None:
    (line,) = relay.problems
    assert "\n" not in line
    assert all(word in line for word in words)


def test_hidden_amounts_are_hidden(service: str, tmp_path: Path) -> None:
    with capturing(f"{service}/v1", tmp_path, "--hide-amounts") as (origin, _), Driver(origin, service) as driver:
        driver.sign_in()
        driver.call({"get": "/fees?product=onramp"})
    (fees,) = [one for one in read_corpus(tmp_path).exchanges if one.operation == "list_fees"]
    assert "5000.00" not in json.dumps(fees.response)
