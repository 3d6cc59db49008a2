"""The relay of `rampsim capture`: client and service see the same as without it."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulator.evidence.capture.messages import Head
from simulator.evidence.capture.relay import place_of
from simulator.service import SIGNATURE
from tests.tools.evidence.relaying import NOW_MS, answering, listening, port_of, relayed

GET = b"GET /v1/rates HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
KEY = "whk_test_abcdef"


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


def test_bytes_of_long_bodies_are_equal_both_ways(tmp_path: Path) -> None:
    sent = bytes(range(256)) * 20_000  # 5 MB, more than is recorded
    seen: list[bytes] = []

    async def echo(head: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        seen.extend(head.values(b"x-digest"))
        for at in range(0, len(sent), 100_000):
            piece = sent[at : at + 100_000]
            writer.write(b"%x\r\n" % len(piece) + piece + b"\r\n" if at else b"")
            if not at:
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                writer.write(b"%x;note=1\r\n" % len(piece) + piece + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\nX-Trailer: 1\r\n\r\n")

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(sent), 70_000):
            yield sent[at : at + 70_000]

    async def scene() -> None:
        async with relayed(tmp_path, echo) as relay, httpx.AsyncClient(trust_env=False) as client:
            url = f"http://127.0.0.1:{relay.port}/v1/quotes"
            digest = hashlib.sha256(sent).hexdigest()
            for content in (sent, pieces()):
                reply = await client.post(url, content=content, headers={"X-Digest": digest})
                assert reply.content == sent
            assert [one.request_body for one in relay.exchanges] == ["large", "large"]
            assert [one.response_body for one in relay.exchanges] == ["large", "large"]
            assert relay.connections == 1, "the connection stays open"

    run(scene())


def test_bodies_stream_both_ways(tmp_path: Path) -> None:
    """Each side waits for a piece before it sends the next, so a relay that buffers would never end."""
    first_came, answer_came = asyncio.Event(), asyncio.Event()

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"one\r\n")
        first_came.set()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        await answer_came.wait()
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"def")

    async def scene() -> None:
        server = await listening(upstream)
        place = place_of(f"http://127.0.0.1:{port_of(server)}/v1", "--upstream")
        async with relayed(tmp_path, None, place=place) as relay:
            reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            writer.write(b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            await first_came.wait()
            assert (await reader.readuntil(b"abc")).startswith(b"HTTP/1.1 200 OK\r\n")
            answer_came.set()
            writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
            assert await reader.readexactly(3) == b"def"
            writer.close()
        server.close()

    run(scene())


def test_a_client_that_awaits_100_continue_gets_it(tmp_path: Path) -> None:
    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert await reader.readexactly(2) == b"{}"
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")

    async def scene() -> None:
        server = await listening(upstream)
        place = place_of(f"http://127.0.0.1:{port_of(server)}/v1", "--upstream")
        async with relayed(tmp_path, None, place=place) as relay:
            reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            writer.write(b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"{}")
            assert b"201 Created" in await reader.readuntil(b"\r\n\r\n")
            writer.close()
        server.close()

    run(scene())


@pytest.mark.parametrize(("method", "status"), [("HEAD", "200 OK"), ("GET", "204 No Content"), ("GET", "304 Same")])
def test_responses_without_a_body_end_at_once(tmp_path: Path, method: str, status: str) -> None:
    async def scene() -> None:
        async with (
            relayed(tmp_path, answering(status, b"12345")) as relay,
            httpx.AsyncClient(trust_env=False) as client,
        ):
            for _ in range(2):
                reply = await client.request(method, f"http://127.0.0.1:{relay.port}/v1/rates")
                assert (reply.status_code, reply.content) == (int(status[:3]), b"")
            assert relay.connections == 1
            assert reply.headers.get("content-length") == ("5" if method == "HEAD" else None)

    run(scene())


def test_headers_pass_in_order_and_hop_by_hop_headers_end(tmp_path: Path) -> None:
    heads: list[Head] = []

    async def answer(head: Head, _: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        writer.write(b"HTTP/1.1 200 Very Fine\r\nX-b: 1\r\nKeep-Alive: timeout=5\r\nx-A: 2\r\nX-b: 3\r\n")
        writer.write(b"Connection: x-hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\n{}")

    async def scene() -> None:
        async with relayed(tmp_path, answer) as relay:
            got = await relay.send(
                b"GET /v1/rates?a=%20b&c HTTP/1.1\r\nHost: x\r\nX-One: 1\r\nConnection: close, X-Two\r\n"
                b"x-two: 2\r\nTE: trailers\r\naccept: */*\r\n\r\n"
            )
            assert got == (
                b"HTTP/1.1 200 Very Fine\r\nX-b: 1\r\nx-A: 2\r\nX-b: 3\r\nContent-Length: 2\r\n"
                b"Connection: close\r\n\r\n{}"
            )
            assert heads[0].first == b"GET /v1/rates?a=%20b&c HTTP/1.1"
            assert [one.name for one in heads[0].headers] == [b"Host", b"X-One", b"accept", b"Connection"]
            assert heads[0].values(b"host")[0].startswith(b"127.0.0.1:")

    run(scene())


@pytest.mark.parametrize(
    ("answer", "received", "status"),
    [
        (b"", b"", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"abc", 200),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nab", b"3\r\nabc\r\n5\r\nab", 200),
    ],
)
def test_an_upstream_that_closes_early_closes_the_client(
    tmp_path: Path, answer: bytes, received: bytes, status: int | None
) -> None:
    async def cut(_: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        raise ConnectionError

    async def scene() -> None:
        async with relayed(tmp_path, cut) as relay:
            got = await relay.send(GET)
            assert got.partition(b"\r\n\r\n")[2] == received
            assert got.startswith(b"HTTP/1.1 200 OK") == bool(answer)
            (exchange,) = relay.exchanges
            assert (exchange.status, exchange.response_body) == (status, "cut")
            (line,) = relay.problems
            assert "closed the connection before the response to get_rate was complete" in line

    run(scene())


def test_a_body_until_the_end_of_the_connection_is_complete(tmp_path: Path) -> None:
    async def answer(_: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\n\r\n{"rate": "1.5"}')
        raise ConnectionError

    async def scene() -> None:
        async with relayed(tmp_path, answer) as relay:
            assert (await relay.send(GET)).endswith(b'Connection: close\r\n\r\n{"rate": "1.5"}')
            assert relay.exchanges[0].response == {"rate": "1.5"}
            assert relay.problems == []

    run(scene())


def test_a_client_that_leaves_does_not_disturb(tmp_path: Path) -> None:
    async def scene() -> None:
        async with relayed(tmp_path, answering("200 OK", b"{}")) as relay:
            _, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            writer.write(b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\nabc")
            writer.close()
            await writer.wait_closed()
            assert b"200 OK" in await relay.send(GET)
            assert relay.problems == []

    run(scene())


def test_compressed_bodies_pass_as_they_are_and_are_recorded_in_clear(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"rate": "2.5"}')
    handler = answering("200 OK", packed, "Content-Encoding: gzip\r\n")

    async def scene() -> None:
        async with relayed(tmp_path, handler) as relay:
            assert (await relay.send(GET)).endswith(packed)
            assert relay.exchanges[0].response == {"rate": "2.5"}

    run(scene())


@pytest.mark.parametrize(
    "request_line",
    [b"GET /v1/rates HTTP/1.1\r\nHost x\r\n\r\n", b"POST /v1/x HTTP/1.1\r\nContent-Length: a\r\n\r\n",
     b"POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", b"hello\r\n\r\n"],
)  # fmt: skip
def test_a_request_that_is_not_http_ends_the_connection(tmp_path: Path, request_line: bytes) -> None:
    async def scene() -> None:
        async with relayed(tmp_path, answering("200 OK", b"{}")) as relay:
            got = await relay.send(request_line)
            assert got == b"" or got.startswith(b"HTTP/1.1 400 ")
            assert relay.connections == 0

    run(scene())


def test_an_unreachable_upstream_is_named_once_and_recorded_without_status(tmp_path: Path) -> None:
    async def scene() -> None:
        async with relayed(tmp_path, None) as relay:
            for _ in range(2):
                assert (await relay.send(GET)).startswith(b"HTTP/1.1 502 Bad Gateway")
            assert relay.problems == ["--upstream: 127.0.0.1:9: the connection is refused"]
            assert [one.status for one in relay.exchanges] == [None, None]

    run(scene())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n<>", "returned a web page (200)"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "is not HTTP/1.1"),
        (b"HTTP/1.1 abc\r\n\r\n", "is not HTTP/1.1"),
    ],
)
def test_another_server_than_the_api_is_named_in_one_line(tmp_path: Path, answer: bytes, words: str) -> None:
    async def wrong(_: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        raise ConnectionError

    async def scene() -> None:
        async with relayed(tmp_path, wrong) as relay:
            await relay.send(GET)
            await relay.send(GET)
            (line,) = relay.problems
            assert words in line

    run(scene())


def test_other_paths_are_not_served(tmp_path: Path) -> None:
    async def scene() -> None:
        async with relayed(tmp_path, answering("200 OK", b"{}")) as relay:
            for path in (b"/", b"/v1x", b"/inbox", b"/_simulator/clock"):
                assert b" 404 " in await relay.send(
                    b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                )
            assert relay.exchanges == []

    run(scene())


def webhook(body: bytes, *headers: tuple[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    head = f"POST /inbox HTTP/1.1\r\nHost: 127.0.0.1\r\nX-odd: 1\r\n{lines}Content-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def test_webhooks_are_forwarded_unchanged_and_verified(tmp_path: Path) -> None:
    got: list[tuple[Head, bytes]] = []

    async def receiver(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
        got.append((Head(head, ()), body))
        writer.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlate")
        writer.close()

    body = b'{ "id": "evt_1", "type": "transaction.created", "data": {"object": {"status": "pending"}} }'
    signed = SIGNATURE.headers(KEY, NOW_MS - 9_000_000, body)
    wrong = SIGNATURE.headers("whk_test_other", NOW_MS, body)

    async def scene() -> None:
        server = await listening(receiver)
        place = place_of(f"http://127.0.0.1:{port_of(server)}/hooks?shop=1", "--forward-webhooks")
        async with relayed(tmp_path, answering("200 OK"), receiver=place, webhook_key=KEY) as relay:
            for headers in (signed, wrong, ()):
                assert await relay.send(webhook(body, *headers)) == (
                    b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlate"
                )
            seen = relay.exchanges
            assert [one.signature for one in seen] == ["valid", "invalid", "absent"]
            assert [one.attempt for one in seen] == [1, 2, 3]
            assert {(one.direction, one.operation, one.status) for one in seen} == {
                ("webhook", "transaction.created", 503)
            }
            assert all(signed[1][1] not in one.line().decode() for one in seen)
        server.close()
        expected = webhook(body, *signed).partition(b"\r\n\r\n")[0].split(b"\r\n")
        lines = got[0][0].first.strip().split(b"\r\n")
        assert lines[0] == b"POST /hooks?shop=1 HTTP/1.1"
        assert [one for one in lines[1:] if not one.startswith(b"Host")] == [
            one for one in expected[1:] if not one.startswith(b"Host")
        ]
        assert got[0][1] == body

    run(scene())


def test_an_inbox_without_a_receiver_accepts(tmp_path: Path) -> None:
    body = b'{"id": "evt_1", "type": "webhook.test"}'

    async def scene() -> None:
        async with relayed(tmp_path, answering("200 OK"), inbox=True) as relay:
            assert (await relay.send(webhook(body, *SIGNATURE.headers(KEY, NOW_MS, body)))).startswith(b"HTTP/1.1 200")
            assert relay.exchanges[0].signature == "unknown"
            assert relay.exchanges[0].operation == "webhook.test"

    run(scene())
