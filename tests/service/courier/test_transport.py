"""The transport against real receivers on this machine (decisions W3 and W4)."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.clients.connecting import addresses_of
from simulator.engine.clients.exchange import MAX_BODY_BYTES
from simulator.engine.text.json import headers_of
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier import transport as module
from simulator.engine.webhooks.courier.courier import Courier
from simulator.engine.webhooks.courier.transport import HttpTransport, describe
from tests.toy.seal import SIGNATURE
from tests.unit.engine.webhooks.courier.test_courier import Owner
from tests.unit.engine.webhooks.support import happen, register, webhook_world

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEADERS = (("Content-Type", "application/json"), ("X-Timestamp", "1"))


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


class Receiver:
    """A bare HTTP receiver that sends fixed bytes and records requests."""

    def __init__(self, answer: bytes | None, hold: bool = False) -> None:
        self.answer = answer
        self.hold = hold
        self.received: list[bytes] = []
        self.connections = 0
        self.released = asyncio.Event()
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
            self.received.append(head + await reader.readexactly(length))
            if self.answer is not None:
                writer.write(self.answer)
                await writer.drain()
            if self.hold:
                await self.released.wait()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def receiver(
    answer: bytes | None, host: str = "127.0.0.1", hold: bool = False, tls: ssl.SSLContext | None = None
) -> Any:
    handler = Receiver(answer, hold)
    server = await asyncio.start_server(handler, host, 0, ssl=tls)
    handler.port = server.sockets[0].getsockname()[1]
    try:
        yield handler
    finally:
        handler.released.set()
        server.close()
        await server.wait_closed()


def http(status: str, body: bytes = b"", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def post(url: str, policy: str = "local", body: bytes = b"{}", timeout: float = 5.0) -> Outcome:
    transport = HttpTransport()
    try:
        return await transport.post(url, HEADERS, body, timeout, policy)
    finally:
        await transport.close()


def test_exactly_the_recorded_request_is_sent() -> None:
    async def scenario() -> None:
        async with receiver(http("200 OK", b"thanks", "X-Mine: 1\r\n")) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/hook?x=%20y", body=b'{"a": 1}')
            assert (outcome.status, outcome.error, outcome.response_body) == (200, None, b"thanks")
            assert ("X-Mine", "1") in outcome.response_headers
            head, _, body = mine.received[0].partition(b"\r\n\r\n")
            assert body == b'{"a": 1}'
            first, *rest = head.decode().split("\r\n")
            assert first == "POST /hook?x=%20y HTTP/1.1"
            assert sorted(rest) == sorted(f"{name}: {value}" for name, value in outcome.request_headers)
            assert dict(outcome.request_headers)["Host"] == f"127.0.0.1:{mine.port}"

    run(scenario())


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_reaches_a_receiver_on_either_of_its_addresses(host: str) -> None:
    """Decision W3: all addresses of localhost are tried."""

    async def scenario() -> None:
        async with receiver(http("200 OK"), host) as mine:
            assert (await post(f"http://localhost:{mine.port}/")).status == 200
            literal = f"[{host}]" if ":" in host else host
            assert (await post(f"http://{literal}:{mine.port}/")).status == 200

    run(scenario())


def test_a_failed_tls_handshake_tries_no_other_address() -> None:
    async def scenario() -> None:
        server = await asyncio.start_server(answer_anything, "127.0.0.1", 0)
        outcome = await post(f"https://localhost:{server.sockets[0].getsockname()[1]}/")
        assert (outcome.status, outcome.error) == (None, "the TLS connection could not be made")
        server.close()

    run(scenario())


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "127.0.0.3", "127.0.0.2")

    async def scenario() -> None:
        async with receiver(http("200 OK"), "127.0.0.2") as mine:
            assert (await post(f"http://receiver.example.com:{mine.port}/", "any")).status == 200

    run(scenario())


def test_redirects_are_not_followed() -> None:
    async def scenario() -> None:
        async with receiver(http("200 OK")) as there:
            moved = http("302 Found", b"", f"Location: http://127.0.0.1:{there.port}/\r\n")
            async with receiver(moved) as mine:
                assert (await post(f"http://127.0.0.1:{mine.port}/")).status == 302
            assert there.received == []

    run(scenario())


def test_environment_proxies_and_cookies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    async def scenario() -> None:
        async with receiver(http("200 OK", b"", "Set-Cookie: a=b; Path=/\r\n")) as mine:
            transport = HttpTransport()
            for _ in range(2):
                outcome = await transport.post(f"http://localhost:{mine.port}/", HEADERS, b"{}", 5, "local")
                assert outcome.status == 200
            await transport.close()
            assert b"ookie" not in mine.received[1]

    run(scenario())


def test_an_absent_receiver_is_a_refused_connection() -> None:
    async def scenario() -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            outcome = await post(f"http://{host}:{port}/")
            assert (outcome.status, outcome.error) == (None, "connection refused")

    run(scenario())


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", "the connection was closed without an answer"),
        (b"HTTP/1.1 200 OK\r\nX-Mine: 1\r\n", "the connection was closed without an answer"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", "the connection was closed without an answer"),
        (b"this is no HTTP\r\n\r\n", "the answer was not valid HTTP"),
        (http("200 OK", b"ok") + b"and more than was announced", "the answer was not valid HTTP"),
        (http("200 OK", headers="X-Mine: " + "a" * 8200 + "\r\n"), "the answer was not valid HTTP"),
        (http("200 OK", headers="X-Mine: 1\r\n" * 200), "the answer was not valid HTTP"),
        (http("200 OK", headers="X-Mine: a\0b\r\n"), "the answer was not valid HTTP"),
    ],
)
def test_a_connection_without_a_valid_response(answer: bytes, error: str) -> None:
    async def scenario() -> None:
        async with receiver(answer) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/")
            assert (outcome.status, outcome.error) == (None, error)
            assert len(mine.received) == 1

    run(scenario())


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, b"until the end"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, b"ok"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nto\r\n2\r\nld\r\n0\r\nX-End: 1\r\n\r\n",
            200,
            b"told",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nless", 200, b"less"),
        (b"HTTP/1.1 103 Early Hints\r\nX-Mine: 1\r\n\r\n" + http("202 Accepted", b"in"), 202, b"in"),
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nother", 101, b""),
        (http("200 OK", b"one") + http("500 No", b"two"), 200, b"one"),
    ],
)
def test_a_response_in_any_form_is_read(answer: bytes, status: int, body: bytes) -> None:
    async def scenario() -> None:
        async with receiver(answer) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/")
            assert (outcome.status, outcome.error, outcome.response_body) == (status, None, body)
            assert "X-Mine" not in dict(outcome.response_headers)
            assert "X-End" not in dict(outcome.response_headers)

    run(scenario())


def test_well_known_headers_have_one_spelling() -> None:
    async def scenario() -> None:
        async with receiver(http("200 OK", headers="content-type: text/plain\r\nETAG: x\r\nx-mine:  1 \r\n")) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/")
            assert outcome.response_headers == (
                ("Content-Type", "text/plain"), ("Etag", "x"), ("x-mine", "1"), ("Content-Length", "0"),
            )  # fmt: skip

    run(scenario())


def test_each_request_has_its_own_connection() -> None:
    """Receivers that serve one connection at a time, or close early, get every request."""

    async def scenario() -> None:
        async with receiver(http("200 OK")) as mine:
            transport = HttpTransport()
            for _ in range(3):
                outcome = await transport.post(f"http://localhost:{mine.port}/", HEADERS, b"{}", 5, "local")
                assert outcome.status == 200
                assert dict(outcome.request_headers)["Connection"] == "close"
            assert mine.connections == 3

    run(scenario())


@pytest.mark.parametrize(
    ("value", "shown"), [(b"caf\xc3\xa9", "café"), (b"caf\xe9", "café"), (b"\xff\xfe", "ÿþ"), (b"plain", "plain")]
)
def test_a_header_is_decoded_as_utf_8_or_latin_1(value: bytes, shown: str) -> None:
    async def scenario() -> None:
        async with receiver(b"HTTP/1.1 200 OK\r\nX-Mine: " + value + b"\r\nContent-Length: 0\r\n\r\n") as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/")
            assert (outcome.status, dict(outcome.response_headers)["X-Mine"]) == (200, shown)

    run(scenario())


def test_a_receiver_that_does_not_answer_in_time_fails() -> None:
    async def scenario() -> None:
        async with receiver(None, hold=True) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/", timeout=0.05)
            assert (outcome.status, outcome.error) == (None, "timeout: no answer within 0.05 seconds")

    run(scenario())


def test_a_status_counts_even_when_the_body_never_ends() -> None:
    async def scenario() -> None:
        slow = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin"
        async with receiver(slow, hold=True) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/", timeout=0.1)
            assert (outcome.status, outcome.error, outcome.response_body) == (200, None, b"begin")

    run(scenario())


def test_only_the_beginning_of_a_long_response_is_recorded() -> None:
    async def scenario() -> None:
        async with receiver(http("200 OK", b"x" * (MAX_BODY_BYTES * 3))) as mine:
            outcome = await post(f"http://127.0.0.1:{mine.port}/")
            assert outcome.status == 200
            assert outcome.response_body == b"x" * MAX_BODY_BYTES

    run(scenario())


@pytest.mark.parametrize(
    ("url", "policy"),
    [
        ("http://127.0.0.1:{port}/", "public"),
        ("https://127.0.0.1:{port}/", "public"),
        ("https://169.254.169.254/", "local"),
        ("https://[::ffff:127.0.0.1]:{port}/", "local"),
        ("https://2130706433:{port}/", "local"),
    ],
)
def test_a_refused_url_is_never_connected_to(url: str, policy: str) -> None:
    """Decision W3: checked again at each delivery."""

    async def scenario() -> None:
        async with receiver(http("200 OK")) as mine:
            outcome = await post(url.format(port=mine.port), policy)
            assert outcome.status is None
            assert str(outcome.error).startswith("refused: ")
            assert mine.received == []

    run(scenario())


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def these(host: str, port: int) -> list[tuple[str, int]]:
        return [(address, socket.AF_INET6 if ":" in address else socket.AF_INET) for address in addresses]

    monkeypatch.setattr(module, "addresses_of", these)


def test_a_name_that_resolves_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "93.184.216.34", "10.0.0.7")
    outcome = run(post("https://receiver.example.com/"))
    assert outcome.error == "refused: 10.0.0.7 is a private or reserved address, not a public address"


def test_a_name_is_checked_against_the_policy_of_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "127.0.0.1")

    async def scenario() -> None:
        async with receiver(http("200 OK")) as mine:
            transport = HttpTransport()
            url = f"http://receiver.example.com:{mine.port}/"
            assert (await transport.post(url, HEADERS, b"{}", 5, "any")).status == 200
            refused = await transport.post(url.replace("http", "https", 1), HEADERS, b"{}", 5, "public")
            assert refused.error == "refused: 127.0.0.1 is a loopback address, not a public address"
            assert len(mine.received) == 1
            await transport.close()

    run(scenario())


def test_the_connection_uses_the_checked_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decision W3."""
    resolving(monkeypatch, "127.0.0.1")

    async def scenario() -> None:
        async with receiver(http("200 OK")) as mine:
            url = f"http://host.docker.internal:{mine.port}/"
            assert (await post(url)).status == 200
            assert f"Host: host.docker.internal:{mine.port}".encode() in mine.received[0]

    run(scenario())


def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(host: str, port: int) -> list[tuple[str, int]]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(module, "addresses_of", nowhere)
    outcome = run(post("https://receiver.example.com/"))
    assert outcome.error == "the host name receiver.example.com could not be resolved"


def test_names_are_resolved_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(answer: list[Any]) -> Any:
        loop = asyncio.get_running_loop()

        async def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
            return answer

        monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
        return await addresses_of("receiver.example.com", 443)

    row = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))
    assert run(scenario([row, row])) == [("93.184.216.34", socket.AF_INET)]
    with pytest.raises(socket.gaierror):
        run(scenario([]))


async def answer_anything(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


def test_plain_http_behind_https_is_a_failed_tls_connection() -> None:
    async def scenario() -> None:
        server = await asyncio.start_server(answer_anything, "127.0.0.1", 0)
        outcome = await post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert (outcome.status, outcome.error) == (None, "the TLS connection could not be made")
        server.close()

    run(scenario())


def test_a_self_signed_certificate_is_accepted_on_loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "127.0.0.1")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(Path(__file__).with_name("self-signed.pem"))

    async def scenario() -> None:
        async with receiver(http("200 OK"), tls=context) as mine:
            assert (await post(f"https://127.0.0.1:{mine.port}/")).status == 200
            outcome = await post(f"https://receiver.example.com:{mine.port}/", "any")
            assert (outcome.status, outcome.error) == (None, "the certificate could not be verified")
            assert len(mine.received) == 1

    run(scenario())


def test_an_unexpected_error_is_described_by_its_type() -> None:
    assert describe(ValueError("odd"), "host", 10) == "the request could not be made (ValueError)"


def test_a_transport_works_in_several_loops() -> None:
    transport = HttpTransport()

    async def once() -> int | None:
        async with receiver(http("200 OK")) as mine:
            outcome = await transport.post(f"http://127.0.0.1:{mine.port}/", HEADERS, b"{}", 5, "local")
            await transport.close()
            return outcome.status

    assert run(once()) == 200
    assert run(once()) == 200


def test_a_courier_delivers_a_valid_signature() -> None:
    async def scenario() -> None:
        async with receiver(http("200 OK", b"ok")) as mine:
            world = webhook_world()
            register(world, f"http://localhost:{mine.port}/hooks")
            event = happen(world)
            courier = Courier(Owner())
            assert await courier.settle(world) == 1
            await courier.close()
            head, _, body = mine.received[0].partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
            assert body == event.raw
            key = webhooks.webhook_key(world, "practice")
            assert headers["Library-Seal"] == SIGNATURE.sign(key, headers["Library-Date"], body)
            (row,) = webhooks.all_deliveries(world)
            assert dict(headers_of(row.request_headers)) == headers
            assert (row.status, row.response_body.read()) == ("succeeded", b"ok")

    run(scenario())
